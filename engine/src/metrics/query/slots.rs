//! The positions of groups and buckets in an accumulator.

use crate::model::{Interval, TimeRange, TimestampMs};

/// The slots of an accumulator: one per group and bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// The start of the first bucket, in milliseconds.
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

    /// Returns the bucket of a time in the range: that of the start of its cell when `cell_width`
    /// is set.
    #[inline]
    pub(super) fn bucket(&self, time: i64, cell_width: Option<Interval>) -> usize {
        let time = cell_width.map_or(time, |width| TimestampMs(time).floor_to(width).0);
        ((time - self.first) / self.width) as usize
    }

    /// Returns the end of the times that belong to a bucket.
    #[inline]
    pub(super) fn stop_of(&self, bucket: usize, cell_width: Option<Interval>) -> i64 {
        let end = self.end_of(bucket);
        cell_width.map_or(end, |width| TimestampMs(end).ceil_to(width).0)
    }

    pub(super) fn end_of(&self, bucket: usize) -> i64 {
        self.first + (bucket as i64 + 1) * self.width
    }

    #[inline]
    pub(super) fn slot(&self, group: u32, bucket: usize) -> usize {
        group as usize * self.buckets + bucket
    }
}
