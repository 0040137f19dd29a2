//! Reading documents and receipts, checking them, and sweeping out what has expired.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::claims::{Claim, Claims};
use super::collection::{self, Collection, Versioned, display_name};
use super::receipt::Receipt;
use super::revisions::Revisions;
use super::transaction::{Expect, Transaction};
use crate::error::{Error, Refusal, Result};
use crate::limits;
use crate::model::TimestampMs;
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Store, Sync};
use crate::trusted_time::TrustedClock;

/// The documents of one database. May be used from any thread; calls block.
#[derive(Debug)]
pub struct Documents {
    pub(super) store: Arc<Store>,
    pub(super) claims: Claims,
    pub(super) revisions: Revisions,
    trusted: Arc<TrustedClock>,
    damaged: Mutex<BTreeSet<String>>,
}

/// What [`Documents::verify`] saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Documents read, damaged ones included.
    pub(crate) documents: u64,
    /// Receipts read, damaged ones included.
    pub(crate) receipts: u64,
    /// Bytes of keys and values read.
    pub(crate) bytes: u64,
    /// One line each: what is damaged and how.
    pub(crate) damaged: Vec<String>,
}

impl Documents {
    /// The documents in `store`. `trusted` decides which receipts have expired.
    pub(crate) fn open(store: Arc<Store>, trusted: Arc<TrustedClock>) -> Result<Self> {
        let revisions = Revisions::open(&store)?;
        let claims = Claims::default();
        Ok(Self { store, claims, revisions, trusted, damaged: Mutex::default() })
    }

    /// The document `id`, if there is one. Fails with [`Error::Corrupt`], which names the document, when it
    /// is damaged or is no `T`.
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

