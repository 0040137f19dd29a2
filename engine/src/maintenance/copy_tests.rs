//! Tests of the verification of closed data directories, of backup and of restore.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::backup::BackupStage;
use crate::directory::LOG_DIR;
use crate::log::Segments;
use crate::model::{EventFilter, EventListQuery, MetricType, NameFilter, NewEvent, TimeRange};
use crate::options::{Maintenance, Options};
use crate::storage::{Batch, Caching, Direction, Keyspace, RangeOf, Store, Sync};
use crate::{Clock, Collection, Engine, Error, Expect, Receipt, StartTime, TimestampMs, Write};

const START: i64 = 20_000 * 86_400_000;

fn open(dir: &Path) -> Engine {
    let options = Options {
        maintenance: Maintenance::Manual,
        clock: Clock::manual(TimestampMs(START)),
        cache_bytes: 8 << 20,
        disk_free_bytes: 0,
        ..Options::default()
    };
    Engine::open(dir, options).unwrap()
}

/// Writes data of every kind.
fn write(engine: &Engine, n: i64) {
    let mut points = engine.batch();
    for host in ["a", "b"] {
        let series = points.series("cpu", MetricType::Gauge, &[("host", host)]).unwrap();
        for i in 0..100 {
            let time = TimestampMs(START + n * 10_000 + i * 100 + i * i % 97);
            points.number(MetricType::Gauge, series, time, (i % 7) as f64);
        }
    }
    let total = points.series("total", MetricType::Counter, &[]).unwrap();
    points.reading(total, TimestampMs(START + n), n as f64, StartTime::Unknown);
    let mut events = engine.event_batch();
    let time = TimestampMs(START + n);
    let event = NewEvent { name: "e", time, user: None, value: None, tags: &[], properties: None };
    events.push(&event).unwrap();
    let expires_at = TimestampMs(i64::MAX);
    let receipt = Receipt { id: n as u128, fingerprint: 1, expires_at, answer: b"ok".to_vec() };
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let write = Write { points: points.finish(), events: Some(events), receipt: Some(receipt) };
    engine.submit(write, move |outcome| sender.send(outcome).unwrap());
    receiver.recv().unwrap().unwrap();
    let mut transaction = engine.documents().begin();
    transaction.put(Collection("rules"), &n.to_string(), &n, Expect::Any).unwrap();
    transaction.commit().unwrap();
}

fn events(engine: &Engine) -> u64 {
    let range = TimeRange::new(0, i64::MAX);
    let filter = EventFilter { range, name: NameFilter::Any, user: None, tags: vec![] };
    let query = EventListQuery { filter, after: None, offset: 0, limit: 1_000 };
    engine.list_events(&query).unwrap().total
}

/// Creates a data directory with data in blocks and, as after a kill, in the log.
fn data() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    write(&engine, 1);
    engine.seal().unwrap();
    write(&engine, 2);
    dir
}

/// Returns every file and directory with its modification time and content.
fn tree(dir: &Path) -> BTreeMap<PathBuf, (SystemTime, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = metadata.is_file().then(|| fs::read(&path).unwrap());
        if metadata.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (metadata.modified().unwrap(), content));
    }
    found
}

fn names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn verification_of_a_directory_changes_nothing() {
    let dir = data();
    let before = tree(dir.path());
    let report = Engine::verify_directory(dir.path()).unwrap();
    assert_eq!(report.damaged, [""; 0]);
    assert!(report.blocks >= 2 && report.log_records >= 1, "{report:?}");
    assert_eq!((report.documents, report.records), (3, 0));
    assert!(tree(dir.path()) == before, "something was written");
    // A torn end of the log is not removed.
    let segment = newest_segment(dir.path());
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, [&bytes[..], &[0x2e, 0x7a, 0x11]].concat()).unwrap();
    let before = tree(dir.path());
    assert_eq!(Engine::verify_directory(dir.path()).unwrap().damaged, [""; 0]);
    assert!(tree(dir.path()) == before, "something was written");
}

