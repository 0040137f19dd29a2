//! The state shared between writers and the maintenance threads: requests for seals, and the
//! reasons why parts of the engine fail.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Shared between writers, the maintenance threads and callers that ask for the state of the
/// engine.
#[derive(Debug, Default)]
pub(crate) struct MaintenanceState {
    state: Mutex<AlarmState>,
    /// A seal was requested, or the threads must stop.
    wanted: Condvar,
    /// A seal has ended.
    done: Condvar,
    /// The threads must stop.
    ending: Condvar,
}

/// A part of the engine that is disabled until the next start after it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Writing the write-ahead log.
    Log,
    /// Sealing: from memory to blocks.
    Seal,
    /// Compaction, expiry and deletion.
    Upkeep,
}

impl Part {
    /// Returns the name of the part in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Log => "the log",
            Self::Seal => "sealing",
            Self::Upkeep => "compaction, expiry or deletion",
        }
    }
}

#[derive(Debug, Default)]
struct AlarmState {
    /// Disabled parts, each with the reason.
    disabled: Vec<(Part, String)>,
    #[cfg(test)]
    injected: Option<Part>,
    seal: bool,
    stopped: bool,
    /// Why the last seal failed.
    seal_failure: Option<String>,
    /// Why writes fail, or `None` while they succeed.
    read_only: Option<String>,
    /// Why the database has stopped, or `None` while it works.
    database: Option<String>,
    /// Why the last pass of compaction, expiry and deletion failed.
    maintenance_failure: Option<String>,
}

impl MaintenanceState {
    /// Requests a seal.
    pub(crate) fn request_seal(&self) {
        self.state.lock().seal = true;
        self.wanted.notify_one();
    }

    /// Waits until `has_room` returns true, at most `longest`, and requests seals meanwhile. Fails
    /// with the reason if seals fail, or with `None` if they are only too slow.
    pub(crate) fn wait_for_space(
        &self,
        longest: Duration,
        has_room: impl Fn() -> bool,
    ) -> Result<(), Option<String>> {
        const STEP: Duration = Duration::from_millis(50);
        let mut waited = Duration::ZERO;
        let mut state = self.state.lock();
        while !has_room() {
            if waited >= longest || state.seal_failure.is_some() {
                return Err(state.seal_failure.clone());
            }
            state.seal = true;
            self.wanted.notify_one();
            if self.done.wait_for(&mut state, STEP).timed_out() {
                waited += STEP;
            }
        }
        Ok(())
    }

    /// Records the outcome of a seal.
    pub(crate) fn sealed(&self, failure: Option<String>) {
        self.state.lock().seal_failure = failure;
        self.done.notify_all();
    }

    /// Records whether writes fail, and why.
    pub(crate) fn set_read_only(&self, reason: Option<String>) {
        self.state.lock().read_only = reason;
    }

    /// Records whether the database has stopped, and why.
    pub(crate) fn set_database_stopped(&self, reason: Option<String>) {
        self.state.lock().database = reason;
    }

    /// Records the outcome of a pass of compaction, expiry and deletion.
    pub(crate) fn maintenance_done(&self, failure: Option<String>) {
        self.state.lock().maintenance_failure = failure;
    }

    /// Disables a part. Callers that wait for it are woken and fail.
    pub(crate) fn fail(&self, part: Part, reason: String) {
        let mut state = self.state.lock();
        if part == Part::Seal {
            state.seal_failure = Some(reason.clone());
        }
        state.disabled.push((part, reason));
        self.done.notify_all();
    }

    /// Returns why a part is disabled, or `None`.
    pub(crate) fn disabled(&self, part: Part) -> Option<String> {
        self.state.lock().disabled(part)
    }

    /// Returns why nothing will be written before the next start, or `None`.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state.lock().failure()
    }

    /// Returns why compaction, expiry or deletion fails, or `None`.
    pub(crate) fn maintenance_failure(&self) -> Option<String> {
        let state = self.state.lock();
        state.disabled(Part::Upkeep).or_else(|| state.maintenance_failure.clone())
    }

    /// Returns why writes or seals fail, or `None`.
    pub(crate) fn trouble(&self) -> Option<String> {
        let state = self.state.lock();
        let causes = [&state.read_only, &state.database, &state.seal_failure];
        state.failure().or_else(|| causes.into_iter().flatten().next().cloned())
    }

    /// Returns whether a seal is requested.
    pub(crate) fn is_seal_requested(&self) -> bool {
        self.state.lock().seal
    }

    /// Stops the maintenance threads.
    pub(crate) fn stop(&self) {
        self.state.lock().stopped = true;
        self.wanted.notify_all();
        self.ending.notify_all();
    }

    /// Returns whether the threads must stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// Waits for `time`. Returns false once the threads must stop.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.stopped {
            self.ending.wait_for(&mut state, time);
        }
        !state.stopped
    }

    /// Waits until a seal is requested, at most `longest`. Returns whether one is, or `None` once
    /// the thread must stop.
    pub(crate) fn wait(&self, longest: Duration) -> Option<bool> {
        let mut state = self.state.lock();
        if !state.seal && !state.stopped {
            self.wanted.wait_for(&mut state, longest);
        }
        if state.stopped { None } else { Some(std::mem::take(&mut state.seal)) }
    }
}

impl AlarmState {
    fn disabled(&self, part: Part) -> Option<String> {
        self.disabled.iter().find(|(disabled, _)| *disabled == part).map(|(_, why)| why.clone())
    }

    fn failure(&self) -> Option<String> {
        self.disabled(Part::Log).or_else(|| self.disabled(Part::Seal))
    }
}

#[cfg(test)]
impl MaintenanceState {
    /// Makes the next step of a part panic.
    pub(crate) fn inject(&self, part: Part) {
        self.state.lock().injected = Some(part);
    }

    /// Panics if a test has requested it for this part.
    pub(crate) fn panic_if_injected(&self, part: Part) {
        let injected = self.state.lock().injected.take_if(|injected| *injected == part).is_some();
        assert!(!injected, "injected by the test");
    }
}
