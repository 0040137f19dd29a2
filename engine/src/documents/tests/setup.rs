//! A store, sample documents and common calls.

pub(super) use std::collections::{BTreeMap, HashSet};
pub(super) use std::fs;
pub(super) use std::path::Path;
pub(super) use std::sync::Arc;
pub(super) use std::sync::Barrier;
pub(super) use std::thread;
use std::time::Duration;

pub(super) use proptest::prelude::*;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::{Value, json};
pub(super) use tempfile::TempDir;

pub(super) use super::super::*;
pub(super) use crate::clock::Clock;
pub(super) use crate::error::{Error, Refusal, Result};
pub(super) use crate::limits;
pub(super) use crate::model::TimestampMs;
pub(super) use crate::storage::{Batch, Keyspace, Store, Sync};
use crate::trusted_time::TrustedClock;

pub(super) const RULES: Collection = Collection("rules");
pub(super) const RULES_OLD: Collection = Collection("rules_old");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) limit: i64,
}

pub(super) fn rule(name: &str, limit: i64) -> Rule {
    Rule { name: name.to_owned(), limit }
}

pub(super) fn open_at(dir: &Path, clock: Clock) -> Documents {
    let store = Arc::new(Store::open(dir, 16 << 20, 2).unwrap());
    let trusted = TrustedClock::open(clock, Arc::clone(&store), Duration::MAX, None).unwrap();
    Documents::open(store, Arc::new(trusted)).unwrap()
}

pub(super) fn open(dir: &Path) -> Documents {
    open_at(dir, Clock::manual(TimestampMs(1_000)))
}

pub(super) fn put(documents: &Documents, id: &str, value: &Rule, expect: Expect) -> Result<u64> {
    let mut transaction = documents.begin();
    transaction.put(RULES, id, value, expect)?;
    transaction.commit()
}

pub(super) fn delete(documents: &Documents, id: &str, expect: Expect) -> Result<u64> {
    let mut transaction = documents.begin();
    transaction.delete(RULES, id, expect);
    transaction.commit()
}

pub(super) fn get(documents: &Documents, id: &str) -> Option<Versioned<Rule>> {
    documents.get(RULES, id).unwrap()
}

pub(super) fn is_conflict<T: std::fmt::Debug>(outcome: Result<T>) -> bool {
    matches!(outcome.unwrap_err(), Error::Refused(Refusal::Conflict))
}

pub(super) fn receipt(id: u128, expires_at: i64) -> Receipt {
    Receipt { id, fingerprint: 7, answer: b"done".to_vec(), expires_at: TimestampMs(expires_at) }
}

/// Stores bytes without any checks.
pub(super) fn put_raw(documents: &Documents, keyspace: Keyspace, key: &[u8], value: Vec<u8>) {
    let mut batch = Batch::new();
    batch.put(keyspace, key, value);
    documents.store.write(batch, Sync::Yes).unwrap();
}

pub(super) fn stored(documents: &Documents, keyspace: Keyspace, key: &[u8]) -> Vec<u8> {
    documents.store.get(keyspace, key).unwrap().unwrap().to_vec()
}
