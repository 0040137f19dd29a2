//! The way of an occurrence: admitted, then counted or forgotten.

use telltale_engine::{EventBatch, EventId, NewEvent};
use tokio::sync::oneshot;

use super::super::error::ErrorsError;
use super::super::model::{GroupHash, GroupHashes, GroupId, Sender};
use super::super::prepare::{GroupSummary, PreparedOccurrence};
use super::book::{EVENT_NAME, GROUP_TAG, HASH_TAG, Ledger, State};
use super::group::{Group, LatestOccurrence};
use super::groups::Place;
use super::read_users::ReadUsers;
use super::seen::{SeenKey, Sight};

/// What is to be done with an occurrence.
#[derive(Debug)]
pub(in crate::areas::errors) enum Admission {
    /// It is in the batch: once that is durable, or is not, the ticket must be handed in.
    New(Ticket),
    /// It was stored before.
    Known,
    /// It is on its way from another request: the receiver hears whether it was stored.
    InFlight(oneshot::Receiver<bool>),
}

/// An occurrence on its way.
#[derive(Debug)]
pub(in crate::areas::errors) struct Ticket {
    event: EventId,
    latest: LatestOccurrence,
    place: Place,
    sender: Sender,
    seen: SeenKey,
    summary: GroupSummary,
    user: Option<String>,
}

/// What an occurrence was stored under, and who sent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) group: GroupId,
    pub(super) hash: GroupHash,
    pub(super) sender: Sender,
}

impl Ticket {
    /// The event that it becomes.
    pub(in crate::areas::errors) fn event(&self) -> EventId {
        self.event
    }

    /// The group it goes to.
    pub(in crate::areas::errors) fn group(&self) -> GroupId {
        self.place.group
    }
}

impl Ledger {
    /// Adds an occurrence to a batch of events, unless it is known. May look at the disk. Refuses one of a group that is being merged or
    /// deleted while too many wait for that.
    pub(in crate::areas::errors) fn admit(
        &self,
        prepared: &PreparedOccurrence,
        batch: &mut EventBatch,
    ) -> Result<Admission, ErrorsError> {
        let seen = SeenKey::new(prepared.project, prepared.event_id);
        let mut state = loop {
            let writings = self.state.read().seen.writings();
            if self.store.has_seen(seen, self.engine.trusted_time().believed)? {
                return Ok(Admission::Known);
            }
            let state = self.state.write();
            // What was written since that look is on disk, and may not be here any more.
            if state.seen.writings() == writings {
                break state;
            }
        };
        match state.seen.look(seen) {
            Sight::Stored => return Ok(Admission::Known),
            Sight::InFlight(told) => return Ok(Admission::InFlight(told)),
            Sight::New => {}
        }
        let make = || GroupId(self.ids.next_number());
        let hash = self.hash_for(&mut state, prepared);
        if state.groups.of_hash(hash).is_some_and(|group| state.deferred.is_full_for(group)) {
            state.seen.settle(seen, false);
            return Err(ErrorsError::GroupBusy);
        }
        let place = state.groups.announce(hash, make);
        match push(batch, prepared, place) {
            Ok(event) => {
                state.numbers.begin(event.number(), place.group);
                let latest = LatestOccurrence { time: prepared.time, event };
                let (summary, user) = (prepared.summary.clone(), prepared.user.clone());
                let sender = prepared.sender;
                Ok(Admission::New(Ticket { event, latest, place, sender, seen, summary, user }))
            }
            Err(refused) => {
                state.abandon(place, prepared.sender);
                state.seen.settle(seen, false);
                Err(refused.into())
            }
        }
    }

