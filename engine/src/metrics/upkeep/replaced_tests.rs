//! A replaced gauge point is not counted in `data_points`, wherever the two points are stored.

use crate::model::{MetricType, TimestampMs};
use crate::options::{Maintenance, Options};
use crate::{Clock, Engine};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;

fn open(dir: &std::path::Path, clock: &Clock) -> Engine {
    let (maintenance, clock) = (Maintenance::Manual, clock.clone());
    Engine::open(dir, Options { maintenance, clock, ..Options::default() }).unwrap()
}

/// Writes a point per minute of two hosts of a metric.
fn write(engine: &Engine, kind: MetricType, minutes: std::ops::Range<i64>) {
    let mut batch = engine.batch();
    for host in ["a", "b"] {
        let series = batch.series(kind.as_str(), kind, &[("host", host)]).unwrap();
        for minute in minutes.clone() {
            batch.number(kind, series, TimestampMs(START + minute * MINUTE), minute as f64);
        }
    }
    engine.write(batch.finish()).unwrap();
}

fn points(engine: &Engine, kind: MetricType) -> u64 {
    engine.metric(kind.as_str()).unwrap().unwrap().data_points
}

#[test]
fn a_replaced_point_counts_once_in_memory_and_after_seal_compaction_and_restart() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let engine = open(dir.path(), &clock);
    let (gauge, counter) = (MetricType::Gauge, MetricType::Counter);
    for kind in [gauge, counter] {
        write(&engine, kind, 0..10);
        write(&engine, kind, 5..15);
    }
    // 15 minutes of two hosts; counter increments never replace each other.
    assert_eq!((points(&engine, gauge), points(&engine, counter)), (30, 40));
    engine.seal().unwrap();
    assert_eq!((points(&engine, gauge), points(&engine, counter)), (30, 40));

    // The replaced points are on disk already: they are found when their window is compacted.
    write(&engine, gauge, 14..17);
    assert_eq!(points(&engine, gauge), 36);
    engine.seal().unwrap();
    assert_eq!(points(&engine, gauge), 36);
    engine.merge().unwrap();
    assert_eq!(points(&engine, gauge), 34);
    engine.merge().unwrap();
    assert_eq!(points(&engine, gauge), 34, "a replaced point is subtracted only once");
    assert_eq!(points(&engine, counter), 40);

    engine.close().unwrap();
    drop(engine);
    let engine = open(dir.path(), &clock);
    assert_eq!((points(&engine, gauge), points(&engine, counter)), (34, 40));
}

#[test]
fn replaced_points_are_found_across_the_runs_of_a_head() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let engine = open(dir.path(), &clock);
    // More than one run each, the second time in reverse order.
    for n in 0..20 {
        write(&engine, MetricType::Gauge, n * 1_000..(n + 1) * 1_000);
    }
    for n in (0..20).rev() {
        write(&engine, MetricType::Gauge, n * 1_000..(n + 1) * 1_000);
    }
    assert_eq!(points(&engine, MetricType::Gauge), 40_000);
    engine.seal().unwrap();
    assert_eq!(points(&engine, MetricType::Gauge), 40_000);
}
