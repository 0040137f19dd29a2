//! Notices changes of the wall clock: the timers of alerts must not be moved by them.

use std::time::Duration;

use parking_lot::Mutex;
use telltale_engine::{Clock, TimestampMs};

/// A difference of the clocks that is a change of the wall clock, in milliseconds. Smaller ones are
/// adjustments of its speed.
const CLOCK_CHANGE_MS: u64 = 5_000;

/// Compares the wall clock with the monotonic clock.
#[derive(Debug)]
pub(super) struct ClockWatch {
    clock: Clock,
    last: Mutex<LastReading>,
}

#[derive(Clone, Copy, Debug)]
struct LastReading {
    wall: TimestampMs,
    steady: Duration,
    /// On the monotonic clock: when the wall clock was changed last, or the watch began.
    unchanged_since: Duration,
}

impl ClockWatch {
    /// Begins to watch.
    pub(super) fn new(clock: Clock) -> Self {
        let (wall, steady) = (clock.now(), clock.steady());
        let last = LastReading { wall, steady, unchanged_since: steady };
        Self { clock, last: Mutex::new(last) }
    }

    /// Returns the time.
    pub(super) fn now(&self) -> TimestampMs {
        self.clock.now()
    }

    /// Returns by how much the wall clock was changed since the last call, in milliseconds, if it
    /// was.
    pub(super) fn change(&self) -> Option<i64> {
        let mut last = self.last.lock();
        let (wall, steady) = (self.clock.now(), self.clock.steady());
        let passed = steady.saturating_sub(last.steady).as_millis();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let change = wall.0.saturating_sub(last.wall.0).saturating_sub(passed);
        (last.wall, last.steady) = (wall, steady);
        if change.unsigned_abs() <= CLOCK_CHANGE_MS {
            return None;
        }
        last.unchanged_since = steady;
        Some(change)
    }

    /// Returns when the wall clock was changed last, or the watch began, on the monotonic clock.
    pub(super) fn unchanged_since(&self) -> Duration {
        self.last.lock().unchanged_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_a_change_and_time_that_passes_is_not() {
        let clock = Clock::manual(TimestampMs(1_000_000));
        let watch = ClockWatch::new(clock.clone());
        let began = watch.unchanged_since();
        clock.set(TimestampMs(1_100_000));
        assert_eq!(watch.change(), None);
        clock.jump(TimestampMs(500_000));
        assert_eq!(watch.change(), Some(-600_000));
        assert_eq!(watch.change(), None);
        assert_eq!(watch.unchanged_since() - began, Duration::from_secs(100));
    }
}
