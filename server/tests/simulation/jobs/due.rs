//! When leases and retry delays end on the monotonic clock: exactly known while the ledger runs,
//! and within the precision of the stored times after a reload.

use super::model::Now;

/// The maximum length of a lease, whatever the clocks do.
const LEASE_MS_MAX: i64 = 86_400_000;

/// The earliest and the latest possible end, on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    first: i64,
    last: i64,
}

/// The lease of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lease {
    ends: Span,
    /// Its end in trusted time, as stored on disk.
    ends_believed: i64,
    /// Whether it may end at once, because the job is returned.
    is_returned: bool,
}

/// The delay before a retry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Retry {
    due: Span,
    /// Its end in wall clock time, as stored on disk.
    due_wall: i64,
    delay: i64,
    /// Whether the delay was over at some time: this may be stored, whatever the clocks do later.
    was_over: bool,
}

impl Span {
    fn at(ms: i64) -> Self {
        Self { first: ms, last: ms }
    }

    /// Includes another possible end.
    fn widen(&mut self, ms: i64) {
        *self = Self { first: self.first.min(ms), last: self.last.max(ms) };
    }
}

impl Lease {
    pub(crate) fn new(ms: i64, now: Now) -> Self {
        let ends = Span::at(now.steady + ms);
        Self { ends, ends_believed: now.believed + ms, is_returned: false }
    }

    /// Returns the lease of a job that is returned, at once or when the lease ends.
    pub(crate) fn returned(self) -> Self {
        Self { is_returned: true, ..self }
    }

    /// Returns whether the lease may have ended.
    pub(crate) fn may_be_over(&self, now: Now) -> bool {
        self.is_returned || now.steady >= self.ends.first
    }

    /// Returns whether the lease must have ended.
    pub(crate) fn must_be_over(&self, now: Now) -> bool {
        now.steady > self.ends.last
    }

    /// Records that the state was reloaded.
    pub(crate) fn reloaded(&mut self, now: Now) {
        self.ends = Span::at(self.stored_end(now));
    }

    /// Records that the state may have been reloaded.
    pub(crate) fn may_be_reloaded(&mut self, now: Now) {
        self.ends.widen(self.stored_end(now));
    }

    fn stored_end(&self, now: Now) -> i64 {
        now.steady + (self.ends_believed - now.believed).clamp(0, LEASE_MS_MAX)
    }
}

impl Retry {
    pub(crate) fn new(delay: i64, now: Now) -> Self {
        let due = Span::at(now.steady + delay);
        Self { due, due_wall: now.wall + delay, delay, was_over: false }
    }

    /// Records the current time.
    pub(crate) fn pass(&mut self, now: Now) {
        self.was_over |= now.steady >= self.due.first;
    }

    /// Returns whether another attempt would be too early.
    pub(crate) fn must_wait(&self, now: Now) -> bool {
        !self.was_over && now.steady < self.due.first
    }

    /// Returns whether another attempt must be possible.
    pub(crate) fn is_over(&self, now: Now) -> bool {
        now.steady > self.due.last
    }

    /// Records that the state was reloaded.
    pub(crate) fn reloaded(&mut self, now: Now) {
        self.due = Span::at(self.stored_due(now));
    }

    /// Records that the state may have been reloaded.
    pub(crate) fn may_be_reloaded(&mut self, now: Now) {
        self.due.widen(self.stored_due(now));
    }

    fn stored_due(&self, now: Now) -> i64 {
        now.steady + (self.due_wall - now.wall).clamp(0, self.delay)
    }
}
