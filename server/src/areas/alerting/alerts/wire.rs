//! The JSON of alerts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::areas::alerting::channels::ChannelNames;
use crate::areas::alerting::ledger::{
    Alert, AlertDetail, AlertEvent, AlertStatus, Destination, LogEntry, NotificationEntry,
};
use crate::http::{ApiError, ApiResult};
use crate::platform::json::Plain;
use crate::platform::time::IsoTime;

/// An alert.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Alert")]
pub(super) struct AlertView {
    id: String,
    /// The rule, which may be deleted; null for a received alert that no rule matches.
    rule_id: Option<String>,
    /// The name of the rule when the alert began.
    rule_name: String,
    /// firing, acknowledged or resolved.
    status: &'static str,
    /// info, warning or critical.
    severity: &'static str,
    /// The condition of the rule, in words.
    condition_text: String,
    /// The group: the values of the grouping keys, or the labels of a received alert.
    labels: BTreeMap<String, String>,
    summary: Option<String>,
    /// The value at the last change of the alert; null without data.
    value: Option<Plain>,
    /// What the value is compared with.
    threshold: Option<Plain>,
    /// Affected services, as the rule named them when the alert began.
    services: Vec<String>,
    /// Since when the condition was met.
    since: IsoTime,
    /// When the alert began: later than `since` if the rule waits.
    fired_at: IsoTime,
    acknowledged_at: Option<IsoTime>,
    acknowledged_by: Option<String>,
    resolved_at: Option<IsoTime>,
    /// Who resolved it; null if its condition ended.
    resolved_by: Option<String>,
    /// Whether a maintenance window mutes its notifications.
    muted: bool,
    /// The window that does.
    muted_by: Option<String>,
    /// Whether its condition changes too often. It is notified again when this ends.
    flapping: bool,
    /// The key by which receivers combine all messages about the group.
    dedup_key: String,
}

/// An alert with its notifications and history.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertDetail")]
pub(super) struct AlertDetailView {
    #[serde(flatten)]
    alert: AlertView,
    escalation: EscalationView,
    /// The messages about it, oldest first.
    notifications: Vec<NotificationView>,
    /// Its changes, oldest first.
    history: Vec<AlertEventView>,
}

/// How far the escalation of an alert has come.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertEscalation")]
struct EscalationView {
    /// How often the policy has started over.
    cycle: u32,
    /// When the cycle began.
    started_at: IsoTime,
    /// When the next step is due; null if none is.
    next_step_at: Option<IsoTime>,
}

/// A message about an alert.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertNotification")]
struct NotificationView {
    /// The same in all attempts, and in the message.
    message_id: String,
    /// null for a person who is on call.
    channel_id: Option<String>,
    /// null if the channel is deleted.
    channel_name: Option<String>,
    /// The address of a person who is on call.
    user: Option<String>,
    /// firing, acknowledged, resolved, flapping or settled.
    kind: &'static str,
    /// How often the policy had started over.
    cycle: u32,
    /// The step of the policy; null if the rule itself named the receiver.
    step_delay_minutes: Option<u32>,
    /// queued, delivered, failed, superseded (the alert ended before it was sent) or dropped (too
    /// many messages waited, or the channel was disabled or deleted).
    status: &'static str,
    attempts: u32,
    /// Why the last attempt failed.
    error: Option<String>,
    created_at: IsoTime,
    /// When it got its status.
    updated_at: IsoTime,
}

/// A change of an alert.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertEvent")]
struct AlertEventView {
    at: IsoTime,
    /// fired, acknowledged, resolved, muted, unmuted, flapping, settled or skipped (somebody could
    /// not be notified).
    event: &'static str,
    /// Who caused it.
    by: Option<String>,
    value: Option<Plain>,
    /// More about it.
    note: Option<String>,
}

/// Parses the parameter `status` of a list.
pub(super) fn status_parameter(text: &str) -> ApiResult<AlertStatus> {
    let found = AlertStatus::ALL.into_iter().find(|status| status.as_str() == text);
    found.ok_or_else(|| {
        let names = AlertStatus::ALL.map(AlertStatus::as_str).join(", ");
        ApiError::parameter("status", format!("must be one of {names}"))
    })
}

impl From<&Alert> for AlertView {
    fn from(alert: &Alert) -> Self {
        let acknowledged = alert.acknowledged.as_ref();
        let resolved = alert.resolved.as_ref();
        Self {
            id: alert.id.text(),
            rule_id: alert.rule.clone().map(String::from),
            rule_name: alert.about.name.clone(),
            status: alert.status().as_str(),
            severity: alert.about.severity.as_str(),
            condition_text: alert.about.condition.clone(),
            labels: alert.labels.iter().cloned().collect(),
            summary: alert.summary.clone(),
            value: alert.value.map(Plain),
            threshold: alert.about.comparison.map(|comparison| Plain(comparison.threshold)),
            services: alert.about.services.clone(),
            since: IsoTime(alert.since),
            fired_at: IsoTime(alert.fired_at),
            acknowledged_at: acknowledged.map(|done| IsoTime(done.at)),
            acknowledged_by: acknowledged.map(|done| done.by.clone()),
            resolved_at: resolved.map(|done| IsoTime(done.at)),
            resolved_by: resolved.and_then(|done| done.by.clone()),
            muted: alert.muted_by.is_some(),
            muted_by: alert.muted_by.clone().map(String::from),
            flapping: alert.flapping_since.is_some(),
            dedup_key: alert.group.dedup_key(),
        }
    }
}

impl AlertDetailView {
    pub(super) fn new(found: AlertDetail, names: &ChannelNames) -> Self {
        let AlertDetail { alert, log, next_step_at } = found;
        let (mut notifications, mut history) = (Vec::new(), Vec::new());
        for entry in log {
            match entry {
                LogEntry::Event(event) => history.push(event.into()),
                LogEntry::Notification(entry) => {
                    notifications.push(NotificationView::new(entry, names));
                }
            }
        }
        let escalation = EscalationView {
            cycle: alert.escalation.cycle,
            started_at: IsoTime(alert.escalation.started_at),
            next_step_at: next_step_at.map(IsoTime),
        };
        Self { alert: AlertView::from(&alert), escalation, notifications, history }
    }
}

impl NotificationView {
    fn new(entry: NotificationEntry, names: &ChannelNames) -> Self {
        let (channel, user) = match entry.destination {
            Destination::Channel(id) => (Some(id), None),
            Destination::Person(address) => (None, Some(address)),
        };
        Self {
            message_id: entry.message_id,
            channel_name: channel.as_ref().and_then(|id| names.get(id)).cloned(),
            channel_id: channel.map(String::from),
            user,
            kind: entry.kind,
            cycle: entry.cycle,
            step_delay_minutes: entry.step_delay_minutes,
            status: entry.status.as_str(),
            attempts: entry.attempts,
            error: entry.error,
            created_at: IsoTime(entry.created_at),
            updated_at: IsoTime(entry.changed_at),
        }
    }
}

impl From<AlertEvent> for AlertEventView {
    fn from(event: AlertEvent) -> Self {
        Self {
            at: IsoTime(event.at),
            event: event.kind.as_str(),
            by: event.by,
            value: event.value.map(Plain),
            note: event.note,
        }
    }
}
