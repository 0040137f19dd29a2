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
    /// The threads have to end.
    ending: Condvar,
}

/// What is given up after a panic in it, until the next start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The thread that writes the log.
    Log,
    /// From memory to blocks.
    Seal,
    /// Merging, expiry and deletion.
    Upkeep,
}

impl Part {
    /// The part, as messages call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Log => "the log",
            Self::Seal => "sealing",
            Self::Upkeep => "merging, expiry or deletion",
        }
    }
}

#[derive(Debug, Default)]
struct State {
    /// Parts that were given up, each with the reason.
    given_up: Vec<(Part, String)>,
    #[cfg(test)]
    injected: Option<Part>,
    seal: bool,
    stopped: bool,
    /// Why the last seal failed.
    seal_failure: Option<String>,
    /// Why writes fail, while they do.
    read_only: Option<String>,
    /// Why the database takes no writes, while it does not.
    database: Option<String>,
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

    /// Tells whether the database has stopped, and why.
    pub(crate) fn set_stopped(&self, reason: Option<String>) {
        self.state.lock().database = reason;
    }

    /// Tells how a round of merging, expiry and deletion ended.
    pub(crate) fn upkept(&self, failure: Option<String>) {
        self.state.lock().upkeep_failure = failure;
    }

    /// Gives a part up. Whoever waits for it hears of that.
    pub(crate) fn fail(&self, part: Part, reason: String) {
        let mut state = self.state.lock();
        if part == Part::Seal {
            state.seal_failure = Some(reason.clone());
        }
        state.given_up.push((part, reason));
        self.done.notify_all();
    }

    /// Why a part was given up, if it was.
    pub(crate) fn given_up(&self, part: Part) -> Option<String> {
        self.state.lock().given_up(part)
    }

    /// Why nothing will be written before the next start, if that is so.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state.lock().failure()
    }

    /// Why merging, expiry or deletion fails, while it does.
    pub(crate) fn upkeep_failure(&self) -> Option<String> {
        let state = self.state.lock();
        state.given_up(Part::Upkeep).or_else(|| state.upkeep_failure.clone())
    }

    /// Why writes or seals fail, while they do.
    pub(crate) fn trouble(&self) -> Option<String> {
        let state = self.state.lock();
        let causes = [&state.read_only, &state.database, &state.seal_failure];
        state.failure().or_else(|| causes.into_iter().flatten().next().cloned())
    }

    /// Whether somebody waits for a seal.
    pub(crate) fn is_seal_wanted(&self) -> bool {
        self.state.lock().seal
    }

    /// Ends the threads of maintenance.
    pub(crate) fn stop(&self) {
        self.state.lock().stopped = true;
        self.wanted.notify_all();
        self.ending.notify_all();
    }

    /// Waits so long. Answers whether the threads are to go on.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let mut state = self.state.lock();
        if !state.stopped {
            self.ending.wait_for(&mut state, time);
        }
        !state.stopped
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

impl State {
    fn given_up(&self, part: Part) -> Option<String> {
        self.given_up.iter().find(|(given_up, _)| *given_up == part).map(|(_, why)| why.clone())
    }

    fn failure(&self) -> Option<String> {
        self.given_up(Part::Log).or_else(|| self.given_up(Part::Seal))
    }
}

#[cfg(test)]
impl Alarm {
    /// Lets the next step of a part panic.
    pub(crate) fn inject(&self, part: Part) {
        self.state.lock().injected = Some(part);
    }

    /// Panics where a test wants it.
    pub(crate) fn injected(&self, part: Part) {
        let injected = self.state.lock().injected.take_if(|injected| *injected == part).is_some();
        assert!(!injected, "as the test told");
    }
}
