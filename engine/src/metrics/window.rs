//! The windows of time that blocks cover, when one is over, and how long each tier is kept.

use super::block::Tier;
use crate::model::{Interval, TimeRange, TimestampMs};
use crate::options::TierRetention;

/// The window length of blocks of a day that is not over.
pub(crate) const SHORT_WINDOW_MS: i64 = 2 * 3_600_000;
/// A window counts as over this long after its end, because agents may send late.
pub(crate) const GRACE_MS: i64 = 15 * 60_000;

/// Reports whether a window is over: only late points are still expected for it.
pub(crate) fn is_window_over(window_end: TimestampMs, now: TimestampMs) -> bool {
    window_end.0.saturating_add(GRACE_MS) <= now.0
}

/// Returns the window that a point of this time is sealed into.
pub(crate) fn window_of(time: TimestampMs, now: TimestampMs) -> TimeRange {
    let day = time.floor_to(Interval::DAY);
    let end_of_day = TimestampMs(day.0 + Interval::DAY.ms());
    if is_window_over(end_of_day, now) {
        return TimeRange { start: day, end: end_of_day };
    }
    let start = time.0 - time.0.rem_euclid(SHORT_WINDOW_MS);
    TimeRange::new(start, start + SHORT_WINDOW_MS)
}

/// Returns the retention of a tier in milliseconds.
pub(crate) fn retention_ms(retention: &TierRetention, tier: Tier) -> i64 {
    let kept = match tier {
        Tier::Raw => retention.raw,
        Tier::Minute => retention.minute,
        Tier::FiveMinutes => retention.five_minutes,
        Tier::Hour => retention.hour,
        Tier::Day => retention.day,
    };
    i64::try_from(kept.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_days_once_the_day_is_over() {
        let hour = Interval::HOUR.ms();
        let day = Interval::DAY.ms();
        let now = TimestampMs(10 * day + 5 * hour);
        let at = |t: i64| window_of(TimestampMs(t), now);
        assert_eq!(
            at(10 * day + 3 * hour),
            TimeRange::new(10 * day + 2 * hour, 10 * day + 4 * hour)
        );
        assert_eq!(at(9 * day + 7), TimeRange::new(9 * day, 10 * day));
        assert_eq!(at(11 * day), TimeRange::new(11 * day, 11 * day + 2 * hour));
        let midnight = TimestampMs(10 * day + GRACE_MS - 1);
        assert_eq!(window_of(TimestampMs(10 * day - 1), midnight).len_ms(), SHORT_WINDOW_MS);
    }
}
