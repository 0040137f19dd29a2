//! The run: how long it lasts, when each load is due, what all loads count together, and which part of its plan each has met.
//! The one place that waits.
//!
//! A soak is a real-time program: it must keep a rate for an hour, so waiting until the next moment of a schedule is what it is
//! about, and not a synchronisation with the server. The wait is on a condition variable, so that the loads end at once when one
//! of them fails.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use telltale_tests::Stopwatch;

/// One run of the soak, shared by all loads.
#[derive(Debug)]
pub(crate) struct Run {
    watch: Stopwatch,
    length: Duration,
    has_failed: Mutex<bool>,
    changed: Condvar,
    stored: AtomicU64,
    requests: AtomicU64,
    refused: AtomicU64,
    met: Mutex<BTreeMap<&'static str, Met>>,
}

/// What became of the schedule of one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Met {
    /// Moments of the schedule in the whole run.
    pub(crate) planned: u64,
    /// Moments at which the load was not busy with one before.
    pub(crate) met: u64,
}

/// What all loads did together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Requests that were sent, with repetitions of those that were refused.
    pub(crate) requests: u64,
    /// Requests of these that were refused with 503.
    pub(crate) refused: u64,
    /// Schedules by the names of the loads.
    pub(crate) met: BTreeMap<&'static str, Met>,
}

impl Run {
    /// Starts a run that sends for so long.
    pub(crate) fn new(length: Duration) -> Self {
        Self {
            watch: Stopwatch::start(),
            length,
            has_failed: Mutex::new(false),
            changed: Condvar::new(),
            stored: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            met: Mutex::default(),
        }
    }

    /// How long it sends.
    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    /// The time since its start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.watch.elapsed()
    }

    /// The schedule of the load with this name. Its first moment is now.
    pub(crate) fn pace(&self, load: &'static str, period: Duration) -> Pace<'_> {
        let due = self.elapsed();
        let planned = self.length.saturating_sub(due).as_nanos().div_ceil(period.as_nanos());
        let planned = u64::try_from(planned).unwrap_or(u64::MAX);
        self.lock_met().insert(load, Met { planned, met: 0 });
        Pace { run: self, load, period, due }
    }

    /// Runs a load. When it panics, all others end at their next moment.
    pub(crate) fn watched<T>(&self, load: impl FnOnce() -> T) -> T {
        let _alarm = Alarm(self);
        load()
    }

    /// Whether a load has failed.
    pub(crate) fn has_failed(&self) -> bool {
        *self.lock()
    }

    /// Waits for `pause`, or until a load fails.
    pub(crate) fn rest(&self, pause: Duration) {
        let end = self.elapsed() + pause;
        let mut has_failed = self.lock();
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

    /// Adds to the points, events and occurrences that the server has acknowledged.
    pub(crate) fn add_stored(&self, items: u64) {
        self.stored.fetch_add(items, Ordering::Relaxed);
    }

    /// The points, events and occurrences that the server has acknowledged.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Counts a request that is sent, or sent again.
    pub(crate) fn add_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that was refused with 503 and is sent again.
    pub(crate) fn add_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests that were refused with 503.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// What all loads did so far.
    pub(crate) fn totals(&self) -> Totals {
        let requests = self.requests.load(Ordering::Relaxed);
        Totals { requests, refused: self.refused(), met: self.lock_met().clone() }
    }

    fn lock_met(&self) -> MutexGuard<'_, BTreeMap<&'static str, Met>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.has_failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the run when the thread that holds it panics.
struct Alarm<'a>(&'a Run);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.lock() = true;
            self.0.changed.notify_all();
        }
    }
}

/// The moments of one load: one each period, until the run is over.
#[derive(Debug)]
pub(crate) struct Pace<'a> {
    run: &'a Run,
    load: &'static str,
    period: Duration,
    due: Duration,
}

impl Pace<'_> {
    /// Waits for the next moment. Returns `false` when there is none: the run is over, or a load failed.
    ///
    /// Moments that passed while the load was busy are left out: a server that stalls must not be met by a burst that no real
    /// client sends.
    pub(crate) fn wait(&mut self) -> bool {
        let due = self.due;
        if due >= self.run.length {
            return false;
        }
        self.run.rest(due.saturating_sub(self.run.elapsed()));
        self.due = (due + self.period).max(self.run.elapsed());
        let is_met = !self.run.has_failed() && self.run.elapsed() < self.run.length;
        if is_met && let Some(load) = self.run.lock_met().get_mut(self.load) {
            load.met += 1;
        }
        is_met
    }
}

#[test]
fn a_load_that_fails_ends_the_others() {
    let run = Run::new(Duration::from_secs(60));
    let mut pace = run.pace("waiting", Duration::from_secs(30));
    assert!(pace.wait(), "the first moment is now");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pace.wait());
        let failing = scope.spawn(|| run.watched(|| panic!("a load that fails")));
        assert!(failing.join().is_err());
        assert!(matches!(waiting.join(), Ok(false)), "half a minute early");
    });
    assert_eq!(run.totals().met["waiting"], Met { planned: 2, met: 1 });
}
