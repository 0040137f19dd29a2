//! The parts of a body that are stored one after another under one `Idempotency-Key`.
//!
//! A body that is too large for one write is several, each durable by itself, and a server that dies in the middle has
//! stored the first of them. So each but the last carries a receipt of its own: its id follows from that of the request and
//! the number of the part, its fingerprint is that of the whole body, and in place of an answer it has how far the
//! body is read with that part, in the handler's words. When the request is repeated, the handler goes on behind the last part that
//! is stored; another body under the same key is a `conflict`. The last part carries the receipt of the request.
//!
//! All parts expire with the first one: they are there together or not at all, whenever the request is repeated.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use telltale_engine::{Engine, Receipt, TimestampMs};

use super::error::{ApiError, ApiResult};
use super::idempotency::{Ticket, conflict, first_half};
use crate::app::App;

/// What the id of a part begins with in the hash, so that it is never that of a request.
const DOMAIN: &[u8] = b"part of a body";

/// The parts of the body of an idempotent request.
#[derive(Debug)]
pub struct Parts {
    /// The id of the request.
    id: u128,
    /// That of the body.
    fingerprint: u64,
    expires_at: TimestampMs,
    /// How many are stored.
    stored: u32,
    reached: Option<Vec<u8>>,
}

impl Parts {
    /// Looks for the parts that were stored before.
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

    /// How far the body is read with the parts that were stored before; none when there are none.
    pub fn take_reached(&mut self) -> Option<Vec<u8>> {
        self.reached.take()
    }

    /// The receipt of the next part, to be stored in the same write; `reached` is how far the body is read with it.
    pub fn receipt(&mut self, reached: Vec<u8>) -> Receipt {
        let (id, expires_at) = (self.next_id(), self.expires_at);
        self.stored += 1;
        Receipt { id, fingerprint: self.fingerprint, answer: reached, expires_at }
    }

    fn next_id(&self) -> u128 {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(self.id.to_le_bytes());
        hash.update(self.stored.to_le_bytes());
        first_half(&hash.finalize().into())
    }
}

/// The error of a repeated request whose parts say nothing that can be read.
pub fn unreadable_part(cause: impl std::fmt::Display) -> ApiError {
    ApiError::internal(format_args!("the receipt of a part is unreadable: {cause}"))
}
