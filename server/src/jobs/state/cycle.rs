//! A cycle of the ledger: changes that are written together and reported only then.

use telltale_engine::{RecordBatch, TimestampMs};

use crate::jobs::history::HistoryCounts;
use crate::jobs::model::WorkerId;

/// The time on all clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::jobs) struct Now {
    /// The wall clock time.
    pub(in crate::jobs) wall: TimestampMs,
    /// The wall clock time that the engine trusts: temporary jumps of the clock do not affect it.
    pub(in crate::jobs) believed: TimestampMs,
    /// Milliseconds on the monotonic clock.
    pub(in crate::jobs) steady_ms: i64,
}

/// The changes of one cycle.
#[derive(Debug)]
pub(in crate::jobs) struct Cycle {
    pub(in crate::jobs) now: Now,
    /// The records to write.
    pub(in crate::jobs) batch: RecordBatch,
    /// The counts to add to the history once the batch is durable.
    pub(in crate::jobs) counts: HistoryCounts,
    /// Queues in which a job became ready, or that were resumed.
    pub(in crate::jobs) woken: Vec<u32>,
    /// Workers that are granted no jobs from now on.
    pub(in crate::jobs) restricted: Vec<WorkerId>,
}

impl Cycle {
    /// Returns a cycle without changes.
    pub(in crate::jobs) fn new(now: Now) -> Self {
        let (batch, counts) = (RecordBatch::new(), HistoryCounts::default());
        Self { now, batch, counts, woken: Vec::new(), restricted: Vec::new() }
    }

    /// Returns the wall clock time in milliseconds.
    pub(super) fn wall_ms(&self) -> i64 {
        self.now.wall.0
    }

    /// Returns the trusted time in milliseconds, by which durations are stored.
    pub(super) fn believed_ms(&self) -> i64 {
        self.now.believed.0
    }

    /// Wakes the fetches that wait for this queue.
    pub(super) fn wake(&mut self, queue: u32) {
        if self.woken.last() != Some(&queue) {
            self.woken.push(queue);
        }
    }
}
