//! All groups, found by id and by hash, and listed by filters.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memchr::memmem::Finder;
use telltale_engine::{TimeRange, TimestampMs, fold_case};

use super::super::model::{GroupHash, GroupId, GroupState, GroupStatus, Level};
use super::super::prepare::GroupSummary;
use super::group::{Group, GroupView, LatestOccurrence};
use crate::limits;

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_id: HashMap<GroupId, Group>,
    by_hash: HashMap<GroupHash, GroupId>,
    /// The group that each merged group became part of.
    merged: HashMap<GroupId, GroupId>,
    /// Group ids reserved for hashes that have no durable occurrence yet, with the number of their
    /// occurrences in flight.
    pending: HashMap<GroupHash, (GroupId, u32)>,
    /// Stored states of groups that are still to be rebuilt from their events; empty once the
    /// ledger is loaded.
    pending_states: HashMap<GroupId, GroupState>,
    /// Groups that differ from their records on disk.
    changed: HashSet<GroupId>,
    /// The sum of [`Group::long_bytes`].
    long_bytes: usize,
    /// The limit from which less of each message is searchable.
    long_bytes_max: usize,
    /// The sum of [`Group::state_bytes`].
    state_bytes: usize,
    /// How often a group was reopened by an occurrence.
    regressions: u64,
}

/// The group that an occurrence was assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupAssignment {
    pub(super) group: GroupId,
    /// The hash of the group. Differs from the occurrence's hash if the group is an overflow group.
    pub(super) hash: GroupHash,
    /// Whether the group did not exist at the time.
    is_pending: bool,
}

/// A filter of groups; all conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) struct GroupFilter {
    pub(in crate::areas::errors) status: Option<GroupStatus>,
    pub(in crate::areas::errors) level: Option<Level>,
    /// Last seen at this time or later.
    pub(in crate::areas::errors) since: Option<TimestampMs>,
    /// Occurs in the title or the message, ignoring case.
    pub(in crate::areas::errors) search: Option<String>,
    /// Assigned to this user; unassigned if empty.
    pub(in crate::areas::errors) assignee: Option<String>,
    /// One of these groups.
    pub(in crate::areas::errors) only: Option<HashSet<GroupId>>,
}

/// Groups that may have an occurrence in a time range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) struct SeenWithin {
    /// Groups whose first or last occurrence is in the range.
    pub(in crate::areas::errors) certain: HashSet<GroupId>,
    /// All others, as pairs of a group id in the tags of events and the group that counts them.
    pub(in crate::areas::errors) possible: Vec<(GroupId, GroupId)>,
}

/// The order of a list, descending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) enum SortBy {
    #[default]
    LastSeen,
    FirstSeen,
    Occurrences,
    Users,
}

impl Groups {
    /// Returns an empty table for up to `groups_max` groups.
    pub(super) fn new(groups_max: usize) -> Self {
        let long_bytes_max = groups_max.saturating_mul(limits::ERROR_LONG_STRING_BYTES);
        Self { long_bytes_max, ..Self::default() }
    }

    /// Returns the bytes of search strings beyond those that every group may have.
    pub(super) fn long_bytes(&self) -> usize {
        self.long_bytes
    }

    /// Returns the bytes of strings that people entered, and of merged groups.
    pub(super) fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns the group with this id; `None` for one that was merged into another.
    pub(super) fn get(&self, id: GroupId) -> Option<&Group> {
        self.by_id.get(&id)
    }

    /// Changes the group with this id; returns the result of `change`, or `None` if there is no
    /// such group.
    pub(super) fn change<T>(
        &mut self,
        id: GroupId,
        change: impl FnOnce(&mut Group) -> T,
    ) -> Option<T> {
        let group = self.by_id.get_mut(&id)?;
        let (long_bytes, state_bytes) = (group.long_bytes(), group.state_bytes());
        let outcome = change(group);
        self.long_bytes = self.long_bytes + group.long_bytes() - long_bytes;
        self.state_bytes = self.state_bytes + group.state_bytes() - state_bytes;
        Some(outcome)
    }

