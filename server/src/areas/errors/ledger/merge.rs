//! Several groups become one: what was counted adds up, and what comes later goes to the one as well.

use telltale_engine::Result;

use super::super::error::ErrorsError;
use super::super::model::GroupId;
use super::super::store::Changes;
use super::book::{Ledger, State};
use super::group::{Group, GroupView};
use crate::limits;

impl Ledger {
    /// Makes all of `others` part of `into`, or none of them. The state is that of `into`.
    pub(in crate::areas::errors) fn merge(
        &self,
        into: GroupId,
        others: &[GroupId],
    ) -> Result<GroupView, ErrorsError> {
        let _writing = self.writing.lock();
        let mut changes = Changes::default();
        let (before, users) = {
            let mut state = self.state.write();
            let before = state.groups_of(into, others)?;
            let users = state.users.get(&self.store, into)?;
            let merged = state.unite(self, into, &before)?;
            if let Some(course) = &merged.course {
                changes.put_course(into, course);
            }
            state.groups.insert(into, merged);
            state.groups.mark_changed(&[into]);
            (before, users)
        };
        before.iter().skip(1).for_each(|(id, _)| changes.delete_group(*id));
        // Counts go down with the mark that they are of, so all that was counted goes with them.
        if let Err(error) = self.write_down(changes, 0) {
            let mut state = self.state.write();
            drop(state.groups.remove(into));
            for (id, group) in before {
                state.groups.insert(id, group);
                state.groups.mark_changed(&[id]);
            }
            state.users.put(into, users);
            return Err(error.into());
        }
        {
            let mut state = self.state.write();
            before.iter().skip(1).for_each(|(id, _)| state.users.remove(*id));
        }
        self.get(into).ok_or(ErrorsError::NotFound(into.text()))
    }
}

impl State {
    /// The group and the others, in this order, each once.
    fn groups_of(
        &self,
        into: GroupId,
        others: &[GroupId],
    ) -> Result<Vec<(GroupId, Group)>, ErrorsError> {
        let mut found: Vec<(GroupId, Group)> = Vec::new();
        for id in std::iter::once(&into).chain(others) {
            if found.iter().any(|(known, _)| known == id) {
                continue;
            }
            let group = self.groups.get(*id).ok_or_else(|| ErrorsError::NotFound(id.text()))?;
            found.push((*id, group.clone()));
        }
        let members =
            |group: &Group| group.course.as_ref().map_or(0, |course| course.members.len());
        let all = found.iter().map(|(_, group)| 1 + members(group)).sum::<usize>();
        if all > limits::ERRORS_MERGED_MAX { Err(ErrorsError::MergedTooMany) } else { Ok(found) }
    }

    /// Takes the groups out and answers what they are together.
    fn unite(
        &mut self,
        ledger: &Ledger,
        into: GroupId,
        groups: &[(GroupId, Group)],
    ) -> Result<Group, ErrorsError> {
        let mut all = groups.iter();
        let Some((_, first)) = all.next() else { return Err(ErrorsError::NotFound(into.text())) };
        let mut merged = first.clone();
        for (id, group) in all {
            merged.absorb(group);
            merged.users = self.users.merge(&ledger.store, into, *id)?;
            let theirs = group.course.iter().flat_map(|course| course.members.iter().copied());
            let course = merged.course.get_or_insert_default();
            course.members.push(*id);
            course.members.extend(theirs);
        }
        groups.iter().for_each(|(id, _)| drop(self.groups.remove(*id)));
        Ok(merged)
    }
}
