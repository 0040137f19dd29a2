//! Admits an occurrence, then counts it or discards it.

use telltale_engine::{EventBatch, EventId, NewEvent};
use tokio::sync::oneshot;

use super::super::error::ErrorsError;
use super::super::model::{GroupHash, GroupHashes, GroupId, Sender};
use super::super::prepare::{GroupSummary, PreparedOccurrence};
use super::book::{EVENT_NAME, GROUP_TAG, HASH_TAG, Ledger, LedgerState};
use super::group::{Group, LatestOccurrence};
use super::groups::GroupAssignment;
use super::read_users::ReadUsers;
use super::seen::{SeenKey, SeenStatus};

/// The outcome of an admission.
#[derive(Debug)]
pub(in crate::areas::errors) enum Admission {
    /// The event is in the batch. The ticket must be passed to [`Ledger::count`] once the batch is
    /// durable, or to [`Ledger::discard`] if it is not stored.
    New(Ticket),
    /// The occurrence was stored before.
    Known,
    /// A concurrent request is storing the occurrence: the receiver gets whether that succeeded.
    InFlight(oneshot::Receiver<bool>),
}

/// An admitted occurrence that is not counted yet.
#[derive(Debug)]
pub(in crate::areas::errors) struct Ticket {
    event: EventId,
    latest: LatestOccurrence,
    assignment: GroupAssignment,
    sender: Sender,
    seen: SeenKey,
    summary: GroupSummary,
    user: Option<String>,
}

/// The group and the hash that an occurrence was stored with, and its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct OccurrenceOrigin {
    pub(super) group: GroupId,
    pub(super) hash: GroupHash,
    pub(super) sender: Sender,
}

impl Ticket {
    /// Returns the id of its event.
    pub(in crate::areas::errors) fn event(&self) -> EventId {
        self.event
    }

    /// Returns the group that it was assigned to.
    pub(in crate::areas::errors) fn group(&self) -> GroupId {
        self.assignment.group
    }
}

impl Ledger {
    /// Adds an event for an occurrence to a batch, unless the occurrence is known. May read the
    /// disk. Returns [`ErrorsError::GroupBusy`] for a group that is being merged or deleted while
    /// the limit of deferred occurrences is reached.
    pub(in crate::areas::errors) fn admit(
        &self,
        prepared: &PreparedOccurrence,
        batch: &mut EventBatch,
    ) -> Result<Admission, ErrorsError> {
        let seen = SeenKey::new(prepared.project, prepared.event_id);
        let mut state = loop {
            let writes_begun = self.state.read().seen.writes_begun();
            if self.store.has_seen(seen, self.engine.trusted_time().believed)? {
                return Ok(Admission::Known);
            }
            let state = self.state.write();
            // Ids that were flushed since that read are on disk and may have left memory.
            if state.seen.writes_begun() == writes_begun {
                break state;
            }
        };
        match state.seen.check_or_begin(seen) {
            SeenStatus::Stored => return Ok(Admission::Known),
            SeenStatus::InFlight(receiver) => return Ok(Admission::InFlight(receiver)),
            SeenStatus::New => {}
        }
        let new_id = || GroupId(self.ids.next_number());
        let hash = self.hash_for(&mut state, prepared);
        if state.groups.of_hash(hash).is_some_and(|group| state.deferred.is_full_for(group)) {
            state.seen.finish(seen, false);
            return Err(ErrorsError::GroupBusy);
        }
        let assignment = state.groups.assign(hash, new_id);
        match push(batch, prepared, assignment) {
            Ok(event) => {
                state.numbers.begin(event.number(), assignment.group);
                let latest = LatestOccurrence { time: prepared.time, event };
                let (summary, user) = (prepared.summary.clone(), prepared.user.clone());
                let sender = prepared.sender;
                Ok(Admission::New(Ticket {
                    event,
                    latest,
                    assignment,
                    sender,
                    seen,
                    summary,
                    user,
                }))
            }
            Err(error) => {
                state.abandon(assignment, prepared.sender);
                state.seen.finish(seen, false);
                Err(error.into())
            }
        }
    }

    /// Chooses the hash that an occurrence is grouped by: the one of the earlier rules if they
    /// created its group, its own if that has a group or may start one, or else that of the
    /// sender's overflow group.
    fn hash_for(&self, state: &mut LedgerState, prepared: &PreparedOccurrence) -> GroupHash {
        let PreparedOccurrence { hashes: GroupHashes { current: hash, earlier }, sender, .. } =
            prepared;
        // No group is created by earlier rules any more, so this finds only groups that predate the
        // current rules.
        if let Some(known) = [earlier, hash].into_iter().find(|hash| state.groups.has(**hash)) {
            return *known;
        }
        let now = self.clock.steady();
        // A sender without budget must not cause evictions.
        if !state.budgets.has_left(*sender, now) {
            return GroupHash::overflow_of(*sender);
        }
        if state.groups.len_with_pending() >= self.groups_max {
            state.overflowed = state.overflowed.saturating_add(1);
            return GroupHash::overflow_of(*sender);
        }
        state.budgets.take(*sender, now);
        *hash
    }

