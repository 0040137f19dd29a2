//! Writes what was counted to disk: groups, user sets, event ids, and the mark of the events that
//! they include, in one batch.

use telltale_engine::{Result, TimestampMs};

use super::super::model::GroupId;
use super::super::store::LedgerChanges;
use super::book::{Ledger, LedgerState};
use super::numbers::Mark;

/// The contents of a batch. If the write fails, the next batch contains them again.
#[derive(Debug)]
pub(super) struct StagedFlush {
    groups: Vec<GroupId>,
    users: Vec<GroupId>,
    mark: Mark,
}

impl Ledger {
    /// Writes what was counted since the last call. Called by a sweep each second.
    pub fn store(&self) -> Result<()> {
        self.flush(0)
    }

    /// Writes everything, and records a clean shutdown, so that the next start need not read
    /// events. If an event is still in flight, the shutdown does not count as clean.
    pub fn close(&self) -> Result<()> {
        self.flush(self.engine.take_event_number())
    }

    fn flush(&self, closed_at: u64) -> Result<()> {
        let _write_guard = self.write_lock.lock();
        let mut changes = LedgerChanges::default();
        let now = self.engine.trusted_time().believed;
        let staged = self.state.write().stage(&mut changes, now, closed_at);
        let outcome = self.store.write(changes);
        self.state.write().finish_flush(staged, outcome.is_ok());
        outcome
    }
}

impl LedgerState {
    /// Adds to a batch what is not on disk yet; adds nothing if nothing was counted.
    pub(super) fn stage(
        &mut self,
        changes: &mut LedgerChanges,
        now: TimestampMs,
        closed_at: u64,
    ) -> StagedFlush {
        let closed_at = if self.numbers.is_idle() { closed_at } else { 0 };
        for (id, users) in self.users.count_again() {
            self.groups.set_users(id, users);
        }
        let groups = self.groups.take_changed();
        for id in &groups {
            let Some(group) = self.groups.get(*id) else {
                unreachable!("a removed group is not listed as changed: {}", id.format())
            };
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
        for seen in self.seen.begin_write() {
            changes.put_seen(*seen, now);
        }
        let mark = self.numbers.mark();
        // If no mark is written, the disk may keep a `closed_at` that is no longer current. That is
        // harmless: every event since has a greater number.
        if closed_at != 0 || !changes.is_empty() || self.stored.as_ref() != Some(&mark) {
            changes.put_mark(&mark, closed_at);
        }
        StagedFlush { groups, users, mark }
    }

    /// Records whether the staged contents were written.
    pub(super) fn finish_flush(&mut self, staged: StagedFlush, is_stored: bool) {
        if is_stored {
            self.stored = Some(staged.mark);
            self.users.trim();
        } else {
            self.groups.mark_changed(&staged.groups);
            self.users.mark_changed(&staged.users);
            self.seen.write_failed();
        }
    }
}
