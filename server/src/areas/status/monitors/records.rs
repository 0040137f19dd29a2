//! The persistent records of the conditions of monitors: JSON after a version byte.
//!
//! ```text
//! table             key                                  value
//! monitor_states    monitor: u128 BE                     the state, since when and why
//! monitor_days      monitor: u128 BE, day: u32 BE        how long it was in each state on a day
//! monitor_changes   monitor: u128 BE, time: u64 BE       a change of the state
//! monitor_alive     (empty)                              when the server last ran: i64 LE, in ms
//! ```
//!
//! A state and the times of the day are stored with each check. After a crash, the time since then
//! is counted up to when the server last ran.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use telltale_engine::{Direction, Engine, KeyRange, RecordBatch, Result, Table, TimestampMs};

use super::condition::{CheckResult, DayTimes, MonitorCondition, StateChange, Verdict};
use super::lane::Prospect;
use super::model::MonitorState;
use crate::areas::status::ids::MonitorId;
use crate::platform::tables::RecordTable;

const STATES: Table = RecordTable::MonitorStates.table();
const DAYS: Table = RecordTable::MonitorDays.table();
const CHANGES: Table = RecordTable::MonitorChanges.table();
const ALIVE: Table = RecordTable::MonitorAlive.table();

/// The version of every record, and the only one that is read.
const VERSION: u8 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct StoredState {
    state: String,
    since_ms: i64,
    reason: Option<String>,
    failures: u32,
    first_failure_ms: Option<i64>,
    in_maintenance: bool,
    counted_until_ms: i64,
    last: Option<StoredCheck>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredCheck {
    at_ms: i64,
    verdict: String,
    reason: Option<String>,
    response_ms: Option<u32>,
    certificate_ends_at_ms: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredDay {
    up_ms: u32,
    degraded_ms: u32,
    down_ms: u32,
    maintenance_ms: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredChange {
    state: String,
    reason: Option<String>,
}

/// Reads all conditions. Those that cannot be read are logged and skipped.
pub(super) fn read(engine: &Engine) -> Result<HashMap<MonitorId, MonitorCondition>> {
    let records = engine.records();
    let mut all: HashMap<MonitorId, MonitorCondition> = HashMap::new();
    let mut damaged = 0_usize;
    let gap = records.read_all(STATES, |key, value| match read_state(key, value) {
        Some((id, condition)) => drop(all.insert(id, condition)),
        None => damaged += 1,
    })?;
    damaged += usize::from(gap.is_some());
    let gap = records.read_all(DAYS, |key, value| match read_day(key, value) {
        Some((id, day, times)) => {
            if let Some(condition) = all.get_mut(&id) {
                condition.days.insert(day, times);
            }
        }
        None => damaged += 1,
    })?;
    damaged += usize::from(gap.is_some());
    if damaged > 0 {
        tracing::error!(damaged, "records of monitors cannot be read");
    }
    Ok(all)
}

/// Stores the condition of a monitor, with the times of the days from `changed_from_day` on.
pub(super) fn put(
    batch: &mut RecordBatch,
    id: MonitorId,
    condition: &MonitorCondition,
    changed_from_day: i64,
) {
    batch.put(STATES, &id.0.to_be_bytes(), encode(&StoredState::from(condition)));
    for (day, times) in condition.days.range(changed_from_day..) {
        let DayTimes { up_ms, degraded_ms, down_ms, maintenance_ms } = *times;
        let stored = StoredDay { up_ms, degraded_ms, down_ms, maintenance_ms };
        batch.put(DAYS, &day_key(id, *day), encode(&stored));
    }
}

/// Deletes the times of the days before `day`.
pub(super) fn delete_days_before(batch: &mut RecordBatch, id: MonitorId, day: i64) {
    let range = KeyRange::between(&day_key(id, 0), &day_key(id, day));
    batch.delete_range(DAYS, &range);
}

/// Stores a change of the state.
pub(super) fn put_change(batch: &mut RecordBatch, id: MonitorId, change: &StateChange) {
    let stored =
        StoredChange { state: change.state.as_str().to_owned(), reason: change.reason.clone() };
    batch.put(CHANGES, &change_key(id, change.at), encode(&stored));
}

/// Deletes the changes of a monitor beyond the newest `keep`. Returns how many.
pub(super) fn trim_changes(
    engine: &Engine,
    batch: &mut RecordBatch,
    id: MonitorId,
    keep: usize,
) -> Result<usize> {
    let range = KeyRange::prefix(&id.0.to_be_bytes());
    let mut deleted = 0;
    for found in engine.records().scan(CHANGES, &range, Direction::Backward).skip(keep) {
        batch.delete(CHANGES, &found?.0);
        deleted += 1;
    }
    Ok(deleted)
}

/// Deletes everything of a monitor.
pub(super) fn delete(batch: &mut RecordBatch, id: MonitorId) {
    let key = id.0.to_be_bytes();
    batch.delete(STATES, &key);
    batch.delete_range(DAYS, &KeyRange::prefix(&key));
    batch.delete_range(CHANGES, &KeyRange::prefix(&key));
}

/// Returns the changes of a monitor, newest first, `limit` at most.
pub(super) fn changes(engine: &Engine, id: MonitorId, limit: usize) -> Result<Vec<StateChange>> {
    let range = KeyRange::prefix(&id.0.to_be_bytes());
    let mut changes = Vec::new();
    for found in engine.records().scan(CHANGES, &range, Direction::Backward).take(limit) {
        let (key, value) = found?;
        changes.extend(read_change(&key, &value));
    }
    Ok(changes)
}

/// Stores that the server runs now.
pub(super) fn put_alive(batch: &mut RecordBatch, now: TimestampMs) {
    batch.put(ALIVE, &[], now.0.to_le_bytes().to_vec());
}

/// Returns when the server last ran.
pub(super) fn read_alive(engine: &Engine) -> Result<Option<TimestampMs>> {
    let found = engine.records().get(ALIVE, &[])?;
    let bytes = found.and_then(|value| <[u8; 8]>::try_from(&value[..]).ok());
    Ok(bytes.map(|bytes| TimestampMs(i64::from_le_bytes(bytes))))
}

fn day_key(id: MonitorId, day: i64) -> Vec<u8> {
    let day = u32::try_from(day).unwrap_or(0);
    [&id.0.to_be_bytes()[..], &day.to_be_bytes()].concat()
}

fn change_key(id: MonitorId, at: TimestampMs) -> Vec<u8> {
    let at = u64::try_from(at.0).unwrap_or(0);
    [&id.0.to_be_bytes()[..], &at.to_be_bytes()].concat()
}

fn read_state(key: &[u8], value: &[u8]) -> Option<(MonitorId, MonitorCondition)> {
    let id = MonitorId(u128::from_be_bytes(key.try_into().ok()?));
    let stored: StoredState = decode(value)?;
    let state = MonitorState::parse(&stored.state)?;
    let since = TimestampMs(stored.since_ms);
    let condition = MonitorCondition {
        state,
        reason: stored.reason,
        last: stored.last.and_then(StoredCheck::into_result),
        failures: stored.failures,
        first_failure: stored.first_failure_ms.map(TimestampMs),
        prospect: Prospect::LikeLast,
        is_in_maintenance: stored.in_maintenance,
        counted_until: TimestampMs(stored.counted_until_ms),
        ..MonitorCondition::new(since)
    };
    Some((id, condition))
}

fn read_day(key: &[u8], value: &[u8]) -> Option<(MonitorId, i64, DayTimes)> {
    let (id, day) = key.split_at_checked(16)?;
    let id = MonitorId(u128::from_be_bytes(id.try_into().ok()?));
    let day = i64::from(u32::from_be_bytes(day.try_into().ok()?));
    let StoredDay { up_ms, degraded_ms, down_ms, maintenance_ms } = decode(value)?;
    Some((id, day, DayTimes { up_ms, degraded_ms, down_ms, maintenance_ms }))
}

fn read_change(key: &[u8], value: &[u8]) -> Option<StateChange> {
    let (_, at) = key.split_at_checked(16)?;
    let at = i64::try_from(u64::from_be_bytes(at.try_into().ok()?)).ok()?;
    let stored: StoredChange = decode(value)?;
    let state = MonitorState::parse(&stored.state)?;
    Some(StateChange { at: TimestampMs(at), state, reason: stored.reason })
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

impl From<&MonitorCondition> for StoredState {
    fn from(condition: &MonitorCondition) -> Self {
        Self {
            state: condition.state.as_str().to_owned(),
            since_ms: condition.since.0,
            reason: condition.reason.clone(),
            failures: condition.failures,
            first_failure_ms: condition.first_failure.map(|at| at.0),
            in_maintenance: condition.is_in_maintenance,
            counted_until_ms: condition.counted_until.0,
            last: condition.last.as_ref().map(StoredCheck::from),
        }
    }
}

impl From<&CheckResult> for StoredCheck {
    fn from(result: &CheckResult) -> Self {
        let (verdict, reason) = match &result.verdict {
            Verdict::Up => ("up", None),
            Verdict::Degraded(reason) => ("degraded", Some(reason.clone())),
            Verdict::Failed(reason) => ("failed", Some(reason.clone())),
        };
        Self {
            at_ms: result.at.0,
            verdict: verdict.to_owned(),
            reason,
            response_ms: result.response_ms,
            certificate_ends_at_ms: result.certificate_ends_at.map(|at| at.0),
        }
    }
}

impl StoredCheck {
    fn into_result(self) -> Option<CheckResult> {
        let reason = self.reason.unwrap_or_default();
        let verdict = match self.verdict.as_str() {
            "up" => Verdict::Up,
            "degraded" => Verdict::Degraded(reason),
            "failed" => Verdict::Failed(reason),
            _ => return None,
        };
        Some(CheckResult {
            at: TimestampMs(self.at_ms),
            verdict,
            response_ms: self.response_ms,
            certificate_ends_at: self.certificate_ends_at_ms.map(TimestampMs),
            timed_out: false,
            took_ms: 0,
        })
    }
}
