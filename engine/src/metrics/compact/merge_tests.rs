//! A merge in pieces has the result of one at once, within its memory, and leaves nothing behind when it fails.

use proptest::prelude::*;

use crate::model::{
    Aggregation, Buckets, Histogram, Interval, MetricQuery, MetricType, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options};
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Sync};
use crate::{Clock, Engine};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
const START: i64 = 20_000 * DAY;

struct World {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    merge_bytes: usize,
}

fn open(dir: &std::path::Path, clock: &Clock, merge_bytes: usize) -> Engine {
    let (maintenance, clock) = (Maintenance::Manual, clock.clone());
    let options = Options { maintenance, clock, merge_bytes, ..Options::default() };
    Engine::open(dir, Options { rollup_points_min: 4, ..options }).unwrap()
}

impl World {
    fn new(merge_bytes: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let engine = open(dir.path(), &clock, merge_bytes);
        Self { dir, clock, engine, merge_bytes }
    }

    fn reopen(self) -> Self {
        let Self { dir, clock, engine, merge_bytes } = self;
        drop(engine);
        let engine = open(dir.path(), &clock, merge_bytes);
        Self { dir, clock, engine, merge_bytes }
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

    /// Everything that can be asked of the day, bit for bit.
    fn answers(&self) -> Vec<Vec<u64>> {
        self.answers_by(&[Interval::MINUTE, Interval::FIVE_MINUTES, Interval::HOUR, Interval::DAY])
    }

    fn answers_by(&self, widths: &[Interval]) -> Vec<Vec<u64>> {
        let mut answers = Vec::new();
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
                let answer = self.engine.query(&query).unwrap();
                assert_eq!(answer.stats.quarantined, 0);
                for group in answer.groups {
                    let bits = |column: Vec<f64>| column.into_iter().map(f64::to_bits).collect();
                    answers.extend(group.columns.into_iter().map(bits));
                }
            }
        }
        answers
    }

    /// What the catalog says of the blocks but their names and lengths, which depend on the order of metrics.
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

    /// Blocks on disk, and those that the catalog names.
    fn stored(&self) -> (usize, usize) {
        let count = |keyspace| {
            let mut rows = 0;
            let store = &self.engine.inner().store;
            let visit = |_: Box<[u8]>, _: Box<[u8]>| rows += 1;
            store.read_around_damage(keyspace, &KeyRange::all(), Caching::Bypass, visit).unwrap();
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

/// What is seen after a merge: answers, blocks, and the bytes of these.
type Seen = (Vec<Vec<u64>>, Vec<String>, u64);

/// Lives through the same with other bounds: the day is merged, its samples expire, and late ones are merged with its cells.
fn live(batches: &[Vec<Sample>], merge_bytes: usize) -> Vec<Seen> {
    let world = World::new(merge_bytes);
    let write = |samples: &[Sample]| {
        for kind in MetricType::ALL {
            let of_kind = samples.iter().filter(|s| s.kind == kind);
            world.write(kind, of_kind.map(|s| (s.host, s.time, s.value)));
        }
    };
    let mut seen = Vec::new();
    let mut merge = || {
        world.engine.merge().unwrap();
        seen.push((world.answers(), world.blocks(), world.engine.stats().block_bytes));
    };
    batches.iter().for_each(|samples| write(samples));
    merge();
    world.clock.set(TimestampMs(START + 3 * DAY));
    merge();
    batches.iter().take(2).for_each(|samples| write(samples));
    merge();
    world.clock.set(TimestampMs(START + 40 * DAY));
    merge();
    world.engine.expire().unwrap();
    batches.iter().take(2).for_each(|samples| write(samples));
    merge();
    assert!(world.engine.verify().unwrap().damaged.is_empty());
    assert_eq!(world.stored().0, world.stored().1);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]
    #[test]
    fn a_merge_in_pieces_is_a_merge_at_once(
        batches in batches(),
        merge_bytes in prop::sample::select(vec![800usize, 8_000, 80_000]),
    ) {
        let (pieces, whole) = (live(&batches, merge_bytes), live(&batches, 1 << 30));
        for (step, (pieces, whole)) in pieces.iter().zip(&whole).enumerate() {
            prop_assert!(pieces.0 == whole.0, "answers differ after merge {}", step);
            prop_assert_eq!(&pieces.1, &whole.1, "after merge {}", step);
            // Numbers of units and pages have their own lengths.
            prop_assert!(pieces.2.abs_diff(whole.2) <= 4 * pieces.1.len() as u64);
        }
    }
}

/// A histogram with a value in each of as many buckets as there may be.
fn histogram(shift: f64) -> Histogram {
    // Two more count nothing, on either side.
    let buckets = crate::limits::HISTOGRAM_BUCKETS_MAX - 2;
    let bounds: Vec<f64> = (0..=buckets).map(|i| 1.02f64.powi(i as i32) * (1.0 + shift)).collect();
    let mut counts = vec![1; buckets + 2];
    (counts[0], counts[buckets + 1]) = (0, 0);
    Histogram::new(buckets as u64, None, None, None, Buckets::Explicit { bounds, counts }).unwrap()
}

#[test]
fn merging_wide_histograms_takes_the_memory_that_it_may() {
    let bound = 64 << 20;
    let world = World::new(bound);
    let (hosts, minutes) = (2_000, 12);
    for minute in 0..minutes {
        let mut batch = world.engine.batch();
        for host in 0..hosts {
            let tags = [("host", host.to_string())];
            let tags = tags.each_ref().map(|(key, value)| (*key, value.as_str()));
            let kind = MetricType::Distribution;
            let series = batch.series(kind.as_str(), kind, &tags).unwrap();
            let time = TimestampMs(START + minute * MINUTE);
            batch.histogram(series, time, &histogram(f64::from(host % 7) / 10.0));
        }
        world.engine.write(batch.finish()).unwrap();
        world.engine.seal().unwrap();
    }
    world.clock.set(TimestampMs(START + 3 * DAY));
    assert_eq!(world.engine.merge().unwrap().windows, 1);
    let stats = world.engine.stats();
    let all = hosts as u64 * minutes as u64 * 5_000;
    assert!(all > 3 * bound as u64 / 2);
    assert!(stats.merge_bytes_peak > 8 << 20, "{} are told", stats.merge_bytes_peak);
    assert!(stats.merge_bytes_peak < bound as u64, "{} bytes", stats.merge_bytes_peak);
    assert_eq!(stats.merge_bytes, 0);
    // A late sample reads all of the day again.
    world.write(MetricType::Distribution, [(7, 5, 1.0)].into_iter());
    world.engine.merge().unwrap();
    assert!(world.engine.stats().merge_bytes_peak < bound as u64);
}

#[test]
fn a_late_sample_of_an_expired_day_takes_the_memory_that_it_may() {
    let bound = 24 << 20;
    let world = World::new(bound);
    let (hosts, minutes) = (400, 1_200);
    for first in (0..minutes).step_by(240) {
        let points = (0..hosts).flat_map(|host| {
            (first * 4..(first + 240) * 4).map(move |i| (host, i * MINUTE / 4, (i % 17) as f64))
        });
        world.write(MetricType::Gauge, points);
    }
    world.clock.set(TimestampMs(START + 31 * DAY + DAY / 2));
    world.engine.merge().unwrap();
    world.engine.expire().unwrap();
    let tiers = world.blocks();
    assert!(!tiers.iter().any(|block| block.contains("Raw")), "{tiers:?}");
    world.write(MetricType::Gauge, [(7, 5, 1.0)].into_iter());
    let before = world.answers();
    world.engine.merge().unwrap();
    let peak = world.engine.stats().merge_bytes_peak;
    assert!(peak < bound as u64, "{peak} bytes");
    assert!(world.answers() == before);
}

#[test]
fn large_sets_take_the_memory_that_they_may() {
    let bound = 24 << 20;
    let world = World::new(bound);
    for minute in 0..8 {
        let members = (0..250).flat_map(|host| {
            (0..1_010).map(move |n| (host, minute * MINUTE + n, (n * 7 + host as i64) as f64))
        });
        world.write(MetricType::Set, members);
    }
    let before = world.answers_by(&[Interval::DAY]);
    world.clock.set(TimestampMs(START + 3 * DAY));
    world.engine.merge().unwrap();
    let peak = world.engine.stats().merge_bytes_peak;
    assert!(peak < bound as u64, "{peak} bytes");
    assert!(world.answers_by(&[Interval::DAY]) == before);
}

#[test]
fn a_merge_that_meets_damage_leaves_no_blocks_behind() {
    for collected in [true, false] {
        let world = World::new(256 << 10);
        let kind = MetricType::Distribution;
        for first in [0, 40, 80] {
            let of_host =
                |host| (0..2_880).map(move |i| (host, i * MINUTE / 2, (i * i % 997) as f64));
            world.write(kind, (first..first + 40).flat_map(of_host));
        }
        let before = world.stored();
        assert!(before.0 >= 2 && before.0 == before.1);
        let metrics = &world.engine.inner().telemetry.metrics;
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
        world.clock.set(TimestampMs(START + 3 * DAY));
        let budget = crate::reports::MergeBudget::ALL;
        let eagerness = crate::reports::Eagerness::All;
        metrics.merge_windows(eagerness, budget, world.clock.now()).unwrap();
        assert!(metrics.is_quarantined(&last.key));
        let world = if collected {
            metrics.collect_garbage(crate::reports::Pace::Whole).unwrap();
            world
        } else {
            assert!(world.stored().0 > before.0, "blocks were written before the damage was met");
            world.reopen()
        };
        assert_eq!(world.stored(), before);
        world.engine.merge().unwrap();
        let (blocks, named) = world.stored();
        assert_eq!(blocks, named);
    }
}
