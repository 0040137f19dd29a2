//! The persistent records of alerts: JSON after a version byte, so that fields can be added.
//!
//! ```text
//! table          key                                      value
//! alerts         alert: u128 BE                           an alert, open or resolved
//! alert_groups   length of the rule: u8, rule,            the state of a group that is not calm
//!                group: u128 BE
//! alert_log      alert: u128 BE, number: u32 BE           an entry of the log of an alert
//! alert_outbox   sequence number: u64 BE                  a message that waits, with its
//!                                                         destination
//! ```
//!
//! A record that cannot be read is reported and skipped.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use telltale_engine::{Direction, Engine, KeyRange, RecordBatch, Result, Table, TimestampMs};

use super::messages::{StoredEntry, StoredFacts, StoredMessage};
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::ledger::escalation::Escalation;
use crate::areas::alerting::ledger::group::{ConditionState, Group};
use crate::areas::alerting::ledger::message::Message;
use crate::areas::alerting::ledger::model::{
    Acknowledgement, Alert, AlertId, Destination, GroupHash, Labels, LogEntry, Resolution, RuleRef,
};
use crate::platform::tables::RecordTable;

const ALERTS: Table = RecordTable::Alerts.table();
const GROUPS: Table = RecordTable::AlertGroups.table();
const LOG: Table = RecordTable::AlertLog.table();
const OUTBOX: Table = RecordTable::AlertOutbox.table();

/// The version of every record, and the only one that is read.
const VERSION: u8 = 1;

/// The rule and the hash of a group.
pub(in crate::areas::alerting::ledger) type GroupKey = (RuleRef, GroupHash);

