//! When a monitor is checked next: at a moment of its own in each interval, so that those with the
//! same interval do not all check at once, and sooner while it is not known whether it is down.

use std::time::Duration;

use telltale_engine::TimestampMs;

use super::model::{MonitorSettings, MonitorTarget};
use crate::areas::status::ids::MonitorId;

/// The shortest wait before a failed check is repeated.
const RETRY_MIN: Duration = Duration::from_secs(5);
/// A failed check is repeated after this part of the interval, if that is longer.
const RETRY_PART: u32 = 6;
/// Checks that became due while the server did not run are spread over this time, if the interval
/// is not shorter.
const START_SPREAD: Duration = Duration::from_secs(60);
/// A check that is this much later than planned was not made.
const LATE_MS: i64 = 60_000;

/// Returns the time of the next check, on the monotonic clock.
pub(super) fn next(
    id: MonitorId,
    settings: &MonitorSettings,
    is_failing: bool,
    steady: Duration,
) -> Duration {
    let interval = Duration::from_secs(settings.interval_seconds.max(1).into());
    if is_failing {
        return steady + RETRY_MIN.max(interval / RETRY_PART).min(interval);
    }
    let interval_ms = interval.as_millis();
    // The last bits of an id are random.
    let phase = id.0 % interval_ms;
    let begun = (steady.as_millis() + interval_ms - phase) / interval_ms;
    let next = begun * interval_ms + phase;
    Duration::from_millis(u64::try_from(next).unwrap_or(u64::MAX))
}

/// Returns the time of the first check after the start of the server, on the monotonic clock: an
/// interval after the last one, whose time is that of the wall clock.
pub(super) fn after_start(
    id: MonitorId,
    settings: &MonitorSettings,
    last: Option<TimestampMs>,
    now: TimestampMs,
    steady: Duration,
) -> Duration {
    let interval = Duration::from_secs(settings.interval_seconds.max(1).into());
    let waited = last.and_then(|last| u64::try_from(now.0.saturating_sub(last.0)).ok());
    let waited = waited.map_or(interval, Duration::from_millis);
    match interval.checked_sub(waited) {
        Some(left) if !left.is_zero() => steady + left,
        _ => {
            let spread_ms = interval.min(START_SPREAD).as_millis();
            let wait_ms = u64::try_from(id.0 % spread_ms).unwrap_or(0);
            steady + Duration::from_millis(wait_ms)
        }
    }
}

/// Returns for how long a check says something about the state, in milliseconds. A heartbeat
/// monitor is down when nothing was heard: of it, something is always known.
pub(super) fn covered_ms(settings: &MonitorSettings) -> i64 {
    if matches!(settings.target, MonitorTarget::Heartbeat { .. }) {
        return i64::MAX;
    }
    let planned = 2 * i64::from(settings.interval_seconds) + i64::from(settings.timeout_seconds);
    planned * 1_000 + LATE_MS
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    #[test]
    fn checks_are_spread_over_the_interval_and_keep_their_moment() {
        let settings = examples::monitor(1).settings;
        let mut seconds = [0; 60];
        for number in 0..6_000 {
            let id = MonitorId(number * 0x9e37_79b9_7f4a_7c15_1234);
            let first = next(id, &settings, false, Duration::from_secs(1_000));
            assert!((1_000..1_061).contains(&first.as_secs()), "{first:?}");
            seconds[(first.as_secs() % 60) as usize] += 1;
            assert_eq!(next(id, &settings, false, first), first + Duration::from_secs(60));
        }
        assert!(seconds.iter().all(|count| (50..150).contains(count)), "{seconds:?}");
    }

    #[test]
    fn restarts_do_not_postpone_checks() {
        let mut settings = examples::monitor(1).settings;
        settings.interval_seconds = 86_400;
        let (steady, day_ms) = (Duration::from_secs(5), 86_400_000);
        let first = |last: Option<i64>, now| {
            let last = last.map(TimestampMs);
            after_start(MonitorId(61_000), &settings, last, TimestampMs(now), steady)
        };
        assert_eq!(first(Some(0), day_ms - 1), steady + Duration::from_millis(1));
        assert_eq!(first(Some(0), day_ms), steady + Duration::from_secs(1), "spread");
        assert_eq!(first(None, 0), steady + Duration::from_secs(1), "never checked");
        assert_eq!(first(Some(5), 0), steady + Duration::from_secs(1), "the clock was set back");
    }

    #[test]
    fn a_failed_check_is_repeated_soon() {
        let mut settings = examples::monitor(1).settings;
        for (interval, wait) in [(10, 5), (60, 10), (600, 100), (3_600, 600)] {
            settings.interval_seconds = interval;
            let next = next(MonitorId(7), &settings, true, Duration::from_secs(50));
            assert_eq!(next, Duration::from_secs(50 + wait), "of {interval} s");
        }
    }
}
