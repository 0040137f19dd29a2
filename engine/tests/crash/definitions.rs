//! Much of the log depends on the records that define series. They are written twice, so that a
//! single corruption does not lose both copies.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use telltale_engine::{
    Aggregation, Engine, Interval, MetricName, MetricQuery, MetricType, Receipt, TimeRange,
    TimestampMs, Write,
};

use super::batch::write;
use super::{DAY, START, memory_dir, open};

/// Number of writes of a history; their records span several sectors.
const WRITES: u128 = 240;
/// Number of consecutive writes to one series.
const WRITES_PER_SERIES: u128 = 7;
/// The write that creates many additional series, and their number: their definitions span several
/// sectors.
const LARGE_WRITE: u128 = 100;
const LARGE_SERIES: u32 = 300;
/// The unit in which disks lose data.
const SECTOR: usize = 4_096;
/// The offset of the first frame of a segment, the bytes of a frame header, and the offset of the
/// payload length in it.
const FRAMES_AT: usize = 4_096 + 48;
const FRAME_HEADER: usize = 40;
const LENGTH_AT: usize = 4;
/// Base of the receipt ids, chosen so that receipts can be found in the bytes of the log.
const RECEIPTS: u128 = 0x5eed_71c3_90ab_2fd8_6647_12fe_0000_0000;

fn host(series: u128) -> String {
    format!("definition-of-host-{series:03}-")
}

/// Adds 1 to a counter.
fn add(engine: &Engine, id: u128, metric: &str, host: &str) {
    let mut batch = engine.batch();
    if id == LARGE_WRITE {
        for n in 0..LARGE_SERIES {
            let name = format!("one-of-many-{n:04}");
            batch.series(metric, MetricType::Counter, &[("host", name.as_str())]).unwrap();
        }
    }
    let series = batch.series(metric, MetricType::Counter, &[("host", host)]).unwrap();
    batch.number(MetricType::Counter, series, TimestampMs(START), 1.0);
    let expires_at = TimestampMs(START + 1_000 * DAY);
    let receipt =
        Some(Receipt { id: RECEIPTS + id, fingerprint: 1, answer: Vec::new(), expires_at });
    write(engine, Write { points: batch.finish(), events: None, receipt }).unwrap();
}

/// Returns the number of writes to a metric that are stored.
fn sum(engine: &Engine, metric: &str) -> f64 {
    let answer = engine.query(&MetricQuery {
        metric: MetricName::new(metric).unwrap(),
        range: TimeRange::new(START, START + DAY),
        interval: Interval::DAY,
        aggregations: vec![Aggregation::Sum],
        filters: vec![],
        group_by: vec![],
    });
    answer.map_or(0.0, |answer| answer.groups.iter().flat_map(|group| &group.columns[0]).sum())
}

/// Returns a directory whose engine ended without a seal. Copies must be made of a directory that
/// no engine has open: RocksDB deletes files in the background.
fn ended(series_of: impl Fn(u128) -> u128) -> tempfile::TempDir {
    let dir = memory_dir();
    let engine = open(dir.path());
    (0..WRITES).for_each(|id| add(&engine, id, "requests", &host(series_of(id))));
    drop(engine);
    dir
}

