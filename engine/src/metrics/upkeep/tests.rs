//! Sealing and compaction do not change query results, and an encoding that does not decode
//! replaces nothing.

use super::super::block::{self, BlockInfo};
use crate::codec::verified::sabotage::{self, Sabotage};
use crate::error::Error;
use crate::model::{Aggregation, Interval, MetricQuery, MetricType, TimeRange, TimestampMs};
use crate::options::{Maintenance, Options};
use crate::storage::{Batch, Keyspace, Sync};
use crate::{Clock, Engine};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;

/// A deterministic pseudo-random generator.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a latency in milliseconds: log-normal with a median of about 50, spread over three
    /// orders of magnitude.
    fn latency(&mut self) -> f64 {
        let normal = (0..12).map(|_| self.next()).sum::<f64>() - 6.0;
        (normal * 1.2 + 4.0).exp()
    }
}

fn open(dir: &std::path::Path, clock: &Clock) -> Engine {
    let (maintenance, clock) = (Maintenance::Manual, clock.clone());
    Engine::open(dir, Options { maintenance, clock, ..Options::default() }).unwrap()
}

fn write(
    engine: &Engine,
    (metric, kind): (&str, MetricType),
    hosts: usize,
    points: impl Iterator<Item = (usize, i64, f64)>,
) {
    let mut batch = engine.batch();
    let ids: Vec<_> = (0..hosts)
        .map(|host| batch.series(metric, kind, &[("host", &host.to_string())]).unwrap())
        .collect();
    for (host, time, value) in points {
        if kind == MetricType::Set {
            batch.member(ids[host], TimestampMs(time), &value.to_string());
        } else {
            batch.number(kind, ids[host], TimestampMs(time), value);
        }
    }
    engine.write(batch.finish()).unwrap();
}

/// Returns every column of a query over the day.
fn query_bits(
    engine: &Engine,
    metric: &str,
    interval: Interval,
    aggregations: &[Aggregation],
) -> Vec<Vec<u64>> {
    let query =
        MetricQuery::of_all(metric, TimeRange::new(START, START + DAY), interval, aggregations);
    let result = engine.query(&query).unwrap();
    assert_eq!(result.stats.quarantined, 0);
    let columns = result.groups.into_iter().flat_map(|group| group.columns);
    columns.map(|column| column.iter().map(|v| v.to_bits()).collect()).collect()
}

const OF_DISTRIBUTIONS: [Aggregation; 5] =
    [Aggregation::Count, Aggregation::Sum, Aggregation::Min, Aggregation::Max, Aggregation::P99];

#[test]
fn minutes_of_a_thousand_latencies_are_sealed_and_read() {
    let dir = tempfile::tempdir().unwrap();
    // The day is over, so its minutes are in one window.
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let engine = open(dir.path(), &clock);
    let mut rng = Rng(7);
    let points =
        (0..600_000).map(|i| (0, START + i / 1_000 * MINUTE + i % 1_000 * 60, rng.latency()));
    write(&engine, ("latency", MetricType::Distribution), 1, points);
    let before = query_bits(&engine, "latency", Interval::HOUR, &OF_DISTRIBUTIONS);
    let counts = before[0].iter().map(|bits| f64::from_bits(*bits));
    assert_eq!(counts.filter(|n| !n.is_nan()).sum::<f64>(), 600_000.0);
    engine.seal().unwrap();
    // More buckets than fit in two blocks.
    assert!(engine.stats().blocks >= 3);
    assert_eq!(query_bits(&engine, "latency", Interval::HOUR, &OF_DISTRIBUTIONS), before);
    assert!(engine.verify().unwrap().damaged.is_empty());
    let engine = {
        drop(engine);
        open(dir.path(), &clock)
    };
    assert_eq!(query_bits(&engine, "latency", Interval::HOUR, &OF_DISTRIBUTIONS), before);
}

#[test]
fn rollups_of_many_series_equal_their_minutes() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    let (hosts, hours) = (120, 10);
    let mut rng = Rng(11);
    for hour in 0..hours {
        let points = (0..hosts * 720).map(|i| {
            let (host, at) = (i / 720, (i % 720) as i64);
            (host, START + hour * 60 * MINUTE + at * 5_000, rng.latency())
        });
        write(&engine, ("latency", MetricType::Distribution), hosts, points);
        engine.seal().unwrap();
    }
    let intervals = [Interval::HOUR, Interval::DAY];
    let results =
        |engine: &Engine| intervals.map(|i| query_bits(engine, "latency", i, &OF_DISTRIBUTIONS));
    let before = results(&engine);
    clock.set(TimestampMs(START + 2 * DAY));
    engine.merge().unwrap();
    assert!(results(&engine) == before, "results differ after the compaction");
    let report = engine.verify().unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
}

/// Writes ten minutes of two hosts for each type of metric.
fn fill(engine: &Engine) {
    for (kind, metric) in KINDS {
        let mut rng = Rng(3);
        let points = (0..2_000).map(|i| {
            let (host, at) = (i / 1_000, (i % 1_000) as i64);
            (host, START + at * 600 + at * at % 131, (rng.latency() * 8.0).round() / 8.0)
        });
        write(engine, (metric, kind), 2, points);
    }
}

const KINDS: [(MetricType, &str); 4] = [
    (MetricType::Gauge, "gauge"),
    (MetricType::Counter, "counter"),
    (MetricType::Distribution, "distribution"),
    (MetricType::Set, "set"),
];

