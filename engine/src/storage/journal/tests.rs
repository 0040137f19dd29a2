//! Tests of what is lost and reported when RocksDB's log is damaged.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::super::tests::{get, noise, open, open_with_findings, put};
use super::super::{Batch, Keyspace, Store, Sync, copy_as_killed};
use super::format::{Foreign, HEADER_BYTES, LogItem, LogReader, put_record};
use super::logged_batch::{LoggedBatch, stamp};
use super::mark::{Journal, Mark};
use super::needed_logs::NeededLogs;
use super::repair::{Loss, Plan, plan};
use super::survey::{Survey, SurveyError};

/// A keyspace whose memtable holds everything that a test writes.
pub(super) const ROWS: Keyspace = Keyspace::Blocks;
/// Sizes of values: several per sector, across sectors, across blocks.
const SIZES: [usize; 10] = [40, 300, 20, 700, 5_000, 33_000, 90, 12_000, 70_000, 1];

pub(super) fn put_unsynced(store: &Store, key: u8, value: &[u8]) {
    let mut batch = Batch::new();
    batch.put(ROWS, &[key], value.to_vec());
    store.write(batch, Sync::No).unwrap();
}

/// Returns the path of the last log in `dir`.
pub(super) fn log_of(dir: &Path) -> PathBuf {
    NeededLogs::of(dir).unwrap().unwrap().logs.pop().unwrap().path
}

fn mark_of(dir: &Path) -> PathBuf {
    dir.join("guards/ACKNOWLEDGED")
}

/// Copies the database in `dir`, as a kill leaves it, and changes its last log.
fn with_log(dir: &Path, change: impl FnOnce(&mut Vec<u8>)) -> (TempDir, PathBuf) {
    let copy = TempDir::new().unwrap();
    let db = copy.path().join("db");
    copy_as_killed(dir, &db);
    let log = log_of(&db);
    let mut bytes = fs::read(&log).unwrap();
    change(&mut bytes);
    fs::write(log, bytes).unwrap();
    (copy, db)
}

pub(super) fn records(log: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let item = |item: Result<LogItem<'_>, Foreign>| match item {
        Ok(LogItem::Record { at, bytes }) => Some((at, bytes.into_owned())),
        _ => None,
    };
    LogReader::of(log).filter_map(item).collect()
}

/// Returns the byte ranges of the last `count` records of a log.
fn ranges(log: &[u8], count: usize) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = records(log).iter().map(|(at, _)| *at).collect();
    starts.push(log.len());
    let ranges = starts.windows(2).map(|pair| pair[0]..pair[1]).collect::<Vec<_>>();
    ranges[ranges.len() - count..].to_vec()
}

fn value(n: u8, sizes: &[usize]) -> Vec<u8> {
    noise(u64::from(n), sizes[usize::from(n) % sizes.len()])
}

/// Opens a store and writes this many synced documents, which stay in its log.
fn synced(dir: &Path, count: u8, sizes: &[usize]) -> Store {
    let store = open(dir);
    (0..count).for_each(|n| put(&store, ROWS, &[n], &value(n, sizes)));
    store
}

#[test]
fn records_are_framed_as_by_rocksdb() {
    let dir = TempDir::new().unwrap();
    let _store = synced(dir.path(), 50, &SIZES);
    let log = fs::read(log_of(dir.path())).unwrap();
    let mut again = Vec::new();
    let mut next = None;
    for (_, record) in records(&log) {
        let batch = LoggedBatch::read(&record).unwrap();
        assert!(next.is_none_or(|next| next == batch.sequence));
        assert_eq!(batch.acknowledged.unwrap() + 1, batch.sequence);
        next = Some(batch.next);
        put_record(&mut again, &record);
    }
    assert_eq!(log, again);
    assert!(LogReader::of(&log).all(|item| matches!(item, Ok(LogItem::Record { .. }))));
}

/// Returns a log record with a batch of one entry.
pub(super) fn batch(sequence: u64, acknowledged: u64, bytes: usize) -> Vec<u8> {
    let mut record = sequence.to_le_bytes().to_vec();
    record.extend_from_slice(&[1, 0, 0, 0, 3, 9]);
    record.extend_from_slice(&stamp(acknowledged));
    record.extend(noise(sequence, bytes));
    record
}

