//! Background work: tasks that run periodically while the server runs.
//!
//! A sweep is bounded and safe to run twice. The sweeps of one loop run one after the other on a
//! blocking thread, so a sweep that must not wait for others needs its own loop. Due times are on
//! the monotonic clock, so that a change of the wall clock neither delays nor hastens them. A sweep
//! that keeps failing is logged once, each panic separately; both are retried when the sweep is
//! next due. A sweep therefore must not keep state that a panic could leave inconsistent. The loops
//! end with the server, after a last run of every sweep. The list of sweeps is where the server is
//! assembled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use telltale_engine::{Clock, TimestampMs};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use super::panics;

/// A task that runs periodically.
pub struct Sweep {
    name: &'static str,
    period: Duration,
    step: Step,
    /// On the monotonic clock.
    due: Option<Duration>,
    failing: bool,
}

type Step = Box<dyn FnMut(TimestampMs) -> telltale_engine::Result<()> + Send>;

impl Sweep {
    /// Returns a sweep that is due at once and then every `period`; at each check of the clock if
    /// `period` is zero.
    pub fn new(
        name: &'static str,
        period: Duration,
        step: impl FnMut(TimestampMs) -> telltale_engine::Result<()> + Send + 'static,
    ) -> Self {
        Self { name, period, step: Box::new(step), due: None, failing: false }
    }

    /// Runs the step if it is due.
    fn run_if_due(&mut self, clock: &Clock) {
        let steady = clock.steady();
        if self.due.is_none_or(|due| due <= steady) {
            self.due = Some(steady.saturating_add(self.period));
            self.run(clock.now());
        }
    }

    fn run(&mut self, now: TimestampMs) {
        let name = self.name;
        let cause = match catch_unwind(AssertUnwindSafe(|| (self.step)(now))) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(payload) => {
                let message = panics::message(payload.as_ref());
                tracing::error!(sweep = name, message, "a sweep panicked");
                Some(format!("it panicked: {message}"))
            }
        };
        match (&cause, self.failing) {
            (Some(cause), false) => tracing::warn!(sweep = name, cause, "a sweep failed"),
            (None, true) => tracing::info!(sweep = name, "a sweep succeeded again"),
            _ => {}
        }
        self.failing = cause.is_some();
    }
}

impl std::fmt::Debug for Sweep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sweep").field("name", &self.name).field("period", &self.period).finish()
    }
}

/// Runs the sweeps until `ending` turns true, then all of them once more. Checks the clock every
/// `pause`: a sweep is late by at most this, plus the duration of the other sweeps.
pub async fn run(
    mut sweeps: Vec<Sweep>,
    pause: Duration,
    clock: Clock,
    mut ending: watch::Receiver<bool>,
) {
    let mut checks = interval(pause);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let last = tokio::select! {
            // A closed channel also means the end.
            _ = ending.wait_for(|end| *end) => true,
            _ = checks.tick() => false,
        };
        let clock = clock.clone();
        let pass = tokio::task::spawn_blocking(move || {
            for sweep in &mut sweeps {
                if last { sweep.run(clock.now()) } else { sweep.run_if_due(&clock) }
            }
            sweeps
        });
        match pass.await {
            Ok(back) if !last => sweeps = back,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn counted(
        outcome: impl Fn(u32) -> telltale_engine::Result<()> + Send + 'static,
    ) -> (Arc<AtomicU32>, Sweep) {
        let runs = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&runs);
        let sweep = Sweep::new("test", Duration::from_secs(10), move |_| {
            outcome(counter.fetch_add(1, Ordering::Relaxed))
        });
        (runs, sweep)
    }

    #[test]
    fn a_sweep_runs_when_it_is_due_and_not_before() {
        let (runs, mut sweep) = counted(|_| Ok(()));
        let clock = Clock::manual(TimestampMs(0));
        for (now, expected) in
            [(0, 1), (9_999, 1), (10_000, 2), (10_001, 2), (19_999, 2), (60_000, 3), (69_999, 3)]
        {
            clock.set(TimestampMs(now));
            sweep.run_if_due(&clock);
            assert_eq!(runs.load(Ordering::Relaxed), expected, "at {now}");
        }
    }

    #[test]
    fn a_change_of_the_wall_clock_neither_delays_nor_hastens_a_sweep() {
        let (runs, mut sweep) = counted(|_| Ok(()));
        let clock = Clock::manual(TimestampMs(1_000_000));
        sweep.run_if_due(&clock);
        for (pass, wall) in [(2, 0), (3, 1_000_000_000), (4, 5)] {
            clock.jump(TimestampMs(wall));
            sweep.run_if_due(&clock);
            assert_eq!(runs.load(Ordering::Relaxed), pass - 1, "a jump makes nothing due");
            clock.pass(Duration::from_secs(10));
            sweep.run_if_due(&clock);
            assert_eq!(runs.load(Ordering::Relaxed), pass);
        }
    }

    #[tokio::test]
    async fn a_long_sweep_delays_none_of_another_loop() {
        const PAUSE: Duration = Duration::from_millis(1);
        const PATIENCE: Duration = Duration::from_secs(30);
        let (end, ending) = watch::channel(false);
        let (checked, checks) = std::sync::mpsc::channel();
        let seen = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&seen);
        // Ends when the other one has run five times; then both loops end.
        let long = Sweep::new("long", Duration::from_secs(3_600), move |_| {
            while !*end.borrow() && checks.recv_timeout(PATIENCE).is_ok() {
                end.send_replace(count.fetch_add(1, Ordering::Relaxed) == 4);
            }
            end.send_replace(true);
            Ok(())
        });
        let short = Sweep::new("short", Duration::ZERO, move |_| {
            checked.send(()).map_err(|_| telltale_engine::Error::Unavailable("ended".to_owned()))
        });
        let clock = Clock::manual(TimestampMs(0));
        let long = run(vec![long], PAUSE, clock.clone(), ending.clone());
        tokio::join!(long, run(vec![short], PAUSE, clock, ending));
        assert_eq!(seen.load(Ordering::Relaxed), 5);
    }

    #[test]
    fn a_sweep_that_fails_or_panics_runs_again() {
        let (runs, mut sweep) = counted(|run| match run {
            0 => panic!("as planned"),
            1 => Err(telltale_engine::Error::Unavailable("as planned".to_owned())),
            _ => Ok(()),
        });
        let clock = Clock::manual(TimestampMs(0));
        for now in [0, 10_000, 20_000, 30_000] {
            clock.set(TimestampMs(now));
            sweep.run_if_due(&clock);
        }
        assert_eq!((runs.load(Ordering::Relaxed), sweep.failing), (4, false));
    }
}
