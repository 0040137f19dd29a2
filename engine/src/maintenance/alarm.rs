//! How writers and the keeper wake each other.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Shared between writers, the keeper and whoever asks how things stand.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    state: Mutex<State>,
    /// The keeper has something to do.
    wanted: Condvar,
    /// The keeper has done something.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    seal: bool,
    stopped: bool,
    /// Why the last seal failed.
    seal_failure: Option<String>,
    /// Why writes fail, while they do.
    read_only: Option<String>,
    /// Why the last round of merging, expiry or deletion failed.
    upkeep_failure: Option<String>,
}

impl Alarm {
    /// Asks for a seal.
    pub(crate) fn ask_for_seal(&self) {
        self.state.lock().seal = true;
        self.wanted.notify_one();
    }

    /// Waits until there is room, at most `longest`, asking for seals meanwhile. Fails with the reason why seals
    /// fail, or none when they are only slow.
    pub(crate) fn wait_for_room(
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

    /// Tells how a seal ended.
    pub(crate) fn sealed(&self, failure: Option<String>) {
        self.state.lock().seal_failure = failure;
        self.done.notify_all();
    }

    /// Tells whether writes fail, and why.
    pub(crate) fn set_read_only(&self, reason: Option<String>) {
        self.state.lock().read_only = reason;
    }

    /// Tells how a round of merging, expiry and deletion ended.
    pub(crate) fn upkept(&self, failure: Option<String>) {
        self.state.lock().upkeep_failure = failure;
    }

    /// Why merging, expiry or deletion fails, while it does.
    pub(crate) fn upkeep_failure(&self) -> Option<String> {
        self.state.lock().upkeep_failure.clone()
    }

    /// Why writes or seals fail, while they do.
    pub(crate) fn trouble(&self) -> Option<String> {
        let state = self.state.lock();
        state.read_only.clone().or_else(|| state.seal_failure.clone())
    }

    /// Ends the keeper's thread.
    pub(crate) fn stop(&self) {
        self.state.lock().stopped = true;
        self.wanted.notify_all();
    }

    /// Waits until a seal is asked for, `longest` at most. Answers whether one is, or nothing when the keeper is to stop.
    pub(crate) fn wait(&self, longest: Duration) -> Option<bool> {
        let mut state = self.state.lock();
        if !state.seal && !state.stopped {
            self.wanted.wait_for(&mut state, longest);
        }
        if state.stopped { None } else { Some(std::mem::take(&mut state.seal)) }
    }
}
