//! The stages of a sample: resolve, log and head, seal, merge of sketches, response.
//!
//! Parsing is measured in `parse`, decoding and aggregation in `engine`.
//!
//! `cargo bench -p telltale-benches --bench stages`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::bench_server::BenchServer;
use telltale_benches::data::{DAY, START, fill, options, series};
use telltale_engine::{
    Aggregation, Durability, Engine, Interval, MetricName, MetricQuery, MetricType, Options,
    PointBatch, SeriesId, SeriesKeyHash, TimeRange, TimestampMs,
};

const SERIES: usize = 1_000;

/// From the bytes of a series to its id.
fn resolve(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let (series_per_metric, series_total) = (usize::MAX, usize::MAX);
    let unlimited = Options { series_per_metric, series_total, ..options() };
    let engine = Engine::open(dir.path(), unlimited).unwrap();
    let hosts: Vec<String> = (0..SERIES).map(|i| format!("host-{i}")).collect();
    let key_hashes: Vec<String> = hosts.iter().map(|h| format!("cpu,host={h} usage")).collect();
    let mut batch = engine.batch();
    for (host, bytes) in hosts.iter().zip(&key_hashes) {
        let key_hash = SeriesKeyHash::of(bytes.as_bytes());
        batch.series_of_hash(key_hash, "cpu", MetricType::Gauge, &[("host", host)]).unwrap();
    }
    let mut group = c.benchmark_group("resolve");
    group.throughput(Throughput::Elements(SERIES as u64));
    group.bench_function("seen, by the bytes that were sent", |b| {
        b.iter(|| {
            let mut batch = engine.batch();
            for bytes in &key_hashes {
                let key_hash = SeriesKeyHash::of(bytes.as_bytes());
                black_box(batch.known(key_hash).unwrap());
            }
        });
    });
    group.bench_function("seen, by name and tags", |b| {
        b.iter(|| {
            let mut batch = engine.batch();
            for host in &hosts {
                black_box(batch.series("cpu", MetricType::Gauge, &[("host", host)]).unwrap());
            }
        });
    });
    let mut unseen = 0_u64;
    group.bench_function("never seen before", |b| {
        b.iter(|| {
            let mut batch = engine.batch();
            for _ in 0..SERIES {
                unseen += 1;
                let host = format!("new-{unseen}");
                black_box(batch.series("disk", MetricType::Gauge, &[("host", &host)]).unwrap());
            }
        });
    });
    group.finish();
}

