//! What people do to groups: on disk before it is answered, and in memory only if it is.

use std::collections::HashSet;

use telltale_engine::Result;

use super::super::model::{GroupId, GroupState, StateChange};
use super::super::store::LedgerChanges;
use super::book::Ledger;
use super::group::GroupView;

/// How a group was before and is after a move.
#[derive(Debug)]
struct Moved {
    id: GroupId,
    before: Option<Box<GroupState>>,
    after: Option<Box<GroupState>>,
}

impl Ledger {
    /// Moves groups, or those that they were merged into, all or none. Returns those that there are, each once and as they are now, and
    /// how many of them changed.
    pub(in crate::areas::errors) fn apply_change(
        &self,
        ids: &[GroupId],
        order: &StateChange,
    ) -> Result<(Vec<GroupView>, usize)> {
        let _writing = self.writing.lock();
        let mut changes = LedgerChanges::default();
        let mut moved = Vec::new();
        let (now, ids) = {
            let mut state = self.state.write();
            // Taken in here: events get their numbers under this lock, so those that are counted have smaller ones.
            let (now, next_number) = (self.clock.now(), self.engine.take_event_number());
            let mut met = HashSet::new();
            let mut ids: Vec<GroupId> = ids.iter().map(|id| state.groups.owner(*id)).collect();
            ids.retain(|id| met.insert(*id));
            for id in &ids {
                state.groups.change(*id, |group| {
                    let before = group.state.clone();
                    let mut after = before.as_deref().cloned().unwrap_or_default();
                    after.apply_change(order, now, next_number);
                    if after != before.as_deref().cloned().unwrap_or_default() {
                        changes.put_group_state(*id, &after);
                        group.state = Some(Box::new(after));
                        moved.push(Moved { id: *id, before, after: group.state.clone() });
                    }
                });
            }
            (now, ids)
        };
        self.store.write(changes).inspect_err(|_| self.undo(moved.iter()))?;
        let state = self.state.read();
        let views = ids.iter().filter_map(|id| Some(state.groups.get(*id)?.view(*id, now)));
        Ok((views.collect(), moved.len()))
    }

    /// Takes moves back that are not on disk; where an occurrence has come between, it has the last word.
    fn undo<'m>(&self, moved: impl Iterator<Item = &'m Moved>) {
        let mut state = self.state.write();
        for Moved { id, before, after } in moved {
            state.groups.change(*id, |group| {
                if group.state == *after {
                    group.state.clone_from(before);
                }
            });
        }
    }
}
