//! Writing down what was counted: groups, users, ids and the mark that says which events these are of, in one batch.

use telltale_engine::{Result, TimestampMs};

use super::super::model::GroupId;
use super::super::store::Changes;
use super::book::{Ledger, State};

/// What a batch that could not be written leaves to the next.
#[derive(Debug, Default)]
pub(super) struct Written {
    groups: Vec<GroupId>,
    users: Vec<GroupId>,
}

impl Ledger {
    /// Writes down what has been counted since the last time. A sweep calls it each second.
    pub fn store(&self) -> Result<()> {
        let _writing = self.writing.lock();
        self.write_down(Changes::default(), 0)
    }

    /// Writes down everything, and that it is everything: the next start need not look at events. Nothing may come any more.
    pub fn close(&self) -> Result<()> {
        let _writing = self.writing.lock();
        self.write_down(Changes::default(), self.engine.take_event_number())
    }

    /// Writes down what has been counted, together with other changes. The caller holds the lock of those who write.
    pub(super) fn write_down(&self, mut changes: Changes, closed_at: u64) -> Result<()> {
        let now = self.clock.now();
        let written = self.state.write().stage(&mut changes, now, closed_at);
        let outcome = self.store.write(changes);
        let mut state = self.state.write();
        match outcome {
            Ok(()) => state.users.trim(),
            Err(_) => state.take_back(&written),
        }
        outcome
    }
}

impl State {
    fn stage(&mut self, changes: &mut Changes, now: TimestampMs, closed_at: u64) -> Written {
        let mut written = Written { groups: self.groups.take_changed(), users: Vec::new() };
        for id in &written.groups {
            let Some(group) = self.groups.get(*id) else { continue };
            changes.put_group(*id, group);
            // An occurrence may have changed it.
            if let Some(course) = &group.course {
                changes.put_course(*id, course);
            }
        }
        for (id, users) in self.users.take_changed() {
            changes.put_users(id, users);
            written.users.push(id);
        }
        for seen in self.seen.begin_writing() {
            changes.put_seen(*seen, now);
        }
        changes.put_mark(self.numbers.mark(), closed_at);
        written
    }

    fn take_back(&mut self, written: &Written) {
        self.groups.mark_changed(&written.groups);
        self.users.mark_changed(&written.users);
        self.seen.writing_failed();
    }
}