/// Durable in the log and readable in the head: the time a writer waits.
fn log_and_head(c: &mut Criterion) {
    let mut group = c.benchmark_group("log and head");
    for (name, durability, ticks) in [
        ("1 000 points, synced", Durability::Sync, 1),
        ("1 000 points, not synced", Durability::Os, 1),
        ("100 000 points, not synced", Durability::Os, 100),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine::open(dir.path(), Options { durability, ..options() }).unwrap();
        let ids = series(&engine, "cpu", SERIES);
        let mut tick = 0;
        group.throughput(Throughput::Elements(SERIES as u64 * ticks));
        group.bench_function(name, |b| {
            b.iter_batched(
                || {
                    let mut batch = PointBatch::default();
                    for _ in 0..ticks {
                        fill(&mut batch, &ids, tick, 10_000);
                        tick += 1;
                    }
                    if engine.stats().points_head > 1_000_000 {
                        engine.seal().unwrap();
                    }
                    batch
                },
                |batch| engine.write(batch).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// From the head to blocks on disk, and from those to the blocks of a day with their rollups.
fn seal_and_merge(c: &mut Criterion) {
    let filled = || {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine::open(dir.path(), options()).unwrap();
        let ids = series(&engine, "cpu", SERIES);
        for tick in (0..1_000).step_by(10) {
            let mut batch = PointBatch::default();
            (tick..tick + 10).for_each(|tick| fill(&mut batch, &ids, tick, 10_000));
            engine.write(batch).unwrap();
        }
        (dir, engine)
    };
    let mut group = c.benchmark_group("upkeep");
    group.sample_size(10);
    group.throughput(Throughput::Elements(1_000 * SERIES as u64));
    group.bench_function("seal", |b| {
        b.iter_batched(
            filled,
            |(dir, engine)| {
                engine.seal().unwrap();
                (dir, engine)
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("merge", |b| {
        b.iter_batched(
            || {
                let (dir, engine) = filled();
                engine.seal().unwrap();
                (dir, engine)
            },
            |(dir, engine)| {
                engine.merge().unwrap();
                (dir, engine)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Writes 200 series of latencies for an hour, one value per second each.
fn latencies(engine: &Engine) -> Vec<SeriesId> {
    let mut batch = engine.batch();
    let ids = (0..200).map(|i| {
        let (host, zone) = (format!("host-{i}"), format!("zone-{}", i % 20));
        batch.series("latency", MetricType::Distribution, &[("host", &host), ("zone", &zone)])
    });
    let ids: Vec<SeriesId> = ids.collect::<Result<_, _>>().unwrap();
    for second in 0..3_600 {
        let mut batch = PointBatch::default();
        let time = TimestampMs(START + second * 1_000);
        for id in &ids {
            let spread = (i64::from(id.0) * 7_919 + second * 104_729) % 1_009;
            let value = 1.0 + (spread * spread) as f64 / 997.0;
            batch.push_number(MetricType::Distribution, *id, time, value);
        }
        engine.write(batch).unwrap();
    }
    ids
}

/// Percentiles over many series are computed from their merged sketches.
fn sketches(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), Options { threads: 1, ..options() }).unwrap();
    let cells = latencies(&engine).len() as u64 * 60;
    engine.seal().unwrap();
    engine.merge().unwrap();
    let ask = |interval, group_by: &[&str]| MetricQuery {
        metric: MetricName::new("latency").unwrap(),
        range: TimeRange::new(START, START + DAY / 24),
        interval,
        aggregations: vec![Aggregation::P99],
        filters: vec![],
        group_by: group_by.iter().map(|key| (*key).to_owned()).collect(),
    };
    let mut group = c.benchmark_group("sketches");
    group.sample_size(20);
    group.throughput(Throughput::Elements(cells));
    for (name, query) in [
        ("p99 by minute of 200 series", ask(Interval::MINUTE, &[])),
        ("p99 by minute of 20 groups of them", ask(Interval::MINUTE, &["zone"])),
    ] {
        group.bench_function(name, |b| b.iter(|| black_box(engine.query(&query).unwrap())));
    }
    group.finish();
}

/// A result of 28 800 values in 20 groups: in the engine alone, and with JSON and HTTP.
fn render(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), options()).unwrap();
    let ids = series(&engine, "cpu", 20);
    let mut batch = PointBatch::default();
    (0..1_440).for_each(|minute| fill(&mut batch, &ids, minute, 60_000));
    engine.write(batch).unwrap();
    let query = MetricQuery {
        metric: MetricName::new("cpu").unwrap(),
        range: TimeRange::new(START, START + DAY),
        interval: Interval::MINUTE,
        aggregations: vec![Aggregation::Avg],
        filters: vec![],
        group_by: vec!["zone".to_owned()],
    };
    let mut group = c.benchmark_group("render");
    group.throughput(Throughput::Elements(1_440 * 20));
    group.bench_function("columns of the engine", |b| {
        b.iter(|| black_box(engine.query(&query).unwrap()));
    });
    let server = BenchServer::open(engine);
    let agent = ureq::Agent::new_with_defaults();
    let url = format!(
        "http://{}/api/v1/metrics/cpu/query?from=2024-10-04&to=2024-10-04&interval=1m&group_by=tags.zone",
        server.address
    );
    group.bench_function("JSON over HTTP", |b| {
        b.iter(|| {
            let request = agent.get(&url).header("Authorization", &server.authorization);
            black_box(request.call().unwrap().body_mut().read_to_string().unwrap())
        });
    });
    group.finish();
}

criterion_group!(benches, resolve, log_and_head, seal_and_merge, sketches, render);
criterion_main!(benches);
