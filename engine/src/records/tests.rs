//! Tests of what is promised to the owners of tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::storage::{Batch, Direction, KeyRange, Keyspace, Store, Sync, copy_as_killed};
use crate::trusted_time::TrustedClock;
use crate::{Clock, Documents, Engine, Error, Options, Receipt, TimestampMs, limits};

const QUEUES: Table = Table::new(7, "queues");
const NEXT: Table = Table::new(8, "next");
const HIGHEST: Table = Table::new(254, "highest");

fn open(dir: &Path) -> Engine {
    let options = Options { cache_bytes: 16 << 20, threads: 2, ..Options::default() };
    Engine::open(dir, options).unwrap()
}

/// Returns records without an engine, so that nothing else writes to their files.
fn records_without_engine(dir: &Path) -> Records {
    let store = Arc::new(Store::open(dir, 16 << 20, 2).unwrap());
    let clock = Clock::system();
    let trusted = TrustedClock::open(clock, Arc::clone(&store), Duration::MAX, None).unwrap();
    let documents = Documents::open(Arc::clone(&store), Arc::new(trusted)).unwrap();
    Records::new(store, documents.into())
}

fn put(engine: &Engine, table: Table, key: &[u8], value: &[u8]) {
    let mut batch = RecordBatch::new();
    batch.put(table, key, value.to_vec());
    engine.records().write(batch).unwrap();
}

fn get(engine: &Engine, table: Table, key: &[u8]) -> Option<Vec<u8>> {
    engine.records().get(table, key).unwrap()
}

fn scanned(engine: &Engine, table: Table, range: &KeyRange, direction: Direction) -> Vec<Vec<u8>> {
    engine.records().scan(table, range, direction).map(|entry| entry.unwrap().0).collect()
}

#[test]
fn tables_are_independent_up_to_their_last_key() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    let last = [0xff; limits::RECORD_KEY_BYTES_MAX];
    for table in [QUEUES, NEXT, HIGHEST] {
        put(&engine, table, b"", table.name().as_bytes());
        put(&engine, table, &last, table.name().as_bytes());
    }
    for table in [QUEUES, NEXT, HIGHEST] {
        assert_eq!(get(&engine, table, &last).unwrap(), table.name().as_bytes());
        let all = scanned(&engine, table, &KeyRange::all(), Direction::Forward);
        assert_eq!(all, [Vec::new(), last.to_vec()]);
    }
    let mut batch = RecordBatch::new();
    batch.delete_range(QUEUES, &KeyRange::all());
    batch.delete_range(HIGHEST, &KeyRange::all());
    engine.records().write(batch).unwrap();
    assert_eq!(scanned(&engine, QUEUES, &KeyRange::all(), Direction::Forward), [[0; 0]; 0]);
    assert_eq!(scanned(&engine, HIGHEST, &KeyRange::all(), Direction::Forward), [[0; 0]; 0]);
    assert_eq!(scanned(&engine, NEXT, &KeyRange::all(), Direction::Forward).len(), 2);
}

#[test]
fn a_scan_reads_its_range_in_both_directions() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    for n in 0..10_u8 {
        put(&engine, QUEUES, &[n], &[n]);
    }
    let range = KeyRange::between(&[3], &[6]);
    assert_eq!(scanned(&engine, QUEUES, &range, Direction::Forward), [[3], [4], [5]]);
    assert_eq!(scanned(&engine, QUEUES, &range, Direction::Backward), [[5], [4], [3]]);
    let open_end = KeyRange { from: vec![8], to: None };
    assert_eq!(scanned(&engine, QUEUES, &open_end, Direction::Forward), [[8], [9]]);
    let mut seen = Vec::new();
    let damage =
        engine.records().read_all(QUEUES, |key, value| seen.push((key.to_vec(), value.to_vec())));
    assert_eq!(damage.unwrap(), None);
    assert!(seen.iter().map(|(key, _)| key[0]).eq(0..10));
    let keys = [[4_u8], [40], [2]];
    let many = engine.records().get_many(QUEUES, &keys).into_iter().map(Result::unwrap);
    assert!(many.eq([Some(vec![4]), None, Some(vec![2])]));
}

#[test]
fn a_batch_is_applied_in_order() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    put(&engine, QUEUES, b"a", b"old");
    let mut batch = RecordBatch::new();
    assert!(batch.is_empty());
    batch.put(QUEUES, b"b", b"gone".to_vec());
    batch.delete_range(QUEUES, &KeyRange::prefix(b"b"));
    batch.delete(QUEUES, b"a");
    batch.put(QUEUES, b"a", b"new".to_vec());
    assert_eq!(batch.len(), 4);
    engine.records().write(batch).unwrap();
    assert_eq!(get(&engine, QUEUES, b"a").unwrap(), b"new");
    assert_eq!(get(&engine, QUEUES, b"b"), None);
    engine.records().write(RecordBatch::new()).unwrap();
}

#[test]
fn a_receipt_is_stored_with_the_records_or_not_at_all() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    let receipt = |id| Receipt {
        id,
        fingerprint: 7,
        answer: b"done".to_vec(),
        expires_at: TimestampMs(i64::MAX),
    };
    let mut batch = RecordBatch::new();
    batch.receipt(&receipt(1));
    batch.put(QUEUES, b"large", vec![0; limits::RECORD_VALUE_BYTES_MAX + 1]);
    engine.records().write(batch).unwrap_err();
    assert_eq!(engine.receipt(1).unwrap(), None);
    let mut batch = RecordBatch::new();
    batch.receipt(&receipt(2));
    batch.put(QUEUES, b"small", b"1".to_vec());
    engine.records().write(batch).unwrap();
    assert_eq!(engine.receipt(2).unwrap(), Some(receipt(2)));
}

