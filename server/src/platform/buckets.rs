//! The bucket widths that users can name, and the rule that chooses one for them. The same for metrics,
//! events and dashboards.

use telltale_engine::{Interval, TimeRange};

use crate::limits;

/// A width of buckets that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// `1m`
    Minute,
    /// `5m`
    FiveMinutes,
    /// `1h`
    Hour,
    /// `1d`
    Day,
}

impl Width {
    /// All widths, the finest first.
    pub const ALL: [Self; 4] = [Self::Minute, Self::FiveMinutes, Self::Hour, Self::Day];

    /// The name users write.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "1m",
            Self::FiveMinutes => "5m",
            Self::Hour => "1h",
            Self::Day => "1d",
        }
    }

    /// The width called `text`, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.as_str() == text)
    }

    /// The width as the engine has it.
    pub fn interval(self) -> Interval {
        match self {
            Self::Minute => Interval::MINUTE,
            Self::FiveMinutes => Interval::FIVE_MINUTES,
            Self::Hour => Interval::HOUR,
            Self::Day => Interval::DAY,
        }
    }

    /// The width that is this interval, if it has a name.
    pub fn of(interval: Interval) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.interval() == interval)
    }

    /// The finest width that cuts `range` into at most [`limits::AUTO_BUCKETS_MAX`] buckets; a day when none does.
    pub fn automatic(range: TimeRange) -> Self {
        let fits = |width: &Self| width.buckets(range) <= limits::AUTO_BUCKETS_MAX;
        Self::ALL.into_iter().find(fits).unwrap_or(Self::Day)
    }

    /// How many buckets of this width `range` touches.
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
    fn the_finest_width_that_a_screen_can_show_is_chosen() {
        for (start, end, expected) in [
            (0, MINUTE, Width::Minute),
            (0, 1_500 * MINUTE, Width::Minute),
            // One bucket more, because both ends are cut.
            (1, 1_500 * MINUTE + 1, Width::FiveMinutes),
            (0, 7_500 * MINUTE, Width::FiveMinutes),
            (0, 7_501 * MINUTE, Width::Hour),
            (0, 62 * DAY, Width::Hour),
            (0, 63 * DAY, Width::Day),
            (0, 100_000 * DAY, Width::Day),
        ] {
            assert_eq!(Width::automatic(TimeRange::new(start, end)), expected, "{start}..{end}");
        }
    }

    #[test]
    fn cut_buckets_count() {
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
                Width::Minute.buckets(TimeRange::new(start, end)),
                expected,
                "{start}..{end}"
            );
        }
    }
}