#[test]
fn verification_of_an_open_directory_is_refused() {
    let dir = data();
    let engine = open(dir.path());
    let refused = Engine::verify_directory(dir.path()).unwrap_err();
    assert!(refused.to_string().contains("another process"), "{refused}");
    assert_eq!(engine.verify().unwrap().damaged, [""; 0]);
}

#[test]
fn damage_of_every_kind_is_found() {
    use Keyspace::{Blocks, Catalog, Documents, EventBlocks, EventCatalog, LastValues};
    use Keyspace::{Garbage, Meta, Quarantine, Receipts, Registry, Times};
    let all = [
        Registry,
        Catalog,
        Blocks,
        Times,
        EventCatalog,
        EventBlocks,
        LastValues,
        Receipts,
        Documents,
    ];
    for keyspace in all {
        let lines = damage_after(|store, batch| {
            let all = RangeOf::all(keyspace);
            let mut scan = store.scan(all, Direction::Forward, Caching::Bypass);
            let (key, mut value) = scan.next().unwrap().unwrap();
            let middle = value.len() / 2;
            value[middle] ^= 0x10;
            batch.put(keyspace, &key, value.into_vec());
        });
        assert!(!lines.is_empty(), "a flip in {}", keyspace.name());
    }
    for keyspace in [Catalog, Blocks, EventCatalog, EventBlocks] {
        let lines = damage_after(|store, batch| {
            let all = RangeOf::all(keyspace);
            let mut scan = store.scan(all, Direction::Forward, Caching::Bypass);
            batch.delete(keyspace, &scan.next().unwrap().unwrap().0);
        });
        assert_eq!(lines.len(), 1, "an entry of {} is gone: {lines:?}", keyspace.name());
    }
    for keyspace in [Garbage, Quarantine, Meta] {
        let lines = damage_after(|_, batch| batch.put(keyspace, b"odd", b"odd".to_vec()));
        assert_eq!(lines.len(), 1, "{lines:?}");
    }
}

/// Verifies a data directory after `change` was applied to its database.
fn damage_after(change: impl FnOnce(&Store, &mut Batch)) -> Vec<String> {
    let dir = data();
    let store = Store::open(&dir.path().join("db"), 8 << 20, 1).unwrap();
    let mut batch = Batch::new();
    change(&store, &mut batch);
    store.write(batch, Sync::Yes).unwrap();
    drop(store);
    let before = tree(dir.path());
    let lines = Engine::verify_directory(dir.path()).unwrap().damaged;
    assert!(tree(dir.path()) == before, "something was written");
    lines
}

fn newest_segment(dir: &Path) -> PathBuf {
    let (_, segment) = Segments::new(dir.join(LOG_DIR)).list().unwrap().pop().unwrap();
    segment
}

fn flip_in_newest_segment(dir: &Path) {
    let segment = newest_segment(dir);
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(segment, bytes).unwrap();
}

#[test]
fn a_flip_in_the_log_is_found() {
    let dir = data();
    flip_in_newest_segment(dir.path());
    assert_eq!(Engine::verify_directory(dir.path()).unwrap().damaged.len(), 1);
}

#[test]
fn a_backup_blocks_nobody_while_it_is_copied() {
    let dir = data();
    let engine = open(dir.path());
    let inner = engine.inner();
    let stage = BackupStage::new(&inner.dir, &inner.store, &inner.segments).unwrap();
    assert!(engine.inner().worker.turn.try_lock().is_some());
    // Seals and compaction continue: the segments and blocks that the stage links to are deleted
    // from the data directory.
    write(&engine, 3);
    engine.seal().unwrap();
    write(&engine, 4);
    engine.seal().unwrap();
    engine.merge().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("copy");
    let report = stage.copy_to(&target).unwrap();
    assert_eq!(report.damaged, [""; 0]);
    assert_eq!(names(elsewhere.path()), ["copy"]);
    assert_eq!(names(dir.path()), ["LOCK", "TELLTALE", "db", "log"]);
    let restored = elsewhere.path().join("restored");
    assert_eq!(Engine::restore(&target, &restored).unwrap().files, report.files);
    assert_eq!(events(&open(&restored)), 2);
    assert_eq!(events(&engine), 4);
}

