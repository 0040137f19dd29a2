//! Where in an accumulator the numbers of a group and bucket are.

use crate::model::{Interval, TimeRange, TimestampMs};

/// The slots of an accumulator: every group has one per bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// The start of the first bucket.
    pub(super) first: i64,
    pub(super) width: i64,
    pub(super) buckets: usize,
    pub(super) groups: usize,
}

impl Slots {
    pub(super) fn new(range: TimeRange, interval: Interval, groups: usize) -> Self {
        let whole = range.widen_to(interval);
        let buckets = whole.len_ms() / interval.ms();
        Self {
            first: whole.start.0,
            width: interval.ms(),
            buckets: usize::try_from(buckets).unwrap_or(0),
            groups,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.buckets * self.groups
    }

    /// The bucket of an instant inside the range, or of its cell.
    #[inline]
    pub(super) fn bucket(&self, time: i64, grain: Option<Interval>) -> usize {
        let time = grain.map_or(time, |grain| TimestampMs(time).floor_to(grain).0);
        ((time - self.first) / self.width) as usize
    }

    /// The first instant after those of a bucket.
    #[inline]
    pub(super) fn stop_of(&self, bucket: usize, grain: Option<Interval>) -> i64 {
        let end = self.end_of(bucket);
        grain.map_or(end, |grain| TimestampMs(end).ceil_to(grain).0)
    }

    pub(super) fn end_of(&self, bucket: usize) -> i64 {
        self.first + (bucket as i64 + 1) * self.width
    }

    #[inline]
    pub(super) fn slot(&self, group: u32, bucket: usize) -> usize {
        group as usize * self.buckets + bucket
    }
}