fn results(engine: &Engine) -> Vec<Vec<Vec<u64>>> {
    results_except(engine, usize::MAX)
}

#[test]
fn an_encoding_that_does_not_decode_is_written_uncompressed() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    let before = results(&engine);
    sabotage::set(Sabotage::Compressed);
    engine.seal().unwrap();
    assert!(results(&engine) == before);
    clock.set(TimestampMs(START + 2 * DAY));
    engine.merge().unwrap();
    sabotage::set(Sabotage::None);
    assert!(results(&engine) == before);
    assert!(engine.verify().unwrap().damaged.is_empty());
    drop(engine);
    assert!(results(&open(dir.path(), &clock)) == before);
}

#[test]
fn a_seal_or_compaction_that_does_not_decode_fails_without_data_loss() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    let before = results(&engine);
    sabotage::set(Sabotage::All);
    let error = engine.seal().unwrap_err();
    assert!(matches!(error, Error::Encoder(_)), "{error}");
    assert!(error.to_string().contains("does not read back"), "{error}");
    assert_eq!(engine.stats().blocks, 0);
    drop(engine);
    let engine = open(dir.path(), &clock);
    assert!(results(&engine) == before, "everything is in the log");
    sabotage::set(Sabotage::None);
    engine.seal().unwrap();
    let blocks = engine.stats().blocks;
    sabotage::set(Sabotage::All);
    clock.set(TimestampMs(START + 2 * DAY));
    assert!(matches!(engine.merge().unwrap_err(), Error::Encoder(_)));
    sabotage::set(Sabotage::None);
    assert_eq!(engine.stats().blocks, blocks);
    assert!(results(&engine) == before);
    engine.merge().unwrap();
    assert!(results(&engine) == before);
}

#[test]
fn blocks_are_verified_completely_and_against_the_catalog() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    engine.seal().unwrap();
    assert!(engine.verify().unwrap().damaged.is_empty());
    let metrics = &engine.inner().telemetry.metrics;
    let catalog = metrics.view.catalog();
    let infos: Vec<BlockInfo> =
        catalog.metrics().flat_map(|(_, blocks)| blocks.iter().copied()).collect();
    let find = |page_group, page| metrics.times.find(page_group, page);
    for info in &infos {
        let bytes = metrics.read_block(&info.key).unwrap().to_vec();
        assert!(block::verify(info, &bytes, find).is_ok());
        let others = [
            BlockInfo { rows: info.rows + 1, ..*info },
            BlockInfo { last_series: info.last_series + 1, ..*info },
            BlockInfo { first_time: TimestampMs(info.first_time.0 - 1), ..*info },
        ];
        assert!(others.iter().all(|other| block::verify(other, &bytes, find).is_err()));
        // A block with a valid checksum and a corrupt last column.
        let mut bad = bytes.clone();
        *bad.last_mut().unwrap() ^= 0xff;
        bad.push(0);
        crate::codec::frame::close(&mut bad, 0);
        let long = BlockInfo { bytes: bad.len() as u32, ..*info };
        assert!(block::verify(&long, &bad, find).is_err(), "{info:?}");
    }
}

#[test]
fn a_readable_block_leaves_quarantine_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    engine.seal().unwrap();
    let before = results(&engine);
    let metrics = &engine.inner().telemetry.metrics;
    let catalog = metrics.view.catalog();
    let keys: Vec<_> =
        catalog.metrics().flat_map(|(_, blocks)| blocks.iter().map(|info| info.key)).collect();
    keys.iter().for_each(|key| metrics.quarantine(key, "rejected by an older decoder"));
    let damaged = keys[0];
    let mut bytes = metrics.read_block(&damaged).unwrap().to_vec();
    bytes[20] ^= 1;
    let mut batch = Batch::new();
    batch.put(Keyspace::Blocks, &damaged.encode(), bytes);
    metrics.store.write(batch, Sync::No).unwrap();
    drop(catalog);
    drop(engine);
    let engine = open(dir.path(), &clock);
    let metrics = &engine.inner().telemetry.metrics;
    assert_eq!(metrics.quarantined(), 1, "the corrupt block stays quarantined");
    assert!(metrics.is_quarantined(&damaged));
    assert!(
        results_except(&engine, damaged.metric.0 as usize)
            == except(&before, damaged.metric.0 as usize)
    );
}

/// Returns the results of all metrics but one; metrics are numbered in the order of [`KINDS`].
fn results_except(engine: &Engine, excluded: usize) -> Vec<Vec<Vec<u64>>> {
    let of = |kind| match kind {
        MetricType::Gauge => vec![Aggregation::Avg, Aggregation::Last, Aggregation::Max],
        MetricType::Counter => vec![Aggregation::Sum],
        MetricType::Distribution => OF_DISTRIBUTIONS.to_vec(),
        MetricType::Set => vec![Aggregation::Count],
    };
    let rest = KINDS.iter().enumerate().filter(|(at, _)| *at != excluded);
    rest.map(|(_, (kind, metric))| query_bits(engine, metric, Interval::MINUTE, &of(*kind)))
        .collect()
}

fn except(results: &[Vec<Vec<u64>>], excluded: usize) -> Vec<Vec<Vec<u64>>> {
    let rest = results.iter().enumerate().filter(|(at, _)| *at != excluded);
    rest.map(|(_, result)| result.clone()).collect()
}
