//! Reads, lists and verifies documents and receipts, and deletes expired receipts.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::claims::{Claim, Claims};
use super::collection::{self, Collection, DocumentKey, Versioned, display_name};
use super::receipt::{Receipt, StoredReceiptKey};
use super::revisions::Revisions;
use super::transaction::{Expect, Transaction};
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::model::TimestampMs;
use crate::storage::{Batch, Caching, Keyspace, RangeOf, Store, Sync, keyspaces};
use crate::trusted_time::TrustedClock;

/// The document store of an engine. May be used from any thread; calls block.
#[derive(Debug)]
pub struct Documents {
    pub(super) store: Arc<Store>,
    pub(super) claims: Claims,
    pub(super) revisions: Revisions,
    trusted: Arc<TrustedClock>,
    damaged: Mutex<BTreeSet<String>>,
}

/// The result of [`Documents::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentsReport {
    /// Documents read, including corrupt ones.
    pub(crate) documents: u64,
    /// Receipts read, including corrupt ones.
    pub(crate) receipts: u64,
    /// Bytes of keys and values read.
    pub(crate) bytes: u64,
    /// The damage found, one line each.
    pub(crate) damaged: Vec<String>,
}

impl Documents {
    /// Opens the document store in `store`. `trusted` determines which receipts have expired.
    pub(crate) fn open(store: Arc<Store>, trusted: Arc<TrustedClock>) -> Result<Self> {
        let revisions = Revisions::open(&store)?;
        let claims = Claims::default();
        Ok(Self { store, claims, revisions, trusted, damaged: Mutex::default() })
    }

    /// Returns the document `id`, or `None` if it does not exist. Fails with [`Error::Corrupt`],
    /// which names the document, if it is corrupt or cannot be deserialised as `T`.
    pub fn get<T: DeserializeOwned>(
        &self,
        collection: Collection,
        id: &str,
    ) -> Result<Option<Versioned<T>>> {
        let key = collection.key(id);
        let Some(stored) = self.read(&key)? else {
            return Ok(None);
        };
        let parsed = collection::parse(&key, &stored);
        parsed.map(Some).map_err(|damage| {
            self.remember_damage(display_name(&key));
            collection::corrupt(&key, &damage)
        })
    }

    /// Returns the documents whose id starts with `prefix`, in ascending order of id. Documents
    /// that are corrupt or cannot be deserialised as `T` are skipped and reported by
    /// [`Self::damaged`], so that they do not hide the others. Fails only if the storage does.
    pub fn list<T: DeserializeOwned>(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Versioned<T>)>> {
        let mut found = Vec::new();
        self.visit(collection, prefix, |id, document| found.push((id, document)))?;
        Ok(found)
    }

