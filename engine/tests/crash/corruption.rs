//! Corruption of any file of a data directory: a flipped bit, or a zeroed sector. The engine opens,
//! reports it, returns all data that was not hit, and keeps sealing and compacting, also after the
//! next start.
//!
//! `TELLTALE_ROT_PLACES` sets how many places of each file are corrupted in each way (default 2).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use telltale_engine::{
    Aggregation, Collection, Direction, Engine, Error, EventListQuery, Expect, Interval, KeyRange,
    MetricName, MetricQuery, MetricType, NewEvent, Receipt, RecordBatch, StartTime, Table,
    TimeRange, TimestampMs, Write,
};

use super::batch::{all, write};
use super::{DAY, START, memory_dir, open};

/// Number of parts that are written, and the length of each.
const PARTS: u64 = 8;
const PART_MS: i64 = 600_000;
const KINDS: [MetricType; 4] =
    [MetricType::Gauge, MetricType::Counter, MetricType::Distribution, MetricType::Set];
const DOCUMENTS: Collection = Collection("things");
const RECORDS: Table = Table::new(200, "things");
const ENTRIES: u64 = 300;

/// How a place of a file is corrupted.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip,
    Zero(usize),
}

const DAMAGES: [Damage; 3] = [Damage::Flip, Damage::Zero(512), Damage::Zero(4096)];

/// Writes one part: samples of every type from several hosts, at irregular times, and events.
fn write_part(engine: &Engine, part: u64) {
    let mut points = engine.batch();
    for host in ["a", "b"] {
        for kind in KINDS {
            for metric in 0..3 {
                let name = format!("{}-{metric}", kind.as_str());
                let series = points.series(&name, kind, &[("host", host)]).unwrap();
                for n in 0..60_i64 {
                    let late = n * n % if host == "a" { 97 } else { 89 };
                    let time = TimestampMs(START + part as i64 * PART_MS + n * 10_000 + late);
                    match kind {
                        MetricType::Set => points.member(series, time, &n.to_string()),
                        _ => points.number(kind, series, time, n as f64),
                    }
                }
            }
        }
        let series = points.series("read", MetricType::Counter, &[("host", host)]).unwrap();
        let time = TimestampMs(START + part as i64 * PART_MS);
        let start_time = StartTime::At { start: TimestampMs(START - 1), counts: true };
        points.reading(series, time, (part + 1) as f64, start_time);
    }
    let mut events = engine.event_batch();
    for n in 0..50_i64 {
        let new = NewEvent {
            name: "something",
            time: TimestampMs(START + part as i64 * PART_MS + n),
            user: Some(&n.to_string()),
            value: Some(n as f64),
            tags: &[("n", &(n % 5).to_string())],
            properties: None,
        };
        events.push(&new).unwrap();
    }
    let receipt = Receipt {
        id: u128::from(part),
        fingerprint: part,
        expires_at: TimestampMs(START + 1_000 * DAY),
        answer: b"ok".to_vec(),
    };
    let new = Write { points: points.finish(), events: Some(events), receipt: Some(receipt) };
    write(engine, new).unwrap();
}

/// Writes everything that the engine can store, into blocks and tables; the first half is
/// compacted.
fn fill(engine: &Engine) {
    for half in 0..2 {
        for part in half * PARTS / 2..(half + 1) * PARTS / 2 {
            write_part(engine, part);
            engine.seal().unwrap();
        }
        let mut documents = engine.documents().begin();
        let mut records = RecordBatch::new();
        for n in (0..ENTRIES).filter(|n| n % 2 == half) {
            documents.put(DOCUMENTS, &format!("{n:05}"), &n, Expect::Absent).unwrap();
            records.put(RECORDS, &n.to_be_bytes(), n.to_string().into_bytes());
        }
        documents.commit().unwrap();
        engine.records().write(records).unwrap();
        if half == 0 {
            engine.merge().unwrap();
        }
    }
}

/// Query results of the engine.
#[derive(Debug, PartialEq)]
struct QueryResults {
    /// For each metric, its values or members by part.
    metrics: Vec<(String, Vec<(i64, f64)>)>,
    events: u64,
    documents: usize,
    records: usize,
    receipts: usize,
}

