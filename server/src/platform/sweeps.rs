//! Background work: what is done again and again while the server runs.
//!
//! A sweep is bounded and safe to run twice. Sweeps run one after the other off the threads that serve, when the
//! clock says that they are due; one that fails or panics is logged once and tried again when it is next due. They
//! end with the server, after a last round. Which sweeps there are is said where the server is put together.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use telltale_engine::{Clock, TimestampMs};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// How often the clock is looked at: a sweep runs at most this late.
const LOOK: Duration = Duration::from_millis(500);

/// Work that is done again and again.
pub struct Sweep {
    name: &'static str,
    period_ms: i64,
    step: Step,
    due: Option<TimestampMs>,
    failing: bool,
}

type Step = Box<dyn FnMut(TimestampMs) -> telltale_engine::Result<()> + Send>;

impl Sweep {
    /// Work that is due at once, and then every `period`.
    pub fn new(
        name: &'static str,
        period: Duration,
        step: impl FnMut(TimestampMs) -> telltale_engine::Result<()> + Send + 'static,
    ) -> Self {
        let period_ms = i64::try_from(period.as_millis()).unwrap_or(i64::MAX).max(1);
        Self { name, period_ms, step: Box::new(step), due: None, failing: false }
    }

    /// Runs the step if it is due. A clock that was set back does not delay it by more than its period.
    fn run_if_due(&mut self, now: TimestampMs) {
        let next = TimestampMs(now.0.saturating_add(self.period_ms));
        if self.due.is_none_or(|due| due <= now || due > next) {
            self.due = Some(next);
            self.run(now);
        }
    }

    fn run(&mut self, now: TimestampMs) {
        let name = self.name;
        let cause = match catch_unwind(AssertUnwindSafe(|| (self.step)(now))) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it panicked".to_owned()),
        };
        match (&cause, self.failing) {
            (Some(cause), false) => tracing::warn!(sweep = name, cause, "a sweep fails"),
            (None, true) => tracing::info!(sweep = name, "a sweep works again"),
            _ => {}
        }
        self.failing = cause.is_some();
    }
}

impl std::fmt::Debug for Sweep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sweep")
            .field("name", &self.name)
            .field("period_ms", &self.period_ms)
            .finish()
    }
}

/// Runs the sweeps until `ending` turns true, then all of them once more.
pub async fn run(mut sweeps: Vec<Sweep>, clock: Clock, mut ending: watch::Receiver<bool>) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let last = tokio::select! {
            // A sender that is gone means the same as being told.
            _ = ending.wait_for(|end| *end) => true,
            _ = looks.tick() => false,
        };
        let clock = clock.clone();
        let round = tokio::task::spawn_blocking(move || {
            let now = clock.now();
            for sweep in &mut sweeps {
                if last { sweep.run(now) } else { sweep.run_if_due(now) }
            }
            sweeps
        });
        match round.await {
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
        for (now, expected) in
            [(0, 1), (9_999, 1), (10_000, 2), (10_001, 2), (19_999, 2), (60_000, 3), (69_999, 3)]
        {
            sweep.run_if_due(TimestampMs(now));
            assert_eq!(runs.load(Ordering::Relaxed), expected, "at {now}");
        }
    }

    #[test]
    fn a_clock_set_back_does_not_stop_a_sweep() {
        let (runs, mut sweep) = counted(|_| Ok(()));
        for now in [1_000_000, 0, 10_000] {
            sweep.run_if_due(TimestampMs(now));
        }
        assert_eq!(runs.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_sweep_that_fails_or_panics_runs_again() {
        let (runs, mut sweep) = counted(|run| match run {
            0 => panic!("as told"),
            1 => Err(telltale_engine::Error::Unavailable("as told".to_owned())),
            _ => Ok(()),
        });
        for now in [0, 10_000, 20_000, 30_000] {
            sweep.run_if_due(TimestampMs(now));
        }
        assert_eq!((runs.load(Ordering::Relaxed), sweep.failing), (4, false));
    }
}