#[test]
fn leftovers_of_an_interrupted_backup_are_removed() {
    let dir = data();
    let elsewhere = tempfile::tempdir().unwrap();
    let (target, partial) = (elsewhere.path().join("copy"), elsewhere.path().join("copy.partial"));
    {
        let engine = open(dir.path());
        let inner = engine.inner();
        // As when the process is killed: nothing is dropped.
        std::mem::forget(BackupStage::new(&inner.dir, &inner.store, &inner.segments).unwrap());
        engine.backup(&target).unwrap();
        fs::rename(&target, &partial).unwrap();
        crate::directory::mark_unfinished(&partial).unwrap();
        assert!(Engine::restore(&partial, &target).is_err());
        assert!(Engine::verify_directory(&partial).is_err());
    }
    assert!(names(dir.path()).iter().any(|name| name.starts_with(".backup-")));
    let engine = open(dir.path());
    assert_eq!(names(dir.path()), ["LOCK", "TELLTALE", "db", "log"]);
    engine.backup(&target).unwrap();
    assert_eq!(names(elsewhere.path()), ["copy"]);
    Engine::verify_directory(&target).unwrap();
}

#[test]
fn a_backup_into_the_data_or_over_anything_is_refused() {
    let dir = data();
    let engine = open(dir.path());
    let elsewhere = tempfile::tempdir().unwrap();
    for target in [dir.path().join("copy"), dir.path().join("db/copy"), elsewhere.path().to_owned()]
    {
        let refused = engine.backup(&target).unwrap_err();
        assert!(matches!(refused, Error::Open { .. }), "{refused}");
    }
    assert_eq!(names(dir.path()), ["LOCK", "TELLTALE", "db", "log"]);
    assert_eq!(names(elsewhere.path()), [""; 0]);
}

#[test]
fn a_target_that_cannot_be_created_is_refused_with_the_reason() {
    let dir = data();
    let engine = open(dir.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("file");
    fs::write(&file, "").unwrap();
    for target in [elsewhere.path().join("absent/copy"), file.join("copy")] {
        let refused = engine.backup(&target).unwrap_err();
        assert!(matches!(refused, Error::Open { .. }), "{refused}");
        assert!(refused.to_string().contains("it cannot be written to"), "{refused}");
    }
    assert_eq!(names(dir.path()), ["LOCK", "TELLTALE", "db", "log"]);
    assert_eq!(names(elsewhere.path()), ["file"]);
}

#[test]
fn an_unfinished_restore_is_not_opened() {
    let dir = data();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("restored");
    fs::create_dir(&target).unwrap();
    crate::directory::mark_unfinished(&target).unwrap();
    let refused = |outcome: crate::Result<()>| {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("not finished"), "{error}");
    };
    refused(Engine::open(&target, Options::default()).map(drop));
    refused(Engine::verify_directory(&target).map(drop));
    refused(Engine::check_directory(&target));
    refused(Engine::restore(dir.path(), &target).map(drop));
    assert_eq!(names(&target), ["UNFINISHED"]);
    // A part of the data may exist already.
    fs::remove_file(target.join("UNFINISHED")).unwrap();
    Engine::restore(dir.path(), &target).unwrap();
    crate::directory::mark_unfinished(&target).unwrap();
    refused(Engine::open(&target, Options::default()).map(drop));
}

#[test]
fn a_failed_restore_leaves_the_target_as_it_was() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("restored");
    let bad = data();
    fs::write(bad.path().join("db/CURRENT"), "junk").unwrap();
    assert!(Engine::restore(bad.path(), &target).is_err() && !target.exists());
    let target = elsewhere.path().join("empty");
    fs::create_dir(&target).unwrap();
    let foreign = tempfile::tempdir().unwrap();
    fs::write(foreign.path().join("CURRENT"), "junk").unwrap();
    assert!(Engine::restore(foreign.path(), &target).is_err());
    assert_eq!(names(&target), [""; 0]);
}

#[test]
fn damaged_files_are_copied_unchanged_and_reported() {
    let dir = data();
    flip_in_newest_segment(dir.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("restored");
    assert_eq!(Engine::restore(dir.path(), &target).unwrap().damaged.len(), 1);
    assert_eq!(open(&target).damage().len(), 1);
}
