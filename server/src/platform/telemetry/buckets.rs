//! The bucket widths that clients can name, and the choice of a width for a range. Shared by
//! metrics, events and dashboards.

use std::fmt;

use telltale_engine::{Interval, TimeRange};

use crate::limits;

/// The pattern of the names of widths.
pub const WIDTH_PATTERN: &str = "^[1-9][0-9]{0,9}[smhd]$";

/// A bucket width that has a name: a whole number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BucketWidth(Interval);

/// The units of names, from the longest, with their milliseconds.
const UNITS: [(char, i64); 4] = [('d', DAY_MS), ('h', 3_600_000), ('m', 60_000), ('s', 1_000)];
const DAY_MS: i64 = 86_400_000;

impl BucketWidth {
    /// `1m`
    pub const MINUTE: Self = Self(Interval::MINUTE);
    /// `5m`
    pub const FIVE_MINUTES: Self = Self(Interval::FIVE_MINUTES);
    /// `1h`
    pub const HOUR: Self = Self(Interval::HOUR);
    /// `1d`
    pub const DAY: Self = Self(Interval::DAY);

    /// The widths that are chosen for a range, from the finest. The engine keeps rollups of these.
    const AUTOMATIC: [Self; 4] = [Self::MINUTE, Self::FIVE_MINUTES, Self::HOUR, Self::DAY];

    /// Parses `<n>s`, `<n>m`, `<n>h` or `<n>d`; `None` if the text has another form, or if the
    /// width is over [`limits::BUCKET_WIDTH_DAYS_MAX`].
    pub fn parse(text: &str) -> Option<Self> {
        let (unit, unit_ms) = UNITS.into_iter().find(|(unit, _)| text.ends_with(*unit))?;
        let number = text.strip_suffix(unit)?;
        if number.starts_with('0') || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let ms = number.parse::<i64>().ok()?.checked_mul(unit_ms)?;
        let is_short = ms <= limits::BUCKET_WIDTH_DAYS_MAX * DAY_MS;
        Interval::from_ms(ms).filter(|_| is_short).map(Self)
    }

    /// Returns the width as an interval of the engine.
    pub fn interval(self) -> Interval {
        self.0
    }

    /// Returns the width of this interval, if it is a whole number of seconds.
    pub fn of(interval: Interval) -> Option<Self> {
        (interval.ms() % 1_000 == 0).then_some(Self(interval))
    }

    /// Returns the finest width with a rollup that divides `range` into at most
    /// [`limits::AUTO_BUCKETS_MAX`] buckets, or a day if none does.
    pub fn automatic(range: TimeRange) -> Self {
        let fits = |width: &Self| width.buckets(range) <= limits::AUTO_BUCKETS_MAX;
        Self::AUTOMATIC.into_iter().find(fits).unwrap_or(Self::DAY)
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

/// Writes the name in responses, with the longest unit that divides the width: `90s`, `5m`, `1d`.
impl fmt::Display for BucketWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.ms();
        let unit = UNITS.into_iter().find(|(_, unit_ms)| ms % unit_ms == 0);
        let (unit, unit_ms) = unit.unwrap_or(('s', 1_000));
        write!(f, "{}{unit}", ms / unit_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const DAY: i64 = 1_440 * MINUTE;

    #[test]
    fn a_width_is_a_number_of_seconds_minutes_hours_or_days() {
        for (text, ms, name) in [
            ("1s", 1_000, "1s"),
            ("15s", 15_000, "15s"),
            ("60s", MINUTE, "1m"),
            ("90s", 90_000, "90s"),
            ("1m", MINUTE, "1m"),
            ("7m", 7 * MINUTE, "7m"),
            ("90m", 90 * MINUTE, "90m"),
            ("24h", DAY, "1d"),
            ("36h", 36 * 60 * MINUTE, "36h"),
            ("3650d", 3_650 * DAY, "3650d"),
        ] {
            let width = BucketWidth::parse(text).unwrap();
            assert_eq!((width.interval().ms(), width.to_string().as_str()), (ms, name), "{text}");
            assert_eq!(BucketWidth::parse(name), Some(width), "{text}");
        }
        let bad = "  m 0m 01m +1m -1m 1 1w 1M 1.5m 1ms m1 3651d 99999999999999999999d 9223372036854775807d ١m";
        for text in bad.split(' ') {
            assert_eq!(BucketWidth::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_finest_width_with_few_enough_buckets_is_chosen() {
        for (start, end, expected) in [
            (0, MINUTE, BucketWidth::MINUTE),
            (0, 1_500 * MINUTE, BucketWidth::MINUTE),
            // One bucket more, because the range cuts the first and the last one.
            (1, 1_500 * MINUTE + 1, BucketWidth::FIVE_MINUTES),
            (0, 7_500 * MINUTE, BucketWidth::FIVE_MINUTES),
            (0, 7_501 * MINUTE, BucketWidth::HOUR),
            (0, 62 * DAY, BucketWidth::HOUR),
            (0, 63 * DAY, BucketWidth::DAY),
            (0, 100_000 * DAY, BucketWidth::DAY),
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
                BucketWidth::MINUTE.buckets(TimeRange::new(start, end)),
                expected,
                "{start}..{end}"
            );
        }
    }
}
