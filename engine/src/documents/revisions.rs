//! The counter that revisions come from.
//!
//! It is leased in strides: before the first revision of a stride is given, the end of the stride is written.
//! That write needs no sync of its own, because the log keeps order: a document that survives a crash comes
//! after the lease that its revision is from. A restart begins at the end of the last lease, so it may
//! skip revisions and never repeats one.

use parking_lot::Mutex;

use super::collection;
use crate::error::{Error, Result};
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Store, Sync};

/// Where the end of the lease is stored in [`Keyspace::Meta`]: eight bytes, little-endian.
const LEASE_KEY: &[u8] = b"documents.revision";
/// Revisions of one lease: at most this many are skipped by a restart, and one extra write is made for so
/// many commits.
const LEASE_REVISIONS: u64 = 1_024;
/// The first revision of a new database, so that 0 is free to mean "none".
const FIRST: u64 = 1;

/// The first revision that no stored document has: the lease of a database with documents is only missing when it was lost.
fn after_stored(store: &Store) -> Result<u64> {
    let mut next = FIRST;
    let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
        if let Ok((revision, _)) = collection::decode(&key, &stored) {
            next = next.max(revision.saturating_add(1));
        }
    };
    store.read_around_damage(Keyspace::Documents, &KeyRange::all(), Caching::Bypass, visit)?;
    Ok(next)
}

/// Gives each commit its revision.
#[derive(Debug)]
pub(super) struct Revisions(Mutex<Lease>);

#[derive(Debug)]
struct Lease {
    next: u64,
    end: u64,
}

impl Revisions {
    /// Goes on after every revision that `store` may hold.
    pub(super) fn open(store: &Store) -> Result<Self> {
        let end = match store.get(Keyspace::Meta, LEASE_KEY)? {
            None => after_stored(store)?,
            Some(stored) => <[u8; 8]>::try_from(&*stored)
                .map(u64::from_le_bytes)
                .map_err(|_| Error::Corrupt("revision counter is not eight bytes".to_owned()))?,
        };
        Ok(Self(Mutex::new(Lease { next: end, end })))
    }

    /// A revision larger than any given before.
    pub(super) fn next(&self, store: &Store) -> Result<u64> {
        let mut lease = self.0.lock();
        if lease.next == lease.end {
            let end = lease.end + LEASE_REVISIONS;
            let mut batch = Batch::new();
            batch.put(Keyspace::Meta, LEASE_KEY, end.to_le_bytes().to_vec());
            store.write(batch, Sync::No)?;
            lease.end = end;
        }
        let revision = lease.next;
        lease.next += 1;
        Ok(revision)
    }
}
