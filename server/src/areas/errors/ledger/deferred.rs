//! Defers the counting of occurrences of groups that are being merged or deleted until that is
//! done.
//!
//! So no occurrence is counted between the write to disk and the change in memory, and only the
//! caller that makes the change waits for the disk.
//!
//! Deferred occurrences are in memory and limited in bytes. When the limit is reached,
//! `Ledger::admit` refuses further occurrences of these groups before they are stored, and their
//! senders retry. Those that were admitted before may exceed the limit; their number is bounded by
//! the requests in progress.

use std::collections::HashSet;
use std::mem;

use super::super::model::GroupId;
use super::super::prepare::GroupSummary;
use super::admit::OccurrenceOrigin;
use super::book::LedgerState;
use super::group::LatestOccurrence;
use super::read_users::ReadUsers;
use crate::limits::ERRORS_DEFERRED_BYTES_MAX;

/// The groups that are being changed, and their deferred occurrences.
#[derive(Debug)]
pub(super) struct DeferredOccurrences {
    groups: HashSet<GroupId>,
    occurrences: Vec<DeferredOccurrence>,
    /// The sum over all occurrences.
    bytes: usize,
    /// The limit from which further occurrences of these groups are refused.
    pub(super) bytes_max: usize,
}

/// A durable occurrence that is not counted yet.
#[derive(Debug)]
struct DeferredOccurrence {
    origin: OccurrenceOrigin,
    latest: LatestOccurrence,
    summary: GroupSummary,
    user: Option<String>,
}

impl Default for DeferredOccurrences {
    fn default() -> Self {
        let (groups, occurrences) = (HashSet::new(), Vec::new());
        Self { groups, occurrences, bytes: 0, bytes_max: ERRORS_DEFERRED_BYTES_MAX }
    }
}

impl DeferredOccurrences {
    /// Returns the approximate memory of the deferred occurrences in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether occurrences of the group are deferred.
    pub(super) fn defers(&self, group: GroupId) -> bool {
        self.groups.contains(&group)
    }

    /// Returns whether occurrences of the group are deferred and the limit is reached.
    pub(super) fn is_full_for(&self, group: GroupId) -> bool {
        self.bytes >= self.bytes_max && self.defers(group)
    }

    /// Returns the group and the user of each deferred occurrence.
    pub(super) fn group_users(&self) -> impl Iterator<Item = (GroupId, Option<&str>)> {
        self.occurrences.iter().map(|one| (one.origin.group, one.user.as_deref()))
    }

    /// Defers an occurrence.
    pub(super) fn add(
        &mut self,
        origin: OccurrenceOrigin,
        latest: LatestOccurrence,
        summary: &GroupSummary,
        user: Option<&str>,
    ) {
        let (summary, user) = (summary.clone(), user.map(str::to_owned));
        let occurrence = DeferredOccurrence { origin, latest, summary, user };
        self.bytes += occurrence.bytes();
        self.occurrences.push(occurrence);
    }
}

impl DeferredOccurrence {
    fn bytes(&self) -> usize {
        let strings = self.summary.title.len() + self.summary.message.len();
        size_of::<Self>() + strings + self.user.as_ref().map_or(0, String::len)
    }
}

impl LedgerState {
    /// Starts deferring occurrences of these groups, until [`Self::release_deferred`].
    pub(super) fn defer(&mut self, groups: impl Iterator<Item = GroupId>) {
        self.deferred.groups.extend(groups);
    }

    /// Stops deferring and counts the deferred occurrences in the groups as they are now, with the
    /// user sets that were read.
    pub(super) fn release_deferred(&mut self, read: &mut ReadUsers) {
        self.deferred.groups = HashSet::new();
        self.deferred.bytes = 0;
        for occurrence in mem::take(&mut self.deferred.occurrences) {
            let DeferredOccurrence { origin, latest, summary, user } = occurrence;
            self.count(read, origin, latest, &summary, user.as_deref());
        }
    }
}