#[test]
fn a_flipped_bit_loses_only_the_record_that_it_hits() {
    let mut log = Vec::new();
    let written: Vec<_> = (0..40).map(|n| batch(n + 1, n, SIZES[n as usize % 6])).collect();
    written.iter().take(24).for_each(|record| put_record(&mut log, record));
    let ranges = ranges(&log, 24);
    let mark = Some(Mark { acknowledged: 24, base: 0 });
    for at in
        (0..log.len()).filter(|at| at % 7 == 0 || ranges.iter().any(|r| at - r.start.min(*at) < 40))
    {
        log[at] ^= 1 << (at % 8);
        let left: Vec<_> = records(&log).into_iter().map(|(_, record)| record).collect();
        let hit = ranges.iter().position(|range| range.contains(&at)).unwrap();
        let expected: Vec<_> = (0..24).filter(|n| *n != hit).map(|n| written[n].clone()).collect();
        // The padding at the end of a block belongs to no record.
        assert!(left == expected || left == written[..24], "byte {at}");
        let mut survey = Survey::default();
        survey.read(0, &log).unwrap();
        let plan = plan(&survey, mark, 1);
        assert_eq!(plan.losses.len(), 24 - left.len(), "byte {at}");
        assert!(
            plan.losses
                .iter()
                .all(|loss| loss.first <= hit as u64 + 1 && loss.last == Some(hit as u64 + 1))
        );
        assert_eq!(plan.cut, None);
        log[at] ^= 1 << (at % 8);
    }
}

/// Damages the log of `count` documents in `dir` at `at`, and checks what is lost.
fn check_damage(dir: &Path, count: u8, sizes: &[usize], at: Range<usize>, flip: bool) {
    let mut hit = Vec::new();
    let mut first = 0;
    let (_copy, db) = with_log(dir, |log| {
        let ranges = ranges(log, count.into());
        first = ranges[0].start;
        hit = ranges.iter().map(|r| r.start < at.end && at.start < r.end).collect();
        let at = at.start..at.end.min(log.len());
        log[at].iter_mut().for_each(|byte| *byte = if flip { *byte ^ 0x10 } else { 0 });
    });
    let (store, findings) = open_with_findings(&db);
    let mut lost = at.start < first;
    for (n, hit) in (0..count).zip(hit) {
        let found = get(&store, ROWS, &[n]);
        let whole = found.as_ref() == Some(&value(n, sizes));
        assert!(whole || (hit && found.is_none()), "document {n}, damage at {at:?}: {findings:?}");
        lost |= !whole;
    }
    let reported = findings.iter().any(|line| line.starts_with("lost: "));
    assert_eq!(reported, lost, "damage at {at:?}: {findings:?}");
    put(&store, ROWS, &[250], b"after");
    drop(store);
    let (store, findings) = open_with_findings(&db);
    assert_eq!(findings, [""; 0], "it is reported once");
    assert_eq!(get(&store, ROWS, &[250]).unwrap(), b"after");
}

#[test]
fn damage_loses_only_the_batches_that_it_hits() {
    let dir = TempDir::new().unwrap();
    let _store = synced(dir.path(), 50, &SIZES);
    let bytes = fs::metadata(log_of(dir.path())).unwrap().len() as usize;
    for sector in (0..bytes.div_ceil(4096)).step_by(3) {
        check_damage(dir.path(), 50, &SIZES, sector * 4096..(sector + 1) * 4096, false);
    }
    for at in (100..bytes).step_by(bytes / 16) {
        check_damage(dir.path(), 50, &SIZES, at..at + 1, true);
    }
}

#[test]
fn a_zeroed_disk_sector_loses_only_the_batches_that_it_hits() {
    const SMALL: [usize; 5] = [40, 300, 20, 700, 1_000];
    let dir = TempDir::new().unwrap();
    let _store = synced(dir.path(), 50, &SMALL);
    let bytes = fs::metadata(log_of(dir.path())).unwrap().len() as usize;
    for sector in 0..bytes.div_ceil(512) {
        check_damage(dir.path(), 50, &SMALL, sector * 512..(sector + 1) * 512, false);
    }
}

