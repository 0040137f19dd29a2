//! Writing down what was counted: groups, users, ids and the mark that says which events these are of, in one batch.

use telltale_engine::{Result, TimestampMs};

use super::super::model::GroupId;
use super::super::store::LedgerChanges;
use super::book::{Ledger, State};
use super::numbers::Mark;

/// What a batch takes along: the disk's once that is written, and left to the next one if it is not.
#[derive(Debug)]
pub(super) struct StagedFlush {
    groups: Vec<GroupId>,
    users: Vec<GroupId>,
    mark: Mark,
}

impl Ledger {
    /// Writes down what has been counted since the last time. A sweep calls it each second.
    pub fn store(&self) -> Result<()> {
        self.write_down(0)
    }

    /// Writes down everything, and that it is everything: the next start need not look at events. Where one is still on its
    /// way, it must look.
    pub fn close(&self) -> Result<()> {
        self.write_down(self.engine.take_event_number())
    }

    fn write_down(&self, closed_at: u64) -> Result<()> {
        let _writing = self.writing.lock();
        let mut changes = LedgerChanges::default();
        let now = self.engine.trusted_time().believed;
        let written = self.state.write().stage(&mut changes, now, closed_at);
        let outcome = self.store.write(changes);
        self.state.write().staged(written, outcome.is_ok());
        outcome
    }
}

impl State {
    /// Adds what the disk does not have to a batch: nothing where nothing was counted.
    pub(super) fn stage(
        &mut self,
        changes: &mut LedgerChanges,
        now: TimestampMs,
        closed_at: u64,
    ) -> StagedFlush {
        let closed_at = if self.numbers.is_idle() { closed_at } else { 0 };
        let groups = self.groups.take_changed();
        for id in &groups {
            let Some(group) = self.groups.get(*id) else { continue };
            changes.put_group(*id, group);
            // An occurrence may have changed it.
            if let Some(group_state) = &group.state {
                changes.put_group_state(*id, group_state);
            }
        }
        let mut users = Vec::new();
        for (id, set) in self.users.take_changed() {
            changes.put_users(id, set);
            users.push(id);
        }
        for seen in self.seen.begin_writing() {
            changes.put_seen(*seen, now);
        }
        let mark = self.numbers.mark();
        // Where no mark is written, the disk may say longer than is true at what number the server stopped: any event since
        // has a greater one.
        if closed_at != 0 || !changes.is_empty() || self.stored.as_ref() != Some(&mark) {
            changes.put_mark(&mark, closed_at);
        }
        StagedFlush { groups, users, mark }
    }

    /// Learns whether what was staged is on disk.
    pub(super) fn staged(&mut self, written: StagedFlush, is_stored: bool) {
        if is_stored {
            self.stored = Some(written.mark);
            self.users.trim();
        } else {
            self.groups.mark_changed(&written.groups);
            self.users.mark_changed(&written.users);
            self.seen.writing_failed();
        }
    }
}