fn copy_of(dir: &Path) -> tempfile::TempDir {
    let to = memory_dir();
    copy(dir, to.path());
    to
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Returns the segments of a log, oldest first.
fn segments(dir: &Path) -> Vec<PathBuf> {
    let logs = fs::read_dir(dir.join("log")).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> = logs.filter(|path| path.extension().is_some()).collect();
    logs.sort();
    logs
}

/// Returns the offsets of a string in the log.
fn offsets(log: &[u8], text: &str) -> Vec<usize> {
    let found = log.windows(text.len()).enumerate().filter(|(_, bytes)| *bytes == text.as_bytes());
    found.map(|(at, _)| at).collect()
}

/// Returns the writes of a log with the range of their frames.
fn writes(log: &[u8]) -> Vec<(u128, Range<usize>)> {
    let (mut writes, mut at) = (Vec::new(), FRAMES_AT);
    while at < log.len() {
        let length = log[at + LENGTH_AT..][..4].try_into().unwrap();
        let end = at + FRAME_HEADER + u32::from_le_bytes(length) as usize;
        let numbers = log[at..end].windows(16).map(|b| u128::from_le_bytes(b.try_into().unwrap()));
        let receipt = numbers.map(|n| n.wrapping_sub(RECEIPTS)).find(|id| *id < WRITES);
        writes.extend(receipt.map(|id| (id, at..end)));
        at = end;
    }
    assert_eq!(at, log.len());
    writes
}

/// Opens a damaged directory twice, with a seal in between, and checks that exactly the writes in
/// `left` are stored.
#[track_caller]
fn check(dir: &Path, left: &[u128], what: &str) {
    for others in 0..2u8 {
        let engine = open(dir);
        let held = |id: &u128| engine.receipt(RECEIPTS + id).unwrap().is_some();
        let found: Vec<u128> = (0..WRITES).filter(held).collect();
        assert_eq!(found, left, "{what}");
        assert_eq!(sum(&engine, "requests"), left.len() as f64, "{what}");
        assert_eq!(sum(&engine, "others"), f64::from(others), "{what}");
        assert!(engine.damage().iter().any(|line| line.contains("damaged")), "{what}");
        if others == 0 {
            add(&engine, WRITES, "others", "any");
            engine.close().unwrap();
        }
    }
}

#[test]
fn a_single_corruption_of_definitions_loses_no_samples() {
    let ended = ended(|id| id / WRITES_PER_SERIES);
    let log = segments(ended.path()).pop().unwrap();
    let name = log.file_name().unwrap();
    let whole = fs::read(&log).unwrap();
    let writes = writes(&whole);
    assert_eq!(writes.len() as u128, WRITES);
    for sector in (0..whole.len()).step_by(SECTOR).map(|at| at..whole.len().min(at + SECTOR)) {
        let mut damaged = whole.clone();
        damaged[sector.clone()].fill(0);
        if damaged == whole {
            // The sector contains only padding.
            continue;
        }
        let dir = copy_of(ended.path());
        fs::write(dir.path().join("log").join(name), damaged).unwrap();
        let outside =
            writes.iter().filter(|(_, at)| at.end <= sector.start || at.start >= sector.end);
        let left: Vec<u128> = outside.map(|(id, _)| *id).collect();
        check(dir.path(), &left, &format!("bytes {sector:?} of {}", whole.len()));
    }
    let all: Vec<u128> = (0..WRITES).collect();
    let of_first = offsets(&whole, &host(0));
    assert_eq!(of_first.len(), 2);
    for at in of_first {
        let dir = copy_of(ended.path());
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        fs::write(dir.path().join("log").join(name), damaged).unwrap();
        check(dir.path(), &all, &format!("byte {at}"));
    }
}

#[test]
fn a_definition_without_a_second_copy_gets_it_with_the_next_write() {
    let dir = memory_dir();
    for id in 0..2 {
        let engine = open(dir.path());
        add(&engine, id, "requests", &host(0));
        drop(engine);
        let logs = segments(dir.path());
        let copies = logs.iter().map(|log| offsets(&fs::read(log).unwrap(), &host(0)).len());
        assert_eq!(copies.sum::<usize>() as u128, id + 1);
    }
    // The whole first segment is lost; the second one defines what it needs.
    let first = segments(dir.path()).remove(0);
    let mut bytes = fs::read(&first).unwrap();
    bytes[SECTOR..].fill(0);
    fs::write(&first, bytes).unwrap();
    let engine = open(dir.path());
    assert_eq!(sum(&engine, "requests"), 1.0);
    assert!(engine.receipt(RECEIPTS + 1).unwrap().is_some());
}

#[test]
fn a_deleted_metric_stays_deleted_when_a_copy_of_its_definition_follows() {
    let dir = memory_dir();
    let engine = open(dir.path());
    add(&engine, 0, "requests", &host(0));
    engine.delete_metric("requests").unwrap();
    for id in 1..WRITES {
        add(&engine, id, "others", &host(1));
    }
    drop(engine);
    let log = fs::read(segments(dir.path()).pop().unwrap()).unwrap();
    assert_eq!(offsets(&log, &host(0)).len(), 2);
    for _ in 0..2 {
        let engine = open(dir.path());
        assert_eq!(
            (engine.stats().metrics, engine.stats().series),
            (1, 1 + u64::from(LARGE_SERIES))
        );
        assert_eq!(sum(&engine, "others"), (WRITES - 1) as f64);
        engine.close().unwrap();
    }
}

#[test]
fn writes_whose_definitions_are_lost_twice_are_lost_whole_and_reported() {
    let dir = ended(|_| 0);
    let log = segments(dir.path()).pop().unwrap();
    let mut bytes = fs::read(&log).unwrap();
    let copies = offsets(&bytes, &host(0));
    assert_eq!(copies.len(), 2);
    copies.iter().for_each(|at| bytes[*at] ^= 0xff);
    fs::write(&log, bytes).unwrap();
    let engine = open(dir.path());
    assert_eq!(sum(&engine, "requests"), 0.0);
    for id in 0..WRITES {
        assert!(engine.receipt(RECEIPTS + id).unwrap().is_none(), "{id} may be sent again");
    }
    let expected =
        format!("the definitions of 1 series are lost, and with them the {WRITES} records");
    assert!(engine.damage().iter().any(|line| line.contains(&expected)), "{:?}", engine.damage());
    // Their ids are not reused, now or after the next start.
    add(&engine, WRITES, "others", "any");
    engine.seal().unwrap();
    drop(engine);
    let engine = open(dir.path());
    assert_eq!((sum(&engine, "others"), sum(&engine, "requests")), (1.0, 0.0));
}
