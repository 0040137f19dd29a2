//! Reads user sets from disk before taking the lock under which they are needed, so that only the
//! caller that counts waits for the disk.
//!
//! A set that is not in memory is current on disk until the next flush begins. So a set that was
//! read is valid under the lock if no flush has begun since; otherwise it is read again. Flushes
//! begin once a second.

use std::collections::{HashMap, HashSet};

use parking_lot::RwLockWriteGuard;
use telltale_engine::{Distinct, Result};

use super::super::model::GroupId;
use super::book::{Ledger, LedgerState};

/// User sets as on disk; `None` if the group has none there.
pub(super) type ReadUsers = HashMap<GroupId, Result<Option<Distinct>>>;

impl Ledger {
    /// Locks the state after reading the user sets that `missing` reports as not in memory. Blocks.
    pub(super) fn lock_with_users(
        &self,
        missing: impl Fn(&LedgerState) -> HashSet<GroupId>,
    ) -> (RwLockWriteGuard<'_, LedgerState>, ReadUsers) {
        let (mut read, mut read_at) = (ReadUsers::new(), None);
        loop {
            let state = self.state.write();
            let writes_begun = state.seen.writes_begun();
            if read_at != Some(writes_begun) {
                read.clear();
            }
            let unread: Vec<GroupId> =
                missing(&state).into_iter().filter(|id| !read.contains_key(id)).collect();
            if unread.is_empty() {
                return (state, read);
            }
            drop(state);
            read_at = Some(writes_begun);
            read.extend(unread.into_iter().map(|id| (id, self.store.users(id))));
        }
    }

    /// Stops deferring and counts the deferred occurrences. Blocks if user sets must be read for
    /// that, as after a failed merge or deletion.
    pub(super) fn release_deferred(&self, state: RwLockWriteGuard<'_, LedgerState>) {
        let missing = |state: &LedgerState| {
            let deferred = state.deferred.group_users();
            deferred.filter_map(|(group, user)| state.unread_users(group, user)).collect()
        };
        let missing_now: HashSet<GroupId> = missing(&state);
        let (mut state, mut read) = if missing_now.is_empty() {
            (state, ReadUsers::new())
        } else {
            drop(state);
            self.lock_with_users(missing)
        };
        state.release_deferred(&mut read);
    }
}

impl LedgerState {
    /// Returns the group whose user set must be read from disk before an occurrence with this group
    /// id can be counted.
    pub(super) fn unread_users(&self, group: GroupId, user: Option<&str>) -> Option<GroupId> {
        let id = self.groups.owner(group);
        let is_counted = user.is_some() && !self.doomed.contains(&group);
        // A new group has no set on disk.
        (is_counted && self.groups.get(id).is_some() && !self.users.has(id)).then_some(id)
    }
}
