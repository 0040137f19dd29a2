//! Monotonic time, for durations and rates.
//!
//! The wall clock may be set back by an hour; quotas, timers and stopwatches must not notice. Ticks
//! are the monotonic side of a [`Clock`], counted from their creation, so tests that move a clock
//! manually move the ticks with it.

use std::time::Duration;

use telltale_engine::Clock;

/// A source of monotonic time.
#[derive(Clone, Debug)]
pub struct Ticks {
    clock: Clock,
    origin: Duration,
}

impl Ticks {
    /// Returns the machine's monotonic time, counted from now.
    pub fn system() -> Self {
        Self::following(Clock::system())
    }

    /// Returns the monotonic time of a clock, counted from now.
    pub fn following(clock: Clock) -> Self {
        let origin = clock.steady();
        Self { clock, origin }
    }

    /// Returns the time since the ticks were created.
    pub fn elapsed(&self) -> Duration {
        self.clock.steady().saturating_sub(self.origin)
    }
}

impl governor::clock::Clock for Ticks {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.elapsed()
    }
}
