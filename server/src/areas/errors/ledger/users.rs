//! The users of groups, as sets that count their members. The sets of active groups are in memory,
//! up to a limit; all others are on disk. This file never reads the disk: callers pass the sets
//! that they have read.

use std::collections::HashMap;

use telltale_engine::{Distinct, Result};

use super::super::model::GroupId;
use super::read_users::ReadUsers;

/// User sets in memory.
#[derive(Debug)]
pub(super) struct UserSets {
    sets: HashMap<GroupId, CachedSet>,
    /// The sum over all sets.
    bytes: usize,
    /// The limit from which sets that are on disk are evicted.
    bytes_max: usize,
}

/// A set is counted again at once if it changed for more than one in this many of its users, so
/// sets of fewer users are counted after each change.
const USERS_PER_UNCOUNTED: u64 = 4_096;

/// A set is counted again at once after more changes than this. In a large set one change stands
/// for one in 11 800 of all users, because most of them change none of its registers. So a count
/// lacks about 0.1 % at most, a fraction of the standard error of an estimate.
const UNCOUNTED_MAX: u64 = 10;

/// The number of sets that are counted at once while the ledger is locked; it takes up to 0.4 ms
/// each.
const COUNTED_AT_ONCE_MAX: usize = 64;

#[derive(Debug)]
struct CachedSet {
    set: Distinct,
    /// The count of the set when it was last counted. An estimate of some ten thousand users takes
    /// as long as everything else that is done for an occurrence.
    count: u64,
    /// The changes of the set since then.
    uncounted: u64,
    is_changed: bool,
    /// Whether the set on disk could not be read. This set then contains only later users, and is
    /// never written.
    is_partial: bool,
}

impl CachedSet {
    fn new(set: Distinct) -> Self {
        Self { count: set.count(), set, uncounted: 0, is_changed: false, is_partial: false }
    }

    fn insert(&mut self, user: &str) {
        if !self.set.insert(user) {
            return;
        }
        self.is_changed |= !self.is_partial;
        self.uncounted += 1;
        if self.uncounted > (self.count / USERS_PER_UNCOUNTED).min(UNCOUNTED_MAX) {
            self.count_again();
        }
    }

    fn count_again(&mut self) {
        (self.count, self.uncounted) = (self.set.count(), 0);
    }
}

impl UserSets {
    /// Returns an empty cache limited to `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { sets: HashMap::new(), bytes: 0, bytes_max }
    }

    /// Returns the bytes of memory of all sets.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes of a group's set, 0 if it is not in memory.
    fn bytes_of(&self, group: GroupId) -> usize {
        self.sets.get(&group).map_or(0, |cached| cached.set.bytes())
    }

    /// Returns whether the set of a group is in memory.
    pub(super) fn has(&self, group: GroupId) -> bool {
        self.sets.contains_key(&group)
    }

    /// Returns whether the complete set of a group is in memory.
    pub(super) fn has_complete(&self, group: GroupId) -> bool {
        self.sets.get(&group).is_some_and(|cached| !cached.is_partial)
    }

    /// Adds a user to the set of a group; returns the number of users, or `None` if the set on disk
    /// could not be read. Takes the set from `read` if it is not in memory. The number of a large
    /// set may lack the last users, until [`Self::count_again`].
    pub(super) fn add(&mut self, read: &mut ReadUsers, group: GroupId, user: &str) -> Option<u64> {
        let bytes_before = self.bytes_of(group);
        let cached = self.sets.entry(group).or_insert_with(|| {
            let read = take_read(read, group);
            let is_partial = read.is_err();
            let set = read.unwrap_or_else(|error| {
                let group = group.format();
                tracing::error!(%error, group, "the user set of an error group cannot be read");
                None
            });
            CachedSet { is_partial, ..CachedSet::new(set.unwrap_or_default()) }
        });
        cached.insert(user);
        self.bytes = self.bytes + cached.set.bytes() - bytes_before;
        (!cached.is_partial).then_some(cached.count)
    }

    /// Returns the complete set of a group; takes it from `read` if it is not completely in memory.
    pub(super) fn complete(&self, read: &mut ReadUsers, group: GroupId) -> Result<Distinct> {
        let in_memory = self.sets.get(&group);
        if let Some(cached) = in_memory.filter(|cached| !cached.is_partial) {
            return Ok(cached.set.clone());
        }
        let mut all = take_read(read, group)?.unwrap_or_default();
        if let Some(cached) = in_memory {
            all.merge(&cached.set);
        }
        Ok(all)
    }

    /// Sets the user set of a group to one that is on disk.
    pub(super) fn put(&mut self, group: GroupId, set: Distinct) {
        self.bytes = self.bytes + set.bytes() - self.bytes_of(group);
        self.sets.insert(group, CachedSet::new(set));
    }

    /// Removes the set of a group.
    pub(super) fn remove(&mut self, group: GroupId) {
        self.bytes -= self.bytes_of(group);
        self.sets.remove(&group);
    }

    /// Counts complete sets that were not counted after their last change, up to a limit, and
    /// returns the numbers.
    pub(super) fn count_again(&mut self) -> impl Iterator<Item = (GroupId, u64)> {
        let is_short = |cached: &CachedSet| cached.uncounted > 0 && !cached.is_partial;
        let short = self.sets.iter_mut().filter(move |(_, cached)| is_short(cached));
        short.take(COUNTED_AT_ONCE_MAX).map(|(group, cached)| {
            cached.count_again();
            (*group, cached.count)
        })
    }

    /// Returns the sets changed since the last call.
    pub(super) fn take_changed(&mut self) -> impl Iterator<Item = (GroupId, &Distinct)> {
        self.sets.iter_mut().filter_map(|(group, cached)| {
            std::mem::take(&mut cached.is_changed).then_some((*group, &cached.set))
        })
    }

    /// Marks sets as changed after a failed write, except those of groups that were removed since.
    pub(super) fn mark_changed(&mut self, groups: &[GroupId]) {
        for group in groups {
            if let Some(cached) = self.sets.get_mut(group) {
                cached.is_changed = true;
            }
        }
    }

    /// Evicts sets that are on disk if the limit is exceeded, down to half of it.
    pub(super) fn trim(&mut self) {
        let Self { sets, bytes, bytes_max } = self;
        if *bytes <= *bytes_max {
            return;
        }
        sets.retain(|_, cached| {
            let is_kept = cached.is_changed || *bytes <= *bytes_max / 2;
            if !is_kept {
                *bytes -= cached.set.bytes();
            }
            is_kept
        });
    }
}

/// Takes a set that was read from disk.
///
/// # Panics
/// If the set was not read: all that are needed are read before the lock is taken.
fn take_read(read: &mut ReadUsers, group: GroupId) -> Result<Option<Distinct>> {
    match read.remove(&group) {
        Some(set) => set,
        None => unreachable!("the users of error group {} were not read", group.format()),
    }
}