    /// The hash that an occurrence goes by: the one by earlier rules where these made its group, its own where that has a group
    /// or may begin one, else that of all that its sender has beyond.
    fn hash_for(&self, state: &mut State, prepared: &PreparedOccurrence) -> GroupHash {
        let PreparedOccurrence { hashes: GroupHashes { current: hash, earlier }, sender, .. } =
            prepared;
        // Groups of earlier rules are never begun any more, so this finds only those that were there before these rules.
        if let Some(known) = [earlier, hash].into_iter().find(|hash| state.groups.has(**hash)) {
            return *known;
        }
        let now = self.clock.steady();
        // Only who could begin a group is a reason to make room for one.
        if !state.budgets.has_left(*sender, now) {
            return GroupHash::overflow_of(*sender);
        }
        if state.groups.expected_len() >= self.groups_max {
            state.unplaced = state.unplaced.saturating_add(1);
            return GroupHash::overflow_of(*sender);
        }
        state.budgets.take(*sender, now);
        *hash
    }

    /// The batch is durable: what is in it counts. May look at the disk.
    pub(in crate::areas::errors) fn count(&self, tickets: &[Ticket]) {
        let (mut state, mut read) =
            self.lock_with_users(|state| state.unread_by(tickets).collect());
        state.count_all(&mut read, tickets);
    }

    /// The same where it needs nothing from the disk. Returns whether that was so.
    pub(in crate::areas::errors) fn count_in_memory(&self, tickets: &[Ticket]) -> bool {
        let mut state = self.state.write();
        let is_there = state.unread_by(tickets).next().is_none();
        if is_there {
            state.count_all(&mut ReadUsers::new(), tickets);
        }
        is_there
    }

    /// The batch was not stored: it is as if nothing of it had come.
    pub(in crate::areas::errors) fn discard(&self, tickets: &[Ticket]) {
        let mut state = self.state.write();
        for ticket in tickets {
            state.abandon(ticket.place, ticket.sender);
            state.numbers.end(ticket.event.number());
            state.seen.settle(ticket.seen, false);
        }
    }
}

impl State {
    /// The groups whose users must be read from disk before these count.
    fn unread_by<'s>(&'s self, tickets: &'s [Ticket]) -> impl Iterator<Item = GroupId> + 's {
        tickets
            .iter()
            .filter_map(|ticket| self.unread_users(ticket.place.group, ticket.user.as_deref()))
    }

    fn count_all(&mut self, read: &mut ReadUsers, tickets: &[Ticket]) {
        for ticket in tickets {
            let Ticket { place, sender, summary, latest, user, .. } = ticket;
            let origin = Origin { group: place.group, hash: place.hash, sender: *sender };
            self.count(read, origin, *latest, summary, user.as_deref());
            self.groups.settle(*place);
            self.numbers.count(ticket.event.number());
            self.seen.settle(ticket.seen, true);
        }
    }

    /// An occurrence for which there was this place will not come. A group that it would have begun costs its sender nothing.
    fn abandon(&mut self, place: Place, sender: Sender) {
        let is_gone = self.groups.settle(place);
        if is_gone && place.hash != GroupHash::overflow_of(sender) {
            self.budgets.give_back(sender);
        }
    }

    /// Counts a durable occurrence that was stored under this id of a group. Those of deleted groups do not count.
    pub(super) fn count(
        &mut self,
        read: &mut ReadUsers,
        origin: Origin,
        latest: LatestOccurrence,
        summary: &GroupSummary,
        user: Option<&str>,
    ) {
        if self.doomed.contains(&origin.group) {
            return;
        }
        let id = self.groups.owner(origin.group);
        if self.deferred.concerns(id) {
            self.deferred.add(origin, latest, summary, user);
            return;
        }
        let is_new = self.groups.get(id).is_none();
        let users = user.and_then(|user| self.users.add(read, id, is_new, user));
        let make = || Group::new(origin.hash, origin.sender, latest, summary);
        self.groups.count(id, make, (latest, summary), users);
    }
}

fn push(
    batch: &mut EventBatch,
    prepared: &PreparedOccurrence,
    place: Place,
) -> Result<EventId, telltale_engine::InvalidEvent> {
    let (group, hash) = (place.group.format(), place.hash.format());
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