/// What is read at the start.
#[derive(Debug, Default)]
pub(in crate::areas::alerting::ledger) struct StoredAlerts {
    pub(in crate::areas::alerting::ledger) groups: Vec<(GroupKey, Group)>,
    /// In the order in which they are to be sent.
    pub(in crate::areas::alerting::ledger) outbox: Vec<(Destination, Message)>,
    /// A line for each record that cannot be read.
    pub(in crate::areas::alerting::ledger) damaged: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredAlert {
    group: String,
    rule: Option<String>,
    about: StoredFacts,
    labels: Labels,
    summary: Option<String>,
    value: Option<f64>,
    since_ms: i64,
    fired_at_ms: i64,
    acknowledged: Option<(i64, String)>,
    resolved: Option<(i64, Option<String>)>,
    muted_by: Option<String>,
    flapping_since_ms: Option<i64>,
    escalation: StoredEscalation,
    notified: Vec<String>,
    log_next: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredEscalation {
    cycle: u32,
    started_at_ms: i64,
    is_begun: bool,
    last_delay: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredGroup {
    labels: Labels,
    condition: String,
    since_ms: Option<i64>,
    alert: Option<String>,
    is_flapping: bool,
    changes_ms: Vec<i64>,
}

/// Reads everything except the logs. Each alert is given to `visit`, because those that have ended
/// are many.
pub(in crate::areas::alerting::ledger) fn read(
    engine: &Engine,
    mut visit: impl FnMut(Alert),
) -> Result<StoredAlerts> {
    let records = engine.records();
    let mut stored = StoredAlerts::default();
    let mut damaged = Vec::new();
    let gap = records.read_all(ALERTS, |key, value| match parse_alert(key, value) {
        Some(alert) => visit(alert),
        None => damaged.push(format!("alert {key:02x?} cannot be read")),
    })?;
    damaged.extend(gap);
    let gap = records.read_all(GROUPS, |key, value| match read_group(key, value) {
        Some(group) => stored.groups.push(group),
        None => damaged.push(format!("state of an alert rule {key:02x?} cannot be read")),
    })?;
    damaged.extend(gap);
    let gap = records.read_all(OUTBOX, |key, value| match read_message(key, value) {
        Some(message) => stored.outbox.push(message),
        None => damaged.push(format!("message about alerts {key:02x?} cannot be read")),
    })?;
    damaged.extend(gap);
    stored.damaged = damaged;
    Ok(stored)
}

/// Returns an alert, unless there is none or it cannot be read.
pub(in crate::areas::alerting::ledger) fn read_alert(
    engine: &Engine,
    id: AlertId,
) -> Result<Option<Alert>> {
    let key = id.0.to_be_bytes();
    let found = engine.records().get(ALERTS, &key)?;
    Ok(found.and_then(|value| parse_alert(&key, &value)))
}

/// Returns the log of an alert, oldest first, without entries that cannot be read.
pub(in crate::areas::alerting::ledger) fn read_log(
    engine: &Engine,
    alert: AlertId,
) -> Result<Vec<LogEntry>> {
    let range = KeyRange::prefix(&alert.0.to_be_bytes());
    let mut entries = Vec::new();
    for found in engine.records().scan(LOG, &range, Direction::Forward) {
        let (_, value) = found?;
        entries.extend(decode::<StoredEntry>(&value).and_then(StoredEntry::into_entry));
    }
    Ok(entries)
}

/// Stores an alert.
pub(in crate::areas::alerting::ledger) fn put_alert(batch: &mut RecordBatch, alert: &Alert) {
    batch.put(ALERTS, &alert.id.0.to_be_bytes(), encode(&StoredAlert::from(alert)));
}

/// Deletes an alert with its log.
pub(in crate::areas::alerting::ledger) fn delete_alert(batch: &mut RecordBatch, id: AlertId) {
    batch.delete(ALERTS, &id.0.to_be_bytes());
    batch.delete_range(LOG, &KeyRange::prefix(&id.0.to_be_bytes()));
}

/// Stores the state of a group, or deletes it.
pub(in crate::areas::alerting::ledger) fn put_group(
    batch: &mut RecordBatch,
    key: &GroupKey,
    group: Option<&Group>,
) {
    match group {
        Some(group) => batch.put(GROUPS, &group_key(key), encode(&StoredGroup::from(group))),
        None => batch.delete(GROUPS, &group_key(key)),
    }
}

/// Stores an entry of a log.
pub(in crate::areas::alerting::ledger) fn put_entry(
    batch: &mut RecordBatch,
    alert: AlertId,
    number: u32,
    entry: &LogEntry,
) {
    batch.put(LOG, &log_key(alert, number), encode(&StoredEntry::from(entry)));
}

/// Deletes an entry of a log.
pub(in crate::areas::alerting::ledger) fn delete_entry(
    batch: &mut RecordBatch,
    alert: AlertId,
    number: u32,
) {
    batch.delete(LOG, &log_key(alert, number));
}

/// Stores a message.
pub(in crate::areas::alerting::ledger) fn put_message(
    batch: &mut RecordBatch,
    destination: &Destination,
    message: &Message,
) {
    let stored = StoredMessage::new(destination, message);
    batch.put(OUTBOX, &message.seq.to_be_bytes(), encode(&stored));
}

/// Deletes a message.
pub(in crate::areas::alerting::ledger) fn delete_message(batch: &mut RecordBatch, seq: u64) {
    batch.delete(OUTBOX, &seq.to_be_bytes());
}

fn group_key((rule, group): &GroupKey) -> Vec<u8> {
    let rule = rule.as_ref().map(RuleId::as_str).unwrap_or_default().as_bytes();
    // Ids of rules are much shorter than 256 bytes.
    let length = u8::try_from(rule.len()).unwrap_or(u8::MAX);
    [&[length], rule, &group.0.to_be_bytes()].concat()
}

fn log_key(alert: AlertId, number: u32) -> Vec<u8> {
    [&alert.0.to_be_bytes()[..], &number.to_be_bytes()].concat()
}

fn encode<T: Serialize>(record: &T) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    match serde_json::to_writer(&mut bytes, record) {
        Ok(()) => bytes,
        Err(error) => unreachable!("plain data is always written to a growing buffer: {error}"),
    }
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    match bytes.split_first() {
        Some((&VERSION, json)) => serde_json::from_slice(json).ok(),
        _ => None,
    }
}

fn parse_alert(key: &[u8], value: &[u8]) -> Option<Alert> {
    let id = AlertId(u128::from_be_bytes(key.try_into().ok()?));
    let stored: StoredAlert = decode(value)?;
    let escalation = stored.escalation;
    Some(Alert {
        id,
        group: read_hash(&stored.group)?,
        rule: stored.rule.map(RuleId::from),
        about: stored.about.into_facts()?,
        labels: stored.labels,
        summary: stored.summary,
        value: stored.value,
        since: TimestampMs(stored.since_ms),
        fired_at: TimestampMs(stored.fired_at_ms),
        acknowledged: stored
            .acknowledged
            .map(|(at, by)| Acknowledgement { at: TimestampMs(at), by }),
        resolved: stored.resolved.map(|(at, by)| Resolution { at: TimestampMs(at), by }),
        muted_by: stored.muted_by.map(Into::into),
        flapping_since: stored.flapping_since_ms.map(TimestampMs),
        escalation: Escalation {
            cycle: escalation.cycle,
            started_at: TimestampMs(escalation.started_at_ms),
            is_begun: escalation.is_begun,
            last_delay: escalation.last_delay,
        },
        notified: stored.notified.iter().map(|text| Destination::parse(text)).collect(),
        log_next: stored.log_next,
    })
}

fn read_group(key: &[u8], value: &[u8]) -> Option<(GroupKey, Group)> {
    let (length, rest) = key.split_first()?;
    let (rule, hash) = rest.split_at_checked(usize::from(*length))?;
    let rule = std::str::from_utf8(rule).ok()?;
    let rule = (!rule.is_empty()).then(|| RuleId::from(rule.to_owned()));
    let hash = GroupHash(u128::from_be_bytes(hash.try_into().ok()?));
    let stored: StoredGroup = decode(value)?;
    let condition = match (stored.condition.as_str(), stored.since_ms) {
        ("calm", _) => ConditionState::Calm,
        ("held", _) => ConditionState::Held,
        ("pending", Some(since)) => ConditionState::Pending { since: TimestampMs(since) },
        ("firing", Some(since)) => ConditionState::Firing { since: TimestampMs(since) },
        _ => return None,
    };
    let group = Group {
        labels: stored.labels,
        condition,
        alert: stored.alert.map(|id| AlertId::parse(&id)).map_or(Some(None), |id| id.map(Some))?,
        is_flapping: stored.is_flapping,
        changes: stored.changes_ms.into_iter().map(TimestampMs).collect(),
    };
    Some(((rule, hash), group))
}

fn read_message(key: &[u8], value: &[u8]) -> Option<(Destination, Message)> {
    let seq = u64::from_be_bytes(key.try_into().ok()?);
    decode::<StoredMessage>(value)?.into_message(seq)
}

fn read_hash(text: &str) -> Option<GroupHash> {
    u128::from_str_radix(text, 16).ok().map(GroupHash)
}

impl From<&Alert> for StoredAlert {
    fn from(alert: &Alert) -> Self {
        let escalation = &alert.escalation;
        Self {
            group: alert.group.dedup_key(),
            rule: alert.rule.clone().map(String::from),
            about: StoredFacts::from(&alert.about),
            labels: alert.labels.clone(),
            summary: alert.summary.clone(),
            value: alert.value,
            since_ms: alert.since.0,
            fired_at_ms: alert.fired_at.0,
            acknowledged: alert.acknowledged.as_ref().map(|ack| (ack.at.0, ack.by.clone())),
            resolved: alert.resolved.as_ref().map(|end| (end.at.0, end.by.clone())),
            muted_by: alert.muted_by.clone().map(String::from),
            flapping_since_ms: alert.flapping_since.map(|since| since.0),
            escalation: StoredEscalation {
                cycle: escalation.cycle,
                started_at_ms: escalation.started_at.0,
                is_begun: escalation.is_begun,
                last_delay: escalation.last_delay,
            },
            notified: alert.notified.iter().map(Destination::text).collect(),
            log_next: alert.log_next,
        }
    }
}

impl From<&Group> for StoredGroup {
    fn from(group: &Group) -> Self {
        let (condition, since) = match group.condition {
            ConditionState::Calm => ("calm", None),
            ConditionState::Held => ("held", None),
            ConditionState::Pending { since } => ("pending", Some(since.0)),
            ConditionState::Firing { since } => ("firing", Some(since.0)),
        };
        Self {
            labels: group.labels.clone(),
            condition: condition.to_owned(),
            since_ms: since,
            alert: group.alert.map(AlertId::text),
            is_flapping: group.is_flapping,
            changes_ms: group.changes.iter().map(|at| at.0).collect(),
        }
    }
}
