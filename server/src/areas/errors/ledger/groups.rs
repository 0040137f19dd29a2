//! All groups: found by id and by hash, listed by what people ask for.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use memchr::memmem::Finder;
use telltale_engine::{TimeRange, TimestampMs};

use super::super::model::{GroupHash, GroupId, GroupState, GroupStatus, Level};
use super::super::prepare::GroupSummary;
use super::group::{Group, GroupView, LatestOccurrence};
use crate::limits;

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_id: HashMap<GroupId, Group>,
    by_hash: HashMap<GroupHash, GroupId>,
    /// Groups that were merged into others.
    merged: HashMap<GroupId, GroupId>,
    /// Ids given to hashes none of whose occurrences is durable yet, with how many of these are on their way.
    announced: HashMap<GroupHash, (GroupId, u32)>,
    /// What people did to groups that only events tell of so far.
    expected: HashMap<GroupId, GroupState>,
    /// Groups that the disk does not have as they are.
    changed: HashSet<GroupId>,
    /// Of texts that are longer than those that every group may have.
    long_bytes: usize,
    /// Past it, less of messages is searched.
    long_bytes_max: usize,
    /// Of what people wrote about groups, and of groups that were merged.
    state_bytes: usize,
}

/// Where an occurrence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: GroupId,
    /// The hash of the group, which is not the occurrence's where that goes to the group of everything beyond.
    pub(super) hash: GroupHash,
    /// Whether the group was not there.
    is_announced: bool,
}

/// Which groups are wanted: all conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) struct GroupFilter {
    pub(in crate::areas::errors) status: Option<GroupStatus>,
    pub(in crate::areas::errors) level: Option<Level>,
    /// Last seen then, or later.
    pub(in crate::areas::errors) since: Option<TimestampMs>,
    /// In the title or the message, in any case.
    pub(in crate::areas::errors) search: Option<String>,
    /// Whose it is; an empty one is nobody's.
    pub(in crate::areas::errors) assignee: Option<String>,
    /// Only these.
    pub(in crate::areas::errors) only: Option<HashSet<GroupId>>,
}

/// Groups that may have an occurrence in a range of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) struct SeenWithin {
    /// Whose first or last occurrence is in it.
    pub(in crate::areas::errors) certain: HashSet<GroupId>,
    /// The rest: the ids that their events have, with the group each.
    pub(in crate::areas::errors) possible: Vec<(GroupId, GroupId)>,
}

/// What a list goes by, the greatest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::areas::errors) enum SortBy {
    #[default]
    LastSeen,
    FirstSeen,
    Occurrences,
    Users,
}

impl Groups {
    /// None, of which there will be so many at most.
    pub(super) fn new(groups_max: usize) -> Self {
        let long_bytes_max = groups_max.saturating_mul(limits::ERROR_LONG_TEXT_BYTES);
        Self { long_bytes_max, ..Self::default() }
    }

    /// Bytes of memory of texts that are longer than those that every group may have.
    pub(super) fn long_bytes(&self) -> usize {
        self.long_bytes
    }

    /// Bytes of memory of what people wrote about groups, and of groups that were merged.
    pub(super) fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The group with this id; not one that is merged into another.
    pub(super) fn get(&self, id: GroupId) -> Option<&Group> {
        self.by_id.get(&id)
    }

    /// Changes the group with this id, if there is one, and returns what `change` does.
    pub(super) fn change<T>(
        &mut self,
        id: GroupId,
        change: impl FnOnce(&mut Group) -> T,
    ) -> Option<T> {
        let group = self.by_id.get_mut(&id)?;
        let (long_bytes, state_bytes) = (group.long_bytes(), group.state_bytes());
        let outcome = change(group);
        self.long_bytes = self.long_bytes.saturating_sub(long_bytes) + group.long_bytes();
        self.state_bytes = self.state_bytes.saturating_sub(state_bytes) + group.state_bytes();
        Some(outcome)
    }

