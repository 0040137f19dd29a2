//! The users of groups, as sets that can only be counted. Those of groups that are in use are in memory, as many as may be; the
//! rest is on disk.

use std::collections::HashMap;

use telltale_engine::{Distinct, Result};

use super::super::model::GroupId;
use super::super::store::Store;
use crate::limits::ERROR_USERS_BYTES_MAX;

/// Sets of users in memory.
#[derive(Debug, Default)]
pub(super) struct Users {
    sets: HashMap<GroupId, Cached>,
}

#[derive(Debug)]
struct Cached {
    set: Distinct,
    is_changed: bool,
    /// Whether the set on disk could not be read: this one is then only a part of it, and never written in its place.
    is_partial: bool,
}

impl Users {
    /// Adds a user to those of a group, and answers how many these are; nothing where those on disk cannot be read.
    pub(super) fn add(
        &mut self,
        store: &Store,
        group: GroupId,
        is_new: bool,
        user: &str,
    ) -> Option<u64> {
        let cached = self.sets.entry(group).or_insert_with(|| {
            let read = if is_new { Ok(None) } else { store.users(group) };
            let is_partial = read.is_err();
            let set = read.unwrap_or_else(|error| {
                let group = group.text();
                tracing::error!(%error, group, "the users of an error cannot be read");
                None
            });
            Cached { set: set.unwrap_or_default(), is_changed: false, is_partial }
        });
        let before = cached.set.count();
        cached.set.insert(user);
        let count = cached.set.count();
        cached.is_changed |= count != before && !cached.is_partial;
        (!cached.is_partial).then_some(count)
    }

    /// The users of a group.
    pub(super) fn get(&self, store: &Store, group: GroupId) -> Result<Distinct> {
        let on_disk = || Ok(store.users(group)?.unwrap_or_default());
        match self.sets.get(&group) {
            None => on_disk(),
            Some(cached) if !cached.is_partial => Ok(cached.set.clone()),
            Some(cached) => {
                let mut all: Distinct = on_disk()?;
                all.merge(&cached.set);
                Ok(all)
            }
        }
    }

    /// Sets the users of a group, which are on disk.
    pub(super) fn put(&mut self, group: GroupId, set: Distinct) {
        self.sets.insert(group, Cached { set, is_changed: false, is_partial: false });
    }

    /// Forgets the users of a group.
    pub(super) fn remove(&mut self, group: GroupId) {
        self.sets.remove(&group);
    }

    /// The sets that have changed since they were last asked for here.
    pub(super) fn take_changed(&mut self) -> impl Iterator<Item = (GroupId, &Distinct)> {
        self.sets.iter_mut().filter_map(|(group, cached)| {
            std::mem::take(&mut cached.is_changed).then_some((*group, &cached.set))
        })
    }

    /// Marks sets as changed that could not be written.
    pub(super) fn mark_changed(&mut self, groups: &[GroupId]) {
        for group in groups {
            if let Some(cached) = self.sets.get_mut(group) {
                cached.is_changed = true;
            }
        }
    }

    /// Lets go of sets that are on disk while there are too many.
    pub(super) fn trim(&mut self) {
        let mut bytes: usize = self.sets.values().map(|cached| cached.set.bytes()).sum();
        if bytes <= ERROR_USERS_BYTES_MAX {
            return;
        }
        self.sets.retain(|_, cached| {
            let stays = cached.is_changed || bytes <= ERROR_USERS_BYTES_MAX / 2;
            if !stays {
                bytes -= cached.set.bytes();
            }
            stays
        });
    }
}
