//! One group: in memory, and as displayed.

use smallvec::{SmallVec, smallvec};
use telltale_engine::{EventId, TimestampMs, fold_case};

use super::super::model::{GroupHash, GroupId, GroupState, GroupStatus, Level, Sender};
use super::super::occurrence::truncate;
use super::super::prepare::GroupSummary;
use crate::limits;

/// The title of an overflow group.
const OVERFLOW_TITLE: &str = "Errors beyond the limit of groups";

/// A group. Takes about 200 bytes and its strings.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::errors) struct Group {
    pub(in crate::areas::errors) title: Box<str>,
    /// Title and message in lower case, for searches.
    pub(in crate::areas::errors) search_string: Box<str>,
    pub(in crate::areas::errors) level: Level,
    pub(in crate::areas::errors) first_seen: TimestampMs,
    pub(in crate::areas::errors) last_seen: TimestampMs,
    pub(in crate::areas::errors) occurrences: u64,
    pub(in crate::areas::errors) users: u64,
    /// The newest occurrence.
    pub(in crate::areas::errors) latest: LatestOccurrence,
    pub(in crate::areas::errors) hashes: SmallVec<[GroupHash; 1]>,
    /// The sender of its first occurrence.
    pub(in crate::areas::errors) sender: Sender,
    /// `None` if the state was never changed.
    pub(in crate::areas::errors) state: Option<Box<GroupState>>,
}

/// The newest occurrence of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::areas::errors) struct LatestOccurrence {
    pub(in crate::areas::errors) time: TimestampMs,
    pub(in crate::areas::errors) event: EventId,
}

/// A group as displayed.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::errors) struct GroupView {
    pub(in crate::areas::errors) id: GroupId,
    pub(in crate::areas::errors) title: String,
    pub(in crate::areas::errors) status: GroupStatus,
    pub(in crate::areas::errors) level: Level,
    pub(in crate::areas::errors) first_seen: TimestampMs,
    pub(in crate::areas::errors) last_seen: TimestampMs,
    pub(in crate::areas::errors) occurrences: u64,
    pub(in crate::areas::errors) users: u64,
    pub(in crate::areas::errors) latest: LatestOccurrence,
    pub(in crate::areas::errors) state: GroupState,
}

impl Group {
    /// Returns the group of a first occurrence, which is not counted yet.
    pub(super) fn new(
        hash: GroupHash,
        sender: Sender,
        latest: LatestOccurrence,
        summary: &GroupSummary,
    ) -> Self {
        Self {
            title: Box::default(),
            search_string: Box::default(),
            level: summary.level,
            first_seen: latest.time,
            last_seen: latest.time,
            occurrences: 0,
            users: 0,
            latest,
            hashes: smallvec![hash],
            sender,
            state: None,
        }
    }

    /// Counts an occurrence. Up to `searched_chars` characters of its message become searchable.
    /// Returns whether it reopened the group.
    pub(super) fn count(
        &mut self,
        occurrence: LatestOccurrence,
        summary: &GroupSummary,
        searched_chars: usize,
    ) -> bool {
        self.occurrences += 1;
        self.first_seen = self.first_seen.min(occurrence.time);
        self.last_seen = self.last_seen.max(occurrence.time);
        if occurrence >= self.latest {
            self.latest = occurrence;
            self.level = summary.level;
            self.update_summary(summary, searched_chars);
        }
        self.state.as_mut().is_some_and(|group_state| group_state.observe(occurrence.event))
    }

    /// Adds the counts of another group.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.occurrences += other.occurrences;
        self.first_seen = self.first_seen.min(other.first_seen);
        self.last_seen = self.last_seen.max(other.last_seen);
        self.hashes.extend(other.hashes.iter().copied());
        if other.latest > self.latest {
            self.latest = other.latest;
            self.level = other.level;
            self.title.clone_from(&other.title);
            self.search_string.clone_from(&other.search_string);
        }
    }

    /// Returns the bytes of the search string beyond those that every group may have.
    pub(super) fn long_bytes(&self) -> usize {
        self.search_string.len().saturating_sub(limits::ERROR_SHORT_STRING_BYTES)
    }

    /// Returns the bytes of strings that people entered, and of the groups merged into it.
    pub(super) fn state_bytes(&self) -> usize {
        let Some(group_state) = &self.state else { return 0 };
        let strings = [&group_state.note, &group_state.reason, &group_state.assignee];
        let string_bytes: usize = strings.into_iter().flatten().map(String::len).sum();
        string_bytes + group_state.members.len() * limits::ERROR_MERGED_BYTES
    }

    fn update_summary(&mut self, summary: &GroupSummary, searched_chars: usize) {
        let title = if self.is_overflow() { OVERFLOW_TITLE } else { &summary.title };
        let search_string = match truncate(&summary.message, searched_chars) {
            "" => fold_case(title),
            message => fold_case(&[title, "\n", message].concat()),
        };
        if *self.title != *title {
            self.title = title.into();
        }
        if *self.search_string != *search_string {
            self.search_string = search_string.into();
        }
    }

    /// Returns whether it is an overflow group.
    pub(super) fn is_overflow(&self) -> bool {
        self.hashes.iter().any(|hash| hash.is_overflow())
    }

    pub(super) fn status(&self, now: TimestampMs) -> GroupStatus {
        self.state.as_ref().map_or(GroupStatus::Unresolved, |group_state| group_state.status(now))
    }

    pub(super) fn view(&self, id: GroupId, now: TimestampMs) -> GroupView {
        GroupView {
            id,
            title: self.title.to_string(),
            status: self.status(now),
            level: self.level,
            first_seen: self.first_seen,
            last_seen: self.last_seen,
            occurrences: self.occurrences,
            users: self.users,
            latest: self.latest,
            state: self.state.as_deref().cloned().unwrap_or_default(),
        }
    }
}

impl GroupView {
    /// Returns the group ids in the tags of its events: its own and those of the groups merged into
    /// it.
    pub(in crate::areas::errors) fn event_groups(&self) -> Vec<String> {
        std::iter::once(&self.id).chain(&self.state.members).map(|id| id.format()).collect()
    }
}
