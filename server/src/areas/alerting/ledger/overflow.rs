//! Drops the oldest messages where too many wait: a receiver that is unreachable must not use up
//! the memory of the others.

use std::collections::BTreeSet;

use super::change::Change;
use super::message::Message;
use super::model::{DeliveryStatus, Destination};
use crate::areas::alerting::limits;

/// The messages that a change adds, removes and drops.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    pub(super) added: Vec<(Destination, Message)>,
    pub(super) removed: BTreeSet<u64>,
    /// The number of those that were dropped.
    pub(super) dropped: usize,
}

impl Change<'_> {
    /// Drops messages until each receiver, and all together, have at most as many as may wait.
    pub(super) fn drop_oldest(&mut self, outgoing: &mut Outgoing) {
        let added = outgoing.added.iter();
        let receivers: BTreeSet<Destination> = added.map(|(to, _)| to.clone()).collect();
        for to in receivers {
            self.drop_of_one(&to, outgoing);
        }
        let removed = self.state.outbox().bytes_of(&outgoing.removed);
        let added: usize = outgoing.added.iter().map(|(_, message)| message.bytes()).sum();
        let total = self.state.outbox().bytes().saturating_sub(removed).saturating_add(added);
        if let Some(excess) = total.checked_sub(limits::OUTBOX_BYTES_MAX) {
            self.free(excess, outgoing);
        }
    }

    /// Drops the oldest messages of a receiver for which too many wait.
    fn drop_of_one(&mut self, to: &Destination, outgoing: &mut Outgoing) {
        let outbox = self.state.outbox();
        let waiting = outbox.waiting(to).filter(|old| !outgoing.removed.contains(&old.seq)).count();
        let new = outgoing.added.iter().filter(|(other, _)| other == to).count();
        let mut excess = (waiting + new).saturating_sub(limits::OUTBOX_MESSAGES_MAX);
        for old in outbox.droppable(to) {
            if excess > 0 && self.drop_message(old, to, outgoing) {
                excess -= 1;
            }
        }
        let mut kept = Vec::with_capacity(outgoing.added.len());
        for (other, message) in std::mem::take(&mut outgoing.added) {
            if other == *to && excess > 0 {
                excess -= 1;
                self.drop_new(&message, to, outgoing);
            } else {
                kept.push((other, message));
            }
        }
        outgoing.added = kept;
    }

    /// Drops the oldest messages of the receivers with most of them, then new ones, until `excess`
    /// bytes are free.
    fn free(&mut self, mut excess: usize, outgoing: &mut Outgoing) {
        let outbox = self.state.outbox();
        for to in outbox.largest_first() {
            for old in outbox.droppable(to) {
                if excess == 0 {
                    return;
                }
                if self.drop_message(old, to, outgoing) {
                    excess = excess.saturating_sub(old.bytes());
                }
            }
        }
        while excess > 0 {
            let Some((to, message)) = outgoing.added.pop() else { return };
            excess = excess.saturating_sub(message.bytes());
            self.drop_new(&message, &to, outgoing);
        }
    }

    /// Returns whether the message was still to be sent.
    fn drop_message(&mut self, old: &Message, to: &Destination, outgoing: &mut Outgoing) -> bool {
        let is_new = outgoing.removed.insert(old.seq);
        if is_new {
            outgoing.dropped += 1;
            self.log_message(old, to, DeliveryStatus::Dropped);
        }
        is_new
    }

    fn drop_new(&mut self, message: &Message, to: &Destination, outgoing: &mut Outgoing) {
        outgoing.dropped += 1;
        self.log_message(message, to, DeliveryStatus::Dropped);
    }
}
