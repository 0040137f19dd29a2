//! Groups that are being merged or deleted: what occurs of them meanwhile counts when it is known what became of them.
//!
//! So nothing is counted between what the disk gets and what is then in memory, and nobody waits for the disk but who changes.
//!
//! What waits is in memory, so it has a limit. Past it, `Ledger::admit` refuses more occurrences of these groups
//! before they are stored: their senders try again. Those that were admitted before still come; they are as many as there are
//! requests on their way.

use std::collections::HashSet;
use std::mem;

use super::super::model::GroupId;
use super::super::prepare::GroupSummary;
use super::admit::Origin;
use super::book::State;
use super::group::LatestOccurrence;
use super::read_users::ReadUsers;
use crate::limits::ERRORS_HELD_BACK_BYTES_MAX;

/// The groups that are being changed, and what came for them.
#[derive(Debug)]
pub(super) struct DeferredOccurrences {
    groups: HashSet<GroupId>,
    occurrences: Vec<HeldOccurrence>,
    /// Of all occurrences.
    bytes: usize,
    /// Past it, no more occurrences of these groups are admitted.
    pub(super) bytes_max: usize,
}

/// A durable occurrence that does not count yet.
#[derive(Debug)]
struct HeldOccurrence {
    origin: Origin,
    latest: LatestOccurrence,
    summary: GroupSummary,
    user: Option<String>,
}

impl Default for DeferredOccurrences {
    fn default() -> Self {
        let (groups, occurrences) = (HashSet::new(), Vec::new());
        Self { groups, occurrences, bytes: 0, bytes_max: ERRORS_HELD_BACK_BYTES_MAX }
    }
}

impl DeferredOccurrences {
    /// Bytes of memory that what came takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a group is being changed.
    pub(super) fn concerns(&self, group: GroupId) -> bool {
        self.groups.contains(&group)
    }

    /// Whether a group is being changed, and no more of it may come.
    pub(super) fn is_full_for(&self, group: GroupId) -> bool {
        self.bytes >= self.bytes_max && self.concerns(group)
    }

    /// The groups and users of what came.
    pub(super) fn told(&self) -> impl Iterator<Item = (GroupId, Option<&str>)> {
        self.occurrences.iter().map(|one| (one.origin.group, one.user.as_deref()))
    }

    /// What came for a group that is being changed.
    pub(super) fn add(
        &mut self,
        origin: Origin,
        latest: LatestOccurrence,
        summary: &GroupSummary,
        user: Option<&str>,
    ) {
        let (summary, user) = (summary.clone(), user.map(str::to_owned));
        let held = HeldOccurrence { origin, latest, summary, user };
        self.bytes += held.bytes();
        self.occurrences.push(held);
    }
}

impl HeldOccurrence {
    fn bytes(&self) -> usize {
        let texts = self.summary.title.len() + self.summary.message.len();
        size_of::<Self>() + texts + self.user.as_ref().map_or(0, String::len)
    }
}

impl State {
    /// These groups are being changed from now on, until [`Self::let_go`].
    pub(super) fn hold_back(&mut self, groups: impl Iterator<Item = GroupId>) {
        self.deferred.groups.extend(groups);
    }

    /// Nothing is being changed any more, and what was held back counts in what there is now, with the users that were read.
    pub(super) fn let_go(&mut self, read: &mut ReadUsers) {
        self.deferred.groups = HashSet::new();
        self.deferred.bytes = 0;
        for held in mem::take(&mut self.deferred.occurrences) {
            let HeldOccurrence { origin, latest, summary, user } = held;
            self.count(read, origin, latest, &summary, user.as_deref());
        }
    }
}
