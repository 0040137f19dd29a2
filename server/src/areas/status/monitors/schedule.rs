//! When a monitor is checked next: at a moment of its own in each interval, so that those with the
//! same interval do not all check at once, and sooner while it is not known whether it is down.

use std::time::Duration;

use super::model::MonitorSettings;
use crate::areas::status::ids::MonitorId;

/// The shortest wait before a failed check is repeated.
const RETRY_MIN: Duration = Duration::from_secs(5);
/// A failed check is repeated after this part of the interval, if that is longer.
const RETRY_PART: u32 = 6;

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
    fn a_failed_check_is_repeated_soon() {
        let mut settings = examples::monitor(1).settings;
        for (interval, wait) in [(10, 5), (60, 10), (600, 100), (3_600, 600)] {
            settings.interval_seconds = interval;
            let next = next(MonitorId(7), &settings, true, Duration::from_secs(50));
            assert_eq!(next, Duration::from_secs(50 + wait), "of {interval} s");
        }
    }
}
