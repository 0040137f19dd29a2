//! A table of groups that is full: of those who have more of it than others, whoever made most of late gives up what is needed least.
//!
//! Groups are dropped many at a time where there are many, since each time all blocks with their events are written anew. What a
//! person cares for stays, and so does what is of an unknown sender: of a group that only events told of after a crash, or of a
//! version that did not note it. Those go with their last event.

use std::collections::HashMap;

use telltale_engine::{Result, TimestampMs};

use super::super::model::{GroupId, GroupStatus, Sender};
use super::book::Ledger;
use super::group::Group;
use super::groups::Groups;
use crate::limits::ERROR_FLOOD_MS;

/// What one sender could give up.
#[derive(Debug, Default)]
struct Dispensable {
    /// How many of its groups are new.
    recent: usize,
    /// Settled ones first, then by when they were last seen.
    groups: Vec<(bool, TimestampMs, GroupId)>,
}

impl Ledger {
    /// Drops groups where the table is full, or nearly so where it is large. A sweep calls it. Blocks.
    pub fn make_room(&self) -> Result<()> {
        let _writing = self.writing.lock();
        // No person changes a group from here on.
        let chosen = {
            let wanted = std::mem::take(&mut self.state.write().unplaced);
            let state = self.state.read();
            match self.missing_room(state.groups.len(), wanted) {
                0 => return Ok(()),
                count => state.groups.least_useful(count, self.clock.now()),
            }
        };
        if chosen.is_empty() {
            return Ok(());
        }
        let count = chosen.len();
        tracing::warn!(
            count,
            "groups of errors were dropped: there were too many (errors.groups_max)"
        );
        self.delete_held(&chosen).map(drop)
    }

    /// How many groups must go when there are so many, and for so many occurrences there was no place.
    fn missing_room(&self, groups: usize, unplaced: usize) -> usize {
        let spare = self.groups_max / 100;
        let is_short = groups.saturating_add(spare / 2) > self.groups_max;
        if unplaced == 0 && (spare == 0 || !is_short) {
            return 0;
        }
        let places = spare.max(unplaced.min(self.groups_max / 10 + 1));
        groups.saturating_add(places).saturating_sub(self.groups_max)
    }
}

impl Groups {
    /// The groups that are needed least of the sender who made most of late, among those who have more than their share: a flood
    /// that is over costs whoever sent it still, and not who sends now.
    fn least_useful(&self, count: usize, now: TimestampMs) -> Vec<GroupId> {
        let recent_ms = now.0.saturating_sub(ERROR_FLOOD_MS);
        let mut senders: HashMap<Sender, Dispensable> = HashMap::new();
        for (id, group) in self.iter() {
            if let Some(is_needed) = needed(group, now) {
                let of_sender = senders.entry(group.sender).or_default();
                of_sender.recent += usize::from(id.created_at().0 >= recent_ms);
                of_sender.groups.push((is_needed, group.last_seen, id));
            }
        }
        let all: usize = senders.values().map(|of| of.groups.len()).sum();
        let share = all.checked_div(senders.len()).unwrap_or(0);
        let above = senders.into_values().filter(|of| of.groups.len() >= share);
        let floods = above.max_by_key(|of| (of.recent, of.groups.len()));
        let mut groups = floods.unwrap_or_default().groups;
        groups.sort_unstable();
        groups.into_iter().take(count).map(|(_, _, id)| id).collect()
    }
}

/// Whether somebody should look at a group; nothing for one that must stay.
fn needed(group: &Group, now: TimestampMs) -> Option<bool> {
    let is_protected = group.state.as_ref().is_some_and(|group_state| group_state.is_protected());
    let stays = is_protected || group.sender == Sender::UNKNOWN || group.is_overflow();
    (!stays).then(|| group.status(now) == GroupStatus::Unresolved)
}
