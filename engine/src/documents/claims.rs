//! Claims on document keys: make transactions serialisable without holding a lock during the sync.
//!
//! All keys of a commit are claimed in one step, so no commit holds a key while it waits for
//! another, and deadlocks are impossible.

use std::collections::{BTreeSet, HashSet};

use parking_lot::{Condvar, Mutex};

use crate::storage::Keyspace;

/// A key that a commit writes.
pub(super) type Slot = (Keyspace, Box<[u8]>);

/// The keys that commits in progress write.
#[derive(Debug, Default)]
pub(super) struct Claims {
    held: Mutex<HashSet<Slot>>,
    released: Condvar,
}

/// The exclusive right to write a set of keys, released when dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    slots: BTreeSet<Slot>,
}

impl Claims {
    /// Waits until none of `slots` is claimed, then claims them all.
    pub(super) fn claim(&self, slots: BTreeSet<Slot>) -> Claim<'_> {
        let mut held = self.held.lock();
        while slots.iter().any(|slot| held.contains(slot)) {
            self.released.wait(&mut held);
        }
        held.extend(slots.iter().cloned());
        Claim { claims: self, slots }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut held = self.claims.held.lock();
        for slot in &self.slots {
            held.remove(slot);
        }
        drop(held);
        self.claims.released.notify_all();
    }
}
