//! The messages that a change causes: alerts with the same news for the same receiver share one.

use std::collections::BTreeSet;

use telltale_engine::RecordBatch;

use super::change::{Change, NoticeKey, Prepared};
use super::message::Message;
use super::model::{Alert, AlertId, DeliveryStatus, Destination, LogEntry};
use super::stored;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::{NoticeAlert, NoticeKind};
use crate::platform::ids;

impl Change<'_> {
    /// Returns the records to write, and what the state becomes.
    pub(super) fn finish(mut self) -> Prepared {
        let mut removed = BTreeSet::new();
        let mut messages = Vec::new();
        for (key, alerts) in std::mem::take(&mut self.notices) {
            let alerts = self.without_unsent(&key, alerts, &mut removed);
            let chunk = if self.directory.is_paging(&key.destination) {
                limits::NOTICE_ALERTS_MAX
            } else {
                limits::MESSAGE_ALERTS_MAX
            };
            for some in alerts.chunks(chunk) {
                let seq = self.state.next_seq().saturating_add(messages.len() as u64);
                if let Some(message) = self.message(&key, some, seq) {
                    messages.push((key.destination.clone(), message));
                }
            }
        }
        let dropped = self.drop_oldest(&mut messages, &mut removed);
        let mut batch = RecordBatch::new();
        self.state.stale().for_each(|seq| stored::delete_message(&mut batch, seq));
        removed.iter().for_each(|seq| stored::delete_message(&mut batch, *seq));
        for (destination, message) in &messages {
            stored::put_message(&mut batch, destination, message);
        }
        for (key, group) in &self.groups {
            stored::put_group(&mut batch, key, group.as_ref());
        }
        self.alerts.values().for_each(|alert| stored::put_alert(&mut batch, alert));
        for (alert, number, entry) in &self.log {
            stored::put_entry(&mut batch, *alert, *number, entry);
            if let Some(old) = number.checked_sub(limits::ALERT_LOG_MAX) {
                stored::delete_entry(&mut batch, *alert, old);
            }
        }
        Prepared { batch, groups: self.groups, alerts: self.alerts, messages, removed, dropped }
    }

    /// Removes messages of which no attempt was made and whose alerts have all ended. Returns the
    /// alerts of an end that their receivers have to be told of.
    fn without_unsent(
        &mut self,
        key: &NoticeKey,
        mut alerts: Vec<AlertId>,
        removed: &mut BTreeSet<u64>,
    ) -> Vec<AlertId> {
        let is_end = matches!(key.kind, NoticeKind::Resolved | NoticeKind::Settled);
        if !is_end {
            return alerts;
        }
        let state = self.state;
        for message in state.unsent(&key.destination) {
            let is_start = matches!(message.kind, NoticeKind::Firing | NoticeKind::Flapping);
            let has_ended = |(id, _): &(AlertId, u32)| alerts.contains(id);
            if message.rule != key.rule || !is_start || !message.alerts.iter().all(has_ended) {
                continue;
            }
            removed.insert(message.seq);
            self.log_message(message, &key.destination, DeliveryStatus::Superseded);
            if message.is_first {
                alerts.retain(|id| message.alerts.iter().all(|(other, _)| other != id));
            }
        }
        alerts
    }

    fn message(&mut self, key: &NoticeKey, alerts: &[AlertId], seq: u64) -> Option<Message> {
        let mut numbered = Vec::with_capacity(alerts.len());
        let mut described = Vec::new();
        let mut about = None;
        for id in alerts {
            let mut alert = self.alert(*id)?.clone();
            numbered.push((*id, alert.log_next));
            alert.log_next = alert.log_next.saturating_add(1);
            if described.len() < limits::NOTICE_ALERTS_MAX {
                described.push(notice_alert(&alert));
            }
            about.get_or_insert_with(|| alert.about.clone());
            self.alerts.insert(*id, alert);
        }
        let message = Message {
            seq,
            id: ids::prefixed("msg_", self.ids.next_number()),
            kind: key.kind,
            rule: key.rule.clone(),
            about: about?,
            cycle: key.cycle,
            step_delay_minutes: key.step_delay_minutes,
            created_at: self.now,
            described,
            alerts: numbered,
            attempts: 0,
            is_first: key.is_first,
            due_at: self.now,
            error: None,
        };
        self.log_message(&message, &key.destination, DeliveryStatus::Queued);
        Some(message)
    }

    /// Drops the oldest messages of each destination for which too many wait.
    fn drop_oldest(
        &mut self,
        messages: &mut Vec<(Destination, Message)>,
        removed: &mut BTreeSet<u64>,
    ) -> usize {
        let state = self.state;
        let mut dropped = 0;
        let destinations: BTreeSet<Destination> =
            messages.iter().map(|(destination, _)| destination.clone()).collect();
        for destination in destinations {
            let new = messages.iter().filter(|(other, _)| *other == destination).count();
            let waiting = state.waiting(&destination);
            let waiting = waiting.filter(|message| !removed.contains(&message.seq)).count();
            let mut excess = (waiting + new).saturating_sub(limits::OUTBOX_MESSAGES_MAX);
            for message in state.droppable(&destination) {
                if excess > 0 && removed.insert(message.seq) {
                    self.log_message(message, &destination, DeliveryStatus::Dropped);
                    (excess, dropped) = (excess - 1, dropped + 1);
                }
            }
            messages.retain(|(other, message)| {
                let is_kept = *other != destination || excess == 0;
                if !is_kept {
                    (excess, dropped) = (excess - 1, dropped + 1);
                    tracing::warn!(message = message.id, "a message about alerts was dropped");
                }
                is_kept
            });
        }
        dropped
    }

    fn log_message(
        &mut self,
        message: &Message,
        destination: &Destination,
        status: DeliveryStatus,
    ) {
        let entry = LogEntry::Notification(message.entry(destination, status, self.now));
        let logged = message.alerts.iter().map(|(id, number)| (*id, *number, entry.clone()));
        self.log.extend(logged);
    }
}

fn notice_alert(alert: &Alert) -> NoticeAlert {
    let resolution = alert.resolved.as_ref();
    let by = match resolution {
        Some(resolution) => resolution.by.clone(),
        None => alert.acknowledged.as_ref().map(|acknowledged| acknowledged.by.clone()),
    };
    NoticeAlert {
        id: alert.id.text(),
        dedup_key: alert.group.dedup_key(),
        labels: alert.labels.clone(),
        value: alert.value,
        threshold: alert.about.comparison.map(|comparison| comparison.threshold),
        since: alert.since,
        ended_at: resolution.map(|resolution| resolution.at),
        by,
        summary: alert.summary.clone(),
    }
}
