//! Pages of times go when no block refers to them any more, and not while anybody needs them.

use super::super::times::TimePages;
use super::super::view::MetricView;
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::options::{Maintenance, Options};
use crate::reports::Pace;
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Sync};
use crate::{Clock, Engine};

const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;
const HOSTS: i64 = 50;
const POINTS: i64 = 1_000;

fn open(dir: &std::path::Path) -> Engine {
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let maintenance = Maintenance::Manual;
    Engine::open(dir, Options { maintenance, clock, ..Options::default() }).unwrap()
}

fn write(engine: &Engine, metric: &str, points: impl Iterator<Item = (i64, i64)>) {
    let mut batch = engine.batch();
    for (host, time) in points {
        let host = host.to_string();
        let series = batch.series(metric, MetricType::Gauge, &[("host", &host)]).unwrap();
        batch.number(MetricType::Gauge, series, TimestampMs(START + time), (time % 7) as f64);
    }
    engine.write(batch.finish()).unwrap();
    engine.seal().unwrap();
}

/// A day of every host, each late by its own jitter, and all of it merged.
fn fill(engine: &Engine, metric: &str) {
    let jitter = |host: i64, i: i64| i * 86_000 + i * i * (host + 7) % 40_009;
    let points = (0..HOSTS).flat_map(|host| (0..POINTS).map(move |i| (host, jitter(host, i))));
    write(engine, metric, points);
    engine.merge().unwrap();
}

fn times(engine: &Engine) -> &TimePages {
    engine.inner().telemetry.metrics.times()
}

/// How many pages there are, and their bytes.
fn pages(engine: &Engine) -> (usize, usize) {
    let (mut pages, mut all) = (0, 0);
    let visit = |_: &[u8], bytes: usize, damage: Option<String>| {
        assert_eq!(damage, None);
        pages += 1;
        all += bytes;
    };
    times(engine).verify(visit).unwrap();
    (pages, all)
}

fn ask(engine: &Engine, metric: &str) -> Vec<f64> {
    engine.averages(metric, TimeRange::new(START, START + DAY), Interval::MINUTE)
}

/// Late batches of ten points, each merged, and never twice the same hosts in a row.
fn late(engine: &Engine, metric: &str, batches: std::ops::Range<i64>) {
    for n in batches {
        write(engine, metric, (0..10).map(|i| ((i + n * 10) % HOSTS, 40_000_001 + n * 100 + i)));
        engine.merge().unwrap();
    }
}

/// Leaves copies of all pages behind that no block refers to.
fn leak(engine: &Engine, copies: u8) {
    let store = &engine.inner().store;
    let mut found = Vec::new();
    let visit = |key: Box<[u8]>, bytes: Box<[u8]>| found.push((key, bytes));
    store.read_around_damage(Keyspace::Times, &KeyRange::all(), Caching::Bypass, visit).unwrap();
    let mut batch = Batch::new();
    for copy in 0..copies {
        for (key, bytes) in &found {
            let mut key = key.to_vec();
            key[12] = copy + 1;
            batch.put(Keyspace::Times, &key, bytes.to_vec());
        }
    }
    store.write(batch, Sync::Yes).unwrap();
}

fn id_of(engine: &Engine, metric: &str) -> MetricId {
    let registry = engine.inner().telemetry.metrics.registry();
    registry.with_metric(metric, |metric| metric.id).unwrap()
}

/// Whether everything that a reader took can be read.
fn can_read(engine: &Engine, view: &MetricView) -> bool {
    let metrics = &engine.inner().telemetry.metrics;
    view.blocks.iter().all(|info| {
        let bytes = metrics.read_block(&info.key);
        bytes.is_ok_and(|bytes| metrics.check_block(info, &bytes).is_ok())
    })
}

