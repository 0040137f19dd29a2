//! Who is writing which key: what makes transactions serialisable without a lock around the sync.
//!
//! All keys of a commit are claimed in one step, so no commit holds one key while it waits for another, and
//! no two can wait for each other.

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

/// The sole right to write some keys, until dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    claims: &'a Claims,
    slots: BTreeSet<Slot>,
}

impl Claims {
    /// Waits until nobody holds any of `slots`, and takes them all.
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
