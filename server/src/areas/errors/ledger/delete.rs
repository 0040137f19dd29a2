//! Deletes groups: at once for readers, their events later. A crash interrupts neither for good.

use std::collections::HashSet;

use telltale_engine::{Result, TimestampMs};

use super::super::activity::ActivityStore;
use super::super::model::GroupId;
use super::super::store::LedgerChanges;
use super::book::{Ledger, all_time, events_of};
use super::group::Group;
use crate::areas::errors::limits as own_limits;

impl Ledger {
    /// Deletes groups and everything that was merged into them; returns the ids of those that
    /// existed. Later occurrences create new groups. The events are deleted by the next call of
    /// [`Self::delete_events`].
    pub(in crate::areas::errors) fn delete(&self, ids: &[GroupId]) -> Result<Vec<GroupId>> {
        let _write_guard = self.write_lock.lock();
        self.delete_locked(ids)
    }

    /// Deletes groups; the caller holds `write_lock`.
    pub(super) fn delete_locked(&self, ids: &[GroupId]) -> Result<Vec<GroupId>> {
        let mut changes = LedgerChanges::default();
        let (mut deleted, mut doomed) = (Vec::new(), HashSet::new());
        {
            let mut state = self.state.write();
            for id in ids {
                if let Some(group) = state.groups.get(*id) {
                    changes.delete_group(*id);
                    doomed.extend(event_group_ids(*id, group));
                    deleted.push(*id);
                }
            }
            state.defer(deleted.iter().copied());
        }
        for id in &doomed {
            changes.put_doomed(*id);
            ActivityStore::delete(&mut changes.0, *id);
        }
        let outcome = self.store.write(changes);
        let mut state = self.state.write();
        if outcome.is_ok() {
            state.doomed.extend(doomed);
            deleted.retain(|id| state.groups.remove(*id).is_some());
            deleted.iter().for_each(|id| state.users.remove(*id));
        }
        self.release_deferred(state);
        outcome.map(|()| deleted)
    }

    /// Deletes the events of deleted groups. Called by a sweep; a call after a crash completes an
    /// interrupted one.
    pub fn delete_events(&self) -> Result<()> {
        let doomed: HashSet<GroupId> = {
            let state = self.state.read();
            // An event in flight would be stored after the deletion, so its group waits for it.
            state.doomed.iter().filter(|id| !state.numbers.has_in_flight(**id)).copied().collect()
        };
        if doomed.is_empty() {
            return Ok(());
        }
        // Event ids that are not on disk yet would be lost with their events, and an event that is
        // sent again would be counted as new.
        self.store()?;
        // All groups in one call, since each call rewrites every block that contains any of their
        // events.
        let ids = doomed.iter().map(|id| id.format()).collect();
        self.engine.delete_events(&events_of(ids, all_time()))?;
        let mut changes = LedgerChanges::default();
        doomed.iter().for_each(|id| changes.delete_doomed(*id));
        self.store.write(changes)?;
        let mut state = self.state.write();
        state.doomed.retain(|id| !doomed.contains(id));
        Ok(())
    }

    /// Deletes event ids that are too old, entries of the activity beyond those that are kept, and,
    /// if the table of groups is 90 % full, groups whose events have all expired. Called by a
    /// sweep. Holds the write lock only to delete a limited number of groups.
    pub fn trim(&self) -> Result<()> {
        let now = self.engine.trusted_time().expiry;
        let mut changes = LedgerChanges::default();
        // Event ids of past weeks, to which nothing is added.
        changes.delete_old_seen(now);
        self.store.write(changes)?;
        self.activity.trim(own_limits::ERROR_ACTIVITY_STEP)?;
        if self.groups() < self.groups_max / 10 * 9 {
            return Ok(());
        }
        let retention_ms = i64::try_from(self.retention.as_millis()).unwrap_or(i64::MAX);
        let oldest = TimestampMs(now.0.saturating_sub(retention_ms));
        while self.delete_expired(oldest, own_limits::ERRORS_EXPIRED_STEP)? > 0 {}
        Ok(())
    }

    /// Deletes up to `max` groups last seen before `oldest`; returns their number.
    pub(super) fn delete_expired(&self, oldest: TimestampMs, max: usize) -> Result<usize> {
        let _write_guard = self.write_lock.lock();
        let old = self.state.read().groups.last_seen_before(oldest, max);
        Ok(self.delete_locked(&old)?.len())
    }
}

/// Returns the group ids in the tags of a group's events: its own and those of the groups merged
/// into it.
fn event_group_ids(id: GroupId, group: &Group) -> impl Iterator<Item = GroupId> {
    let members = group.state.iter().flat_map(|group_state| group_state.members.iter().copied());
    std::iter::once(id).chain(members)
}
