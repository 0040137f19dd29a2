//! Samples and their rollups through the engine's public API as they age: the disk space of rollups
//! beside samples, and what remains when samples expire.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use std::path::Path;

use telltale_engine::{
    Aggregation, Clock, Engine, Interval, Maintenance, MetricName, MetricQuery, MetricType,
    Options, TimeRange, TimestampMs,
};

const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;

fn open(dir: &Path, clock: &Clock, rollup_points_min: u64) -> Engine {
    let options = Options {
        maintenance: Maintenance::Manual,
        clock: clock.clone(),
        rollup_points_min,
        ..Options::default()
    };
    Engine::open(dir, options).unwrap()
}

/// Writes a day of three series, one sample every `step_ms`.
fn fill(engine: &Engine, step_ms: i64) {
    let mut batch = engine.batch();
    for host in ["a", "b", "c"] {
        let series = batch.series("cpu", MetricType::Gauge, &[("host", host)]).unwrap();
        for i in 0..DAY / step_ms {
            let noise = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let value = (noise % 100) as f64 / 4.0;
            batch.number(MetricType::Gauge, series, TimestampMs(START + i * step_ms), value);
        }
    }
    engine.write(batch.finish()).unwrap();
    engine.seal().unwrap();
    engine.merge().unwrap();
}

/// Returns averages, minima and maxima of the day's buckets over all hosts.
fn query(engine: &Engine, interval: Interval) -> Vec<Vec<f64>> {
    let query = MetricQuery {
        metric: MetricName::new("cpu").unwrap(),
        range: TimeRange::new(START, START + DAY),
        interval,
        aggregations: vec![Aggregation::Avg, Aggregation::Min, Aggregation::Max],
        filters: vec![],
        group_by: vec![],
    };
    let answer = engine.query(&query).unwrap();
    answer.groups.first().map(|group| group.columns.clone()).unwrap_or_default()
}

#[test]
fn expired_samples_leave_their_rollups_behind() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let engine = open(dir.path(), &clock, 60);
    fill(&engine, 10_000);
    let [fine, coarse] = [Interval::FIVE_MINUTES, Interval::HOUR].map(|i| query(&engine, i));
    let beside = engine.stats().block_bytes;
    clock.set(TimestampMs(START + 32 * DAY));
    assert_eq!(engine.merge().unwrap().windows, 1, "rollups are written before the samples expire");
    assert_eq!(engine.merge().unwrap().windows, 0, "only once");
    assert!(engine.expire().unwrap().blocks > 0);
    assert!(engine.stats().block_bytes < beside);
    assert_eq!(query(&engine, Interval::FIVE_MINUTES), fine);
    assert_eq!(query(&engine, Interval::HOUR), coarse);
    drop(engine);
    let engine = open(dir.path(), &clock, 60);
    assert_eq!(engine.merge().unwrap().windows, 0);
    assert_eq!(query(&engine, Interval::FIVE_MINUTES), fine);
    clock.set(TimestampMs(START + 92 * DAY));
    engine.expire().unwrap();
    assert_eq!(query(&engine, Interval::HOUR), coarse);
}

#[test]
fn samples_stay_in_place_of_a_rollup_that_would_not_be_smaller() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let engine = open(dir.path(), &clock, 60);
    fill(&engine, 5 * 60_000);
    let fine = query(&engine, Interval::FIVE_MINUTES);
    clock.set(TimestampMs(START + 32 * DAY));
    assert_eq!(engine.merge().unwrap().windows, 1, "for the hour rollup");
    assert_eq!(engine.merge().unwrap().windows, 0);
    assert_eq!(engine.expire().unwrap().blocks, 0);
    assert_eq!(query(&engine, Interval::FIVE_MINUTES), fine);
}

#[test]
fn rollups_beside_samples_take_little_disk_by_default() {
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let bytes = |rollup_points_min| {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path(), &clock, rollup_points_min);
        fill(&engine, 10_000);
        engine.stats().block_bytes
    };
    let samples_alone = bytes(u64::MAX);
    let beside = bytes(60);
    assert!(samples_alone < beside && beside < samples_alone + samples_alone / 10);
    assert!(bytes(4) > beside + beside / 4);
}
