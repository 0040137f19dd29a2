//! The one door through which the engine learns what time it is.
//!
//! A clock has two sides. The *wall* side is the time of day: it may be set, forwards and backwards, by anybody at any moment.
//! The *steady* side only moves forward, at the pace of real time, and says nothing about the date. Whatever is due after a
//! while is timed by the steady side; only what belongs to a date looks at the wall side, and what deletes because of a date
//! asks [`crate::TrustedTime`].

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::model::TimestampMs;

/// The current time. [`Clock::system`] reads the machine's clocks, [`Clock::manual`] is moved by hand, so
/// that tests of retention and windows need not wait.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<ManualClock>),
}

#[derive(Debug)]
struct ManualClock {
    wall_ms: AtomicI64,
    steady_ms: AtomicU64,
}

/// Where the steady side of the machine's clock begins: all clocks of a process agree.
#[expect(clippy::disallowed_methods, reason = "this is the door that the lint points to")]
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock {
    /// The machine's clocks. The steady side is [`Instant`], on Linux `CLOCK_MONOTONIC`: it is never set, is slewed with the
    /// wall clock, and stands still while the machine is suspended, so that waking up is a jump of the wall side alone.
    pub fn system() -> Self {
        // The steady side counts from the first clock on, not from the first look at it.
        LazyLock::force(&ORIGIN);
        Self(Source::System)
    }

    /// A clock that stands at `now` until it is moved.
    pub fn manual(now: TimestampMs) -> Self {
        let (wall_ms, steady_ms) = (AtomicI64::new(now.0), AtomicU64::new(0));
        Self(Source::Manual(Arc::new(ManualClock { wall_ms, steady_ms })))
    }

    /// The time of day.
    #[expect(clippy::disallowed_methods, reason = "this is the door that the lint points to")]
    pub fn now(&self) -> TimestampMs {
        match &self.0 {
            Source::System => {
                // A clock before 1970 reads as 1970: no stored point is older.
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Source::Manual(clock) => TimestampMs(clock.wall_ms.load(Ordering::Relaxed)),
        }
    }

    /// Time on the steady side, counted from some moment before.
    pub fn steady(&self) -> Duration {
        match &self.0 {
            Source::System => ORIGIN.elapsed(),
            Source::Manual(clock) => Duration::from_millis(clock.steady_ms.load(Ordering::Relaxed)),
        }
    }

    /// Lets time pass on a manual clock until it is `now`: both sides move on. When `now` lies in the past, the wall side alone
    /// goes back. The system clock does not move.
    pub fn set(&self, now: TimestampMs) {
        if let Source::Manual(clock) = &self.0 {
            let before = clock.wall_ms.swap(now.0, Ordering::Relaxed);
            let passed = u64::try_from(now.0.saturating_sub(before)).unwrap_or(0);
            clock.steady_ms.fetch_add(passed, Ordering::Relaxed);
        }
    }

    /// Sets the wall side of a manual clock as an operator or NTP would: no time passes.
    pub fn jump(&self, now: TimestampMs) {
        if let Source::Manual(clock) = &self.0 {
            clock.wall_ms.store(now.0, Ordering::Relaxed);
        }
    }

    /// Lets time pass on a manual clock: both sides move on by as much.
    pub fn pass(&self, time: Duration) {
        if let Source::Manual(clock) = &self.0 {
            let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            clock.wall_ms.fetch_add(i64::try_from(ms).unwrap_or(i64::MAX), Ordering::Relaxed);
            clock.steady_ms.fetch_add(ms, Ordering::Relaxed);
        }
    }
}

/// The whole milliseconds of a duration, as times count them.
pub(crate) fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_manual_clock_are_moved_apart_and_together() {
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
    fn the_steady_side_of_the_machine_never_goes_back() {
        let clock = Clock::system();
        let (first, second) = (clock.steady(), clock.clone().steady());
        assert!(first <= second);
    }
}
