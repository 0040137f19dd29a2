//! One group in memory, and as it is shown.

use smallvec::{SmallVec, smallvec};
use telltale_engine::{EventId, TimestampMs};

use super::super::model::{GroupHash, GroupId, GroupState, GroupStatus, Level, Sender};
use super::super::occurrence::truncate;
use super::super::prepare::GroupSummary;
use crate::limits;

/// The title of a group of everything that comes beyond a limit of groups.
const OVERFLOW_TITLE: &str = "Errors beyond the limit of groups";

/// A group. Some 200 bytes and its texts.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::errors) struct Group {
    pub(in crate::areas::errors) title: Box<str>,
    /// Title and message in lower case, for the search.
    pub(in crate::areas::errors) search_string: Box<str>,
    pub(in crate::areas::errors) level: Level,
    pub(in crate::areas::errors) first_seen: TimestampMs,
    pub(in crate::areas::errors) last_seen: TimestampMs,
    pub(in crate::areas::errors) occurrences: u64,
    pub(in crate::areas::errors) users: u64,
    /// Its newest occurrence.
    pub(in crate::areas::errors) latest: LatestOccurrence,
    pub(in crate::areas::errors) hashes: SmallVec<[GroupHash; 1]>,
    /// Whose first occurrence made it.
    pub(in crate::areas::errors) sender: Sender,
    /// `None` while nobody has touched it.
    pub(in crate::areas::errors) state: Option<Box<GroupState>>,
}

/// The newest occurrence of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::areas::errors) struct LatestOccurrence {
    pub(in crate::areas::errors) time: TimestampMs,
    pub(in crate::areas::errors) event: EventId,
}

/// A group as it is shown.
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
    /// The group of a first occurrence, which is still to be counted.
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

    /// Counts an occurrence. So many characters of its message are searched.
    pub(super) fn count(
        &mut self,
        occurrence: LatestOccurrence,
        summary: &GroupSummary,
        searched_chars: usize,
    ) {
        self.occurrences += 1;
        self.first_seen = self.first_seen.min(occurrence.time);
        self.last_seen = self.last_seen.max(occurrence.time);
        if occurrence >= self.latest {
            self.latest = occurrence;
            self.level = summary.level;
            self.show(summary, searched_chars);
        }
        if let Some(group_state) = &mut self.state {
            group_state.observe(occurrence.event);
        }
    }

    /// Takes over what another group has counted.
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

    /// Bytes of the text that is searched beyond those that every group may have.
    pub(super) fn long_bytes(&self) -> usize {
        self.search_string.len().saturating_sub(limits::ERROR_SHORT_TEXT_BYTES)
    }

    /// Bytes of what people wrote about it, and of the groups that became part of it.
    pub(super) fn state_bytes(&self) -> usize {
        let Some(group_state) = &self.state else { return 0 };
        let texts = [&group_state.note, &group_state.reason, &group_state.assignee];
        let text_bytes: usize = texts.into_iter().flatten().map(String::len).sum();
        text_bytes + group_state.members.len() * limits::ERROR_MERGED_BYTES
    }

    fn show(&mut self, summary: &GroupSummary, searched_chars: usize) {
        let title = if self.is_overflow() { OVERFLOW_TITLE } else { &summary.title };
        let search_string = match truncate(&summary.message, searched_chars) {
            "" => title.to_lowercase(),
            message => [title, "\n", message].concat().to_lowercase(),
        };
        if *self.title != *title {
            self.title = title.into();
        }
        if *self.search_string != *search_string {
            self.search_string = search_string.into();
        }
    }

    /// Whether it is of what had no place elsewhere.
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
    /// The ids under which its events stand: its own, and those of groups that were merged into it.
    pub(in crate::areas::errors) fn event_groups(&self) -> Vec<String> {
        std::iter::once(&self.id).chain(&self.state.members).map(|id| id.format()).collect()
    }
}
