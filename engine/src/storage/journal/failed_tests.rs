//! Tests of writes that failed after their batch was in RocksDB's log: they stay failed when the
//! database is reopened in the same process.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::super::tests::{damage_of, get, open, open_with_findings, put};
use super::super::{Keyspace, Store};
use super::format::{HEADER_BYTES, put_record};
use super::mark::Mark;
use super::needed_logs::NeededLogs;
use super::repair::{Loss, Plan, plan};
use super::survey::Survey;
use super::tests::{ROWS, batch, log_of, put_unsynced, records};

/// Both values have the same length, so that a record of one can be turned into a record of the
/// other.
const KEPT_VALUE: &[u8; 16] = b"a write that was";
const FAILED_VALUE: &[u8; 16] = b"not to be found!";

/// Returns the plan for logs with these records, in which batches above `published` failed.
fn plan_for(logs: &[&[Vec<u8>]], published: u64, mark: Option<Mark>) -> Plan {
    let mut survey = Survey::up_to(Some(published));
    for (index, log) in logs.iter().enumerate() {
        let mut bytes = Vec::new();
        log.iter().for_each(|record| put_record(&mut bytes, record));
        survey.read(index, &bytes).unwrap();
    }
    survey.close();
    plan(&survey, mark, logs.len())
}

fn marked(acknowledged: u64) -> Option<Mark> {
    Some(Mark { acknowledged, base: 0 })
}

/// Returns a batch with this many entries.
fn batch_of(sequence: u64, entries: u32) -> Vec<u8> {
    let mut record = batch(sequence, 0, 9);
    record[8..12].copy_from_slice(&entries.to_le_bytes());
    record
}

fn cut_at(log: usize, at: usize) -> Plan {
    Plan { cut: Some((log, at)), ..Plan::default() }
}

#[test]
fn logs_end_before_the_first_batch_that_was_not_published() {
    let records = [1, 2, 3, 4].map(|sequence| batch(sequence, 0, 9));
    let (first, second) = records.split_at(2);
    let length = {
        let mut log = Vec::new();
        put_record(&mut log, &records[0]);
        log.len()
    };
    // Also in a database without a mark.
    for mark in [marked(0), None] {
        let planned = |published| plan_for(&[first, second], published, mark);
        assert_eq!(planned(4), Plan::default());
        assert_eq!(planned(3), cut_at(1, length));
        assert_eq!(planned(2), cut_at(1, 0));
        assert_eq!(planned(1), cut_at(0, length));
        assert_eq!(planned(0), cut_at(0, 0));
    }
}

#[test]
fn a_batch_is_published_with_all_of_its_entries_or_with_none() {
    let records = [batch_of(1, 5), batch_of(6, 7), batch_of(13, 0)];
    let at = |record: usize| record * (HEADER_BYTES + records[0].len());
    assert_eq!(plan_for(&[&records], 12, marked(0)), Plan::default());
    assert_eq!(plan_for(&[&records], 5, marked(5)), cut_at(0, at(1)));
    assert_eq!(plan_for(&[&records], 0, marked(0)), cut_at(0, 0));
}

#[test]
fn a_torn_failed_write_is_not_a_loss() {
    let mut log = Vec::new();
    put_record(&mut log, &batch(1, 0, 300));
    let end = log.len();
    put_record(&mut log, &batch(2, 1, 300));
    log[end + 100] ^= 1;
    for mark in [marked(1), None] {
        let mut survey = Survey::up_to(Some(1));
        survey.read(0, &log).unwrap();
        survey.close();
        assert_eq!(plan(&survey, mark, 1), cut_at(0, end));
    }
}

