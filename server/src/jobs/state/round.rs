//! A round: what is changed together, written together, and told only then.

use telltale_engine::{RecordBatch, TimestampMs};

use crate::jobs::history::Seen;
use crate::jobs::model::WorkerId;

/// The time, by all clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::jobs) struct Now {
    /// The time of day, which may be set.
    pub(in crate::jobs) wall: TimestampMs,
    /// The time of day that the engine believes, which a clock that is set for a moment does not move.
    pub(in crate::jobs) believed: TimestampMs,
    /// Milliseconds on a clock that only moves forward.
    pub(in crate::jobs) steady_ms: i64,
}

/// Changes of one round.
#[derive(Debug)]
pub(in crate::jobs) struct Round {
    pub(in crate::jobs) now: Now,
    /// What the disk must know.
    pub(in crate::jobs) batch: RecordBatch,
    /// What histories must know, once it is on disk.
    pub(in crate::jobs) seen: Seen,
    /// Queues in which a job became ready, or that hand out jobs again.
    pub(in crate::jobs) woken: Vec<u32>,
    /// Workers that get no jobs from now on.
    pub(in crate::jobs) restricted: Vec<WorkerId>,
}

impl Round {
    /// A round that changes nothing yet.
    pub(in crate::jobs) fn new(now: Now) -> Self {
        let (batch, seen) = (RecordBatch::new(), Seen::default());
        Self { now, batch, seen, woken: Vec::new(), restricted: Vec::new() }
    }

    /// The time of day in milliseconds.
    pub(super) fn wall_ms(&self) -> i64 {
        self.now.wall.0
    }

    /// The believed time of day in milliseconds: what the disk measures durations by.
    pub(super) fn believed_ms(&self) -> i64 {
        self.now.believed.0
    }

    /// Somebody who waits for jobs of this queue may have one now.
    pub(super) fn wake(&mut self, queue: u32) {
        if self.woken.last() != Some(&queue) {
            self.woken.push(queue);
        }
    }
}
