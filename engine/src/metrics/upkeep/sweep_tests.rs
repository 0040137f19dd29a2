//! Time pages are deleted once no block refers to them, and not while a reader needs them.

use super::super::times::TimePages;
use super::super::view::MetricView;
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::options::{Maintenance, Options};
use crate::reports::Pace;
use crate::storage::{Batch, Caching, Keyspace, RangeOf, Sync};
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

/// Writes a day of every host, each with its own jitter, and compacts it.
fn fill(engine: &Engine, metric: &str) {
    let jitter = |host: i64, i: i64| i * 86_000 + i * i * (host + 7) % 40_009;
    let points = (0..HOSTS).flat_map(|host| (0..POINTS).map(move |i| (host, jitter(host, i))));
    write(engine, metric, points);
    engine.merge().unwrap();
}

fn times(engine: &Engine) -> &TimePages {
    engine.inner().telemetry.metrics.times()
}

/// Returns the number of time pages and their bytes.
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

fn query_averages(engine: &Engine, metric: &str) -> Vec<f64> {
    engine.averages(metric, TimeRange::new(START, START + DAY), Interval::MINUTE)
}

/// Writes late batches of ten points and compacts each; consecutive batches are of different hosts.
fn late(engine: &Engine, metric: &str, batches: std::ops::Range<i64>) {
    for n in batches {
        write(engine, metric, (0..10).map(|i| ((i + n * 10) % HOSTS, 40_000_001 + n * 100 + i)));
        engine.merge().unwrap();
    }
}

/// Adds copies of all pages that no block refers to.
fn leak(engine: &Engine, copies: u8) {
    let store = &engine.inner().store;
    let mut found = Vec::new();
    let visit = |key: Box<[u8]>, bytes: Box<[u8]>| found.push((key, bytes));
    store.read_skipping_damage(RangeOf::all(Keyspace::Times), Caching::Bypass, visit).unwrap();
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

/// Reports whether all blocks of a view can be read.
fn can_read(engine: &Engine, view: &MetricView) -> bool {
    let metrics = &engine.inner().telemetry.metrics;
    view.blocks.iter().all(|info| {
        let bytes = metrics.read_block(&info.key);
        bytes.is_ok_and(|bytes| metrics.check_block(info, &bytes).is_ok())
    })
}

#[test]
fn late_batches_leave_no_unused_pages() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let (_, once) = pages(&engine);
    assert!(once > 40_000, "{once}");
    late(&engine, "cpu", 0..40);
    let (_, bytes) = pages(&engine);
    assert!(bytes < 3 * once + (64 << 10), "{bytes} bytes, {once} before");
    let before = query_averages(&engine, "cpu");
    drop(engine);
    let engine = open(dir.path());
    assert!(query_averages(&engine, "cpu") == before);
    assert!(engine.verify().unwrap().damaged.is_empty());
    // Everything is compacted again, reusing the pages from before the restart.
    late(&engine, "cpu", 40..80);
    assert!(pages(&engine).1 < 3 * once + (64 << 10));
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn sparsely_used_pages_are_rewritten() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    ["cpu", "load"].iter().for_each(|metric| fill(&engine, metric));
    let (_, once) = pages(&engine);
    let load = query_averages(&engine, "load");
    // One metric stops using the pages shared with the other one, host by host.
    late(&engine, "cpu", 0..60);
    assert!(pages(&engine).1 < 5 * once, "{} bytes, {once} before", pages(&engine).1);
    assert!(query_averages(&engine, "load") == load);
    engine.delete_metric("cpu").unwrap();
    engine.seal().unwrap();
    engine.merge().unwrap();
    assert!(query_averages(&engine, "load") == load);
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn unused_pages_of_an_older_version_are_collected() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let once = pages(&engine);
    leak(&engine, 30);
    let before = query_averages(&engine, "cpu");
    drop(engine);
    let engine = open(dir.path());
    assert_eq!(pages(&engine).0, 31 * once.0);
    // In steps, as the maintenance thread does it.
    let metrics = &engine.inner().telemetry.metrics;
    (0..4).for_each(|_| _ = metrics.collect_garbage(Pace::Piece).unwrap());
    assert_eq!(pages(&engine), once);
    assert!(query_averages(&engine, "cpu") == before);
    assert!(engine.verify().unwrap().damaged.is_empty());
}

#[test]
fn a_sweep_that_cannot_read_a_block_is_postponed_and_deletes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    ["cpu", "load"].iter().for_each(|metric| fill(&engine, metric));
    let once = pages(&engine);
    let before = ["cpu", "load"].map(|metric| query_averages(&engine, metric));
    leak(&engine, 30);
    drop(engine);
    let engine = open(dir.path());
    let metrics = &engine.inner().telemetry.metrics;
    engine.inner().store.close();
    metrics.sweep_times(Pace::Piece).unwrap_err();
    // The failed sweep does not block others.
    metrics.sweep_times(Pace::Whole).unwrap();
    engine.inner().store.reopen().unwrap();
    metrics.sweep_times(Pace::Whole).unwrap();
    assert_eq!(pages(&engine).0, 31 * once.0);
    drop(engine);
    let engine = open(dir.path());
    engine.inner().telemetry.metrics.sweep_times(Pace::Whole).unwrap();
    assert_eq!(pages(&engine), once);
    assert!(["cpu", "load"].map(|metric| query_averages(&engine, metric)) == before);
    assert_eq!(engine.verify().unwrap().damaged, Vec::<String>::new());
}

#[test]
fn a_failed_deletion_of_pages_is_retried() {
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
fn a_page_is_kept_while_a_reader_can_reach_it() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let once = pages(&engine);
    let metrics = &engine.inner().telemetry.metrics;
    let day = TimeRange::new(START, START + DAY);
    let held = metrics.view().metric(id_of(&engine, "cpu"), day, None);
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
fn blocks_are_kept_for_a_reader_older_than_a_seal() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path());
    fill(&engine, "cpu");
    let metrics = &engine.inner().telemetry.metrics;
    let day = TimeRange::new(START, START + DAY);
    let held = metrics.view().metric(id_of(&engine, "cpu"), day, None);
    // The seal creates a catalog that has no reader, and the compaction replaces it.
    late(&engine, "cpu", 0..1);
    assert!(can_read(&engine, &held));
}