    /// Passes the documents that [`Self::list`] returns to `visit`, one at a time, for callers that
    /// keep little of each.
    pub fn visit<T: DeserializeOwned>(
        &self,
        collection: Collection,
        prefix: &str,
        mut visit: impl FnMut(String, Versioned<T>),
    ) -> Result<()> {
        let range = RangeOf::prefix(keyspaces::Documents, &collection.key(prefix));
        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            let id = collection::parse_key(&key).map(|(_, id)| id.to_owned());
            match (id, collection::parse(&key, &stored)) {
                (Some(id), Ok(document)) => visit(id, document),
                _ => self.remember_damage(display_name(&key)),
            }
        };
        let gap = self.store.read_skipping_damage(range, Caching::Keep, visit)?;
        if let Some(gap) = gap {
            let after = gap.after.map_or_else(String::new, |key| display_name(&key));
            self.remember_damage(format!("{}: the part after {after:?}", collection.0));
        }
        Ok(())
    }

    /// Starts a transaction.
    pub fn begin(&self) -> Transaction<'_> {
        Transaction::new(self)
    }

    /// Returns the receipt `id`, or `None` if it was never stored or has expired. Fails with
    /// [`Error::Corrupt`] if it is corrupt.
    pub fn receipt(&self, id: u128) -> Result<Option<Receipt>> {
        let receipt = Receipt::read(&self.store, id)?;
        Ok(receipt.filter(|receipt| !receipt.is_expired(self.trusted.read().expiry)))
    }

    /// Claims the exclusive right to write these receipts, or returns `None` if `ids` is empty.
    pub(crate) fn claim_receipts(&self, ids: &[u128]) -> Option<Claim<'_>> {
        let slot = |id: &u128| (Keyspace::Receipts, Receipt::key(*id).as_ref().into());
        (!ids.is_empty()).then(|| self.claims.claim(ids.iter().map(slot).collect()))
    }

    /// Returns the names, as `collection/id`, of documents that were found corrupt since startup
    /// and have not been replaced. At most [`limits::DAMAGED_NAMES_MAX`] names are recorded.
    pub fn damaged(&self) -> Vec<String> {
        self.damaged.lock().iter().cloned().collect()
    }

    /// Deletes the receipts that have expired at `now`, and corrupt ones: a request with the id of
    /// such a receipt would fail for ever. Corrupt receipts are reported as lost. Returns the
    /// number of deleted receipts.
    ///
    /// Must be called by the thread that seals: receipts of writes reach the disk there, so no
    /// receipt can be stored under an expired id between the check and the deletion.
    pub(crate) fn expire_receipts(&self, now: TimestampMs) -> Result<u64> {
        // Keys claimed and deleted at once: few enough not to delay commits.
        const STEP: usize = 1_000;
        let mut deleted = Ok(0);
        let mut expired = Vec::new();
        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            // After a failure the rest waits for the next call.
            let Ok(before) = &deleted else { return };
            if is_expired(&key, &stored, now) {
                expired.push(StoredReceiptKey(key));
            }
            if expired.len() == STEP {
                let now_deleted = self.delete_expired(mem::take(&mut expired), now);
                deleted = now_deleted.map(|count| before + count);
            }
        };
        let all = RangeOf::all(keyspaces::Receipts);
        // Unreadable parts are reported where they are repaired.
        self.store.read_skipping_damage(all, Caching::Bypass, visit)?;
        Ok(deleted? + self.delete_expired(expired, now)?)
    }

    /// Reads every document and receipt, and checks everything that does not depend on its type.
    pub(crate) fn verify(&self) -> Result<DocumentsReport> {
        let mut seen = DocumentsReport::default();
        let mut damaged = Vec::new();
        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            seen.documents += 1;
            seen.bytes += (key.len() + stored.len()) as u64;
            if let Err(damage) = collection::parse::<IgnoredAny>(&key, &stored) {
                damaged.push(format!("document {}: {damage}", display_name(&key)));
            }
        };
        let all = RangeOf::all(keyspaces::Documents);
        let gap = self.store.read_skipping_damage(all, Caching::Bypass, visit)?;
        damaged.extend(gap.map(|gap| gap.error.to_string()));

        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            seen.receipts += 1;
            seen.bytes += (key.len() + stored.len()) as u64;
            damaged.extend(read_receipt(&key, &stored).err().map(|error| error.to_string()));
        };
        let all = RangeOf::all(keyspaces::Receipts);
        let gap = self.store.read_skipping_damage(all, Caching::Bypass, visit)?;
        damaged.extend(gap.map(|gap| gap.error.to_string()));
        seen.damaged = damaged;
        Ok(seen)
    }

    /// Fails with [`Refusal::Conflict`] unless the stored document under `key` is as expected. The
    /// caller must hold a claim on the key.
    pub(super) fn check(&self, key: &DocumentKey, expect: Expect) -> Result<()> {
        let holds = match expect {
            Expect::Any => true,
            Expect::Absent => self.read(key)?.is_none(),
            Expect::Revision(expected) => match self.read(key)? {
                None => false,
                Some(stored) => {
                    let (revision, _) = collection::decode(key, &stored)
                        .map_err(|damage| collection::corrupt(key, &damage))?;
                    revision == expected
                }
            },
        };
        if holds { Ok(()) } else { Err(Refusal::Conflict.into()) }
    }

    /// Removes documents that were written or deleted from the list of corrupt documents.
    pub(super) fn forget_damage<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) {
        let mut damaged = self.damaged.lock();
        if damaged.is_empty() {
            return;
        }
        for key in keys {
            damaged.remove(&display_name(key));
        }
    }

    fn remember_damage(&self, name: String) {
        let mut damaged = self.damaged.lock();
        if damaged.len() < limits::DAMAGED_NAMES_MAX {
            damaged.insert(name);
        }
    }

    fn read(&self, key: &DocumentKey) -> Result<Option<crate::storage::Pinned<'_>>> {
        self.store.get(keyspaces::Documents, key).map_err(|error| match error {
            Error::Corrupt(why) => {
                self.remember_damage(display_name(key));
                Error::Corrupt(format!("document {}: {why}", display_name(key)))
            }
            other => other,
        })
    }

    fn delete_expired(&self, keys: Vec<StoredReceiptKey>, now: TimestampMs) -> Result<u64> {
        let slots = keys.iter().map(|key| (Keyspace::Receipts, key.0.clone())).collect();
        let _claim = self.claims.claim(slots);
        let mut batch = Batch::new();
        let mut corrupt: Vec<Error> = Vec::new();
        let stored = self.store.multi_get(keyspaces::Receipts, &keys);
        for (key, stored) in keys.iter().zip(stored) {
            let Some(stored) = stored? else { continue };
            match read_receipt(&key.0, &stored) {
                Ok(receipt) if !receipt.is_expired(now) => continue,
                Ok(_) => {}
                Err(error) => corrupt.push(error),
            }
            batch.delete(keyspaces::Receipts, key);
        }
        if let Some(first) = corrupt.first() {
            // Before the evidence is gone.
            let (count, s) = (corrupt.len(), if corrupt.len() == 1 { "" } else { "s" });
            self.store.report_loss(format!(
                "{count} receipt{s} of idempotent requests cannot be read and were deleted: a repeated request is applied \
                 again; the first: {first}"
            ));
        }
        let deleted = batch.len() as u64;
        // Not synced: if a power loss brings a receipt back, it is still expired.
        self.store.write(batch, Sync::No)?;
        Ok(deleted)
    }
}

fn read_receipt(key: &[u8], stored: &[u8]) -> Result<Receipt> {
    let id = <[u8; 16]>::try_from(key)
        .map_err(|_| Error::Corrupt(format!("receipt key of {} bytes", key.len())))?;
    Receipt::decode(u128::from_be_bytes(id), stored)
}

/// Returns whether a receipt may be deleted: it has expired or is corrupt.
fn is_expired(key: &[u8], stored: &[u8], now: TimestampMs) -> bool {
    read_receipt(key, stored).map_or(true, |receipt| receipt.is_expired(now))
}
