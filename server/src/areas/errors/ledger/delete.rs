//! Groups that go: at once for everybody who looks, their events afterwards, and neither is forgotten by a crash.

use std::collections::HashSet;

use telltale_engine::{Result, TimestampMs};

use super::super::model::GroupId;
use super::super::store::LedgerChanges;
use super::book::{Ledger, all_time, events_of};
use super::group::Group;

impl Ledger {
    /// Deletes groups with everything that was merged into them, and answers which of them there were. What comes later begins
    /// new groups. Their events go with the next call of [`Self::delete_events`].
    pub(in crate::areas::errors) fn delete(&self, ids: &[GroupId]) -> Result<Vec<GroupId>> {
        let _writing = self.writing.lock();
        self.delete_held(ids)
    }

    /// The same for who holds the right to write.
    pub(super) fn delete_held(&self, ids: &[GroupId]) -> Result<Vec<GroupId>> {
        let mut changes = LedgerChanges::default();
        let (mut gone, mut doomed) = (Vec::new(), HashSet::new());
        {
            let mut state = self.state.write();
            for id in ids {
                if let Some(group) = state.groups.get(*id) {
                    changes.delete_group(*id);
                    doomed.extend(of_group(*id, group));
                    gone.push(*id);
                }
            }
            state.hold_back(gone.iter().copied());
        }
        doomed.iter().for_each(|id| changes.put_doomed(*id));
        let outcome = self.store.write(changes);
        let mut state = self.state.write();
        if outcome.is_ok() {
            state.doomed.extend(doomed);
            gone.retain(|id| state.groups.remove(*id).is_some());
            gone.iter().for_each(|id| state.users.remove(*id));
        }
        self.let_go(state);
        outcome.map(|()| gone)
    }

    /// Deletes the events of deleted groups. A sweep calls it; what a crash interrupts, the next call does again.
    pub fn delete_events(&self) -> Result<()> {
        let doomed: HashSet<GroupId> = {
            let state = self.state.read();
            // An event on its way would come after the deletion: its group waits for it.
            state.doomed.iter().filter(|id| !state.numbers.awaits(**id)).copied().collect()
        };
        if doomed.is_empty() {
            return Ok(());
        }
        // Their ids would be forgotten with them, and who sends one again would tell of a new error.
        self.store()?;
        // All at once: each time, every block that holds any of their events is written anew.
        let names = doomed.iter().map(|id| id.format()).collect();
        self.engine.delete_events(&events_of(names, all_time()))?;
        let mut changes = LedgerChanges::default();
        doomed.iter().for_each(|id| changes.delete_doomed(*id));
        self.store.write(changes)?;
        let mut state = self.state.write();
        state.doomed.retain(|id| !doomed.contains(id));
        Ok(())
    }

    /// Forgets ids that need not be remembered, and, when there is little room left, groups of which no event is kept any more.
    /// A sweep calls it.
    pub fn trim(&self) -> Result<()> {
        let now = self.engine.trusted_time().expiry;
        let writing = self.writing.lock();
        let mut changes = LedgerChanges::default();
        changes.delete_old_seen(now);
        self.store.write(changes)?;
        drop(writing);
        let kept = i64::try_from(self.retention.as_millis()).unwrap_or(i64::MAX);
        let old = {
            let state = self.state.read();
            if state.groups.len() < self.groups_max / 10 * 9 {
                return Ok(());
            }
            state.groups.last_seen_before(TimestampMs(now.0.saturating_sub(kept)))
        };
        self.delete(&old).map(drop)
    }
}

/// The ids under which events of a group stand.
fn of_group(id: GroupId, group: &Group) -> impl Iterator<Item = GroupId> {
    let members = group.state.iter().flat_map(|group_state| group_state.members.iter().copied());
    std::iter::once(id).chain(members)
}