#[test]
fn torn_unacknowledged_batches_are_dropped_silently() {
    let dir = TempDir::new().unwrap();
    let store = synced(dir.path(), 10, &[3_000]);
    (10..20).for_each(|n| put_unsynced(&store, n, &value(n, &[3_000])));
    for torn in 10..20_u8 {
        let (_copy, db) = with_log(dir.path(), |log| {
            let range = ranges(log, 20)[usize::from(torn)].clone();
            log[range.start + 1_000..range.start + 1_512].fill(0);
        });
        let (store, findings) = open_with_findings(&db);
        assert_eq!(findings, [""; 0]);
        for n in 0..20 {
            let found = get(&store, ROWS, &[n]);
            assert_eq!(found, (n < torn).then(|| value(n, &[3_000])), "{n}, torn at {torn}");
        }
        put(&store, ROWS, &[99], b"after");
        drop(store);
        let (store, findings) = open_with_findings(&db);
        assert_eq!(findings, [""; 0]);
        assert_eq!(get(&store, ROWS, &[99]).unwrap(), b"after");
    }
}

#[test]
fn stamps_replace_an_outdated_mark() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    let old = fs::read(mark_of(dir.path())).unwrap();
    (0..10).for_each(|n| put(&store, ROWS, &[n], &value(n, &[3_000])));
    let (_copy, db) = with_log(dir.path(), |log| {
        let range = ranges(log, 10)[5].clone();
        log[range.start + 100] ^= 1;
    });
    fs::write(mark_of(&db), old).unwrap();
    let (store, findings) = open_with_findings(&db);
    assert!(
        matches!(&*findings, [line] if line.starts_with("lost: 1 entries of the database's log"))
    );
    for n in 0..10 {
        let found = get(&store, ROWS, &[n]);
        assert_eq!(found.is_some(), n != 5);
    }
}

#[test]
fn a_lost_end_is_reported_once() {
    let dir = TempDir::new().unwrap();
    let _store = synced(dir.path(), 10, &[300]);
    for way in ["cut", "zeroed", "cut to nothing", "removed", "cut between", "no mark"] {
        let (_copy, db) = with_log(dir.path(), |log| {
            let last = ranges(log, 10)[7].clone();
            match way {
                "cut" | "no mark" => log.truncate(last.start + 100),
                "cut between" => log.truncate(last.start),
                "cut to nothing" => log.clear(),
                "zeroed" => log[last.start + 3..].fill(0),
                _ => {}
            }
        });
        if way == "removed" {
            fs::remove_file(log_of(&db)).unwrap();
        }
        if way == "no mark" {
            fs::remove_file(mark_of(&db)).unwrap();
        }
        let (store, findings) = open_with_findings(&db);
        let lost = (0..10_u8).filter(|n| get(&store, ROWS, &[*n]).is_none()).count();
        assert!(lost == if way.ends_with("nothing") || way == "removed" { 10 } else { 3 }, "{way}");
        // Only the mark reveals that a log was truncated.
        let reported = usize::from(way != "no mark");
        assert_eq!(findings.len(), reported, "{way}: {findings:?}");
        assert!(findings.iter().all(|line| line.contains("the database's log")), "{findings:?}");
        if lost == 3 && reported == 1 {
            assert!(findings[0].starts_with("lost: 3 entries"), "{findings:?}");
        }
        drop(store);
        assert_eq!(open_with_findings(&db).1, [""; 0], "{way}");
    }
}

#[test]
fn a_lost_first_log_is_reported() {
    let dir = TempDir::new().unwrap();
    let store = synced(dir.path(), 10, &[300]);
    // The flush of another keyspace starts a log; the first one is still needed.
    put(&store, Keyspace::Documents, b"other", b"");
    store.flush_keyspace(Keyspace::Documents).unwrap();
    put(&store, ROWS, &[10], b"in the second");
    for way in ["removed", "emptied", "zeroed"] {
        let copy = TempDir::new().unwrap();
        let db = copy.path().join("db");
        copy_as_killed(dir.path(), &db);
        let logs = NeededLogs::of(&db).unwrap().unwrap().logs;
        assert_eq!(logs.len(), 2);
        let first = &logs[0].path;
        match way {
            "removed" => fs::remove_file(first).unwrap(),
            "emptied" => fs::write(first, b"").unwrap(),
            _ => fs::write(first, vec![0; fs::metadata(first).unwrap().len() as usize]).unwrap(),
        }
        let (store, findings) = open_with_findings(&db);
        assert!(findings.iter().any(|line| line.starts_with("lost: ")), "{way}: {findings:?}");
        assert_eq!(get(&store, ROWS, &[10]).as_deref(), Some(b"in the second".as_slice()), "{way}");
    }
}

