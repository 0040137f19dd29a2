//! The one door to the clock of the machine.

use std::time::{Duration, Instant};

/// Runs since it was made.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
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

/// Waits. Peers tell nobody when they are done with their work in the background, so they are
/// looked at again and again.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn pause(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}
