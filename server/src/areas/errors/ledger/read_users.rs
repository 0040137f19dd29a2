//! Sets of users that are on disk, read before the lock is taken under which they are needed: nobody waits for the disk but who
//! counts.
//!
//! A set that is not in memory is on disk as it is, until the next writing begins. So what was read is good under the lock when no
//! writing began since; otherwise it is read again. Writings begin once a second.

use std::collections::{HashMap, HashSet};

use parking_lot::RwLockWriteGuard;
use telltale_engine::{Distinct, Result};

use super::super::model::GroupId;
use super::book::{Ledger, State};

/// Sets of users as the disk has them; `None` where it has none.
pub(super) type ReadUsers = HashMap<GroupId, Result<Option<Distinct>>>;

impl Ledger {
    /// Locks the state, with the sets read that `missing` finds not to be in memory. Blocks.
    pub(super) fn lock_with_users(
        &self,
        missing: impl Fn(&State) -> HashSet<GroupId>,
    ) -> (RwLockWriteGuard<'_, State>, ReadUsers) {
        let (mut read, mut read_at) = (ReadUsers::new(), None);
        loop {
            let state = self.state.write();
            let writings = state.seen.writings();
            if read_at != Some(writings) {
                read.clear();
            }
            let unread: Vec<GroupId> =
                missing(&state).into_iter().filter(|id| !read.contains_key(id)).collect();
            if unread.is_empty() {
                return (state, read);
            }
            drop(state);
            read_at = Some(writings);
            read.extend(unread.into_iter().map(|id| (id, self.store.users(id))));
        }
    }

    /// Ends that groups are being changed: what was held back counts in what there is now. Blocks where sets of users must be read for
    /// that, as after a change that failed.
    pub(super) fn let_go(&self, state: RwLockWriteGuard<'_, State>) {
        let missing = |state: &State| {
            let deferred = state.deferred.told();
            deferred.filter_map(|(group, user)| state.unread_users(group, user)).collect()
        };
        let is_missing: HashSet<GroupId> = missing(&state);
        let (mut state, mut read) = if is_missing.is_empty() {
            (state, ReadUsers::new())
        } else {
            drop(state);
            self.lock_with_users(missing)
        };
        state.let_go(&mut read);
    }
}

impl State {
    /// The group whose users must be read from disk before an occurrence with this id of a group counts.
    pub(super) fn unread_users(&self, group: GroupId, user: Option<&str>) -> Option<GroupId> {
        let id = self.groups.owner(group);
        let is_counted = user.is_some() && !self.doomed.contains(&group);
        // A new group has none.
        (is_counted && self.groups.get(id).is_some() && !self.users.has(id)).then_some(id)
    }
}
