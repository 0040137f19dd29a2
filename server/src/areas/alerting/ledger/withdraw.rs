//! Withdraws messages that nobody needs any more: an alert ended, was acknowledged or was muted
//! before its receiver was told that it fires.

use std::collections::{BTreeSet, HashSet};

use super::change::Change;
use super::message::Message;
use super::model::{AlertId, AlertStatus, DeliveryStatus, Destination};
use super::overflow::Outgoing;
use crate::areas::alerting::notice::NoticeKind;

impl Change<'_> {
    /// Removes messages about the start of alerts of which certainly no attempt was made, if all
    /// their alerts are silent since this change. Receivers that hear nothing of an alert by this
    /// are not told of what follows either.
    pub(super) fn withdraw_unsent(&mut self, outgoing: &mut Outgoing) {
        let mut receivers: BTreeSet<Destination> = BTreeSet::new();
        for id in &self.silenced {
            let alert = self.alert(*id);
            receivers.extend(alert.iter().flat_map(|alert| &alert.notified).cloned());
        }
        for to in receivers {
            self.withdraw_from(&to, outgoing);
        }
    }

    fn withdraw_from(&mut self, to: &Destination, outgoing: &mut Outgoing) {
        let mut unheard_of: HashSet<AlertId> = HashSet::new();
        for message in self.state.outbox().unsent(to) {
            if is_start(message) && message.alerts.iter().all(|(id, _)| self.is_silent(*id)) {
                outgoing.removed.insert(message.seq);
                self.log_message(message, to, DeliveryStatus::Superseded);
                if message.is_first {
                    unheard_of.extend(message.alerts.iter().map(|(id, _)| *id));
                }
            }
        }
        for id in &unheard_of {
            if let Some(mut alert) = self.alert(*id).cloned() {
                alert.notified.retain(|other| other != to);
                self.alerts.insert(*id, alert);
            }
        }
        for (_, alerts) in self.notices.iter_mut().filter(|(key, _)| key.destination == *to) {
            alerts.retain(|id| !unheard_of.contains(id));
        }
    }

    /// Returns whether nobody is to be told that an alert fires.
    fn is_silent(&self, id: AlertId) -> bool {
        self.alert(id)
            .is_none_or(|alert| alert.status() != AlertStatus::Firing || alert.muted_by.is_some())
    }
}

fn is_start(message: &Message) -> bool {
    matches!(message.kind, NoticeKind::Firing | NoticeKind::Flapping)
}
