//! Time that only moves forward, for measuring how long things take and how often they come.
//!
//! The wall clock may be set back by an hour; quotas, timers and stopwatches must not notice. It is the steady side of a
//! [`Clock`], counted from when the ticks began, so tests that move a clock by hand move the ticks with it.

use std::time::Duration;

use telltale_engine::Clock;

/// A source of monotonic time.
#[derive(Clone, Debug)]
pub struct Ticks {
    clock: Clock,
    origin: Duration,
}

impl Ticks {
    /// The machine's monotonic time, counted from now.
    pub fn system() -> Self {
        Self::following(Clock::system())
    }

    /// The time that passes on the steady side of a clock, counted from now.
    pub fn following(clock: Clock) -> Self {
        let origin = clock.steady();
        Self { clock, origin }
    }

    /// Time since the ticks began.
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
