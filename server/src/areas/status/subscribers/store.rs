//! The persistent records of subscribers: JSON after a version byte.
//!
//! ```text
//! table         key                                         value
//! subscribers   page: u128 BE, subscriber: u128 BE          the subscriber
//! ```

use serde::{Deserialize, Serialize};
use telltale_engine::{Engine, RecordBatch, Result, Table, TimestampMs};

use super::model::Subscriber;
use super::token::TokenSecret;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::platform::tables::RecordTable;

const SUBSCRIBERS: Table = RecordTable::Subscribers.table();

/// The version of every record, and the only one that is read.
const VERSION: u8 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct StoredSubscriber {
    email: String,
    confirm: String,
    unsubscribe: String,
    created_at_ms: i64,
    confirmed_at_ms: Option<i64>,
    asked_at_ms: i64,
    asked: u32,
    #[serde(default)]
    asking: bool,
    #[serde(default)]
    bounces: u32,
    #[serde(default)]
    bounced_at_ms: Option<i64>,
}

/// Reads all subscribers. Those that cannot be read are logged and skipped.
pub(super) fn read(engine: &Engine) -> Result<Vec<Subscriber>> {
    let mut all = Vec::new();
    let mut damaged = 0_usize;
    let gap = engine.records().read_all(SUBSCRIBERS, |key, value| match parse(key, value) {
        Some(subscriber) => all.push(subscriber),
        None => damaged += 1,
    })?;
    damaged += usize::from(gap.is_some());
    if damaged > 0 {
        tracing::error!(damaged, "subscribers of status pages cannot be read");
    }
    Ok(all)
}

/// Stores a subscriber.
pub(super) fn put(batch: &mut RecordBatch, subscriber: &Subscriber) {
    let stored = StoredSubscriber {
        email: subscriber.email.clone(),
        confirm: subscriber.confirm.text(),
        unsubscribe: subscriber.unsubscribe.text(),
        created_at_ms: subscriber.created_at.0,
        confirmed_at_ms: subscriber.confirmed_at.map(|at| at.0),
        asked_at_ms: subscriber.asked_at.0,
        asked: subscriber.asked,
        asking: subscriber.is_asking,
        bounces: subscriber.bounces,
        bounced_at_ms: subscriber.bounced_at.map(|at| at.0),
    };
    let mut bytes = vec![VERSION];
    match serde_json::to_writer(&mut bytes, &stored) {
        Ok(()) => batch.put(SUBSCRIBERS, &encode(subscriber.key()), bytes),
        Err(error) => unreachable!("plain data is always written to a growing buffer: {error}"),
    }
}

/// Deletes a subscriber.
pub(super) fn delete(batch: &mut RecordBatch, key: (PageId, SubscriberId)) {
    batch.delete(SUBSCRIBERS, &encode(key));
}

fn encode((page, id): (PageId, SubscriberId)) -> Vec<u8> {
    [page.0.to_be_bytes(), id.0.to_be_bytes()].concat()
}

fn parse(key: &[u8], value: &[u8]) -> Option<Subscriber> {
    let (page, id) = key.split_at_checked(16)?;
    let (&VERSION, json) = value.split_first()? else { return None };
    let stored: StoredSubscriber = serde_json::from_slice(json).ok()?;
    Some(Subscriber {
        id: SubscriberId(u128::from_be_bytes(id.try_into().ok()?)),
        page: PageId(u128::from_be_bytes(page.try_into().ok()?)),
        email: stored.email,
        confirm: TokenSecret::parse(&stored.confirm)?,
        unsubscribe: TokenSecret::parse(&stored.unsubscribe)?,
        created_at: TimestampMs(stored.created_at_ms),
        confirmed_at: stored.confirmed_at_ms.map(TimestampMs),
        asked_at: TimestampMs(stored.asked_at_ms),
        asked: stored.asked,
        is_asking: stored.asking,
        bounces: stored.bounces,
        bounced_at: stored.bounced_at_ms.map(TimestampMs),
        last_notice: None,
    })
}