#[test]
fn a_value_that_is_too_large_fails_the_whole_batch() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    let mut batch = RecordBatch::new();
    batch.put(QUEUES, b"small", b"1".to_vec());
    batch.put(QUEUES, b"large", vec![0; limits::RECORD_VALUE_BYTES_MAX + 1]);
    assert!(matches!(engine.records().write(batch), Err(Error::Storage(_))));
    assert_eq!(get(&engine, QUEUES, b"small"), None);
    put(&engine, QUEUES, b"large", &vec![1; limits::RECORD_VALUE_BYTES_MAX]);
    assert_eq!(get(&engine, QUEUES, b"large").unwrap().len(), limits::RECORD_VALUE_BYTES_MAX);
}

#[test]
#[should_panic(expected = "a key of 49 bytes for the table queues")]
fn a_key_that_is_too_long_panics() {
    RecordBatch::new().put(QUEUES, &[0; limits::RECORD_KEY_BYTES_MAX + 1], Vec::new());
}

#[test]
fn written_records_survive_a_kill() {
    let dir = TempDir::new().unwrap();
    let (live, killed) = (dir.path().join("live"), dir.path().join("killed"));
    let records = records_without_engine(&live);
    for n in 0..100_u8 {
        let mut batch = RecordBatch::new();
        batch.put(QUEUES, &[n], vec![n; 100]);
        batch.put(NEXT, &[0], vec![n]);
        records.write(batch).unwrap();
    }
    copy_as_killed(&live, &killed);
    let records = records_without_engine(&killed);
    assert_eq!(records.get(NEXT, &[0]).unwrap().unwrap(), [99]);
    assert_eq!(records.scan(QUEUES, &KeyRange::all(), Direction::Forward).count(), 100);
}

#[test]
fn a_backup_contains_records_and_a_verification_reads_them() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir.path().join("live"));
    put(&engine, QUEUES, b"a", b"1");
    put(&engine, NEXT, b"b", b"22");
    let verified = engine.verify().unwrap();
    assert_eq!((verified.records, verified.damaged), (2, Vec::new()));
    let copy = dir.path().join("copy");
    engine.backup(&copy).unwrap();
    put(&engine, QUEUES, b"a", b"later");
    let restored = dir.path().join("restored");
    Engine::restore(&copy, &restored).unwrap();
    assert_eq!(get(&open(&restored), QUEUES, b"a").unwrap(), b"1");
}

#[test]
fn stored_records_have_golden_bytes() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    put(&engine, QUEUES, b"\x01key", b"value");
    let stored = engine.inner().store.get(Keyspace::Records, b"\x07\x01key").unwrap().unwrap();
    assert_eq!(&*stored, b"value");
    drop(stored);
    let mut batch = Batch::new();
    batch.put(Keyspace::Records, b"\x07other", b"2".to_vec());
    engine.inner().store.write(batch, Sync::Yes).unwrap();
    assert_eq!(get(&engine, QUEUES, b"other").unwrap(), b"2");
}

#[test]
fn concurrent_batches_are_atomic() {
    let dir = TempDir::new().unwrap();
    let engine = open(dir.path());
    thread::scope(|scope| {
        for thread in 0..4_u8 {
            let engine = &engine;
            scope.spawn(move || {
                for round in 0..50_u8 {
                    let mut batch = RecordBatch::new();
                    batch.put(QUEUES, b"writer", vec![thread, round]);
                    batch.put(NEXT, b"writer", vec![thread, round]);
                    engine.records().write(batch).unwrap();
                }
            });
        }
    });
    assert_eq!(get(&engine, QUEUES, b"writer"), get(&engine, NEXT, b"writer"));
}

#[derive(Clone, Debug)]
enum Change {
    Put(u8, u8),
    Delete(u8),
    DeleteRange(u8, u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => any::<(u8, u8)>().prop_map(|(key, value)| Change::Put(key, value)),
        2 => any::<u8>().prop_map(Change::Delete),
        1 => any::<(u8, u8)>().prop_map(|(a, b)| Change::DeleteRange(a.min(b), a.max(b))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_table_is_an_ordered_map(batches in proptest::collection::vec(proptest::collection::vec(change(), 1..20), 1..12)) {
        let dir = TempDir::new().unwrap();
        let mut engine = open(dir.path());
        let mut model = BTreeMap::new();
        for (n, changes) in batches.into_iter().enumerate() {
            let mut batch = RecordBatch::new();
            for change in changes {
                match change {
                    Change::Put(key, value) => {
                        batch.put(QUEUES, &[key], vec![value]);
                        model.insert(key, value);
                    }
                    Change::Delete(key) => {
                        batch.delete(QUEUES, &[key]);
                        model.remove(&key);
                    }
                    Change::DeleteRange(from, to) => {
                        batch.delete_range(QUEUES, &KeyRange::between(&[from], &[to]));
                        model.retain(|key, _| !(from..to).contains(key));
                    }
                }
            }
            engine.records().write(batch).unwrap();
            if n == 5 {
                drop(engine);
                engine = open(dir.path());
            }
            let found: Vec<_> = engine.records().scan(QUEUES, &KeyRange::all(), Direction::Forward)
                .map(|entry| entry.unwrap())
                .map(|(key, value)| (key[0], value[0]))
                .collect();
            prop_assert!(found.into_iter().eq(model.clone()));
        }
    }
}