fn query_all(engine: &Engine) -> QueryResults {
    let names = KINDS
        .iter()
        .flat_map(|kind| (0..3).map(move |n| (*kind, format!("{}-{n}", kind.as_str()))));
    let names = names.chain([(MetricType::Counter, "read".to_owned())]);
    let metrics = names.map(|(kind, name)| {
        let of_parts = counts(engine, kind, &name);
        (name, of_parts)
    });
    let metrics = metrics.collect();
    let list = EventListQuery { filter: all(), after: None, offset: 0, limit: 1 };
    let every = KeyRange::all();
    let records = engine.records().scan(RECORDS, &every, Direction::Forward);
    let receipts = (0..PARTS).map(|part| engine.receipt(u128::from(part)));
    QueryResults {
        metrics,
        events: engine.list_events(&list).unwrap().total,
        documents: engine.documents().list::<u64>(DOCUMENTS, "").unwrap().len(),
        records: records.map_while(Result::ok).count(),
        receipts: receipts.filter(|receipt| matches!(receipt, Ok(Some(_)))).count(),
    }
}

fn counts(engine: &Engine, kind: MetricType, name: &str) -> Vec<(i64, f64)> {
    let aggregation = match kind {
        MetricType::Gauge => Aggregation::Avg,
        MetricType::Counter => Aggregation::Sum,
        _ => Aggregation::Count,
    };
    let query = MetricQuery {
        metric: MetricName::new(name).unwrap(),
        range: TimeRange::new(START, START + (PARTS as i64 + 10) * PART_MS),
        interval: Interval::FIVE_MINUTES,
        aggregations: vec![aggregation],
        filters: vec![],
        group_by: vec![],
    };
    let answer = match engine.query(&query) {
        Ok(answer) => answer,
        Err(Error::Refused(_)) => return Vec::new(),
        Err(error) => panic!("{name}: {error}"),
    };
    let groups = answer.groups.iter();
    groups
        .flat_map(|group| group.starts.iter().zip(&group.columns[0]))
        .map(|(start, value)| (start.0, *value))
        .collect()
}

/// Returns whether a recently written part is stored, in every metric and once.
fn has_part(engine: &Engine, part: u64) -> bool {
    KINDS.iter().all(|kind| {
        let from = START + part as i64 * PART_MS;
        let found = counts(engine, *kind, &format!("{}-0", kind.as_str()));
        found.iter().filter(|(start, _)| (from..from + PART_MS).contains(start)).count() == 2
    })
}

