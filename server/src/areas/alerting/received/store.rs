//! The persistent records of received alerts.
//!
//! ```text
//! table              key                                     value
//! received_alerts    hash of the labels: u128 BE             version: u8, JSON
//! ```
//!
//! A record that cannot be read is reported and skipped: its sender repeats the alert.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use telltale_engine::{Engine, RecordBatch, Result, Table, TimestampMs};

use super::held::ReceivedAlert;
use crate::areas::alerting::ledger::GroupHash;
use crate::platform::tables::RecordTable;

const TABLE: Table = RecordTable::ReceivedAlerts.table();
const VERSION: u8 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct StoredAlert {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    starts_at_ms: i64,
    ends_at_ms: i64,
    updated_at_ms: i64,
    generator_url: String,
}

/// Reads all alerts.
pub(super) fn read(engine: &Engine) -> Result<BTreeMap<GroupHash, Arc<ReceivedAlert>>> {
    let mut alerts = BTreeMap::new();
    let gap = engine.records().read_all(TABLE, |key, value| match parse(value) {
        Some(alert) => drop(alerts.insert(alert.hash(), Arc::new(alert))),
        None => tracing::error!(?key, "a received alert cannot be read"),
    })?;
    if let Some(gap) = gap {
        tracing::error!(gap, "received alerts cannot be read");
    }
    Ok(alerts)
}

/// Stores an alert, or deletes it.
pub(super) fn put(batch: &mut RecordBatch, hash: GroupHash, alert: Option<&ReceivedAlert>) {
    let key = hash.0.to_be_bytes();
    match alert {
        Some(alert) => batch.put(TABLE, &key, encode(alert)),
        None => batch.delete(TABLE, &key),
    }
}

fn encode(alert: &ReceivedAlert) -> Vec<u8> {
    let stored = StoredAlert {
        labels: alert.labels.clone(),
        annotations: alert.annotations.clone(),
        starts_at_ms: alert.starts_at.0,
        ends_at_ms: alert.ends_at.0,
        updated_at_ms: alert.updated_at.0,
        generator_url: alert.generator_url.clone(),
    };
    let mut bytes = vec![VERSION];
    match serde_json::to_writer(&mut bytes, &stored) {
        Ok(()) => bytes,
        Err(error) => unreachable!("plain data is always written to a growing buffer: {error}"),
    }
}

fn parse(bytes: &[u8]) -> Option<ReceivedAlert> {
    let stored: StoredAlert = serde_json::from_slice(bytes.strip_prefix(&[VERSION])?).ok()?;
    Some(ReceivedAlert {
        labels: stored.labels,
        annotations: stored.annotations,
        starts_at: TimestampMs(stored.starts_at_ms),
        ends_at: TimestampMs(stored.ends_at_ms),
        updated_at: TimestampMs(stored.updated_at_ms),
        generator_url: stored.generator_url,
    })
}
