//! A compaction in pieces has the same result as one in a single piece, stays within its memory,
//! and leaves nothing behind when it fails.

use proptest::prelude::*;

use crate::model::{
    Aggregation, Buckets, Histogram, Interval, MetricQuery, MetricType, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options};
use crate::storage::{Batch, Caching, Keyspace, RangeOf, Sync};
use crate::{Clock, Engine};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;

struct TestEngine {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    compaction_bytes: usize,
}

fn open(dir: &std::path::Path, clock: &Clock, compaction_bytes: usize) -> Engine {
    let (maintenance, clock) = (Maintenance::Manual, clock.clone());
    let options = Options { maintenance, clock, compaction_bytes, ..Options::default() };
    Engine::open(dir, Options { rollup_points_min: 4, ..options }).unwrap()
}

impl TestEngine {
    fn new(compaction_bytes: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let engine = open(dir.path(), &clock, compaction_bytes);
        Self { dir, clock, engine, compaction_bytes }
    }

    fn reopen(self) -> Self {
        let Self { dir, clock, engine, compaction_bytes } = self;
        drop(engine);
        let engine = open(dir.path(), &clock, compaction_bytes);
        Self { dir, clock, engine, compaction_bytes }
    }

    fn write(&self, kind: MetricType, points: impl Iterator<Item = (usize, i64, f64)>) {
        let mut batch = self.engine.batch();
        for (host, time, value) in points {
            let host = host.to_string();
            let series = batch.series(kind.as_str(), kind, &[("host", &host)]).unwrap();
            match kind {
                MetricType::Set => {
                    batch.member(series, TimestampMs(START + time), &value.to_string());
                }
                _ => batch.number(kind, series, TimestampMs(START + time), value),
            }
        }
        self.engine.write(batch.finish()).unwrap();
        self.engine.seal().unwrap();
    }

    /// Returns the results of all queries over the day, bit for bit.
    fn results(&self) -> Vec<Vec<u64>> {
        self.results_by(&[Interval::MINUTE, Interval::FIVE_MINUTES, Interval::HOUR, Interval::DAY])
    }

    fn results_by(&self, widths: &[Interval]) -> Vec<Vec<u64>> {
        let mut results = Vec::new();
        for kind in MetricType::ALL {
            if self.engine.metric_type(kind.as_str()).is_none() {
                continue;
            }
            for interval in widths.iter().copied() {
                let query = MetricQuery::of_all(
                    kind.as_str(),
                    TimeRange::new(START, START + DAY),
                    interval,
                    Aggregation::of(kind),
                )
                .by("host");
                let result = self.engine.query(&query).unwrap();
                assert_eq!(result.stats.quarantined, 0);
                for group in result.groups {
                    let bits = |column: Vec<f64>| column.into_iter().map(f64::to_bits).collect();
                    results.extend(group.columns.into_iter().map(bits));
                }
            }
        }
        results
    }

    /// Describes the blocks in the catalog, without keys and lengths, which depend on the order of
    /// metrics.
    fn blocks(&self) -> Vec<String> {
        let catalog = self.engine.inner().telemetry.metrics.view().catalog();
        let blocks = catalog.metrics().flat_map(|(_, blocks)| blocks.iter());
        let mut blocks: Vec<_> = blocks
            .map(|b| {
                let rows = (b.series, b.rows, b.first_series, b.last_series);
                format!("{:?} {:?} {rows:?} {:?}", b.kind, b.key.tier, b.window)
            })
            .collect();
        blocks.sort();
        blocks
    }

    /// Returns the number of blocks on disk and in the catalog.
    fn stored(&self) -> (usize, usize) {
        let count = |keyspace| {
            let mut rows = 0;
            let store = &self.engine.inner().store;
            let visit = |_: Box<[u8]>, _: Box<[u8]>| rows += 1;
            store.read_skipping_damage(RangeOf::all(keyspace), Caching::Bypass, visit).unwrap();
            rows
        };
        (count(Keyspace::Blocks), count(Keyspace::Catalog))
    }
}

#[derive(Clone, Debug)]
struct Sample {
    kind: MetricType,
    host: usize,
    time: i64,
    value: f64,
}

