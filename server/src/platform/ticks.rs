//! Time that only moves forward, for measuring how long things take and how often they come.
//!
//! The wall clock may be set back by an hour; quotas and stopwatches must not notice. Tests that move the
//! clock by hand let the ticks follow it.

use std::time::{Duration, Instant};

use telltale_engine::{Clock, TimestampMs};

/// A source of monotonic time.
#[derive(Clone, Debug)]
pub struct Ticks(Source);

#[derive(Clone, Debug)]
enum Source {
    System { origin: Instant },
    Follows { clock: Clock, origin: TimestampMs },
}

impl Ticks {
    /// The machine's monotonic time, counted from now.
    #[expect(clippy::disallowed_methods, reason = "this is the door that the lint points to")]
    pub fn system() -> Self {
        Self(Source::System { origin: Instant::now() })
    }

    /// The time that passes on a clock moved by hand, counted from now.
    pub fn following(clock: Clock) -> Self {
        let origin = clock.now();
        Self(Source::Follows { clock, origin })
    }

    /// Time since the ticks began.
    pub fn elapsed(&self) -> Duration {
        match &self.0 {
            Source::System { origin } => origin.elapsed(),
            Source::Follows { clock, origin } => {
                Duration::from_millis(u64::try_from(clock.now().0 - origin.0).unwrap_or(0))
            }
        }
    }
}

impl governor::clock::Clock for Ticks {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.elapsed()
    }
}
