//! Groups that are being merged or deleted: what occurs of them meanwhile counts when it is known what became of them.
//!
//! So nothing is counted between what the disk gets and what is then in memory, and nobody waits for the disk but who changes.

use std::collections::HashSet;

use super::super::model::GroupId;
use super::super::prepare::Face;
use super::admit::Origin;
use super::book::State;
use super::group::Latest;
use super::read_users::ReadUsers;

/// The groups that are being changed, and what came for them.
#[derive(Debug, Default)]
pub(super) struct HeldBack {
    groups: HashSet<GroupId>,
    occurrences: Vec<Occurred>,
}

/// A durable occurrence that does not count yet.
#[derive(Debug)]
struct Occurred {
    origin: Origin,
    latest: Latest,
    face: Face,
    user: Option<String>,
}

impl HeldBack {
    /// Whether a group is being changed.
    pub(super) fn concerns(&self, group: GroupId) -> bool {
        self.groups.contains(&group)
    }

    /// The groups and users of what came.
    pub(super) fn told(&self) -> impl Iterator<Item = (GroupId, Option<&str>)> {
        self.occurrences.iter().map(|one| (one.origin.group, one.user.as_deref()))
    }

    /// What came for a group that is being changed.
    pub(super) fn add(&mut self, origin: Origin, latest: Latest, face: &Face, user: Option<&str>) {
        let (face, user) = (face.clone(), user.map(str::to_owned));
        self.occurrences.push(Occurred { origin, latest, face, user });
    }
}

impl State {
    /// These groups are being changed from now on, until [`Self::let_go`].
    pub(super) fn hold_back(&mut self, groups: impl Iterator<Item = GroupId>) {
        self.held_back.groups.extend(groups);
    }

    /// Nothing is being changed any more, and what was held back counts in what there is now, with the users that were read.
    pub(super) fn let_go(&mut self, read: &mut ReadUsers) {
        let HeldBack { occurrences, .. } = std::mem::take(&mut self.held_back);
        for Occurred { origin, latest, face, user } in occurrences {
            self.count(read, origin, latest, &face, user.as_deref());
        }
    }
}