fn batches() -> impl Strategy<Value = Vec<Vec<Sample>>> {
    let kinds = prop::sample::select(MetricType::ALL.to_vec());
    let times = prop_oneof![0..DAY, (0i64..200).prop_map(|n| n * 20_000)];
    let values = prop_oneof![-1e6..1e6f64, (-500i64..500).prop_map(|m| m as f64 / 4.0)];
    let sample = (kinds, 0usize..12, times, values).prop_map(|(kind, host, time, value)| Sample {
        kind,
        host,
        time,
        value,
    });
    prop::collection::vec(prop::collection::vec(sample, 1..100), 1..4)
}

/// The state after a compaction: query results, blocks, and the bytes of the blocks.
type CompactionState = (Vec<Vec<u64>>, Vec<String>, u64);

/// Runs the same history with a given memory limit: the day is compacted, its samples expire, and
/// late ones are compacted with its cells.
fn run_history(batches: &[Vec<Sample>], compaction_bytes: usize) -> Vec<CompactionState> {
    let test = TestEngine::new(compaction_bytes);
    let write = |samples: &[Sample]| {
        for kind in MetricType::ALL {
            let of_kind = samples.iter().filter(|s| s.kind == kind);
            test.write(kind, of_kind.map(|s| (s.host, s.time, s.value)));
        }
    };
    let mut seen = Vec::new();
    let mut merge = || {
        test.engine.merge().unwrap();
        seen.push((test.results(), test.blocks(), test.engine.stats().block_bytes));
    };
    batches.iter().for_each(|samples| write(samples));
    merge();
    test.clock.set(TimestampMs(START + 3 * DAY));
    merge();
    batches.iter().take(2).for_each(|samples| write(samples));
    merge();
    test.clock.set(TimestampMs(START + 40 * DAY));
    merge();
    test.engine.expire().unwrap();
    batches.iter().take(2).for_each(|samples| write(samples));
    merge();
    assert!(test.engine.verify().unwrap().damaged.is_empty());
    assert_eq!(test.stored().0, test.stored().1);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]
    #[test]
    fn a_compaction_in_pieces_equals_one_in_a_single_piece(
        batches in batches(),
        compaction_bytes in prop::sample::select(vec![800usize, 8_000, 80_000]),
    ) {
        let (pieces, whole) = (run_history(&batches, compaction_bytes), run_history(&batches, 1 << 30));
        for (step, (pieces, whole)) in pieces.iter().zip(&whole).enumerate() {
            prop_assert!(pieces.0 == whole.0, "results differ after compaction {}", step);
            prop_assert_eq!(&pieces.1, &whole.1, "after compaction {}", step);
            // The encoded lengths of sequence numbers differ.
            prop_assert!(pieces.2.abs_diff(whole.2) <= 4 * pieces.1.len() as u64);
        }
    }
}

/// Returns a histogram with a value in each bucket, with the maximum number of buckets.
fn histogram(shift: f64) -> Histogram {
    // The two outer buckets are empty.
    let buckets = crate::limits::HISTOGRAM_BUCKETS_MAX - 2;
    let bounds: Vec<f64> = (0..=buckets).map(|i| 1.02f64.powi(i as i32) * (1.0 + shift)).collect();
    let mut counts = vec![1; buckets + 2];
    (counts[0], counts[buckets + 1]) = (0, 0);
    Histogram::new(buckets as u64, None, None, None, Buckets::Explicit { bounds, counts }).unwrap()
}

#[test]
fn compaction_of_wide_histograms_stays_within_its_memory() {
    let bound = 64 << 20;
    let test = TestEngine::new(bound);
    let (hosts, minutes) = (2_000, 12);
    for minute in 0..minutes {
        let mut batch = test.engine.batch();
        for host in 0..hosts {
            let tags = [("host", host.to_string())];
            let tags = tags.each_ref().map(|(key, value)| (*key, value.as_str()));
            let kind = MetricType::Distribution;
            let series = batch.series(kind.as_str(), kind, &tags).unwrap();
            let time = TimestampMs(START + minute * MINUTE);
            batch.histogram(series, time, &histogram(f64::from(host % 7) / 10.0));
        }
        test.engine.write(batch.finish()).unwrap();
        test.engine.seal().unwrap();
    }
    test.clock.set(TimestampMs(START + 3 * DAY));
    assert_eq!(test.engine.merge().unwrap().windows, 1);
    let stats = test.engine.stats();
    let all = hosts as u64 * minutes as u64 * 5_000;
    assert!(all > 3 * bound as u64 / 2);
    assert!(stats.merge_bytes_peak > 8 << 20, "{} bytes reported", stats.merge_bytes_peak);
    assert!(stats.merge_bytes_peak < bound as u64, "{} bytes", stats.merge_bytes_peak);
    assert_eq!(stats.compaction_bytes, 0);
    // A late sample causes the whole day to be read again.
    test.write(MetricType::Distribution, [(7, 5, 1.0)].into_iter());
    test.engine.merge().unwrap();
    assert!(test.engine.stats().merge_bytes_peak < bound as u64);
}

