//! Changes to the state of groups: on disk before they are acknowledged, and reverted in memory if
//! the write fails.

use std::collections::HashSet;

use telltale_engine::Result;

use super::super::activity::{Action, Activity};
use super::super::model::{GroupId, GroupState, StateChange};
use super::super::store::LedgerChanges;
use super::book::Ledger;
use super::group::GroupView;

/// The state of a group before and after a change.
#[derive(Debug)]
struct ChangedGroup {
    id: GroupId,
    before: Option<Box<GroupState>>,
    after: Option<Box<GroupState>>,
}

impl Ledger {
    /// Changes the state of groups, or of those that they were merged into, atomically, on behalf
    /// of a user. Returns the groups that exist, each once and with their new state, and how many
    /// of them changed.
    pub(in crate::areas::errors) fn apply_change(
        &self,
        ids: &[GroupId],
        change: &StateChange,
        by: &str,
    ) -> Result<(Vec<GroupView>, usize)> {
        let write_guard = self.write_lock.lock();
        let mut changes = LedgerChanges::default();
        let mut changed = Vec::new();
        let (now, ids) = {
            let mut state = self.state.write();
            // Taken under the lock: events get their numbers under it too, so all events counted so
            // far have smaller numbers.
            let (now, next_number) = (self.clock.now(), self.engine.take_event_number());
            let mut seen = HashSet::new();
            let mut ids: Vec<GroupId> = ids.iter().map(|id| state.groups.owner(*id)).collect();
            ids.retain(|id| seen.insert(*id));
            for id in &ids {
                state.groups.change(*id, |group| {
                    let before = group.state.clone();
                    let mut after = before.as_deref().cloned().unwrap_or_default();
                    after.apply_change(change, now, next_number);
                    if after != before.as_deref().cloned().unwrap_or_default() {
                        changes.put_group_state(*id, &after);
                        let action = Action::of(change, now);
                        self.note(
                            &mut changes,
                            *id,
                            Activity { at: now, by: by.to_owned(), action },
                        );
                        group.state = Some(Box::new(after));
                        changed.push(ChangedGroup { id: *id, before, after: group.state.clone() });
                    }
                });
            }
            (now, ids)
        };
        self.store.write(changes).inspect_err(|_| self.undo(changed.iter()))?;
        let views = {
            let state = self.state.read();
            ids.iter().filter_map(|id| Some(state.groups.get(*id)?.view(*id, now))).collect()
        };
        drop(write_guard);
        // The activity of many is left to the hourly sweep: each has one entry more.
        if let [one] = changed.as_slice() {
            self.trim_activity(one.id);
        }
        Ok((views, changed.len()))
    }

    /// Reverts changes that were not written, except where an occurrence has changed the state
    /// since.
    fn undo<'m>(&self, changed: impl Iterator<Item = &'m ChangedGroup>) {
        let mut state = self.state.write();
        for ChangedGroup { id, before, after } in changed {
            state.groups.change(*id, |group| {
                if group.state == *after {
                    group.state.clone_from(before);
                }
            });
        }
    }
}
