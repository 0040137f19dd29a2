//! The run: how long it lasts, when each load is due, the totals of all loads, and how far each
//! load met its schedule. The only file that waits.
//!
//! A soak test must keep a rate for an hour, so it waits for the next due time of a schedule; it
//! does not wait in order to synchronise with the server. The wait is on a condition variable, so
//! that all loads end at once when one of them fails.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use telltale_tests::Stopwatch;

/// One run of the soak, shared by all loads.
#[derive(Debug)]
pub(crate) struct Run {
    stopwatch: Stopwatch,
    length: Duration,
    has_failed: Mutex<bool>,
    changed: Condvar,
    stored: AtomicU64,
    requests: AtomicU64,
    refused: AtomicU64,
    schedules: Mutex<BTreeMap<&'static str, ScheduleCounts>>,
}

/// How far one load met its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScheduleCounts {
    /// Due times of the schedule in the whole run.
    pub(crate) planned: u64,
    /// Due times at which the load was not busy with an earlier one.
    pub(crate) met: u64,
}

/// What all loads did together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Requests that were sent, including repetitions of refused ones.
    pub(crate) requests: u64,
    /// Requests of these that were refused with 503.
    pub(crate) refused: u64,
    /// How far each load met its schedule, by its name.
    pub(crate) schedules: BTreeMap<&'static str, ScheduleCounts>,
}

impl Run {
    /// Starts a run whose loads send for `length`.
    pub(crate) fn new(length: Duration) -> Self {
        Self {
            stopwatch: Stopwatch::start(),
            length,
            has_failed: Mutex::new(false),
            changed: Condvar::new(),
            stored: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            schedules: Mutex::default(),
        }
    }

    /// Returns how long the loads send.
    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    /// Returns the time since its start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.stopwatch.elapsed()
    }

    /// Starts the schedule of the load with this name. Its first due time is now.
    pub(crate) fn schedule(&self, load: &'static str, period: Duration) -> Schedule<'_> {
        let due = self.elapsed();
        let planned = self.length.saturating_sub(due).as_nanos().div_ceil(period.as_nanos());
        let planned = u64::try_from(planned).unwrap_or(u64::MAX);
        self.lock_schedules().insert(load, ScheduleCounts { planned, met: 0 });
        Schedule { run: self, load, period, due }
    }

    /// Runs a load. When it panics, all others end at once.
    pub(crate) fn run_load<T>(&self, load: impl FnOnce() -> T) -> T {
        let _guard = EndRunOnPanic(self);
        load()
    }

    /// Returns whether a load has failed.
    pub(crate) fn has_failed(&self) -> bool {
        *self.lock_failed()
    }

    /// Waits for `pause`, or until a load fails.
    pub(crate) fn wait(&self, pause: Duration) {
        let end = self.elapsed() + pause;
        let mut has_failed = self.lock_failed();
        while !*has_failed {
            let left = end.saturating_sub(self.elapsed());
            if left.is_zero() {
                return;
            }
            has_failed = self
                .changed
                .wait_timeout(has_failed, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Adds to the samples, events and occurrences that the server has acknowledged.
    pub(crate) fn add_stored(&self, items: u64) {
        self.stored.fetch_add(items, Ordering::Relaxed);
    }

    /// Returns the samples, events and occurrences that the server has acknowledged.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Counts a request that is sent or repeated.
    pub(crate) fn add_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that was refused with 503 and will be repeated.
    pub(crate) fn add_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of requests that were refused with 503.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns the totals of all loads so far.
    pub(crate) fn totals(&self) -> Totals {
        let requests = self.requests.load(Ordering::Relaxed);
        Totals { requests, refused: self.refused(), schedules: self.lock_schedules().clone() }
    }

    fn lock_schedules(&self) -> MutexGuard<'_, BTreeMap<&'static str, ScheduleCounts>> {
        self.schedules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_failed(&self) -> MutexGuard<'_, bool> {
        self.has_failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the run when its thread panics.
struct EndRunOnPanic<'a>(&'a Run);

impl Drop for EndRunOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.lock_failed() = true;
            self.0.changed.notify_all();
        }
    }
}

/// The due times of one load: one each period, until the run is over.
#[derive(Debug)]
pub(crate) struct Schedule<'a> {
    run: &'a Run,
    load: &'static str,
    period: Duration,
    due: Duration,
}

impl Schedule<'_> {
    /// Waits for the next due time. Returns `false` when there is none: the run is over, or a load
    /// failed.
    ///
    /// Due times that passed while the load was busy are skipped: a server that stalls must not get
    /// a burst afterwards that no real client sends.
    pub(crate) fn wait(&mut self) -> bool {
        let due = self.due;
        if due >= self.run.length {
            return false;
        }
        self.run.wait(due.saturating_sub(self.run.elapsed()));
        self.due = (due + self.period).max(self.run.elapsed());
        let is_met = !self.run.has_failed() && self.run.elapsed() < self.run.length;
        if is_met && let Some(load) = self.run.lock_schedules().get_mut(self.load) {
            load.met += 1;
        }
        is_met
    }
}

#[test]
fn a_load_that_fails_ends_the_others() {
    let run = Run::new(Duration::from_secs(60));
    let mut schedule = run.schedule("waiting", Duration::from_secs(30));
    assert!(schedule.wait(), "the first due time is now");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| schedule.wait());
        let failing = scope.spawn(|| run.run_load(|| panic!("a load that fails")));
        assert!(failing.join().is_err());
        assert!(matches!(waiting.join(), Ok(false)), "the wait ends before the next due time");
    });
    assert_eq!(run.totals().schedules["waiting"], ScheduleCounts { planned: 2, met: 1 });
}