#[test]
fn compaction_of_a_late_sample_of_an_expired_day_stays_within_its_memory() {
    let bound = 24 << 20;
    let test = TestEngine::new(bound);
    let (hosts, minutes) = (400, 1_200);
    for first in (0..minutes).step_by(240) {
        let points = (0..hosts).flat_map(|host| {
            (first * 4..(first + 240) * 4).map(move |i| (host, i * MINUTE / 4, (i % 17) as f64))
        });
        test.write(MetricType::Gauge, points);
    }
    test.clock.set(TimestampMs(START + 31 * DAY + DAY / 2));
    test.engine.merge().unwrap();
    test.engine.expire().unwrap();
    let tiers = test.blocks();
    assert!(!tiers.iter().any(|block| block.contains("Raw")), "{tiers:?}");
    test.write(MetricType::Gauge, [(7, 5, 1.0)].into_iter());
    let before = test.results();
    test.engine.merge().unwrap();
    let peak = test.engine.stats().merge_bytes_peak;
    assert!(peak < bound as u64, "{peak} bytes");
    assert!(test.results() == before);
}

#[test]
fn compaction_of_large_sets_stays_within_its_memory() {
    let bound = 24 << 20;
    let test = TestEngine::new(bound);
    for minute in 0..8 {
        let members = (0..250).flat_map(|host| {
            (0..1_010).map(move |n| (host, minute * MINUTE + n, (n * 7 + host as i64) as f64))
        });
        test.write(MetricType::Set, members);
    }
    let before = test.results_by(&[Interval::DAY]);
    test.clock.set(TimestampMs(START + 3 * DAY));
    test.engine.merge().unwrap();
    let peak = test.engine.stats().merge_bytes_peak;
    assert!(peak < bound as u64, "{peak} bytes");
    assert!(test.results_by(&[Interval::DAY]) == before);
}

#[test]
fn a_compaction_that_finds_damage_leaves_no_blocks_behind() {
    for collected in [true, false] {
        let test = TestEngine::new(256 << 10);
        let kind = MetricType::Distribution;
        for first in [0, 40, 80] {
            let of_host =
                |host| (0..2_880).map(move |i| (host, i * MINUTE / 2, (i * i % 997) as f64));
            test.write(kind, (first..first + 40).flat_map(of_host));
        }
        let before = test.stored();
        assert!(before.0 >= 2 && before.0 == before.1);
        let metrics = &test.engine.inner().telemetry.metrics;
        let last = {
            let catalog = metrics.view().catalog();
            let blocks = catalog.metrics().flat_map(|(_, blocks)| blocks.iter().copied());
            blocks.max_by_key(|block| (block.first_series, block.key)).unwrap()
        };
        let mut bytes = metrics.read_block(&last.key).unwrap().to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let mut batch = Batch::new();
        batch.put(Keyspace::Blocks, &last.key.encode(), bytes);
        metrics.store.write(batch, Sync::No).unwrap();
        test.clock.set(TimestampMs(START + 3 * DAY));
        let budget = crate::reports::CompactionBudget::ALL;
        let scope = crate::reports::CompactionScope::All;
        metrics.compact_windows(scope, budget, test.clock.now()).unwrap();
        assert!(metrics.is_quarantined(&last.key));
        let test = if collected {
            metrics.collect_garbage(crate::reports::Pace::Whole).unwrap();
            test
        } else {
            assert!(test.stored().0 > before.0, "blocks were written before the damage was found");
            test.reopen()
        };
        assert_eq!(test.stored(), before);
        test.engine.merge().unwrap();
        let (blocks, named) = test.stored();
        assert_eq!(blocks, named);
    }
}
