//! Ids that senders gave to occurrences: one that is sent again is answered again and not stored again.
//!
//! Those on their way and those not yet on disk are here; the rest is on disk, looked up one by one. What is written to disk
//! stays here until the next writing begins: a look at the disk and then one here miss nothing when none began between them.
//!
//! How long they are remembered goes by the time that the engine believes, which a clock that is set for a moment does not move.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_128;

/// An id within a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::areas::errors) struct SeenKey(pub(in crate::areas::errors) u128);

impl SeenKey {
    /// The key of an id, which projects may share.
    pub(in crate::areas::errors) fn new(project: u64, event_id: u128) -> Self {
        Self(xxh3_128(&[&project.to_le_bytes()[..], &event_id.to_le_bytes()].concat()))
    }
}

/// What is known of an id.
#[derive(Debug)]
pub(super) enum Sight {
    /// It is new, and now on its way.
    New,
    /// It is stored.
    Stored,
    /// It is on its way: the receiver hears whether it was stored.
    InFlight(oneshot::Receiver<bool>),
}

/// Ids that are not only on disk.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// With those who wait to hear what becomes of it.
    on_their_way: HashMap<SeenKey, Vec<oneshot::Sender<bool>>>,
    stored: HashSet<SeenKey>,
    being_written: HashSet<SeenKey>,
    writings: u64,
}

impl Seen {
    /// How many writings have begun.
    pub(super) fn writings(&self) -> u64 {
        self.writings
    }

    /// Looks at an id that is not on disk, and takes it on when it is new.
    pub(super) fn look(&mut self, key: SeenKey) -> Sight {
        if self.stored.contains(&key) || self.being_written.contains(&key) {
            return Sight::Stored;
        }
        match self.on_their_way.get_mut(&key) {
            Some(waiting) => {
                let (tell, told) = oneshot::channel();
                waiting.push(tell);
                Sight::InFlight(told)
            }
            None => {
                self.on_their_way.insert(key, Vec::new());
                Sight::New
            }
        }
    }

    /// Tells what became of an id that was on its way.
    pub(super) fn settle(&mut self, key: SeenKey, stored: bool) {
        if stored {
            self.stored.insert(key);
        }
        for waiting in self.on_their_way.remove(&key).unwrap_or_default() {
            // Who has gone need not hear.
            let _unheard = waiting.send(stored);
        }
    }

    /// The ids that are to be written now.
    pub(super) fn begin_writing(&mut self) -> &HashSet<SeenKey> {
        self.writings += 1;
        self.being_written = std::mem::take(&mut self.stored);
        &self.being_written
    }

    /// The ids could not be written: the next writing takes them along.
    pub(super) fn writing_failed(&mut self) {
        self.stored.extend(self.being_written.drain());
    }
}