    /// All groups.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.by_id.iter().map(|(id, group)| (*id, group))
    }

    /// The group of this hash; none while it is on its way.
    pub(super) fn of_hash(&self, hash: GroupHash) -> Option<GroupId> {
        self.by_hash.get(&hash).copied()
    }

    /// Whether this hash has a group, or one on its way.
    pub(super) fn has(&self, hash: GroupHash) -> bool {
        self.by_hash.contains_key(&hash) || self.announced.contains_key(&hash)
    }

    /// Groups, those on their way included.
    pub(super) fn expected_len(&self) -> usize {
        self.by_id.len() + self.announced.len()
    }

    /// Where an occurrence with this hash goes: to its group, or to a new one with an id from `make`.
    pub(super) fn announce(&mut self, hash: GroupHash, make: impl FnOnce() -> GroupId) -> Place {
        if let Some(group) = self.of_hash(hash) {
            return Place { group, hash, is_announced: false };
        }
        let (id, on_their_way) = self.announced.entry(hash).or_insert_with(|| (make(), 0));
        *on_their_way += 1;
        Place { group: *id, hash, is_announced: true }
    }

    /// An occurrence for which there was this place has come, or will not. Answers whether the group that it announced never came
    /// to be.
    pub(super) fn settle(&mut self, place: Place) -> bool {
        let Place { group, hash, is_announced } = place;
        if let Some((id, on_their_way)) = self.announced.get_mut(&hash)
            && is_announced
            && *id == group
        {
            *on_their_way -= 1;
            if *on_their_way == 0 {
                self.announced.remove(&hash);
                return !self.by_hash.contains_key(&hash);
            }
        }
        false
    }

    /// The group that the events with this id are counted in.
    pub(super) fn owner(&self, id: GroupId) -> GroupId {
        self.merged.get(&id).copied().unwrap_or(id)
    }

    /// Gives what people did to groups that are still to come from their events.
    pub(super) fn expect(&mut self, group_states: HashMap<GroupId, GroupState>) {
        self.expected = group_states;
    }

    /// Counts an occurrence in a group, made by `make` if it is not there, which has so many users then, where that is known.
    pub(super) fn count(
        &mut self,
        id: GroupId,
        make: impl FnOnce() -> Group,
        (occurrence, summary): (LatestOccurrence, &GroupSummary),
        users: Option<u64>,
    ) {
        let searched_chars = if self.long_bytes < self.long_bytes_max {
            limits::ERROR_SEARCH_CHARS_MAX
        } else {
            limits::ERROR_SEARCH_CHARS_CROWDED
        };
        self.changed.insert(id);
        if !self.by_id.contains_key(&id) {
            let mut made = make();
            made.state = self.expected.remove(&id).map(Box::new);
            self.insert(id, made);
        }
        self.change(id, |group| {
            group.count(occurrence, summary, searched_chars);
            group.users = users.unwrap_or(group.users);
        });
    }

    /// Puts a group in its place.
    pub(super) fn insert(&mut self, id: GroupId, group: Group) {
        self.by_hash.extend(group.hashes.iter().map(|hash| (*hash, id)));
        let members = group.state.iter().flat_map(|group_state| &group_state.members);
        self.merged.extend(members.map(|member| (*member, id)));
        self.long_bytes += group.long_bytes();
        self.state_bytes += group.state_bytes();
        if let Some(before) = self.by_id.insert(id, group) {
            self.forget_bytes(&before);
        }
    }

    /// Takes a group out: nothing leads to it any more.
    pub(super) fn remove(&mut self, id: GroupId) -> Option<Group> {
        let group = self.by_id.remove(&id)?;
        self.forget_bytes(&group);
        for hash in &group.hashes {
            self.by_hash.remove(hash);
            self.announced.remove(hash);
        }
        for member in group.state.iter().flat_map(|group_state| &group_state.members) {
            self.merged.remove(member);
        }
        self.changed.remove(&id);
        Some(group)
    }

    fn forget_bytes(&mut self, gone: &Group) {
        self.long_bytes = self.long_bytes.saturating_sub(gone.long_bytes());
        self.state_bytes = self.state_bytes.saturating_sub(gone.state_bytes());
    }

    /// Marks a group as one that the disk does not have as it is.
    pub(super) fn mark_changed(&mut self, ids: &[GroupId]) {
        self.changed.extend(ids.iter().filter(|id| self.by_id.contains_key(id)));
    }

    /// The groups that have changed since this was last asked.
    pub(super) fn take_changed(&mut self) -> Vec<GroupId> {
        self.changed.drain().collect()
    }

    /// Groups last seen before `oldest`.
    pub(super) fn last_seen_before(&self, oldest: TimestampMs) -> Vec<GroupId> {
        let old = self.by_id.iter().filter(|(_, group)| group.last_seen < oldest);
        old.map(|(id, _)| *id).collect()
    }

    /// Of the groups that match, those that may have an occurrence in the range; `by_time` where nothing else is asked of it.
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

    /// The ids of all groups that match.
    pub(super) fn matching(&self, filter: &GroupFilter, now: TimestampMs) -> Vec<GroupId> {
        self.select(filter, now).map(|(id, _)| *id).collect()
    }

    /// A page of the groups that match, and how many match in all.
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
            // Only what is shown, and what comes before it, need be in order.
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
        let search =
            filter.search.as_ref().map(|text| Finder::new(&text.to_lowercase()).into_owned());
        let (status, level, since) = (filter.status, filter.level, filter.since);
        let assignee = filter.assignee.clone();
        let only = filter.only.as_ref();
        self.by_id.iter().filter(move |(id, group)| {
            let whose =
                || group.state.as_ref().and_then(|group_state| group_state.assignee.as_deref());
            only.is_none_or(|only| only.contains(id))
                && status.is_none_or(|status| group.status(now) == status)
                && level.is_none_or(|level| group.level == level)
                && since.is_none_or(|since| group.last_seen >= since)
                && assignee.as_deref().is_none_or(|wanted| whose().unwrap_or_default() == wanted)
                && search
                    .as_ref()
                    .is_none_or(|search| search.find(group.search_string.as_bytes()).is_some())
        })
    }
}
