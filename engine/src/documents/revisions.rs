//! The revision counter of documents.
//!
//! Revisions are leased in ranges: before the first revision of a range is assigned, the end of the
//! range is written. That write needs no sync of its own, because the log preserves order: a
//! document that survives a crash was logged after the lease of its revision. A restart continues
//! at the end of the last lease, so it may skip revisions but never repeats one.

use parking_lot::Mutex;

use super::collection;
use crate::error::Result;
use crate::storage::{Batch, Caching, Fact, RangeOf, Store, Sync, keyspaces};

/// Revisions per lease: a restart skips at most this many, and there is one extra write per this
/// many commits.
const LEASE_REVISIONS: u64 = 1_024;
/// The first revision of a new database; 0 can mean "none".
const FIRST: u64 = 1;

/// Returns the first revision after those of all stored documents. If there are any, the lease of
/// the database was lost, which is reported: revisions of deleted or corrupt documents may recur.
fn after_stored(store: &Store) -> Result<u64> {
    let (mut next, mut documents) = (FIRST, 0_u64);
    let visit = |key: Box<[u8]>, stored: Box<[u8]>| {
        documents += 1;
        if let Ok((revision, _)) = collection::decode(&key, &stored) {
            next = next.max(revision.saturating_add(1));
        }
    };
    let all = RangeOf::all(keyspaces::Documents);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    if documents > 0 || gap.is_some() {
        store.report_loss(format!(
            "the revision counter of documents; it continues at {next}, after the largest revision of {documents} stored documents"
        ));
    }
    Ok(next)
}

/// Assigns a revision to each commit.
#[derive(Debug)]
pub(super) struct Revisions(Mutex<Lease>);

#[derive(Debug)]
struct Lease {
    next: u64,
    end: u64,
}

impl Revisions {
    /// Continues after every revision that `store` may contain.
    pub(super) fn open(store: &Store) -> Result<Self> {
        let end = match store.number(Fact::DocumentRevision)? {
            None => after_stored(store)?,
            Some(end) => end,
        };
        Ok(Self(Mutex::new(Lease { next: end, end })))
    }

    /// Returns a revision greater than all earlier ones.
    pub(super) fn next(&self, store: &Store) -> Result<u64> {
        let mut lease = self.0.lock();
        if lease.next == lease.end {
            let end = lease.end + LEASE_REVISIONS;
            let mut batch = Batch::new();
            batch.put(keyspaces::Meta, &Fact::DocumentRevision, end);
            store.write(batch, Sync::No)?;
            lease.end = end;
        }
        let revision = lease.next;
        lease.next += 1;
        Ok(revision)
    }
}
