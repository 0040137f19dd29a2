//! Much of the log relies on the records that define series: they are there twice, and one damage does not take both.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use telltale_engine::{
    Aggregation, Engine, Interval, MetricName, MetricQuery, MetricType, Receipt, TimeRange,
    TimestampMs, Write,
};

use super::batch::write;
use super::{DAY, START, memory_dir, open};

/// Writes after the one that creates the series.
const LATER: u128 = 20;
/// Only definitions hold it.
const TAG: &[u8] = b"definition-of-the-host";
const SECTOR: usize = 512;

fn add(engine: &Engine, id: u128, metric: &str) {
    let mut batch = engine.batch();
    let tags = [("host", std::str::from_utf8(TAG).unwrap())];
    let series = batch.series(metric, MetricType::Counter, &tags).unwrap();
    batch.number(MetricType::Counter, series, TimestampMs(START), 1.0);
    let expires_at = TimestampMs(START + 1_000 * DAY);
    let receipt = Some(Receipt { id, fingerprint: 1, answer: Vec::new(), expires_at });
    write(engine, Write { points: batch.finish(), events: None, receipt }).unwrap();
}

/// The writes of the metric that are there.
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

/// A log as a kill leaves it, and where both copies of the definitions have the tag.
fn killed() -> (tempfile::TempDir, PathBuf, Vec<usize>) {
    let dir = memory_dir();
    let engine = open(dir.path());
    (0..=LATER).for_each(|id| add(&engine, id, "requests"));
    let killed = memory_dir();
    copy(dir.path(), killed.path());
    let logs = fs::read_dir(killed.path().join("log")).unwrap();
    let logs = logs.map(|entry| entry.unwrap().path());
    let log = logs.filter(|path| path.extension().is_some()).max().unwrap();
    let bytes = fs::read(&log).unwrap();
    let found = bytes.windows(TAG.len()).enumerate().filter(|(_, window)| *window == TAG);
    let places: Vec<usize> = found.map(|(at, _)| at).collect();
    (killed, log, places)
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

fn damage(log: &Path, bytes: Range<usize>) {
    let mut whole = fs::read(log).unwrap();
    let end = bytes.end.min(whole.len());
    whole[bytes.start..end].iter_mut().for_each(|byte| *byte ^= 0xff);
    fs::write(log, whole).unwrap();
}

#[test]
fn one_damage_to_definitions_costs_no_points() {
    let (_dir, _, places) = killed();
    assert_eq!(places.len(), 2);
    assert!(places[0] / SECTOR < places[1] / SECTOR, "no sector holds parts of both: {places:?}");
    for copy in 0..2 {
        for sector in [false, true] {
            let (dir, log, places) = killed();
            let at = places[copy];
            let start = at / SECTOR * SECTOR;
            damage(&log, if sector { start.max(40)..start + SECTOR } else { at..at + 1 });
            for opened in 0..2 {
                let engine = open(dir.path());
                let lost = if sector { 1.0 + LATER as f64 - sum(&engine, "requests") } else { 0.0 };
                assert!(lost < 10.0, "the sector holds {lost} writes");
                assert_eq!(sum(&engine, "requests") + lost, 1.0 + LATER as f64);
                assert!(engine.damage().iter().any(|line| line.contains("damaged")));
                if opened == 0 {
                    add(&engine, 100, "others");
                    engine.close().unwrap();
                }
                assert_eq!(sum(&engine, "others"), 1.0);
            }
        }
    }
}

#[test]
fn what_relies_on_definitions_that_are_lost_twice_is_lost_whole_and_told() {
    let (dir, log, places) = killed();
    places.iter().for_each(|at| damage(&log, *at..*at + 1));
    let engine = open(dir.path());
    assert_eq!(sum(&engine, "requests"), 0.0);
    for id in 0..=LATER {
        assert!(engine.receipt(id).unwrap().is_none(), "{id} may be sent again");
    }
    let told = format!("what defines 1 series is lost, and with it the {} records", 1 + LATER);
    assert!(engine.damage().iter().any(|line| line.contains(&told)), "{:?}", engine.damage());
    // Their ids are nobody else's, now and after the next start.
    add(&engine, 100, "others");
    engine.seal().unwrap();
    drop(engine);
    let engine = open(dir.path());
    assert_eq!((sum(&engine, "others"), sum(&engine, "requests")), (1.0, 0.0));
}
