//! Receipts of requests that must not be done twice.
//!
//! ```text
//! key     id (16 bytes, big-endian)
//! value   frame (see frame.rs) around: expiry in ms since 1970 (8 bytes), fingerprint (8 bytes), answer;
//!         numbers little-endian
//! ```

use super::frame::{self, Damage};
use crate::error::{Error, Result};
use crate::limits;
use crate::model::TimestampMs;
use crate::storage::{Batch, Keyspace, Store};

/// Proof that a request was done, kept with what it did: asked again, it is answered from the receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Identifies the request.
    pub id: u128,
    /// Tells apart two requests that came with the same id.
    pub fingerprint: u64,
    /// What was answered.
    pub answer: Vec<u8>,
    /// From this instant on the receipt is as good as gone. At least [`limits::RECEIPT_KEPT_MS_MIN`] after the request is
    /// answered for the first time.
    pub expires_at: TimestampMs,
}

impl Receipt {
    /// Whether the receipt counts no more.
    pub(crate) fn is_expired(&self, now: TimestampMs) -> bool {
        self.expires_at <= now
    }

    /// Whether this receipt was in force when `later`, which has the same id, was issued. Between two receipts that are kept
    /// long enough this follows from their ends alone, so that a replay comes to the decision of the live engine: when the
    /// earlier one had expired before, the later one ends at least so much after it.
    pub(crate) fn is_in_force_for(&self, later: &Self) -> bool {
        later.expires_at.0 < self.expires_at.0.saturating_add(limits::RECEIPT_KEPT_MS_MIN)
    }

    /// The key of the receipt `id`.
    pub(crate) fn key(id: u128) -> [u8; 16] {
        id.to_be_bytes()
    }

    /// The bytes to store under [`Self::key`].
    pub(crate) fn encode(&self) -> Vec<u8> {
        let expires_at = self.expires_at.0.to_le_bytes();
        let fingerprint = self.fingerprint.to_le_bytes();
        frame::seal(&Self::key(self.id), &[&expires_at, &fingerprint, &self.answer])
    }

    /// The receipt in `stored`, which was found under the key of `id`.
    pub(crate) fn decode(id: u128, stored: &[u8]) -> Result<Self> {
        Self::parse(id, stored)
            .map_err(|damage| Error::Corrupt(format!("receipt {id:032x}: {damage}")))
    }

    /// The receipt `id` in `store`, also when it has expired. Fails with [`Error::Corrupt`] when it is damaged.
    pub(crate) fn read(store: &Store, id: u128) -> Result<Option<Self>> {
        let stored = store.get(Keyspace::Receipts, &Self::key(id))?;
        stored.map(|stored| Self::decode(id, &stored)).transpose()
    }

    /// Adds the receipt to `batch`, in place of one with the same id.
    pub(crate) fn stage(&self, batch: &mut Batch) {
        batch.put(Keyspace::Receipts, &Self::key(self.id), self.encode());
    }

    fn parse(id: u128, stored: &[u8]) -> Result<Self, Damage> {
        let body = frame::open(&Self::key(id), stored)?;
        let (expires_at, rest) = frame::split_u64(body)?;
        let (fingerprint, answer) = frame::split_u64(rest)?;
        let expires_at = TimestampMs(expires_at.cast_signed());
        Ok(Self { id, fingerprint, answer: answer.to_vec(), expires_at })
    }
}
