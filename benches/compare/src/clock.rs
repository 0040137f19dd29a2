//! The only access to the clock of the machine.

use std::time::{Duration, Instant};

/// Time elapsed since its creation.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the only access to the clock")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }

    pub(crate) fn ms(self) -> f64 {
        self.seconds() * 1e3
    }
}

/// Waits. Peers do not report the end of their background work, so they are polled.
#[expect(clippy::disallowed_methods, reason = "the only access to the clock")]
pub(crate) fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}
