//! Merges groups: their counts add up, and later occurrences go to the remaining group.

use telltale_engine::{Distinct, Result};

use super::super::activity::{Action, Activity};
use super::super::error::ErrorsError;
use super::super::model::GroupId;
use super::super::store::LedgerChanges;
use super::book::{Ledger, LedgerState};
use super::group::{Group, GroupView};
use super::read_users::ReadUsers;
use crate::limits;

impl Ledger {
    /// Merges all of `others` into `into`, or none of them, on behalf of a user. The state of
    /// `into` is kept.
    pub(in crate::areas::errors) fn merge(
        &self,
        into: GroupId,
        others: &[GroupId],
        by: &str,
    ) -> Result<GroupView, ErrorsError> {
        let _write_guard = self.write_lock.lock();
        let (now, believed) = (self.clock.now(), self.engine.trusted_time().believed);
        let mut changes = LedgerChanges::default();
        let (merged, others, users, staged) = {
            let (mut state, mut read) = self.lock_with_users(|state| {
                let named = others.iter().chain([&into]).copied();
                let unread = |id: &GroupId| {
                    state.groups.get(*id).is_some() && !state.users.has_complete(*id)
                };
                named.filter(unread).collect()
            });
            let (mut merged, others) = state.groups_to_merge(into, others)?;
            let users = state.merge_counts(&mut read, &mut merged, into, &others)?;
            state.defer(others.iter().map(|(id, _)| *id).chain([into]));
            // Counts are written together with the mark that they belong to, so everything counted
            // is part of this batch.
            (merged, others, users, state.stage(&mut changes, believed, 0))
        };
        others.iter().for_each(|(id, _)| changes.delete_group(*id));
        changes.put_group(into, &merged);
        changes.put_users(into, &users);
        if let Some(group_state) = &merged.state {
            changes.put_group_state(into, group_state);
        }
        if !others.is_empty() {
            let groups = others.iter().map(|(id, _)| *id).collect();
            let action = Action::Merge { groups };
            self.note(&mut changes, into, Activity { at: now, by: by.to_owned(), action });
        }
        let outcome = self.store.write(changes);
        let mut state = self.state.write();
        state.finish_flush(staged, outcome.is_ok());
        let view = merged.view(into, now);
        if outcome.is_ok() {
            for (id, _) in &others {
                drop(state.groups.remove(*id));
                state.users.remove(*id);
            }
            state.groups.insert(into, merged);
            state.users.put(into, users);
        }
        self.release_deferred(state);
        outcome.map(|()| view).map_err(ErrorsError::from)
    }
}

impl LedgerState {
    /// Adds the counts of the others to a group, and returns the users of all.
    fn merge_counts(
        &self,
        read: &mut ReadUsers,
        merged: &mut Group,
        into: GroupId,
        others: &[(GroupId, Group)],
    ) -> Result<Distinct> {
        let mut users = self.users.complete(read, into)?;
        for (id, group) in others {
            merged.absorb(group);
            users.merge(&self.users.complete(read, *id)?);
            merged.users = users.count();
            let theirs =
                group.state.iter().flat_map(|group_state| group_state.members.iter().copied());
            let group_state = merged.state.get_or_insert_default();
            group_state.members.push(*id);
            group_state.members.extend(theirs);
        }
        Ok(users)
    }

    /// Returns the group, and each of the others once.
    fn groups_to_merge(
        &self,
        into: GroupId,
        others: &[GroupId],
    ) -> Result<(Group, Vec<(GroupId, Group)>), ErrorsError> {
        let find = |id: GroupId| {
            let group = self.groups.get(id).ok_or_else(|| ErrorsError::NotFound(id.format()))?;
            Ok::<_, ErrorsError>(group.clone())
        };
        let first = find(into)?;
        let mut found: Vec<(GroupId, Group)> = Vec::new();
        for id in others.iter().filter(|id| **id != into) {
            if !found.iter().any(|(known, _)| known == id) {
                found.push((*id, find(*id)?));
            }
        }
        let members =
            |group: &Group| group.state.as_ref().map_or(0, |group_state| group_state.members.len());
        let theirs = found.iter().map(|(_, group)| 1 + members(group)).sum::<usize>();
        if 1 + members(&first) + theirs > limits::ERRORS_MERGED_MAX {
            return Err(ErrorsError::MergedTooMany);
        }
        Ok((first, found))
    }
}
