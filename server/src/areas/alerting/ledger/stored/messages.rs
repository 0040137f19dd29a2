//! The stored forms of messages and of the entries of logs.

use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use crate::areas::alerting::channels::Progress;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::ledger::message::Message;
use crate::areas::alerting::ledger::model::{
    AlertEvent, AlertEventKind, AlertId, Comparison, DeliveryStatus, Destination, Labels, LogEntry,
    NotificationEntry, RuleFacts,
};
use crate::areas::alerting::notice::{NoticeAlert, NoticeKind, Severity};
use crate::areas::alerting::rules::Operator;

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum StoredEntry {
    Event(StoredEvent),
    Notification(StoredNotification),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredEvent {
    event: String,
    at_ms: i64,
    by: Option<String>,
    value: Option<f64>,
    note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredNotification {
    message_id: String,
    destination: String,
    kind: String,
    cycle: u32,
    step_delay_minutes: Option<u32>,
    created_at_ms: i64,
    status: String,
    attempts: u32,
    changed_at_ms: i64,
    error: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredMessage {
    destination: String,
    id: String,
    kind: String,
    rule: Option<String>,
    about: StoredFacts,
    cycle: u32,
    step_delay_minutes: Option<u32>,
    created_at_ms: i64,
    described: Vec<StoredNoticeAlert>,
    /// Ids, and numbers of the entries in their logs.
    alerts: Vec<(String, u32)>,
    attempts: u32,
    is_first: bool,
    due_at_ms: i64,
    error: Option<String>,
    /// The parts that need no further attempt, and why one of them was refused.
    #[serde(default)]
    settled: Vec<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredNoticeAlert {
    id: String,
    dedup_key: String,
    labels: Labels,
    value: Option<f64>,
    threshold: Option<f64>,
    since_ms: i64,
    ended_at_ms: Option<i64>,
    by: Option<String>,
    summary: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredFacts {
    name: String,
    severity: String,
    condition: String,
    /// The name of the operator.
    operator: Option<String>,
    threshold: Option<f64>,
    services: Vec<String>,
}

impl From<&RuleFacts> for StoredFacts {
    fn from(facts: &RuleFacts) -> Self {
        let operator = |comparison: Comparison| {
            Operator::ALL.into_iter().find(|operator| operator.sign() == comparison.sign)
        };
        Self {
            name: facts.name.clone(),
            severity: facts.severity.as_str().to_owned(),
            condition: facts.condition.clone(),
            operator: facts.comparison.and_then(operator).map(|op| op.as_str().to_owned()),
            threshold: facts.comparison.map(|comparison| comparison.threshold),
            services: facts.services.clone(),
        }
    }
}

impl StoredFacts {
    pub(super) fn into_facts(self) -> Option<RuleFacts> {
        let comparison = match (self.operator, self.threshold) {
            (Some(name), Some(threshold)) => {
                let found = Operator::ALL.into_iter().find(|operator| operator.as_str() == name);
                Some(Comparison { sign: found?.sign(), threshold })
            }
            _ => None,
        };
        Some(RuleFacts {
            name: self.name,
            severity: Severity::parse(&self.severity)?,
            condition: self.condition,
            comparison,
            services: self.services,
        })
    }
}

impl From<&LogEntry> for StoredEntry {
    fn from(entry: &LogEntry) -> Self {
        match entry {
            LogEntry::Event(event) => Self::Event(StoredEvent {
                event: event.kind.as_str().to_owned(),
                at_ms: event.at.0,
                by: event.by.clone(),
                value: event.value,
                note: event.note.clone(),
            }),
            LogEntry::Notification(entry) => Self::Notification(StoredNotification {
                message_id: entry.message_id.clone(),
                destination: entry.destination.text(),
                kind: entry.kind.to_owned(),
                cycle: entry.cycle,
                step_delay_minutes: entry.step_delay_minutes,
                created_at_ms: entry.created_at.0,
                status: entry.status.as_str().to_owned(),
                attempts: entry.attempts,
                changed_at_ms: entry.changed_at.0,
                error: entry.error.clone(),
            }),
        }
    }
}

impl StoredEntry {
    pub(super) fn into_entry(self) -> Option<LogEntry> {
        Some(match self {
            Self::Event(stored) => {
                let kind =
                    AlertEventKind::ALL.into_iter().find(|kind| kind.as_str() == stored.event);
                LogEntry::Event(AlertEvent {
                    at: TimestampMs(stored.at_ms),
                    kind: kind?,
                    by: stored.by,
                    value: stored.value,
                    note: stored.note,
                })
            }
            Self::Notification(stored) => {
                let mut statuses = DeliveryStatus::ALL.into_iter();
                LogEntry::Notification(NotificationEntry {
                    message_id: stored.message_id,
                    destination: Destination::parse(&stored.destination),
                    kind: NoticeKind::parse(&stored.kind)?.as_str(),
                    cycle: stored.cycle,
                    step_delay_minutes: stored.step_delay_minutes,
                    created_at: TimestampMs(stored.created_at_ms),
                    status: statuses.find(|status| status.as_str() == stored.status)?,
                    attempts: stored.attempts,
                    changed_at: TimestampMs(stored.changed_at_ms),
                    error: stored.error,
                })
            }
        })
    }
}

impl StoredMessage {
    pub(super) fn new(destination: &Destination, message: &Message) -> Self {
        let id = |(id, number): &(AlertId, u32)| (id.text(), *number);
        let (settled, refusal) = message.progress.parts();
        Self {
            destination: destination.text(),
            id: message.id.clone(),
            kind: message.kind.as_str().to_owned(),
            rule: message.rule.clone().map(String::from),
            about: StoredFacts::from(&message.about),
            cycle: message.cycle,
            step_delay_minutes: message.step_delay_minutes,
            created_at_ms: message.created_at.0,
            described: message.described.iter().map(StoredNoticeAlert::from).collect(),
            alerts: message.alerts.iter().map(id).collect(),
            attempts: message.attempts,
            is_first: message.is_first,
            due_at_ms: message.due_at.0,
            error: message.error.clone(),
            settled,
            refusal,
        }
    }

    /// Returns the message with this sequence number.
    pub(super) fn into_message(self, seq: u64) -> Option<(Destination, Message)> {
        let alerts = self.alerts.iter().map(|(id, number)| Some((AlertId::parse(id)?, *number)));
        let message = Message {
            seq,
            id: self.id,
            kind: NoticeKind::parse(&self.kind)?,
            rule: self.rule.map(RuleId::from),
            about: self.about.into_facts()?,
            cycle: self.cycle,
            step_delay_minutes: self.step_delay_minutes,
            created_at: TimestampMs(self.created_at_ms),
            described: self.described.into_iter().map(StoredNoticeAlert::into_alert).collect(),
            alerts: alerts.collect::<Option<_>>()?,
            attempts: self.attempts,
            is_first: self.is_first,
            due_at: TimestampMs(self.due_at_ms),
            error: self.error,
            progress: Progress::of(self.settled, self.refusal),
        };
        Some((Destination::parse(&self.destination), message))
    }
}

impl From<&NoticeAlert> for StoredNoticeAlert {
    fn from(alert: &NoticeAlert) -> Self {
        Self {
            id: alert.id.clone(),
            dedup_key: alert.dedup_key.clone(),
            labels: alert.labels.clone(),
            value: alert.value,
            threshold: alert.threshold,
            since_ms: alert.since.0,
            ended_at_ms: alert.ended_at.map(|at| at.0),
            by: alert.by.clone(),
            summary: alert.summary.clone(),
        }
    }
}

impl StoredNoticeAlert {
    fn into_alert(self) -> NoticeAlert {
        NoticeAlert {
            id: self.id,
            dedup_key: self.dedup_key,
            labels: self.labels,
            value: self.value,
            threshold: self.threshold,
            since: TimestampMs(self.since_ms),
            ended_at: self.ended_at_ms.map(TimestampMs),
            by: self.by,
            summary: self.summary,
        }
    }
}
