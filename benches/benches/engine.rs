//! The engine alone: write, scan, replay, and a dashboard query.
//!
//! `cargo bench -p telltale-benches --bench engine`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::hint::black_box;
use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::data::{DAY, START, day_of_points, fill, options, series};
use telltale_engine::{
    Aggregation, CardinalityBy, CardinalityQuery, DefinitionFilter, Engine, Interval, MetricName,
    MetricQuery, MetricType, Options, PointBatch, TextSearch, TimeRange, TimestampMs,
};

fn open(dir: &Path, options: Options) -> Engine {
    Engine::open(dir, options).unwrap()
}

/// Log, head and seal together, with all background work.
fn write(c: &mut Criterion) {
    let mut group = c.benchmark_group("write");
    group.sample_size(10);
    for count in [1_000, 100_000] {
        let points = 10_000_000 / count as i64 * count as i64;
        group.throughput(Throughput::Elements(points as u64));
        group.bench_function(format!("{count} series, resolved ids, log + head + seal"), |b| {
            b.iter_batched(
                || {
                    let dir = tempfile::tempdir().unwrap();
                    let engine = open(dir.path(), options());
                    let ids = series(&engine, "cpu", count);
                    (dir, engine, ids)
                },
                |(dir, engine, ids)| {
                    let mut tick = 0;
                    let mut written = 0;
                    while written < points {
                        let mut batch = PointBatch::default();
                        while batch.len() < 10_000 {
                            fill(&mut batch, &ids, tick, 10_000);
                            tick += 1;
                        }
                        written += batch.len() as i64;
                        engine.write(batch).unwrap();
                    }
                    engine.seal().unwrap();
                    drop(engine);
                    dir
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn question(metric: &str, length: i64, interval: Interval, group_by: &[&str]) -> MetricQuery {
    MetricQuery {
        metric: MetricName::new(metric).unwrap(),
        range: TimeRange::new(START, START + length),
        interval,
        aggregations: vec![Aggregation::Avg],
        filters: vec![],
        group_by: group_by.iter().map(|k| (*k).to_owned()).collect(),
    }
}

fn scan(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    // So that minutes of six samples are rolled up, too.
    let engine = open(dir.path(), Options { threads: 1, rollup_points_min: 4, ..options() });
    day_of_points(&engine);
    let mut group = c.benchmark_group("query");
    group.sample_size(20);
    group.throughput(Throughput::Elements(8_640_000));
    // Blocks from the head have no rollups yet: every sample is decoded.
    let all = question("cpu", DAY, Interval::HOUR, &[]);
    assert_eq!(engine.query(&all).unwrap().stats.points, 8_640_000);
    group.bench_function("raw scan, decode and average, one core", |b| {
        b.iter(|| black_box(engine.query(&all).unwrap()));
    });
    engine.merge().unwrap();
    let rolled = question("cpu", DAY, Interval::FIVE_MINUTES, &["zone"]);
    let stats = engine.query(&rolled).unwrap().stats;
    assert_eq!((stats.points, stats.cells), (0, 288_000));
    group.bench_function("1000 series, 24 h at 10 s, avg by 5m and tag, rollups, one core", |b| {
        b.iter(|| black_box(engine.query(&rolled).unwrap()));
    });
    // One minute less than whole cells: the samples at both edges are read as well.
    let minutes = question("cpu", DAY, Interval::MINUTE, &["zone"]);
    group.bench_function("the same by minute", |b| {
        b.iter(|| black_box(engine.query(&minutes).unwrap()));
    });
    group.finish();
}

/// Search in the names of 30 000 metrics with ten series each, and counts of their series.
fn names(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), options());
    for metric in 0..30_000 {
        let mut batch = engine.batch();
        let name = format!("service-{}.endpoint-{metric}.latency", metric % 200);
        for host in 0..10 {
            let tags = [("host", format!("web-{host}")), ("zone", format!("z{}", host % 3))];
            let tags = tags.each_ref().map(|(key, value)| (*key, value.as_str()));
            let id = batch.series(&name, MetricType::Gauge, &tags).unwrap();
            batch.number(MetricType::Gauge, id, TimestampMs(START), 1.0);
        }
        engine.write(batch.finish()).unwrap();
    }
    let mut group = c.benchmark_group("names");
    for text in ["service-7.endpoint", "endpoint-77", "latency service-19", "nothing"] {
        let search = TextSearch::new(text);
        let filter = DefinitionFilter { search, limit: 50, ..DefinitionFilter::default() };
        group.bench_function(format!("search for {text:?} in 30 000"), |b| {
            b.iter(|| black_box(engine.metrics(&filter)));
        });
    }
    for by in [
        CardinalityBy::Metric { key: None },
        CardinalityBy::TagKey,
        CardinalityBy::TagValue { key: "host".to_owned() },
    ] {
        let query = CardinalityQuery { by, metric: None, search: None, offset: 0, limit: 50 };
        group.bench_function(format!("series by {:?}", query.by), |b| {
            b.iter(|| black_box(engine.cardinality(&query).unwrap()));
        });
    }
    group.finish();
}

/// Opening after a kill: all data is in the log.
fn replay(c: &mut Criterion) {
    let mut group = c.benchmark_group("restart");
    group.sample_size(10);
    let dir = tempfile::tempdir().unwrap();
    let large = Options { head_bytes: 2 << 30, ..options() };
    let engine = open(dir.path(), large.clone());
    let ids = series(&engine, "cpu", 1_000);
    let mut tick = 0;
    while engine.stats().log_bytes.is_some_and(|bytes| bytes < 512 << 20) {
        for _ in 0..100 {
            let mut batch = PointBatch::default();
            (tick..tick + 10).for_each(|tick| fill(&mut batch, &ids, tick, 1_000));
            tick += 10;
            engine.write(batch).unwrap();
        }
    }
    drop(engine);
    group.throughput(Throughput::Bytes(512 << 20));
    group.bench_function("replay of 512 MB of log", |b| {
        b.iter(|| drop(black_box(open(dir.path(), large.clone()))));
    });
    group.finish();
}

criterion_group!(benches, write, scan, names, replay);
criterion_main!(benches);
