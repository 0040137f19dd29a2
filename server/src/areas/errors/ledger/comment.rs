//! The activity of groups: what changes add to it, comments, and how it is read.

use telltale_engine::Result;

use super::super::activity::{Action, Activity, ActivityId, ActivityStore};
use super::super::error::ErrorsError;
use super::super::model::GroupId;
use super::super::store::LedgerChanges;
use super::book::Ledger;
use super::group::GroupView;
use crate::areas::errors::limits as own_limits;

impl Ledger {
    /// Adds an entry to the activity of a group, as part of the changes that it is about.
    pub(super) fn note(&self, changes: &mut LedgerChanges, id: GroupId, activity: Activity) {
        let entry = ActivityId(self.ids.next_number());
        ActivityStore::put(&mut changes.0, id, entry, &activity);
    }

    /// Adds a comment of a user to a group, or to the one that it was merged into.
    pub(in crate::areas::errors) fn comment(
        &self,
        id: GroupId,
        text: String,
        by: &str,
    ) -> Result<(ActivityId, Activity), ErrorsError> {
        // While it is held, the group is neither deleted nor merged.
        let write_guard = self.write_lock.lock();
        let group = self.get(id).ok_or_else(|| ErrorsError::NotFound(id.format()))?;
        let activity =
            Activity { at: self.clock.now(), by: by.to_owned(), action: Action::Comment { text } };
        let (entry, mut changes) = (ActivityId(self.ids.next_number()), LedgerChanges::default());
        ActivityStore::put(&mut changes.0, group.id, entry, &activity);
        self.store.write(changes)?;
        drop(write_guard);
        self.trim_activity(group.id);
        Ok((entry, activity))
    }

    /// Deletes the oldest entries of a group if it has too many. What fails is done by the next
    /// change, or by the hourly sweep.
    pub(super) fn trim_activity(&self, group: GroupId) {
        if let Err(error) = self.activity.trim_group(group) {
            tracing::warn!(%error, "the activity of errors was not trimmed");
        }
    }

    /// Returns the newest entries of a group's activity, and of those merged into it.
    pub(in crate::areas::errors) fn activity(
        &self,
        group: &GroupView,
    ) -> Result<Vec<(ActivityId, Activity)>> {
        let members = group.state.members.iter().copied();
        let ids: Vec<GroupId> = std::iter::once(group.id).chain(members).collect();
        self.activity.newest(&ids, own_limits::ERROR_ACTIVITY_KEPT)
    }
}