    /// The documents whose id begins with `prefix`, by id, ascending. Those that are damaged or are
    /// no `T` are left out, and named by [`Self::damaged`]: one of them must not hide the rest. Fails only when
    /// the storage does.
    pub fn list<T: DeserializeOwned>(
        &self,
        collection: Collection,
        prefix: &str,
    ) -> Result<Vec<(String, Versioned<T>)>> {
        let range = KeyRange::prefix(&collection.key(prefix));
        let mut found = Vec::new();
        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            let id = collection::parse_key(&key).map(|(_, id)| id.to_owned());
            match (id, collection::parse(&key, &stored)) {
                (Some(id), Ok(document)) => found.push((id, document)),
                _ => self.remember_damage(display_name(&key)),
            }
        };
        let gap =
            self.store.read_around_damage(Keyspace::Documents, &range, Caching::Keep, visit)?;
        if let Some(gap) = gap {
            let after = gap.after.map_or_else(String::new, |key| display_name(&key));
            self.remember_damage(format!("{}: the part after {after:?}", collection.0));
        }
        Ok(found)
    }

    /// Changes to be gathered and committed.
    pub fn begin(&self) -> Transaction<'_> {
        Transaction::new(self)
    }

    /// The receipt `id`; none when it was never stored or has expired. Fails with [`Error::Corrupt`] when it is
    /// damaged.
    pub fn receipt(&self, id: u128) -> Result<Option<Receipt>> {
        let receipt = Receipt::read(&self.store, id)?;
        Ok(receipt.filter(|receipt| !receipt.is_expired(self.trusted.read().expiry)))
    }

    /// The sole right to write these receipts; none is needed for none.
    pub(crate) fn claim_receipts(&self, ids: &[u128]) -> Option<Claim<'_>> {
        let slot = |id: &u128| (Keyspace::Receipts, Receipt::key(*id).into());
        (!ids.is_empty()).then(|| self.claims.claim(ids.iter().map(slot).collect()))
    }

    /// The documents that reads since the start found damaged and nobody has replaced yet, as
    /// `collection/id`. The first [`limits::DAMAGED_NAMES_MAX`] are remembered.
    pub fn damaged(&self) -> Vec<String> {
        self.damaged.lock().iter().cloned().collect()
    }

    /// Deletes the receipts that have expired at `now`, and those that nobody could ever read. Returns how
    /// many.
    ///
    /// To be called by the thread that seals: receipts of points reach the disk there, and only there
    /// nothing can store a receipt under an expired id between the look and the deletion.
    pub(crate) fn expire_receipts(&self, now: TimestampMs) -> Result<u64> {
        // Keys claimed and changes written at once: few enough not to hold up commits.
        const STEP: usize = 1_000;
        let all = KeyRange::all();
        let mut deleted = Ok(0);
        let mut expired = Vec::new();
        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            if is_expired(&key, &stored, now) {
                expired.push(key);
            }
            if expired.len() == STEP
                && let Ok(before) = &deleted
            {
                let now_deleted = self.delete_expired(mem::take(&mut expired), now);
                deleted = now_deleted.map(|count| before + count);
            }
        };
        let (keyspace, caching) = (Keyspace::Receipts, Caching::Bypass);
        // What cannot be read is told where it is healed.
        self.store.read_around_damage(keyspace, &all, caching, visit)?;
        Ok(deleted? + self.delete_expired(expired, now)?)
    }

    /// Reads every document and receipt and checks all that can be checked without knowing its type.
    pub(crate) fn verify(&self) -> Result<Verified> {
        let mut seen = Verified::default();
        let mut damaged = Vec::new();
        let all = KeyRange::all();
        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            seen.documents += 1;
            seen.bytes += (key.len() + stored.len()) as u64;
            if let Err(damage) = collection::parse::<IgnoredAny>(&key, &stored) {
                damaged.push(format!("document {}: {damage}", display_name(&key)));
            }
        };
        let gap =
            self.store.read_around_damage(Keyspace::Documents, &all, Caching::Bypass, visit)?;
        damaged.extend(gap.map(|gap| gap.error.to_string()));

        let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
            seen.receipts += 1;
            seen.bytes += (key.len() + stored.len()) as u64;
            damaged.extend(read_receipt(&key, &stored).err().map(|error| error.to_string()));
        };
        let gap =
            self.store.read_around_damage(Keyspace::Receipts, &all, Caching::Bypass, visit)?;
        damaged.extend(gap.map(|gap| gap.error.to_string()));
        seen.damaged = damaged;
        Ok(seen)
    }

    /// Whether the stored document under `key` is as expected. Its claim must be held.
    pub(super) fn check(&self, key: &[u8], expect: Expect) -> Result<()> {
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

    /// Documents that were written or deleted are damaged no more.
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

    fn read(&self, key: &[u8]) -> Result<Option<crate::storage::Pinned<'_>>> {
        self.store.get(Keyspace::Documents, key).map_err(|error| match error {
            Error::Corrupt(why) => {
                self.remember_damage(display_name(key));
                Error::Corrupt(format!("document {}: {why}", display_name(key)))
            }
            other => other,
        })
    }

    fn delete_expired(&self, keys: Vec<Box<[u8]>>, now: TimestampMs) -> Result<u64> {
        let slots = keys.iter().map(|key| (Keyspace::Receipts, key.clone())).collect();
        let _claim = self.claims.claim(slots);
        let mut batch = Batch::new();
        let stored = self.store.multi_get(Keyspace::Receipts, &keys);
        for (key, stored) in keys.iter().zip(stored) {
            if stored?.is_some_and(|stored| is_expired(key, &stored, now)) {
                batch.delete(Keyspace::Receipts, key);
            }
        }
        let deleted = batch.len() as u64;
        // A receipt that comes back after a power loss is expired still.
        self.store.write(batch, Sync::No)?;
        Ok(deleted)
    }
}

fn read_receipt(key: &[u8], stored: &[u8]) -> Result<Receipt> {
    let id = <[u8; 16]>::try_from(key)
        .map_err(|_| Error::Corrupt(format!("receipt key of {} bytes", key.len())))?;
    Receipt::decode(u128::from_be_bytes(id), stored)
}

fn is_expired(key: &[u8], stored: &[u8], now: TimestampMs) -> bool {
    read_receipt(key, stored).map_or(true, |receipt| receipt.is_expired(now))
}
