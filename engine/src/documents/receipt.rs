//! Receipts of requests: a repeated request is not executed again.
//!
//! ```text
//! key     id (16 bytes, big-endian)
//! value   frame (see frame.rs) around: expiry in ms since 1970 (8 bytes), fingerprint (8 bytes),
//!         response; numbers little-endian
//! ```

use super::frame::{self, FrameDamage};
use crate::error::{Error, Result};
use crate::limits;
use crate::model::TimestampMs;
use crate::storage::{Batch, KeyOf, Store, ValueOf, keyspaces};

/// Proof that a request was executed, stored together with its effects. If the request is sent
/// again, the stored response is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The identity of the request.
    pub id: u128,
    /// A fingerprint of the request, which distinguishes different requests with the same id.
    pub fingerprint: u64,
    /// The stored response.
    pub answer: Vec<u8>,
    /// The time from which the receipt is ignored. At least [`limits::RECEIPT_KEPT_MS_MIN`] after
    /// the request was first answered.
    pub expires_at: TimestampMs,
}

/// The key of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiptKey([u8; 16]);

impl AsRef<[u8]> for ReceiptKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl KeyOf<keyspaces::Receipts> for ReceiptKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.0
    }
}

/// A key that was read from the keyspace of receipts, possibly not that of a receipt.
#[derive(Clone, Debug)]
pub(super) struct StoredReceiptKey(pub(super) Box<[u8]>);

impl AsRef<[u8]> for StoredReceiptKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl KeyOf<keyspaces::Receipts> for StoredReceiptKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self
    }
}

impl ValueOf<keyspaces::Receipts> for &Receipt {
    fn into_bytes(self) -> Vec<u8> {
        self.encode()
    }
}

impl Receipt {
    /// Returns whether the receipt has expired.
    pub(crate) fn is_expired(&self, now: TimestampMs) -> bool {
        self.expires_at <= now
    }

    /// Returns whether this receipt was valid when `later`, which has the same id, was created.
    /// Since receipts are kept for at least [`limits::RECEIPT_KEPT_MS_MIN`], this follows from the
    /// two expiry times alone, so a replay makes the same decision as the running engine: if this
    /// receipt had expired before, `later` expires at least that much after it.
    pub(crate) fn is_in_force_for(&self, later: &Self) -> bool {
        later.expires_at.0 < self.expires_at.0.saturating_add(limits::RECEIPT_KEPT_MS_MIN)
    }

    /// Returns the key of the receipt `id`.
    pub(crate) fn key(id: u128) -> ReceiptKey {
        ReceiptKey(id.to_be_bytes())
    }

    /// Encodes the receipt for storage under [`Self::key`].
    pub(crate) fn encode(&self) -> Vec<u8> {
        let expires_at = self.expires_at.0.to_le_bytes();
        let fingerprint = self.fingerprint.to_le_bytes();
        frame::seal(Self::key(self.id).as_ref(), &[&expires_at, &fingerprint, &self.answer])
    }

    /// Decodes a receipt that was stored under the key of `id`.
    pub(crate) fn decode(id: u128, stored: &[u8]) -> Result<Self> {
        Self::parse(id, stored)
            .map_err(|damage| Error::Corrupt(format!("receipt {id:032x}: {damage}")))
    }

    /// Reads the receipt `id` from `store`, even if it has expired. Fails with [`Error::Corrupt`]
    /// if it is corrupt.
    pub(crate) fn read(store: &Store, id: u128) -> Result<Option<Self>> {
        let stored = store.get(keyspaces::Receipts, &Self::key(id))?;
        stored.map(|stored| Self::decode(id, &stored)).transpose()
    }

    /// Adds the receipt to `batch`; replaces a stored receipt with the same id.
    pub(crate) fn stage(&self, batch: &mut Batch) {
        batch.put(keyspaces::Receipts, &Self::key(self.id), self);
    }

    fn parse(id: u128, stored: &[u8]) -> Result<Self, FrameDamage> {
        let body = frame::open(Self::key(id).as_ref(), stored)?;
        let (expires_at, rest) = frame::split_u64(body)?;
        let (fingerprint, answer) = frame::split_u64(rest)?;
        let expires_at = TimestampMs(expires_at.cast_signed());
        Ok(Self { id, fingerprint, answer: answer.to_vec(), expires_at })
    }
}
