//! The messages that a change causes: alerts with the same news for the same receiver share one.

use telltale_engine::RecordBatch;

use super::change::{Change, NoticeKey, Prepared};
use super::message::Message;
use super::model::{Alert, AlertId, DeliveryStatus, Destination, LogEntry};
use super::overflow::Outgoing;
use super::stored;
use crate::areas::alerting::channels::Progress;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::NoticeAlert;
use crate::platform::ids;

impl Change<'_> {
    /// Returns the records to write, and what the state becomes.
    pub(super) fn finish(mut self) -> Prepared {
        let mut outgoing = Outgoing::default();
        self.withdraw_unsent(&mut outgoing);
        for (key, alerts) in std::mem::take(&mut self.notices) {
            let chunk = if self.directory.is_paging(&key.destination) {
                limits::NOTICE_ALERTS_MAX
            } else {
                limits::MESSAGE_ALERTS_MAX
            };
            for some in alerts.chunks(chunk) {
                let number = outgoing.added.len() as u64;
                let seq = self.state.outbox().next_seq().saturating_add(number);
                if let Some(message) = self.message(&key, some, seq) {
                    outgoing.added.push((key.destination.clone(), message));
                }
            }
        }
        self.drop_oldest(&mut outgoing);
        let Outgoing { added: messages, removed, dropped } = outgoing;
        let mut batch = RecordBatch::new();
        for (seq, entries) in self.state.outbox().stale() {
            stored::delete_message(&mut batch, seq);
            for (alert, number, entry) in entries {
                stored::put_entry(&mut batch, *alert, *number, entry);
            }
        }
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
        let Self { groups, alerts, .. } = self;
        Prepared { batch, groups, alerts, messages, removed, dropped }
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
            progress: Progress::default(),
            is_first: key.is_first,
            due_at: self.now,
            error: None,
        };
        self.log_message(&message, &key.destination, DeliveryStatus::Queued);
        Some(message)
    }

    pub(super) fn log_message(
        &mut self,
        message: &Message,
        destination: &Destination,
        status: DeliveryStatus,
    ) {
        let entry = LogEntry::Notification(message.entry(destination, status, self.now));
        // The log of an alert may have been cut, or deleted with it.
        let kept = |(id, number): &&(AlertId, u32)| {
            self.state.has_entry(*id, *number) || self.alerts.contains_key(id)
        };
        let logged = message.alerts.iter().filter(kept);
        let logged: Vec<_> = logged.map(|(id, number)| (*id, *number, entry.clone())).collect();
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
