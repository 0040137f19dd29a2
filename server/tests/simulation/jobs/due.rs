//! When leases and delays are over, on the steady clock: exactly while the ledger runs, and as the disk tells when it is read anew.

use super::model::Now;

/// No lease lasts longer than a day, whatever clocks do.
const LEASE_MS_MAX: i64 = 86_400_000;

/// When something ends on the steady clock: the earliest and the latest that it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    first: i64,
    last: i64,
}

/// How long a job is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lease {
    ends: Span,
    /// Its end by the time that was believed when it began: what the disk knows.
    ends_believed: i64,
    /// It may be over at once.
    is_given_back: bool,
}

/// How long a failed job waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Retry {
    due: Span,
    /// By the time of day when it failed: what the disk knows.
    due_wall: i64,
    delay: i64,
    /// The delay was over, by some clock: the disk may know, whatever clocks do later.
    was_over: bool,
}

impl Span {
    fn at(ms: i64) -> Self {
        Self { first: ms, last: ms }
    }

    /// It may end at this time as well.
    fn widen(&mut self, ms: i64) {
        *self = Self { first: self.first.min(ms), last: self.last.max(ms) };
    }
}

impl Lease {
    pub(crate) fn new(ms: i64, now: Now) -> Self {
        let ends = Span::at(now.steady + ms);
        Self { ends, ends_believed: now.believed + ms, is_given_back: false }
    }

    /// What it is when its job goes back, at once or when it ends.
    pub(crate) fn given_back(self) -> Self {
        Self { is_given_back: true, ..self }
    }

    /// Whether the job may have been taken away.
    pub(crate) fn may_be_over(&self, now: Now) -> bool {
        self.is_given_back || now.steady >= self.ends.first
    }

    /// Whether the job must have been taken away.
    pub(crate) fn must_be_over(&self, now: Now) -> bool {
        now.steady > self.ends.last
    }

    /// The disk was read.
    pub(crate) fn reread(&mut self, now: Now) {
        self.ends = Span::at(self.ends_as_read(now));
    }

    /// The disk may have been read.
    pub(crate) fn may_be_reread(&mut self, now: Now) {
        self.ends.widen(self.ends_as_read(now));
    }

    fn ends_as_read(&self, now: Now) -> i64 {
        now.steady + (self.ends_believed - now.believed).clamp(0, LEASE_MS_MAX)
    }
}

impl Retry {
    pub(crate) fn new(delay: i64, now: Now) -> Self {
        let due = Span::at(now.steady + delay);
        Self { due, due_wall: now.wall + delay, delay, was_over: false }
    }

    /// It is that late.
    pub(crate) fn pass(&mut self, now: Now) {
        self.was_over |= now.steady >= self.due.first;
    }

    /// Whether it is too early for another attempt.
    pub(crate) fn must_wait(&self, now: Now) -> bool {
        !self.was_over && now.steady < self.due.first
    }

    /// Whether nothing stands in the way of another attempt any more.
    pub(crate) fn is_over(&self, now: Now) -> bool {
        now.steady > self.due.last
    }

    /// The disk was read.
    pub(crate) fn reread(&mut self, now: Now) {
        self.due = Span::at(self.due_as_read(now));
    }

    /// The disk may have been read.
    pub(crate) fn may_be_reread(&mut self, now: Now) {
        self.due.widen(self.due_as_read(now));
    }

    fn due_as_read(&self, now: Now) -> i64 {
        now.steady + (self.due_wall - now.wall).clamp(0, self.delay)
    }
}
