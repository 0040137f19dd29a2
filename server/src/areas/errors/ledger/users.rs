//! The users of groups, as sets that can only be counted. Those of groups that are in use are in memory, as many as may be; the
//! rest is on disk, where this does not look: what is needed of it was read before.

use std::collections::HashMap;

use telltale_engine::{Distinct, Error, Result};

use super::super::model::GroupId;
use super::read_users::ReadUsers;

/// Sets of users in memory.
#[derive(Debug)]
pub(super) struct Users {
    sets: HashMap<GroupId, Cached>,
    /// Of all sets.
    bytes: usize,
    /// Past it, sets that are on disk are let go.
    bytes_max: usize,
}

#[derive(Debug)]
struct Cached {
    set: Distinct,
    is_changed: bool,
    /// Whether the set on disk could not be read: this one is then only a part of it, and never written in its place.
    is_partial: bool,
}

impl Users {
    /// None, of which so many bytes stay in memory.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { sets: HashMap::new(), bytes: 0, bytes_max }
    }

    /// Bytes of memory that the sets take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the set of a group, where it is in memory.
    fn bytes_of(&self, group: GroupId) -> usize {
        self.sets.get(&group).map_or(0, |cached| cached.set.bytes())
    }

    /// Whether the set of a group is in memory.
    pub(super) fn has(&self, group: GroupId) -> bool {
        self.sets.contains_key(&group)
    }

    /// Whether the set of a group is in memory, and not a part of it alone.
    pub(super) fn has_whole(&self, group: GroupId) -> bool {
        self.sets.get(&group).is_some_and(|cached| !cached.is_partial)
    }

    /// Adds a user to those of a group, and answers how many these are; nothing where those on disk cannot be read. Takes the set
    /// from `read` where it is not in memory and the group is not new.
    pub(super) fn add(
        &mut self,
        read: &mut ReadUsers,
        group: GroupId,
        is_new: bool,
        user: &str,
    ) -> Option<u64> {
        let bytes_before = self.bytes_of(group);
        let cached = self.sets.entry(group).or_insert_with(|| {
            let unread = || Err(Error::Corrupt("it was not read".to_owned()));
            let read = if is_new { Ok(None) } else { read.remove(&group).unwrap_or_else(unread) };
            let is_partial = read.is_err();
            let set = read.unwrap_or_else(|error| {
                let group = group.format();
                tracing::error!(%error, group, "the users of an error cannot be read");
                None
            });
            Cached { set: set.unwrap_or_default(), is_changed: false, is_partial }
        });
        let before = cached.set.count();
        cached.set.insert(user);
        let count = cached.set.count();
        cached.is_changed |= count != before && !cached.is_partial;
        self.bytes = self.bytes + cached.set.bytes() - bytes_before;
        (!cached.is_partial).then_some(count)
    }

    /// The users of a group, with those that were read where the set is not in memory as a whole.
    pub(super) fn whole(&self, read: &mut ReadUsers, group: GroupId) -> Result<Distinct> {
        let in_memory = self.sets.get(&group);
        if let Some(cached) = in_memory.filter(|cached| !cached.is_partial) {
            return Ok(cached.set.clone());
        }
        let mut all = read.remove(&group).transpose()?.flatten().unwrap_or_default();
        if let Some(cached) = in_memory {
            all.merge(&cached.set);
        }
        Ok(all)
    }

    /// Sets the users of a group, which are on disk.
    pub(super) fn put(&mut self, group: GroupId, set: Distinct) {
        self.bytes = self.bytes + set.bytes() - self.bytes_of(group);
        self.sets.insert(group, Cached { set, is_changed: false, is_partial: false });
    }

    /// Forgets the users of a group.
    pub(super) fn remove(&mut self, group: GroupId) {
        self.bytes -= self.bytes_of(group);
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
        let Self { sets, bytes, bytes_max } = self;
        if *bytes <= *bytes_max {
            return;
        }
        sets.retain(|_, cached| {
            let stays = cached.is_changed || *bytes <= *bytes_max / 2;
            if !stays {
                *bytes -= cached.set.bytes();
            }
            stays
        });
    }
}
