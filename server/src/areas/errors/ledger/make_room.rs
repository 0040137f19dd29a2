//! Evicts groups when the table is full: of the keys with more than their share of the table, the
//! one that created most groups recently loses its least needed ones.
//!
//! In a large table many groups are evicted at a time, since each deletion rewrites all blocks that
//! contain their events. Groups that a person edited or that came back are protected, up to half of
//! the table. Beyond that, senders with most protected groups lose the protection of those last
//! seen longest ago, until all have as many or fewer. So neither a flood of errors that come back,
//! nor somebody who assigns everything, keeps errors of others from getting groups. Groups whose
//! sender is unknown are kept, and do not count here:
//! those that were rebuilt from events after a crash, or created by a version that did not record
//! the sender. They are deleted once all their events have expired.

use std::collections::{HashMap, HashSet};

use telltale_engine::{Result, TimestampMs};

use super::super::model::{GroupId, GroupStatus, Sender};
use super::book::Ledger;
use super::group::Group;
use super::groups::Groups;
use crate::areas::errors::limits::ERROR_GROUPS_PER_PROTECTED;
use crate::limits::ERROR_FLOOD_MS;

/// The groups of one sender that could be evicted.
#[derive(Debug, Default)]
struct EvictionCandidates {
    /// How many of them were created recently.
    recent: usize,
    /// Whether the group is unresolved, and when it was last seen: the order of eviction.
    groups: Vec<(bool, TimestampMs, GroupId)>,
}

impl Ledger {
    /// Evicts groups if the table is full, or nearly full if it is large. Called by a sweep.
    /// Blocks.
    pub fn make_room(&self) -> Result<()> {
        let _write_guard = self.write_lock.lock();
        // From here on, no state changes: they need the write lock.
        let evicted = {
            let overflowed = std::mem::take(&mut self.state.write().overflowed);
            let state = self.state.read();
            match self.excess_groups(state.groups.len(), overflowed) {
                0 => return Ok(()),
                count => {
                    let protected_max = self.groups_max / ERROR_GROUPS_PER_PROTECTED;
                    state.groups.eviction_candidates(count, protected_max, self.clock.now())
                }
            }
        };
        if evicted.is_empty() {
            return Ok(());
        }
        let count = evicted.len();
        tracing::warn!(count, "error groups were evicted: the limit errors.groups_max is reached");
        self.delete_locked(&evicted).map(drop)
    }

    /// Returns how many groups to evict, given the number of groups and of occurrences that found
    /// the table full.
    fn excess_groups(&self, groups: usize, overflowed: usize) -> usize {
        let spare = self.groups_max / 100;
        let is_short = groups.saturating_add(spare / 2) > self.groups_max;
        if overflowed == 0 && (spare == 0 || !is_short) {
            return 0;
        }
        let to_free = spare.max(overflowed.min(self.groups_max / 10 + 1));
        groups.saturating_add(to_free).saturating_sub(self.groups_max)
    }
}

impl Groups {
    /// Returns up to `count` groups, the least needed of the sender that created most groups
    /// recently, among senders with at least the average number of groups. So a past flood still
    /// gives way before an active sender within its share.
    fn eviction_candidates(
        &self,
        count: usize,
        protected_max: usize,
        now: TimestampMs,
    ) -> Vec<GroupId> {
        let recent_ms = now.0.saturating_sub(ERROR_FLOOD_MS);
        let unprotected = self.unprotected(protected_max);
        let mut senders: HashMap<Sender, EvictionCandidates> = HashMap::new();
        for (id, group) in self.iter().filter(|(id, group)| is_evictable(group, *id, &unprotected))
        {
            let of_sender = senders.entry(group.sender).or_default();
            of_sender.recent += usize::from(id.created_at().0 >= recent_ms);
            let is_unresolved = group.status(now) == GroupStatus::Unresolved;
            of_sender.groups.push((is_unresolved, group.last_seen, id));
        }
        let all: usize = senders.values().map(|of| of.groups.len()).sum();
        // Without senders there is nothing to evict.
        let share = all.checked_div(senders.len()).unwrap_or(0);
        let above = senders.into_values().filter(|of| of.groups.len() >= share);
        let flooding = above.max_by_key(|of| (of.recent, of.groups.len()));
        let mut groups = flooding.unwrap_or_default().groups;
        groups.sort_unstable();
        groups.into_iter().take(count).map(|(_, _, id)| id).collect()
    }

    /// Returns the protected groups of known senders that lose their protection because there are
    /// more than `max`: of each sender those last seen longest ago, so that those with most are
    /// left with equally many.
    pub(super) fn unprotected(&self, max: usize) -> HashSet<GroupId> {
        let mut senders: HashMap<Sender, Vec<(TimestampMs, GroupId)>> = HashMap::new();
        for (id, group) in self.iter().filter(|(_, group)| is_protected(group)) {
            if group.sender != Sender::UNKNOWN {
                senders.entry(group.sender).or_default().push((group.last_seen, id));
            }
        }
        let mut senders: Vec<_> = senders.into_values().collect();
        senders.sort_by_key(Vec::len);
        let (mut left, count) = (max, senders.len());
        let mut unprotected = HashSet::new();
        for (at, mut groups) in senders.into_iter().enumerate() {
            let kept = groups.len().min(left / (count - at));
            left -= kept;
            groups.sort_unstable();
            let lost = groups.len() - kept;
            unprotected.extend(groups.into_iter().take(lost).map(|(_, id)| id));
        }
        unprotected
    }
}

/// Returns whether the state of a group protects it from eviction.
fn is_protected(group: &Group) -> bool {
    group.state.as_ref().is_some_and(|group_state| group_state.is_protected())
}

/// Returns whether a group may be evicted.
fn is_evictable(group: &Group, id: GroupId, unprotected: &HashSet<GroupId>) -> bool {
    group.sender != Sender::UNKNOWN
        && !group.is_overflow()
        && (!is_protected(group) || unprotected.contains(&id))
}