    /// Iterates over all groups.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.by_id.iter().map(|(id, group)| (*id, group))
    }

    /// Returns the group with this hash; `None` while its first occurrence is in flight.
    pub(super) fn of_hash(&self, hash: GroupHash) -> Option<GroupId> {
        self.by_hash.get(&hash).copied()
    }

    /// Returns whether this hash has a group, or an occurrence in flight that will create one.
    pub(super) fn has(&self, hash: GroupHash) -> bool {
        self.by_hash.contains_key(&hash) || self.pending.contains_key(&hash)
    }

    /// Returns the number of groups, including those that occurrences in flight will create.
    pub(super) fn len_with_pending(&self) -> usize {
        self.by_id.len() + self.pending.len()
    }

    /// Assigns an occurrence with this hash to its group, or to a new one with an id from `new_id`.
    pub(super) fn assign(
        &mut self,
        hash: GroupHash,
        new_id: impl FnOnce() -> GroupId,
    ) -> GroupAssignment {
        if let Some(group) = self.of_hash(hash) {
            return GroupAssignment { group, hash, is_pending: false };
        }
        let (id, in_flight) = self.pending.entry(hash).or_insert_with(|| (new_id(), 0));
        *in_flight += 1;
        GroupAssignment { group: *id, hash, is_pending: true }
    }

    /// Ends the assignment of an occurrence that was counted or will not be stored. Returns whether
    /// it was the last one of a group that was never created.
    pub(super) fn finish_assignment(&mut self, assignment: GroupAssignment) -> bool {
        let GroupAssignment { group, hash, is_pending } = assignment;
        if let Some((id, in_flight)) = self.pending.get_mut(&hash)
            && is_pending
            && *id == group
        {
            *in_flight -= 1;
            if *in_flight == 0 {
                self.pending.remove(&hash);
                return !self.by_hash.contains_key(&hash);
            }
        }
        false
    }

    /// Returns the group that counts the events with this group id.
    pub(super) fn owner(&self, id: GroupId) -> GroupId {
        self.merged.get(&id).copied().unwrap_or(id)
    }

    /// Sets the states of groups that are still to be rebuilt from their events.
    pub(super) fn set_pending_states(&mut self, group_states: HashMap<GroupId, GroupState>) {
        self.pending_states = group_states;
    }

    /// Drops the states of groups that were not rebuilt, and returns their number.
    pub(super) fn drop_pending_states(&mut self) -> usize {
        std::mem::take(&mut self.pending_states).len()
    }

    /// Counts an occurrence in a group, which `new_group` creates if it does not exist. `users` is
    /// the new number of users, if known.
    pub(super) fn count(
        &mut self,
        id: GroupId,
        new_group: impl FnOnce() -> Group,
        (occurrence, summary): (LatestOccurrence, &GroupSummary),
        users: Option<u64>,
    ) {
        let searched_chars = if self.long_bytes < self.long_bytes_max {
            limits::ERROR_SEARCH_CHARS_MAX
        } else {
            limits::ERROR_SEARCH_CHARS_REDUCED
        };
        self.changed.insert(id);
        if !self.by_id.contains_key(&id) {
            let mut created = new_group();
            created.state = self.pending_states.remove(&id).map(Box::new);
            self.insert(id, created);
        }
        let mut has_regressed = false;
        self.change(id, |group| {
            has_regressed = group.count(occurrence, summary, searched_chars);
            group.users = users.unwrap_or(group.users);
        });
        self.regressions += u64::from(has_regressed);
    }

    /// Sets the number of users of a group that exists.
    pub(super) fn set_users(&mut self, id: GroupId, users: u64) {
        self.changed.insert(id);
        self.change(id, |group| group.users = users);
    }

    /// Returns how often a group was reopened by an occurrence since the start.
    pub(super) fn regressions(&self) -> u64 {
        self.regressions
    }

    /// Inserts or replaces a group.
    pub(super) fn insert(&mut self, id: GroupId, group: Group) {
        self.by_hash.extend(group.hashes.iter().map(|hash| (*hash, id)));
        let members = group.state.iter().flat_map(|group_state| &group_state.members);
        self.merged.extend(members.map(|member| (*member, id)));
        self.long_bytes += group.long_bytes();
        self.state_bytes += group.state_bytes();
        if let Some(before) = self.by_id.insert(id, group) {
            self.subtract_bytes(&before);
        }
    }

    /// Removes a group, with all references to it.
    pub(super) fn remove(&mut self, id: GroupId) -> Option<Group> {
        let group = self.by_id.remove(&id)?;
        self.subtract_bytes(&group);
        for hash in &group.hashes {
            self.by_hash.remove(hash);
            self.pending.remove(hash);
        }
        for member in group.state.iter().flat_map(|group_state| &group_state.members) {
            self.merged.remove(member);
        }
        self.changed.remove(&id);
        Some(group)
    }

    fn subtract_bytes(&mut self, removed: &Group) {
        self.long_bytes -= removed.long_bytes();
        self.state_bytes -= removed.state_bytes();
    }

    /// Marks groups as different from their records on disk.
    pub(super) fn mark_changed(&mut self, ids: &[GroupId]) {
        self.changed.extend(ids.iter().filter(|id| self.by_id.contains_key(id)));
    }

    /// Returns the groups changed since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<GroupId> {
        self.changed.drain().collect()
    }

    /// Returns up to `max` groups last seen before `oldest`.
    pub(super) fn last_seen_before(&self, oldest: TimestampMs, max: usize) -> Vec<GroupId> {
        let old = self.by_id.iter().filter(|(_, group)| group.last_seen < oldest);
        old.map(|(id, _)| *id).take(max).collect()
    }

    /// Returns the matching groups that may have an occurrence in the range. `by_time` means that
    /// occurrences are filtered by time only.
    pub(super) fn seen_within(
        &self,
        filter: &GroupFilter,
        range: TimeRange,
        by_time: bool,
        now: TimestampMs,
    ) -> SeenWithin {
        let mut seen = SeenWithin::default();
        let contains = |time: TimestampMs| range.start <= time && time < range.end;
        for (id, group) in self.select(filter, now) {
            if group.first_seen >= range.end || group.last_seen < range.start {
                continue;
            }
            if by_time && (contains(group.first_seen) || contains(group.last_seen)) {
                seen.certain.insert(*id);
                continue;
            }
            let members = group.state.iter().flat_map(|group_state| &group_state.members);
            seen.possible.extend(std::iter::once(id).chain(members).map(|of| (*of, *id)));
        }
        seen
    }

    /// Returns the ids of all groups that match.
    pub(super) fn matching(&self, filter: &GroupFilter, now: TimestampMs) -> Vec<GroupId> {
        self.select(filter, now).map(|(id, _)| *id).collect()
    }

    /// Returns a page of the groups that match, and the total number that match.
    pub(super) fn list(
        &self,
        filter: &GroupFilter,
        sort: SortBy,
        (offset, limit): (usize, usize),
        now: TimestampMs,
    ) -> (Vec<GroupView>, usize) {
        let key = |group: &Group| match sort {
            SortBy::LastSeen => group.last_seen.0,
            SortBy::FirstSeen => group.first_seen.0,
            SortBy::Occurrences => i64::try_from(group.occurrences).unwrap_or(i64::MAX),
            SortBy::Users => i64::try_from(group.users).unwrap_or(i64::MAX),
        };
        let mut found: Vec<(Reverse<(i64, GroupId)>, &Group)> = self
            .select(filter, now)
            .map(|(id, group)| (Reverse((key(group), *id)), group))
            .collect();
        let total = found.len();
        let end = offset.saturating_add(limit).min(total);
        if end < total && end > 0 {
            // Only the groups up to the end of the page need to be sorted.
            found.select_nth_unstable_by_key(end - 1, |(key, _)| *key);
            found.truncate(end);
        }
        found.sort_unstable_by_key(|(key, _)| *key);
        let page = found.into_iter().skip(offset).take(limit);
        (page.map(|(Reverse((_, id)), group)| group.view(id, now)).collect(), total)
    }

    fn select<'g>(
        &'g self,
        filter: &'g GroupFilter,
        now: TimestampMs,
    ) -> impl Iterator<Item = (&'g GroupId, &'g Group)> {
        let search = filter.search.as_ref().map(|text| Finder::new(&fold_case(text)).into_owned());
        let (status, level, since) = (filter.status, filter.level, filter.since);
        let assignee = filter.assignee.clone();
        let only = filter.only.as_ref();
        self.by_id.iter().filter(move |(id, group)| {
            let group_assignee =
                || group.state.as_ref().and_then(|group_state| group_state.assignee.as_deref());
            only.is_none_or(|only| only.contains(id))
                && status.is_none_or(|status| group.status(now) == status)
                && level.is_none_or(|level| group.level == level)
                && since.is_none_or(|since| group.last_seen >= since)
                && assignee
                    .as_deref()
                    .is_none_or(|wanted| group_assignee().unwrap_or_default() == wanted)
                && search
                    .as_ref()
                    .is_none_or(|search| search.find(group.search_string.as_bytes()).is_some())
        })
    }
}