#[test]
fn damage_without_a_mark_is_reported() {
    let dir = TempDir::new().unwrap();
    let store = synced(dir.path(), 5, &[300]);
    (5..10).for_each(|n| put_unsynced(&store, n, &value(n, &[300])));
    let (_copy, db) = with_log(dir.path(), |log| {
        let range = ranges(log, 10)[7].clone();
        log[range.start + 100] ^= 1;
    });
    fs::remove_file(mark_of(&db)).unwrap();
    let (store, findings) = open_with_findings(&db);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(get(&store, ROWS, &[7]), None);
    assert!(get(&store, ROWS, &[8]).is_some());
    assert!(db.with_file_name("db.damaged-1").exists());
}

#[test]
fn a_log_that_is_no_longer_needed_is_ignored() {
    let dir = TempDir::new().unwrap();
    drop(synced(dir.path(), 10, &[300]));
    let log = log_of(dir.path());
    let mut old = fs::read(&log).unwrap();
    drop(open(dir.path()));
    assert!(!log.exists());
    old[500] ^= 1;
    fs::write(&log, old).unwrap();
    assert_eq!(open_with_findings(dir.path()).1, [""; 0]);
}

#[test]
fn a_checkpoint_has_no_mark() {
    let dir = TempDir::new().unwrap();
    let store = synced(dir.path(), 10, &[300]);
    let target = dir.path().join("copy");
    store.checkpoint(&target).unwrap();
    assert!(mark_of(dir.path()).exists() && !mark_of(&target).exists());
    put(&store, ROWS, &[11], b"later");
    assert_eq!(open_with_findings(&target).1, [""; 0]);
}

#[test]
fn verification_finds_damage_of_the_log() {
    let dir = TempDir::new().unwrap();
    let store = synced(dir.path(), 10, &[300]);
    let mut damaged = Vec::new();
    store.verify_files(&mut damaged).unwrap();
    assert_eq!(damaged, [""; 0]);
    let log = log_of(dir.path());
    let mut bytes = fs::read(&log).unwrap();
    bytes[1_000] ^= 1;
    fs::write(&log, &bytes).unwrap();
    store.verify_files(&mut damaged).unwrap();
    assert!(
        matches!(&*damaged, [lost, bytes] if lost.starts_with("1 entries of the database's log")
            && bytes.contains(".log of the database: bytes ")),
        "{damaged:?}"
    );
    assert_eq!(fs::read(&log).unwrap(), bytes);
}

#[test]
fn the_mark_keeps_up_with_concurrent_writers() {
    let dir = TempDir::new().unwrap();
    let store = open(dir.path());
    let stored = || Journal::new(dir.path()).stored().unwrap().acknowledged;
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..50 {
                    if thread == 3 && n % 2 == 0 {
                        put_unsynced(store, n, b"unsynced");
                    } else {
                        put(store, ROWS, &[thread, n], b"synced");
                    }
                }
            });
        }
    });
    put(&store, ROWS, b"last", b"");
    let latest = store.db().unwrap().latest_sequence_number();
    assert_eq!(stored(), latest);
    put_unsynced(&store, 0, b"");
    assert_eq!(stored(), latest);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let store = &store;
            scope.spawn(move || {
                (0..50).for_each(|n| put(store, ROWS, &[thread, n], b"synced"));
            });
        }
    });
    assert_eq!(stored(), store.db().unwrap().latest_sequence_number());
}

fn survey(logs: &[Vec<Vec<u8>>]) -> Survey {
    let mut survey = Survey::default();
    for (index, log) in logs.iter().enumerate() {
        let mut bytes = Vec::new();
        log.iter().for_each(|record| put_record(&mut bytes, record));
        survey.read(index, &bytes).unwrap();
    }
    survey
}

