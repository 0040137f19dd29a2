//! Instants, half-open time ranges and bucket widths, all in milliseconds; instants since the Unix
//! epoch, UTC.

use std::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z. Never negative for a stored sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TimestampMs(pub i64);

impl TimestampMs {
    /// Returns the start of the bucket of `width` that contains this instant; buckets are aligned
    /// to the epoch.
    pub fn floor_to(self, width: Interval) -> Self {
        Self(self.0 - self.0.rem_euclid(width.ms()))
    }

    /// Returns the first bucket start at or after this instant.
    pub fn ceil_to(self, width: Interval) -> Self {
        let down = self.floor_to(width);
        if down == self { self } else { Self(down.0 + width.ms()) }
    }
}

/// A half-open time range: `start <= t < end`. May be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// The first instant of the range.
    pub start: TimestampMs,
    /// The first instant after the range.
    pub end: TimestampMs,
}

impl TimeRange {
    /// Every time that a sample may have.
    pub(crate) const ALL: Self = Self { start: TimestampMs(i64::MIN), end: TimestampMs(i64::MAX) };

    /// Returns the range from `start_ms` up to, not including, `end_ms`.
    pub fn new(start_ms: i64, end_ms: i64) -> Self {
        Self { start: TimestampMs(start_ms), end: TimestampMs(end_ms) }
    }

    /// Returns whether the range contains no instant.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Returns whether the range contains `t`.
    pub fn contains(self, t: TimestampMs) -> bool {
        self.start <= t && t < self.end
    }

    /// Returns the intersection of both ranges; empty if they do not overlap.
    pub fn intersect(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// Returns the length in milliseconds, 0 if the range is empty.
    pub fn len_ms(self) -> i64 {
        (self.end.0 - self.start.0).max(0)
    }

    /// Returns the smallest range of whole buckets of `width` that contains this one.
    pub fn widen_to(self, width: Interval) -> Self {
        Self { start: self.start.floor_to(width), end: self.end.ceil_to(width) }
    }
}

/// The width of a bucket: a positive number of milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval(i64);

impl Interval {
    /// One millisecond: the resolution of timestamps.
    pub(crate) const MILLISECOND: Self = Self(1);
    /// One minute.
    pub const MINUTE: Self = Self(60_000);
    /// Five minutes.
    pub const FIVE_MINUTES: Self = Self(300_000);
    /// One hour.
    pub const HOUR: Self = Self(3_600_000);
    /// One day.
    pub const DAY: Self = Self(86_400_000);
    /// A width that covers every valid time, in a single bucket that consists of whole buckets of
    /// every other width.
    pub const WHOLE: Self = Self(4_000_000 * Self::DAY.0);

    /// Returns a width of `ms` milliseconds, or `None` unless `ms` is positive.
    pub fn from_ms(ms: i64) -> Option<Self> {
        (ms > 0).then_some(Self(ms))
    }

    /// Returns the width in milliseconds.
    pub fn ms(self) -> i64 {
        self.0
    }

    /// Returns whether buckets of `self` consist of whole buckets of `finer`.
    pub fn is_multiple_of(self, finer: Self) -> bool {
        self.0 % finer.0 == 0
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}