fn damage_file(path: &Path, at: usize, damage: Damage) -> bool {
    let before = fs::read(path).unwrap();
    let mut bytes = before.clone();
    match damage {
        Damage::Flip => bytes[at] ^= 1 << (at % 8),
        Damage::Zero(sector) => {
            let start = at / sector * sector;
            bytes.iter_mut().skip(start).take(sector).for_each(|byte| *byte = 0);
        }
    }
    fs::write(path, &bytes).unwrap();
    bytes != before
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.metadata().is_ok_and(|file| file.len() > 0) {
            // One that a running engine has just renamed or removed is left out.
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Copies the files as a kill would leave them, while the engine keeps running.
fn copy_as_killed(from: &Path) -> tempfile::TempDir {
    loop {
        let to = memory_dir();
        let before = files(from);
        // Copies again if background work deleted files meanwhile.
        let copied = copy(from, to.path());
        if copied.is_ok() && files(from) == before {
            return to;
        }
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Opens a damaged directory and makes the engine do everything it can do.
fn use_damaged(dir: &Path) -> (QueryResults, Vec<String>) {
    let engine = open(dir);
    let results = query_all(&engine);
    // Detects what no query has read.
    let verified = engine.verify().unwrap().damaged;
    for part in PARTS..PARTS + 2 {
        write_part(&engine, part);
        engine.seal().unwrap();
        engine.merge().unwrap();
    }
    engine.expire().unwrap();
    let mut damage = listed(&engine);
    engine.close().unwrap();
    drop(engine);
    let engine = open(dir);
    assert!(has_part(&engine, PARTS) && has_part(&engine, PARTS + 1), "{:?}", query_all(&engine));
    let later = listed(&engine);
    assert!(
        damage.iter().all(|line| later.contains(line)),
        "reported until acknowledged: {damage:?} {later:?}"
    );
    damage.extend(verified);
    (results, damage)
}

/// Returns the lines of the damage list.
fn listed(engine: &Engine) -> Vec<String> {
    let lines = engine.damage().into_iter();
    lines.filter(|line| line.starts_with("lost: ") || line.starts_with("mended: ")).collect()
}

/// Returns offsets of a file, spread by a seed over all of it; always one near the end, where
/// tables have their index and footer.
fn offsets(len: usize, seed: u64) -> Vec<usize> {
    let count = std::env::var("TELLTALE_ROT_PLACES").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let mut state = seed | 1;
    let mut place = |among: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % among.max(1)
    };
    let mut offsets: Vec<usize> = (1..count).map(|_| place(len)).collect();
    offsets.push(len - 1 - place(len.min(300)));
    offsets
}

/// Damages each file of `source` that `chosen` selects, and passes the outcome to `check`.
fn each_damage(
    source: &Path,
    chosen: impl Fn(&Path) -> bool,
    mut check: impl FnMut(&str, QueryResults, Vec<String>),
) {
    for (n, file) in files(source).iter().enumerate().filter(|(_, file)| chosen(file)) {
        let len = file.metadata().unwrap().len() as usize;
        for (m, at) in offsets(len, n as u64 * 7 + 1).into_iter().enumerate() {
            let damage = DAMAGES[(n + m) % DAMAGES.len()];
            let dir = memory_dir();
            copy(source, dir.path()).unwrap();
            let name = file.strip_prefix(source).unwrap();
            if !damage_file(&dir.path().join(name), at, damage) {
                continue;
            }
            let what = format!("{damage:?} at {at} of {len} of {}", name.display());
            println!("{what}");
            let (results, reported) = use_damaged(dir.path());
            check(&what, results, reported);
        }
    }
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "sst")
}

#[test]
fn corruption_of_a_guarded_file_loses_nothing_and_is_reported() {
    let dir = memory_dir();
    let engine = open(dir.path());
    fill(&engine);
    let expected = query_all(&engine);
    engine.close().unwrap();
    drop(engine);
    assert_eq!((expected.events, expected.receipts), (PARTS * 50, PARTS as usize));
    assert_eq!((expected.documents, expected.records), (ENTRIES as usize, ENTRIES as usize));
    let chosen = |path: &Path| path.parent().unwrap().ends_with("db");
    each_damage(dir.path(), chosen, |what, results, reported| {
        assert_eq!(results, expected, "{what}");
        let matters =
            what.contains(".sst") || what.contains("CURRENT") || what.contains("MANIFEST");
        assert!(!matters || !reported.is_empty(), "{what} is reported");
    });
}

#[test]
fn corruption_of_an_unguarded_file_loses_only_what_it_hits_and_is_reported() {
    let dir = memory_dir();
    let engine = open(dir.path());
    fill(&engine);
    let expected = query_all(&engine);
    engine.close().unwrap();
    drop(engine);
    fs::remove_dir_all(dir.path().join("db/guards")).unwrap();
    each_damage(
        dir.path(),
        |path| is_table(path) || path.ends_with("CURRENT"),
        |what, results, reported| {
            assert!(results == expected || !reported.is_empty(), "{what} is reported: {results:?}");
        },
    );
}

#[test]
fn corruption_of_a_log_loses_only_what_it_hits_and_is_reported() {
    let dir = memory_dir();
    let engine = open(dir.path());
    fill(&engine);
    let expected = query_all(&engine);
    let killed = copy_as_killed(dir.path());
    let chosen = |path: &Path| path.extension().is_some_and(|e| e == "log");
    each_damage(killed.path(), chosen, |what, results, reported| {
        assert!(results == expected || !reported.is_empty(), "{what} is reported: {results:?}");
    });
}