#[test]
fn what_is_missing_between_logs_is_judged_by_the_mark() {
    let found = survey(&[vec![batch(1, 0, 9), batch(2, 1, 9)], vec![batch(5, 2, 9)]]);
    let planned = |acknowledged| plan(&found, Some(Mark { acknowledged, base: 0 }), 2);
    let cut = Plan { cut: Some((1, 0)), ..Plan::default() };
    assert_eq!(planned(2), cut);
    let loss = Loss { log: 1, first: 3, last: Some(3), at_most: false };
    assert_eq!(planned(3), Plan { losses: vec![loss], ..Plan::default() });
    let loss = Loss { last: Some(4), ..loss };
    assert_eq!(planned(5), Plan { losses: vec![loss], ..Plan::default() });
    let end = Loss { log: 1, first: 6, last: Some(7), at_most: false };
    assert_eq!(planned(7), Plan { losses: vec![loss, end], cut: None, end: true });
    assert_eq!(plan(&found, None, 2), Plan { losses: vec![loss], ..Plan::default() });
}

#[test]
fn a_torn_start_of_the_only_log_is_judged_by_the_base() {
    let mut log = Vec::new();
    put_record(&mut log, &batch(8, 7, 700));
    let mut survey_of = |from: usize, to: usize| {
        log[from..to].fill(0);
        // The torn record is in the middle of its block, because other bytes follow it.
        log.resize(2_000, 1);
        let mut survey = Survey::default();
        survey.read(0, &log).unwrap();
        survey.close();
        survey
    };
    for (from, to) in [(300, 400), (7, 400), (0, 400)] {
        let found = survey_of(from, to);
        let planned = |acknowledged| plan(&found, Some(Mark { acknowledged, base: 7 }), 1);
        let cut = Plan { cut: Some((0, 0)), ..Plan::default() };
        assert_eq!(planned(7), cut, "{from}");
        assert_eq!(planned(8).losses.first().map(|loss| loss.last), Some(Some(8)), "{from}");
    }
}

#[test]
fn logs_with_unknown_record_types_are_left_unchanged() {
    let mut log = Vec::new();
    put_record(&mut log, &batch(1, 0, 100));
    let mut back = log.clone();
    put_record(&mut back, &batch(1, 0, 100));
    assert!(matches!(Survey::default().read(0, &back), Err(SurveyError::UnknownRecords)));
    for kind in [5_u8, 9, 10, 11, 130, 131] {
        let payload = [7; 20];
        let length = if [5, 11, 131].contains(&kind) { payload.len() - 4 } else { payload.len() };
        let mut foreign = log.clone();
        foreign.extend_from_slice(&super::checksum(kind, &payload).to_le_bytes());
        foreign.extend_from_slice(&(length as u16).to_le_bytes());
        foreign.push(kind);
        foreign.extend_from_slice(&payload);
        assert_eq!(LogReader::of(&foreign).last(), Some(Err(Foreign(kind))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_log_of_any_bytes_can_be_opened(
        bytes in prop::collection::vec(prop_oneof![Just(0_u8), 1_u8..6, any::<u8>()], 0..3_000),
        keep in 0_usize..4_000,
    ) {
        let dir = TempDir::new().unwrap();
        drop(synced(dir.path(), 4, &[1_000]));
        let log = log_of(dir.path());
        let mut found = fs::read(&log).unwrap();
        found.truncate(keep);
        found.extend_from_slice(&bytes);
        fs::write(&log, found).unwrap();
        if let Ok(store) = Store::open(dir.path(), 16 << 20, 2) {
            put(&store, ROWS, b"after", b"");
        }
    }

    #[test]
    fn any_bytes_are_read(
        bytes in prop::collection::vec(prop_oneof![Just(0_u8), 1_u8..6, any::<u8>()], 0..70_000),
    ) {
        let mut end = 0;
        for item in LogReader::of(&bytes).map_while(Result::ok) {
            if let LogItem::Damaged { from, to } = item {
                prop_assert!(end <= from && from < to && to <= bytes.len());
                end = to.min(bytes.len() - HEADER_BYTES.min(bytes.len()));
            }
        }
        let _read = Survey::default().read(0, &bytes);
    }
}