#[test]
fn damage_before_a_failed_write_is_a_loss() {
    let mut log = Vec::new();
    put_record(&mut log, &batch(1, 0, 300));
    let damaged = log.len();
    put_record(&mut log, &batch(2, 1, 300));
    put_record(&mut log, &batch(3, 2, 300));
    log[damaged + 100] ^= 1;
    let mut survey = Survey::up_to(Some(2));
    survey.read(0, &log).unwrap();
    survey.close();
    let loss = Loss { log: 0, first: 2, last: Some(2), at_most: false };
    let expected = Plan { losses: vec![loss], ..cut_at(0, damaged) };
    assert_eq!(plan(&survey, marked(2), 1), expected);
}

/// Returns a store with a synced write in one log and an unsynced one, the last, in the next.
fn filled(dir: &Path) -> Store {
    let store = open(dir);
    put(&store, ROWS, b"synced", b"");
    put(&store, Keyspace::Documents, b"other", b"");
    store.flush_keyspace(Keyspace::Documents).unwrap();
    put_unsynced(&store, 0, KEPT_VALUE);
    assert_eq!(NeededLogs::of(dir).unwrap().unwrap().logs.len(), 2);
    store
}

/// Appends this many batches to the log of the closed database, as RocksDB leaves them when the
/// sync fails.
fn fail_writes(dir: &Path, count: u64) {
    let path = log_of(dir);
    let mut log = fs::read(&path).unwrap();
    let (_, kept) = records(&log).pop().unwrap();
    let value = kept.windows(KEPT_VALUE.len()).position(|bytes| bytes == KEPT_VALUE).unwrap();
    let sequence = u64::from_le_bytes(*kept.first_chunk().unwrap());
    for n in 1..=count {
        let mut failed = kept.clone();
        failed[..8].copy_from_slice(&(sequence + n).to_le_bytes());
        failed[value..value + FAILED_VALUE.len()].copy_from_slice(FAILED_VALUE);
        // The one-byte key precedes the length of the value.
        failed[value - 2] = n as u8;
        put_record(&mut log, &failed);
    }
    fs::write(path, log).unwrap();
}

fn check_kept(store: &Store) {
    assert_eq!(get(store, ROWS, b"synced").unwrap(), b"");
    assert_eq!(get(store, Keyspace::Documents, b"other").unwrap(), b"");
    assert_eq!(get(store, ROWS, &[0]).unwrap(), KEPT_VALUE);
}

#[test]
fn failed_writes_stay_failed_when_the_database_is_reopened() {
    for count in [1, 3] {
        let dir = TempDir::new().unwrap();
        let store = filled(dir.path());
        store.close();
        fail_writes(dir.path(), count);
        store.reopen().unwrap();
        let check = |store: &Store| {
            check_kept(store);
            for n in 1..=count {
                assert_eq!(get(store, ROWS, &[n as u8]), None, "{n} of {count}");
            }
        };
        check(&store);
        // It reuses the sequence numbers of the failed writes.
        put(&store, ROWS, b"after", b"");
        assert_eq!(damage_of(&store), [""; 0]);
        drop(store);
        let (store, findings) = open_with_findings(dir.path());
        assert_eq!(findings, [""; 0]);
        check(&store);
        assert_eq!(get(&store, ROWS, b"after").unwrap(), b"");
    }
}

#[test]
fn a_start_keeps_complete_batches_of_failed_writes() {
    let dir = TempDir::new().unwrap();
    drop(filled(dir.path()));
    fail_writes(dir.path(), 2);
    let (store, findings) = open_with_findings(dir.path());
    assert_eq!(findings, [""; 0]);
    check_kept(&store);
    assert_eq!(get(&store, ROWS, &[1]).unwrap(), FAILED_VALUE);
    assert_eq!(get(&store, ROWS, &[2]).unwrap(), FAILED_VALUE);
}

#[test]
fn a_working_database_is_not_reopened() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    store.close();
    assert!(store.reopen().unwrap());
    put(&store, ROWS, b"key", b"");
    // Each open starts a new log.
    let log = log_of(dir.path());
    assert!(store.reopen().unwrap());
    assert_eq!(log_of(dir.path()), log);
    assert_eq!(get(&store, ROWS, b"key").unwrap(), b"");
}
