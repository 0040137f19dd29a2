//! What is sealed and merged answers as before, whatever cells hold; and what does not read back replaces nothing.

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

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A latency in milliseconds: log-normal, about 50 in the middle, spread over three powers of ten.
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

/// Every column of an answer over the day.
fn ask(
    engine: &Engine,
    metric: &str,
    interval: Interval,
    aggregations: &[Aggregation],
) -> Vec<Vec<u64>> {
    let query =
        MetricQuery::of_all(metric, TimeRange::new(START, START + DAY), interval, aggregations);
    let answer = engine.query(&query).unwrap();
    assert_eq!(answer.stats.quarantined, 0);
    let columns = answer.groups.into_iter().flat_map(|group| group.columns);
    columns.map(|column| column.iter().map(|v| v.to_bits()).collect()).collect()
}

const OF_DISTRIBUTIONS: [Aggregation; 5] =
    [Aggregation::Count, Aggregation::Sum, Aggregation::Min, Aggregation::Max, Aggregation::P99];

#[test]
fn a_minute_of_a_thousand_latencies_is_sealed_and_read() {
    let dir = tempfile::tempdir().unwrap();
    // The day is over: its minutes are in one window.
    let clock = Clock::manual(TimestampMs(START + 2 * DAY));
    let engine = open(dir.path(), &clock);
    let mut dice = Dice(7);
    let points =
        (0..600_000).map(|i| (0, START + i / 1_000 * MINUTE + i % 1_000 * 60, dice.latency()));
    write(&engine, ("latency", MetricType::Distribution), 1, points);
    let before = ask(&engine, "latency", Interval::HOUR, &OF_DISTRIBUTIONS);
    let counts = before[0].iter().map(|bits| f64::from_bits(*bits));
    assert_eq!(counts.filter(|n| !n.is_nan()).sum::<f64>(), 600_000.0);
    engine.seal().unwrap();
    // More buckets than any two blocks hold.
    assert!(engine.stats().blocks >= 3);
    assert_eq!(ask(&engine, "latency", Interval::HOUR, &OF_DISTRIBUTIONS), before);
    assert!(engine.verify().unwrap().damaged.is_empty());
    let engine = {
        drop(engine);
        open(dir.path(), &clock)
    };
    assert_eq!(ask(&engine, "latency", Interval::HOUR, &OF_DISTRIBUTIONS), before);
}

#[test]
fn rollups_of_many_series_are_what_their_minutes_were() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    let (hosts, hours) = (120, 10);
    let mut dice = Dice(11);
    for hour in 0..hours {
        let points = (0..hosts * 720).map(|i| {
            let (host, at) = (i / 720, (i % 720) as i64);
            (host, START + hour * 60 * MINUTE + at * 5_000, dice.latency())
        });
        write(&engine, ("latency", MetricType::Distribution), hosts, points);
        engine.seal().unwrap();
    }
    let intervals = [Interval::HOUR, Interval::DAY];
    let answers = |engine: &Engine| intervals.map(|i| ask(engine, "latency", i, &OF_DISTRIBUTIONS));
    let before = answers(&engine);
    clock.set(TimestampMs(START + 2 * DAY));
    engine.merge().unwrap();
    assert!(answers(&engine) == before, "answers differ after the merge");
    let report = engine.verify().unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
}

