//! Progress of a request body that is stored in several writes under one `Idempotency-Key`.
//!
//! A body too large for one write is stored in parts, each durable by itself, so a crash can leave
//! only the first parts stored. Each part but the last therefore carries its own receipt: its id is
//! derived from the request's id and the part number, its fingerprint is that of the whole body,
//! and its answer is the handler's encoding of how far the body has been processed. When the
//! request is repeated, the handler resumes after the last stored part; a different body under the
//! same key is a `conflict`. The last part carries the receipt of the request itself.
//!
//! All parts expire at the same time as the first, so a repeated request finds either all stored
//! parts or none.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use telltale_engine::{Engine, Receipt, TimestampMs};

use super::error::{ApiError, ApiResult};
use super::idempotency::{Ticket, conflict, first_half};
use crate::app::App;

/// Domain separator of part ids in the hash, so that they never equal a request id.
const HASH_DOMAIN: &[u8] = b"part of a body";

/// The stored parts of an idempotent request's body.
#[derive(Debug)]
pub struct Parts {
    /// The id of the request.
    id: u128,
    /// The fingerprint of the body.
    fingerprint: u64,
    expires_at: TimestampMs,
    /// The number of parts stored so far.
    stored: u32,
    reached: Option<Vec<u8>>,
}

impl Parts {
    /// Reads the receipts of the parts stored by an earlier attempt.
    pub(super) async fn find(app: &Arc<App>, ticket: &Ticket) -> ApiResult<Self> {
        let parts = Self {
            id: ticket.id,
            fingerprint: ticket.fingerprint,
            expires_at: ticket.expires_at,
            stored: 0,
            reached: None,
        };
        app.blocking(move |app| parts.read(app.engine())).await
    }

    fn read(mut self, engine: &Engine) -> ApiResult<Self> {
        while let Some(receipt) = engine.receipt(self.next_id())? {
            if receipt.fingerprint != self.fingerprint {
                return Err(conflict("the Idempotency-Key was used with another body"));
            }
            self.expires_at = receipt.expires_at;
            self.reached = Some(receipt.answer);
            self.stored += 1;
        }
        Ok(self)
    }

    /// Takes the position up to which the body has been processed, as the handler encoded it;
    /// `None` if no part is stored.
    pub fn take_position(&mut self) -> Option<Vec<u8>> {
        self.reached.take()
    }

    /// Returns the receipt of the next part, to be stored in the same write. `reached` is the
    /// position up to which the body is processed after that write.
    pub fn receipt(&mut self, reached: Vec<u8>) -> Receipt {
        let (id, expires_at) = (self.next_id(), self.expires_at);
        self.stored += 1;
        Receipt { id, fingerprint: self.fingerprint, answer: reached, expires_at }
    }

    fn next_id(&self) -> u128 {
        let mut hash = Sha256::new();
        hash.update(HASH_DOMAIN);
        hash.update(self.id.to_le_bytes());
        hash.update(self.stored.to_le_bytes());
        first_half(&hash.finalize().into())
    }
}

/// Returns the error of a repeated request whose stored position cannot be decoded.
pub fn invalid_part_receipt(cause: impl std::fmt::Display) -> ApiError {
    ApiError::internal(format_args!("the receipt of a part is unreadable: {cause}"))
}