#[test]
fn late_batches_leave_no_pages_behind() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let (_, once) = pages(&engine);
    assert!(once > 40_000, "{once}");
    late(&engine, "cpu", 0..40);
    let (_, bytes) = pages(&engine);
    assert!(bytes < 3 * once + (64 << 10), "{bytes} bytes instead of {once}");
    let before = ask(&engine, "cpu");
    drop(engine);
    let engine = open(dir.path());
    assert!(ask(&engine, "cpu") == before);
    assert!(engine.verify().unwrap().damaged.is_empty());
    // Everything is re-merged, with the places of before the start.
    late(&engine, "cpu", 40..80);
    assert!(pages(&engine).1 < 3 * once + (64 << 10));
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn pages_of_which_little_is_used_are_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    ["cpu", "load"].iter().for_each(|metric| fill(&engine, metric));
    let (_, once) = pages(&engine);
    let load = ask(&engine, "load");
    // One metric moves away from what it shared with the other one, host by host.
    late(&engine, "cpu", 0..60);
    assert!(pages(&engine).1 < 5 * once, "{} bytes instead of {once}", pages(&engine).1);
    assert!(ask(&engine, "load") == load);
    engine.delete_metric("cpu").unwrap();
    engine.seal().unwrap();
    engine.merge().unwrap();
    assert!(ask(&engine, "load") == load);
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn pages_that_an_older_version_left_behind_are_collected() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let once = pages(&engine);
    leak(&engine, 30);
    let before = ask(&engine, "cpu");
    drop(engine);
    let engine = open(dir.path());
    assert_eq!(pages(&engine).0, 31 * once.0);
    // As the maintenance thread does it, in pieces.
    let metrics = &engine.inner().telemetry.metrics;
    (0..4).for_each(|_| _ = metrics.collect_garbage(Pace::Piece).unwrap());
    assert_eq!(pages(&engine), once);
    assert!(ask(&engine, "cpu") == before);
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn a_sweep_that_cannot_read_a_block_is_put_off_and_deletes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    ["cpu", "load"].iter().for_each(|metric| fill(&engine, metric));
    let once = pages(&engine);
    let before = ["cpu", "load"].map(|metric| ask(&engine, metric));
    leak(&engine, 30);
    drop(engine);
    let engine = open(dir.path());
    let metrics = &engine.inner().telemetry.metrics;
    engine.inner().store.close();
    metrics.sweep_times(Pace::Piece).unwrap_err();
    // Others have their turn.
    metrics.sweep_times(Pace::Whole).unwrap();
    engine.inner().store.reopen().unwrap();
    metrics.sweep_times(Pace::Whole).unwrap();
    assert_eq!(pages(&engine).0, 31 * once.0);
    drop(engine);
    let engine = open(dir.path());
    engine.inner().telemetry.metrics.sweep_times(Pace::Whole).unwrap();
    assert_eq!(pages(&engine), once);
    assert!(["cpu", "load"].map(|metric| ask(&engine, metric)) == before);
    assert_eq!(engine.verify().unwrap().damaged, Vec::<String>::new());
}

#[test]
fn pages_that_could_not_be_deleted_are_deleted_the_next_time() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    engine.delete_metric("cpu").unwrap();
    engine.seal().unwrap();
    let metrics = &engine.inner().telemetry.metrics;
    assert!(metrics.delete_unreachable().unwrap() > 0);
    assert!(pages(&engine).0 > 0);
    engine.inner().store.close();
    metrics.delete_unused_times().unwrap_err();
    engine.inner().store.reopen().unwrap();
    metrics.collect_garbage(Pace::Whole).unwrap();
    assert_eq!(pages(&engine), (0, 0));
}

#[test]
fn a_page_stays_while_a_reader_may_come_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let once = pages(&engine);
    let metrics = &engine.inner().telemetry.metrics;
    let day = TimeRange::new(START, START + DAY);
    let held = metrics.view().metric(id_of(&engine, "cpu"), day);
    late(&engine, "cpu", 0..12);
    assert!(can_read(&engine, &held));
    let blocks = held.blocks.iter().count();
    assert!(blocks > 0);
    drop(held);
    metrics.collect_garbage(Pace::Whole).unwrap();
    assert!(pages(&engine).1 < 3 * once.1 + (64 << 10));
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn blocks_stay_for_a_reader_from_before_a_seal() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let metrics = &engine.inner().telemetry.metrics;
    let day = TimeRange::new(START, START + DAY);
    let held = metrics.view().metric(id_of(&engine, "cpu"), day);
    // The seal makes a catalog that nobody reads, and the merge replaces that one.
    late(&engine, "cpu", 0..1);
    assert!(can_read(&engine, &held));
}
