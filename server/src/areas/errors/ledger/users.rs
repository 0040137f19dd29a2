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
}

impl Users {
    /// Adds a user to those of a group, and answers how many these are. A set that cannot be read begins anew: its group then
    /// counts fewer, and what is wrong with the disk is told by whoever checks it.
    pub(super) fn add(&mut self, store: &Store, group: GroupId, is_new: bool, user: &str) -> u64 {
        let cached = self.sets.entry(group).or_insert_with(|| {
            let read = if is_new { None } else { store.users(group).ok().flatten() };
            Cached { set: read.unwrap_or_default(), is_changed: false }
        });
        let before = cached.set.count();
        cached.set.insert(user);
        cached.is_changed |= cached.set.count() != before;
        cached.set.count()
    }

    /// Adds the users of one group to those of another, and answers how many these are.
    pub(super) fn merge(&mut self, store: &Store, into: GroupId, from: GroupId) -> Result<u64> {
        let mut merged = self.get(store, into)?;
        merged.merge(&self.get(store, from)?);
        let count = merged.count();
        self.put(into, merged);
        Ok(count)
    }

    /// The users of a group.
    pub(super) fn get(&self, store: &Store, group: GroupId) -> Result<Distinct> {
        match self.sets.get(&group) {
            Some(cached) => Ok(cached.set.clone()),
            None => Ok(store.users(group)?.unwrap_or_default()),
        }
    }

    /// Sets the users of a group.
    pub(super) fn put(&mut self, group: GroupId, set: Distinct) {
        self.sets.insert(group, Cached { set, is_changed: true });
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
