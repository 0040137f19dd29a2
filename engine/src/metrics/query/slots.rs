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

    /// Returns the bucket of a time that is not before bucket `before`: mostly that one or the
    /// next, which takes no division.
    #[inline]
    pub(super) fn bucket_from(&self, before: usize, time: i64) -> usize {
        let end = self.end_of(before);
        if time < end {
            before
        } else if time - end < self.width {
            before + 1
        } else {
            self.bucket(time, None)
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_bucket_of_a_later_time_is_found_from_an_earlier_one(
            first in -5_000i64..5_000,
            length in 1i64..90_000,
            times in prop::collection::vec(0i64..90_000, 1..20),
        ) {
            let range = TimeRange::new(first, first + length);
            let slots = Slots::new(range, Interval::from_ms(7_000).unwrap(), 1);
            let mut times: Vec<i64> = times.iter().map(|time| first + time % length).collect();
            times.sort_unstable();
            let mut bucket = slots.bucket(times[0], None);
            for time in times {
                bucket = slots.bucket_from(bucket, time);
                prop_assert_eq!(bucket, slots.bucket(time, None));
                prop_assert!(bucket < slots.len());
            }
        }
    }
}