    /// Counts the occurrences of a batch that is durable. May read the disk.
    pub(in crate::areas::errors) fn count(&self, tickets: &[Ticket]) {
        let (mut state, mut read) =
            self.lock_with_users(|state| state.unread_by(tickets).collect());
        state.count_all(&mut read, tickets);
    }

    /// Counts the occurrences if that needs nothing from the disk; returns whether it did.
    pub(in crate::areas::errors) fn count_in_memory(&self, tickets: &[Ticket]) -> bool {
        let mut state = self.state.write();
        let all_in_memory = state.unread_by(tickets).next().is_none();
        if all_in_memory {
            state.count_all(&mut ReadUsers::new(), tickets);
        }
        all_in_memory
    }

    /// Reverts the admission of a batch that was not stored.
    pub(in crate::areas::errors) fn discard(&self, tickets: &[Ticket]) {
        let mut state = self.state.write();
        for ticket in tickets {
            state.abandon(ticket.assignment, ticket.sender);
            state.numbers.end(ticket.event.number());
            state.seen.finish(ticket.seen, false);
        }
    }
}

impl LedgerState {
    /// Returns the groups whose user sets must be read from disk before these tickets can be
    /// counted.
    fn unread_by<'s>(&'s self, tickets: &'s [Ticket]) -> impl Iterator<Item = GroupId> + 's {
        tickets
            .iter()
            .filter_map(|ticket| self.unread_users(ticket.assignment.group, ticket.user.as_deref()))
    }

    fn count_all(&mut self, read: &mut ReadUsers, tickets: &[Ticket]) {
        for ticket in tickets {
            let Ticket { assignment, sender, summary, latest, user, .. } = ticket;
            let origin = OccurrenceOrigin {
                group: assignment.group,
                hash: assignment.hash,
                sender: *sender,
            };
            self.count(read, origin, *latest, summary, user.as_deref());
            self.groups.finish_assignment(*assignment);
            self.numbers.count(ticket.event.number());
            self.seen.finish(ticket.seen, true);
        }
    }

    /// Releases the assignment of an occurrence that will not be stored. If that leaves a new group
    /// without occurrences, its budget is refunded.
    fn abandon(&mut self, assignment: GroupAssignment, sender: Sender) {
        let is_gone = self.groups.finish_assignment(assignment);
        if is_gone && assignment.hash != GroupHash::overflow_of(sender) {
            self.budgets.refund(sender);
        }
    }

    /// Counts a durable occurrence that was stored with this group id. Occurrences of deleted
    /// groups are not counted.
    pub(super) fn count(
        &mut self,
        read: &mut ReadUsers,
        origin: OccurrenceOrigin,
        latest: LatestOccurrence,
        summary: &GroupSummary,
        user: Option<&str>,
    ) {
        if self.doomed.contains(&origin.group) {
            return;
        }
        let id = self.groups.owner(origin.group);
        if self.deferred.defers(id) {
            self.deferred.add(origin, latest, summary, user);
            return;
        }
        if self.groups.get(id).is_none() {
            // A new group has no set on disk.
            read.insert(id, Ok(None));
        }
        let users = user.and_then(|user| self.users.add(read, id, user));
        let new_group = || Group::new(origin.hash, origin.sender, latest, summary);
        self.groups.count(id, new_group, (latest, summary), users);
    }
}

fn push(
    batch: &mut EventBatch,
    prepared: &PreparedOccurrence,
    assignment: GroupAssignment,
) -> Result<EventId, telltale_engine::InvalidEvent> {
    let (group, hash) = (assignment.group.format(), assignment.hash.format());
    let mut tags = vec![
        (GROUP_TAG, group.as_str()),
        (HASH_TAG, hash.as_str()),
        ("level", prepared.level.as_str()),
    ];
    tags.extend(prepared.environment.as_deref().map(|environment| ("environment", environment)));
    tags.extend(prepared.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    tags.extend(prepared.release.as_deref().map(|release| ("release", release)));
    batch.push(&NewEvent {
        name: EVENT_NAME,
        time: prepared.time,
        user: prepared.user.as_deref(),
        value: None,
        tags: &tags,
        properties: Some(&prepared.properties),
    })
}
