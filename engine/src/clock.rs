//! The engine's only source of time.
//!
//! A clock has two sides. The *wall* side is the time of day; it may be set forwards or backwards
//! at any moment. The *steady* side is monotonic, advances at the pace of real time and has no
//! relation to a date. Timeouts and intervals use the steady side; only data that belongs to a date
//! uses the wall side, and deletion by age uses [`crate::TrustedTime`].

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::model::TimestampMs;

/// A source of the current time. [`Clock::system`] reads the machine's clocks; [`Clock::manual`] is
/// advanced by the caller, so that tests of retention and time windows need not wait.
#[derive(Clone, Debug)]
pub struct Clock(ClockSource);

#[derive(Clone, Debug)]
enum ClockSource {
    System,
    Manual(Arc<ManualClock>),
}

#[derive(Debug)]
struct ManualClock {
    wall_ms: AtomicI64,
    steady_ms: AtomicU64,
}

/// The origin of the steady side of the system clock, shared by all clocks of the process.
#[expect(clippy::disallowed_methods, reason = "the lint names this module as the replacement")]
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock {
    /// Returns the machine's clocks. The steady side is [`Instant`], on Linux `CLOCK_MONOTONIC`: it
    /// is never set, is slewed with the wall clock, and stops while the machine is suspended, so a
    /// resume from suspend appears as a jump of the wall side alone.
    pub fn system() -> Self {
        // The steady side counts from the creation of the first clock, not from its first use.
        LazyLock::force(&ORIGIN);
        Self(ClockSource::System)
    }

    /// Returns a clock that shows `now` until it is advanced.
    pub fn manual(now: TimestampMs) -> Self {
        let (wall_ms, steady_ms) = (AtomicI64::new(now.0), AtomicU64::new(0));
        Self(ClockSource::Manual(Arc::new(ManualClock { wall_ms, steady_ms })))
    }

    /// Returns the wall time.
    #[expect(clippy::disallowed_methods, reason = "the lint names this module as the replacement")]
    pub fn now(&self) -> TimestampMs {
        match &self.0 {
            ClockSource::System => {
                // A clock before 1970 reads as 1970: no stored sample is older.
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            ClockSource::Manual(clock) => TimestampMs(clock.wall_ms.load(Ordering::Relaxed)),
        }
    }

    /// Returns the steady time, counted from an arbitrary origin in the past.
    pub fn steady(&self) -> Duration {
        match &self.0 {
            ClockSource::System => ORIGIN.elapsed(),
            ClockSource::Manual(clock) => {
                Duration::from_millis(clock.steady_ms.load(Ordering::Relaxed))
            }
        }
    }

    /// Advances both sides of a manual clock until the wall side shows `now`. If `now` is in the
    /// past, only the wall side is set back. Has no effect on the system clock.
    pub fn set(&self, now: TimestampMs) {
        if let ClockSource::Manual(clock) = &self.0 {
            let before = clock.wall_ms.swap(now.0, Ordering::Relaxed);
            let passed = u64::try_from(now.0.saturating_sub(before)).unwrap_or(0);
            clock.steady_ms.fetch_add(passed, Ordering::Relaxed);
        }
    }

    /// Sets the wall side of a manual clock, as an operator or NTP would; the steady side does not
    /// change.
    pub fn jump(&self, now: TimestampMs) {
        if let ClockSource::Manual(clock) = &self.0 {
            clock.wall_ms.store(now.0, Ordering::Relaxed);
        }
    }

    /// Advances both sides of a manual clock by `time`.
    pub fn pass(&self, time: Duration) {
        if let ClockSource::Manual(clock) = &self.0 {
            let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            clock.wall_ms.fetch_add(i64::try_from(ms).unwrap_or(i64::MAX), Ordering::Relaxed);
            clock.steady_ms.fetch_add(ms, Ordering::Relaxed);
        }
    }
}

/// Returns the whole milliseconds of a duration, saturating.
pub(crate) fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_a_manual_clock_move_together_or_separately() {
        let clock = Clock::manual(TimestampMs(1_000));
        let sides = || (clock.now().0, clock.steady().as_millis());
        clock.set(TimestampMs(1_500));
        assert_eq!(sides(), (1_500, 500));
        clock.set(TimestampMs(200));
        assert_eq!(sides(), (200, 500));
        clock.jump(TimestampMs(9_000));
        assert_eq!(sides(), (9_000, 500));
        clock.pass(Duration::from_millis(7));
        assert_eq!(sides(), (9_007, 507));
    }

    #[test]
    fn the_steady_side_of_the_system_clock_never_goes_back() {
        let clock = Clock::system();
        let (first, second) = (clock.steady(), clock.clone().steady());
        assert!(first <= second);
    }
}