/// All kinds of metrics, over ten minutes of two hosts.
fn fill(engine: &Engine) {
    for (kind, metric) in KINDS {
        let mut dice = Dice(3);
        let points = (0..2_000).map(|i| {
            let (host, at) = (i / 1_000, (i % 1_000) as i64);
            (host, START + at * 600 + at * at % 131, (dice.latency() * 8.0).round() / 8.0)
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

fn answers(engine: &Engine) -> Vec<Vec<Vec<u64>>> {
    answers_but(engine, usize::MAX)
}

#[test]
fn what_does_not_read_back_is_written_plainly() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    let before = answers(&engine);
    sabotage::set(Sabotage::Compressed);
    engine.seal().unwrap();
    assert!(answers(&engine) == before);
    clock.set(TimestampMs(START + 2 * DAY));
    engine.merge().unwrap();
    sabotage::set(Sabotage::None);
    assert!(answers(&engine) == before);
    assert!(engine.verify().unwrap().damaged.is_empty());
    drop(engine);
    assert!(answers(&open(dir.path(), &clock)) == before);
}

#[test]
fn a_seal_or_merge_that_does_not_read_back_fails_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    let before = answers(&engine);
    sabotage::set(Sabotage::All);
    let error = engine.seal().unwrap_err();
    assert!(matches!(error, Error::Encoder(_)), "{error}");
    assert!(error.to_string().contains("does not read back"), "{error}");
    assert_eq!(engine.stats().blocks, 0);
    drop(engine);
    let engine = open(dir.path(), &clock);
    assert!(answers(&engine) == before, "the log has everything");
    sabotage::set(Sabotage::None);
    engine.seal().unwrap();
    let blocks = engine.stats().blocks;
    sabotage::set(Sabotage::All);
    clock.set(TimestampMs(START + 2 * DAY));
    assert!(matches!(engine.merge().unwrap_err(), Error::Encoder(_)));
    sabotage::set(Sabotage::None);
    assert_eq!(engine.stats().blocks, blocks);
    assert!(answers(&engine) == before);
    engine.merge().unwrap();
    assert!(answers(&engine) == before);
}

#[test]
fn blocks_are_verified_to_the_last_row_and_against_the_catalog() {
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
        // A block whose checksum is right and whose last column is not.
        let mut bad = bytes.clone();
        *bad.last_mut().unwrap() ^= 0xff;
        bad.push(0);
        crate::codec::frame::close(&mut bad, 0);
        let long = BlockInfo { bytes: bad.len() as u32, ..*info };
        assert!(block::verify(&long, &bad, find).is_err(), "{info:?}");
    }
}

#[test]
fn a_block_that_can_be_read_after_all_leaves_quarantine_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::manual(TimestampMs(START + DAY / 2));
    let engine = open(dir.path(), &clock);
    fill(&engine);
    engine.seal().unwrap();
    let before = answers(&engine);
    let metrics = &engine.inner().telemetry.metrics;
    let catalog = metrics.view.catalog();
    let keys: Vec<_> =
        catalog.metrics().flat_map(|(_, blocks)| blocks.iter().map(|info| info.key)).collect();
    keys.iter().for_each(|key| metrics.quarantine(key, "refused by an older decoder"));
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
    assert_eq!(metrics.quarantined(), 1, "the damaged one stays");
    assert!(metrics.is_quarantined(&damaged));
    assert!(
        answers_but(&engine, damaged.metric.0 as usize) == but(&before, damaged.metric.0 as usize)
    );
}

/// All answers but those of one metric; metrics are numbered in the order of [`KINDS`].
fn answers_but(engine: &Engine, left_out: usize) -> Vec<Vec<Vec<u64>>> {
    let of = |kind| match kind {
        MetricType::Gauge => vec![Aggregation::Avg, Aggregation::Last, Aggregation::Max],
        MetricType::Counter => vec![Aggregation::Sum],
        MetricType::Distribution => OF_DISTRIBUTIONS.to_vec(),
        MetricType::Set => vec![Aggregation::Count],
    };
    let rest = KINDS.iter().enumerate().filter(|(at, _)| *at != left_out);
    rest.map(|(_, (kind, metric))| ask(engine, metric, Interval::MINUTE, &of(*kind))).collect()
}

fn but(answers: &[Vec<Vec<u64>>], left_out: usize) -> Vec<Vec<Vec<u64>>> {
    let rest = answers.iter().enumerate().filter(|(at, _)| *at != left_out);
    rest.map(|(_, answer)| answer.clone()).collect()
}
