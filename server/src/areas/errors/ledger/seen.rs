//! Event ids given by senders: an event that is sent again is acknowledged and not stored again.
//!
//! Ids in flight and ids that are not on disk yet are in memory; all others are looked up on disk,
//! one by one. Ids that are being written stay in memory until the next flush begins: a lookup on
//! disk followed by one in memory misses nothing if no flush began between them.
//!
//! Ids expire by the engine's trusted time, which a temporary jump of the clock does not affect.

use std::collections::{HashMap, HashSet};

use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_128;

/// A hash of an event id and its project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::areas::errors) struct SeenKey(pub(in crate::areas::errors) u128);

impl SeenKey {
    /// Returns the key of an id; different projects may use the same id.
    pub(in crate::areas::errors) fn new(project: u64, event_id: u128) -> Self {
        Self(xxh3_128(&[&project.to_le_bytes()[..], &event_id.to_le_bytes()].concat()))
    }
}

/// The facts about an event id.
#[derive(Debug)]
pub(super) enum SeenStatus {
    /// The id is new, and recorded as in flight.
    New,
    /// The event is stored.
    Stored,
    /// The event is in flight: the receiver gets whether it was stored.
    InFlight(oneshot::Receiver<bool>),
}

/// Event ids that are not, or not only, on disk.
#[derive(Debug, Default)]
pub(super) struct SeenIds {
    /// Ids in flight, with those who wait for the outcome.
    in_flight: HashMap<SeenKey, Vec<oneshot::Sender<bool>>>,
    stored: HashSet<SeenKey>,
    being_written: HashSet<SeenKey>,
    writes_begun: u64,
}

impl SeenIds {
    /// Returns how many flushes have begun.
    pub(super) fn writes_begun(&self) -> u64 {
        self.writes_begun
    }

    /// Looks up an id that is not on disk, and records it as in flight if it is new.
    pub(super) fn check_or_begin(&mut self, key: SeenKey) -> SeenStatus {
        if self.stored.contains(&key) || self.being_written.contains(&key) {
            return SeenStatus::Stored;
        }
        match self.in_flight.get_mut(&key) {
            Some(waiting) => {
                let (sender, receiver) = oneshot::channel();
                waiting.push(sender);
                SeenStatus::InFlight(receiver)
            }
            None => {
                self.in_flight.insert(key, Vec::new());
                SeenStatus::New
            }
        }
    }

    /// Records the outcome of an id in flight and notifies those who wait for it.
    pub(super) fn finish(&mut self, key: SeenKey, stored: bool) {
        if stored {
            self.stored.insert(key);
        }
        // At a start, ids are stored without having been in flight.
        for waiting in self.in_flight.remove(&key).unwrap_or_default() {
            // A receiver may be gone.
            let _disconnected = waiting.send(stored);
        }
    }

    /// Begins a flush and returns the ids to write.
    pub(super) fn begin_write(&mut self) -> &HashSet<SeenKey> {
        self.writes_begun += 1;
        self.being_written = std::mem::take(&mut self.stored);
        &self.being_written
    }

    /// Adds the ids of a failed flush to the next one.
    pub(super) fn write_failed(&mut self) {
        self.stored.extend(self.being_written.drain());
    }
}
