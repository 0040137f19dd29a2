//! The bucket widths that clients can name, and the choice of a width for a range. Shared by
//! metrics, events and dashboards.

use telltale_engine::{Interval, TimeRange};

use crate::limits;

/// A named bucket width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BucketWidth {
    /// `1m`
    Minute,
    /// `5m`
    FiveMinutes,
    /// `1h`
    Hour,
    /// `1d`
    Day,
}

impl BucketWidth {
    /// All widths, from the finest.
    pub const ALL: [Self; 4] = [Self::Minute, Self::FiveMinutes, Self::Hour, Self::Day];

    /// Returns the name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "1m",
            Self::FiveMinutes => "5m",
            Self::Hour => "1h",
            Self::Day => "1d",
        }
    }

    /// Returns the width named `text`, if any.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.as_str() == text)
    }

    /// Returns the width as an interval of the engine.
    pub fn interval(self) -> Interval {
        match self {
            Self::Minute => Interval::MINUTE,
            Self::FiveMinutes => Interval::FIVE_MINUTES,
            Self::Hour => Interval::HOUR,
            Self::Day => Interval::DAY,
        }
    }

    /// Returns the width of this interval, if it has a name.
    pub fn of(interval: Interval) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.interval() == interval)
    }

    /// Returns the finest width that divides `range` into at most [`limits::AUTO_BUCKETS_MAX`]
    /// buckets, or a day if none does.
    pub fn automatic(range: TimeRange) -> Self {
        let fits = |width: &Self| width.buckets(range) <= limits::AUTO_BUCKETS_MAX;
        Self::ALL.into_iter().find(fits).unwrap_or(Self::Day)
    }

    /// Returns the number of buckets of this width that overlap `range`.
    pub fn buckets(self, range: TimeRange) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let width_ms = self.interval().ms();
        let first = range.start.0.div_euclid(width_ms);
        let last = (range.end.0 - 1).div_euclid(width_ms);
        (last - first).unsigned_abs() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const DAY: i64 = 1_440 * MINUTE;

    #[test]
    fn the_finest_width_with_few_enough_buckets_is_chosen() {
        for (start, end, expected) in [
            (0, MINUTE, BucketWidth::Minute),
            (0, 1_500 * MINUTE, BucketWidth::Minute),
            // One bucket more, because the range cuts the first and the last one.
            (1, 1_500 * MINUTE + 1, BucketWidth::FiveMinutes),
            (0, 7_500 * MINUTE, BucketWidth::FiveMinutes),
            (0, 7_501 * MINUTE, BucketWidth::Hour),
            (0, 62 * DAY, BucketWidth::Hour),
            (0, 63 * DAY, BucketWidth::Day),
            (0, 100_000 * DAY, BucketWidth::Day),
        ] {
            assert_eq!(
                BucketWidth::automatic(TimeRange::new(start, end)),
                expected,
                "{start}..{end}"
            );
        }
    }

    #[test]
    fn partial_buckets_count() {
        for (start, end, expected) in [
            (0, 0, 0),
            (0, 1, 1),
            (0, MINUTE, 1),
            (MINUTE - 1, MINUTE + 1, 2),
            (-1, 1, 2),
            (5, 0, 0),
            (MINUTE + 9, MINUTE + 8, 0),
            (i64::MIN, i64::MAX, u64::try_from(i64::MAX / MINUTE).map_or(0, |n| 2 * n + 2)),
        ] {
            assert_eq!(
                BucketWidth::Minute.buckets(TimeRange::new(start, end)),
                expected,
                "{start}..{end}"
            );
        }
    }
}
