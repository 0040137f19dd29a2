//! Samples that age, against a list: a sample counts until the tier with the longest retention
//! expires, no matter when it arrived and what happened to it meanwhile. Everything is queried
//! after every step.
//!
//! The list models one thing about tiers: where cells have replaced samples, which the query result
//! reports, all times within a cell are equal, and a gauge sample that is part of a cell is no
//! longer replaced.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use telltale_engine::{
    Aggregation, Clock, CoarseRange, Durability, Engine, Interval, Maintenance, MetricName,
    MetricQuery, MetricType, Options, QueryResult, Retention, TierRetention, TimeRange,
    TimestampMs,
};

use super::samples::{Point, close, expected, member};
use super::{DAY, MINUTE, START, cases, memory_dir, run};

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Sample>),
    Seal,
    Merge,
    Expire,
    Restart,
    Delete(MetricType),
    AdvanceClock(i64),
}

#[derive(Clone, Debug)]
struct Sample {
    kind: MetricType,
    host: u8,
    /// Days before today.
    days: i64,
    /// Milliseconds since the start of the day.
    of_day: i64,
    value: f64,
}

/// A history, the retention of the tiers, and which rollups are written beside samples.
#[derive(Clone, Debug)]
struct History {
    kept_days: [u64; 5],
    rollup_points_min: u64,
    /// Memory limit of a compaction: a tiny one splits it into pieces of a few rows.
    compaction_bytes: usize,
    steps: Vec<Step>,
}

/// Where a sample is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SampleState {
    Head,
    /// In a block that no compaction has read.
    Sealed,
    Merged,
}

#[derive(Clone, Debug)]
struct StoredSample {
    point: Point,
    state: SampleState,
}

struct Harness {
    dir: tempfile::TempDir,
    clock: Clock,
    options: Options,
    engine: Option<Engine>,
    kept_days: [u64; 5],
    /// In the order of writing.
    samples: BTreeMap<MetricType, Vec<StoredSample>>,
    /// `None` for series of deleted metrics and retired series: their ids are not reused.
    series: Vec<Option<(MetricType, u8)>>,
}

impl Harness {
    fn new(history: &History) -> Self {
        let dir = memory_dir();
        let clock = Clock::manual(TimestampMs(START));
        let [raw, minute, five_minutes, hour, day] =
            history.kept_days.map(|days| Duration::from_secs(days * 86_400));
        let default = TierRetention { raw, minute, five_minutes, hour, day };
        let options = Options {
            clock: clock.clone(),
            durability: Durability::Os,
            maintenance: Maintenance::Manual,
            // The clock is trusted, however far it moves between two starts.
            clock_grace: Duration::ZERO,
            cache_bytes: 8 << 20,
            disk_free_bytes: 0,
            rollup_points_min: history.rollup_points_min,
            compaction_bytes: history.compaction_bytes,
            retention: Retention { default, by_prefix: Vec::new() },
            threads: 2,
            ..Options::default()
        };
        let engine = Some(Engine::open(dir.path(), options.clone()).unwrap());
        let kept_days = history.kept_days;
        let (samples, series) = (BTreeMap::new(), Vec::new());
        Self { dir, clock, options, engine, kept_days, samples, series }
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn now(&self) -> i64 {
        self.clock.now().0
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Write(samples) => self.write(samples),
            Step::Seal => {
                self.engine().seal().unwrap();
                self.each(|kept| {
                    if kept.state == SampleState::Head {
                        kept.state = SampleState::Sealed;
                    }
                });
            }
            Step::Merge => {
                self.engine().merge().unwrap();
                self.each(|kept| {
                    if kept.state == SampleState::Sealed {
                        kept.state = SampleState::Merged;
                    }
                });
            }
            Step::Expire => self.expire(),
            Step::Restart => {
                self.engine = None;
                self.engine = Some(Engine::open(self.dir.path(), self.options.clone()).unwrap());
            }
            Step::Delete(kind) => {
                if self.samples.remove(kind).is_some() {
                    self.engine().delete_metric(kind.as_str()).unwrap();
                    let of_kind =
                        |s: &&mut Option<(MetricType, u8)>| s.is_some_and(|s| s.0 == *kind);
                    self.series.iter_mut().filter(of_kind).for_each(|s| *s = None);
                }
            }
            Step::AdvanceClock(ms) => self.clock.set(TimestampMs(self.now() + ms)),
        }
    }

    fn each(&mut self, change: impl Fn(&mut StoredSample)) {
        self.samples.values_mut().flatten().for_each(change);
    }

    fn write(&mut self, samples: &[Sample]) {
        let now = self.now();
        let cells: BTreeMap<MetricType, Vec<CoarseRange>> =
            self.samples.keys().map(|kind| (*kind, self.all_cells(*kind))).collect();
        let engine = self.engine.as_ref().unwrap();
        let mut batch = engine.batch();
        for sample in samples {
            let Sample { kind, host, days, of_day, value } = *sample;
            let time = (now - now.rem_euclid(DAY) - days * DAY + of_day).min(now);
            let tags = [("host", format!("host-{host}"))];
            let tags = tags.each_ref().map(|(key, value)| (*key, value.as_str()));
            let series = batch.series(kind.as_str(), kind, &tags).unwrap();
            match kind {
                MetricType::Set => batch.member(series, TimestampMs(time), &member(value)),
                _ => batch.number(kind, series, TimestampMs(time), value),
            }
            let key = Some((kind, host));
            let series = self.series.iter().position(|s| *s == key).unwrap_or_else(|| {
                self.series.push(key);
                self.series.len() - 1
            });
            let kept = self.samples.entry(kind).or_default();
            if kind == MetricType::Gauge {
                let in_cells = cells
                    .get(&kind)
                    .is_some_and(|cells| cells.iter().any(|c| c.range.contains(TimestampMs(time))));
                kept.retain(|old| {
                    (old.point.series, old.point.time) != (series, time)
                        || (in_cells && old.state == SampleState::Merged)
                });
            }
            let point = Point { host, zone: 0, time, value, series };
            kept.push(StoredSample { point, state: SampleState::Head });
        }
        let points = batch.finish();
        engine.write(points).unwrap();
    }

    /// Returns where cells have replaced samples.
    fn all_cells(&self, kind: MetricType) -> Vec<CoarseRange> {
        // No cells fit this interval.
        let interval = Interval::from_ms(9_000_001).unwrap();
        let all = TimeRange::new(START - 60 * DAY, self.now() + DAY);
        self.query(kind, all, interval).coarse
    }

    fn expire(&mut self) {
        self.engine().expire().unwrap();
        self.retire();
        let now = self.now();
        let [raw, minute, rest @ ..] = self.kept_days.map(|days| days as i64 * DAY);
        let rest = rest.into_iter().fold(raw, i64::max);
        for (kind, samples) in &mut self.samples {
            // Distributions and sets have no raw samples, only minutes.
            let numbers = matches!(kind, MetricType::Gauge | MetricType::Counter);
            let retention_ms = if numbers { rest.max(minute) } else { rest };
            samples.retain(|kept| {
                kept.state == SampleState::Head || now - end_of_day(kept.point.time) < retention_ms
            });
        }
        if self.engine().stats().points_head == 0 {
            self.each(|kept| {
                if kept.state == SampleState::Head {
                    kept.state = SampleState::Sealed;
                }
            });
        }
    }

    /// Retired series return with new ids, and so as other series.
    fn retire(&mut self) {
        let engine = self.engine.as_ref().unwrap();
        for series in &mut self.series {
            let Some((kind, host)) = *series else { continue };
            let hosts = engine.tag_values(kind.as_str(), "host").unwrap();
            if !hosts.iter().any(|(value, _)| *value == format!("host-{host}")) {
                *series = None;
            }
        }
    }

    fn query(&self, kind: MetricType, range: TimeRange, interval: Interval) -> QueryResult {
        let query = MetricQuery {
            metric: MetricName::new(kind.as_str()).unwrap(),
            range,
            interval,
            aggregations: Aggregation::of(kind).to_vec(),
            filters: vec![],
            group_by: vec![],
        };
        let result = self.engine().query(&query).unwrap();
        assert_eq!(result.stats.quarantined, 0);
        result
    }

    /// Queries everything: all times by wide buckets, shorter ranges by narrow ones.
    fn check_all(&self, seed: i64) {
        let now = self.now();
        for kind in self.samples.keys() {
            let all = TimeRange::new(now - 45 * DAY, now + 1);
            let from = now - seed.rem_euclid(24) * DAY - seed.rem_euclid(100_000);
            let some = TimeRange::new(from, from + DAY + seed.rem_euclid(DAY));
            for (range, interval) in [
                (all, DAY),
                (all, 60 * MINUTE),
                (all, 7 * 60 * MINUTE),
                (some, MINUTE),
                (some, 5 * MINUTE),
                (some, 7 * MINUTE),
                (some, 60 * MINUTE),
                (some, 90_000),
                (some, DAY),
            ] {
                self.check_query(*kind, range, Interval::from_ms(interval).unwrap());
            }
        }
    }

    fn check_query(&self, kind: MetricType, queried: TimeRange, interval: Interval) {
        let result = self.query(kind, queried, interval);
        let about = || format!("{kind:?} {queried:?} by {interval:?}, coarse {:?}", result.coarse);
        result.coarse.iter().for_each(|coarse| self.check_width(kind, coarse));
        let numbers = matches!(kind, MetricType::Gauge | MetricType::Counter);
        let queried = if numbers { queried } else { queried.widen_to(Interval::MINUTE) };
        let mut wanted: BTreeMap<i64, Vec<Point>> = BTreeMap::new();
        for StoredSample { point, .. } in self.samples.get(&kind).into_iter().flatten() {
            let mut time = TimestampMs(point.time);
            if !numbers {
                time = time.floor_to(Interval::MINUTE);
            }
            match result.coarse.iter().find(|coarse| coarse.range.contains(time)) {
                Some(coarse) => time = time.floor_to(coarse.width),
                None if queried.contains(time) => {}
                None => continue,
            }
            wanted.entry(time.floor_to(interval).0).or_default().push(point.clone());
        }
        let group = result.groups.first();
        let starts: Vec<i64> =
            group.map(|g| g.starts.iter().map(|s| s.0).collect()).unwrap_or_default();
        assert_eq!(starts, wanted.keys().copied().collect::<Vec<_>>(), "{}", about());
        for (row, (start, points)) in wanted.iter().enumerate() {
            for (column, aggregation) in Aggregation::of(kind).iter().enumerate() {
                let mut got = group.map_or(f64::NAN, |g| g.columns[column][row]);
                let expected = match (kind, aggregation) {
                    (MetricType::Set, _) => {
                        let members: std::collections::BTreeSet<_> =
                            points.iter().map(|p| member(p.value)).collect();
                        members.len() as f64
                    }
                    // The tolerance is that of the sum.
                    (_, Aggregation::Rate) => {
                        got *= seconds(queried, &result.coarse, interval, *start);
                        expected(Aggregation::Sum, points, 1.0)
                    }
                    _ => expected(*aggregation, points, 1.0),
                };
                assert!(
                    close(*aggregation, got, expected, points),
                    "{aggregation:?} at {start}: {got} instead of {expected}; {}",
                    about()
                );
            }
        }
    }

    /// Checks that no cell is coarser than the finest tier that is still kept.
    fn check_width(&self, kind: MetricType, coarse: &CoarseRange) {
        let [raw, minute, five, hour, _] = self.kept_days;
        let numbers = matches!(kind, MetricType::Gauge | MetricType::Counter);
        let finer = [
            (0, raw),
            (MINUTE, if numbers { minute } else { raw }),
            (5 * MINUTE, five),
            (60 * MINUTE, hour),
        ];
        let age = self.now() - end_of_day(coarse.range.end.0 - 1);
        for (width, days) in finer.into_iter().filter(|(width, _)| *width < coarse.width.ms()) {
            assert!(days as i64 * DAY <= age, "{width} ms are kept {days} days: {coarse:?}");
        }
    }
}

fn end_of_day(time: i64) -> i64 {
    time - time.rem_euclid(DAY) + DAY
}

/// Returns the seconds of the range that belong to a bucket, cell by cell.
fn seconds(queried: TimeRange, coarse: &[CoarseRange], interval: Interval, start: i64) -> f64 {
    let bucket = TimeRange::new(start, start + interval.ms());
    let fine = |range: TimeRange| range.intersect(bucket).len_ms();
    let mut ms = fine(queried);
    for part in coarse {
        ms -= fine(part.range.intersect(queried));
        let cells = (part.range.start.0..part.range.end.0).step_by(part.width.ms() as usize);
        let of_bucket = |cell: i64| TimestampMs(cell).floor_to(interval).0 == start;
        if interval.is_multiple_of(part.width) {
            ms += fine(part.range);
        } else {
            ms += cells.filter(|cell| of_bucket(*cell)).count() as i64 * part.width.ms();
        }
    }
    ms as f64 / 1000.0
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let kinds = prop::sample::select(MetricType::ALL.to_vec());
    let days = prop_oneof![3 => 0i64..3, 2 => 0i64..12, 1 => 0i64..30];
    // Few distinct times, so that gauges are replaced and cells contain several samples.
    let of_day = prop_oneof![
        3 => (0i64..40).prop_map(|n| n * 20_000),
        2 => (0i64..24).prop_map(|n| n * 61 * MINUTE % DAY),
        1 => 0..DAY,
    ];
    let values = prop_oneof![
        3 => (-500i64..500).prop_map(|m| m as f64 / 4.0),
        1 => -1e6..1e6f64,
    ];
    let sample = (kinds, 0u8..3, days, of_day, values)
        .prop_map(|(kind, host, days, of_day, value)| Sample { kind, host, days, of_day, value });
    // Many samples of one day at once, so that rollups are smaller than samples.
    prop_oneof![
        3 => prop::collection::vec(sample.clone(), 1..30),
        2 => (sample, 50i64..400, 1_000i64..90_000).prop_map(|(first, n, step)| {
            let at = |i: i64| Sample {
                of_day: (first.of_day + i * step) % DAY,
                value: first.value + (i % 17) as f64,
                ..first.clone()
            };
            (0..n).map(at).collect()
        }),
    ]
}

fn histories() -> impl Strategy<Value = History> {
    let step = prop_oneof![
        8 => samples().prop_map(Step::Write),
        4 => Just(Step::Seal),
        4 => Just(Step::Merge),
        4 => Just(Step::Expire),
        1 => Just(Step::Restart),
        1 => prop::sample::select(MetricType::ALL.to_vec()).prop_map(Step::Delete),
        3 => (0..6 * 60 * MINUTE).prop_map(Step::AdvanceClock),
        5 => (DAY / 2..4 * DAY).prop_map(Step::AdvanceClock),
    ];
    let kept_days = prop::sample::select(vec![
        [1, 2, 4, 8, 16],
        [2, 1, 4, 8, 8],
        [1, 1, 1, 3, 9],
        [3, 0, 5, 0, 10],
        [2, 1, 9, 4, 6],
        [1, 6, 2, 5, 3],
        [0, 0, 0, 0, 12],
    ]);
    let rollups = prop::sample::select(vec![1, 4, 60]);
    let compaction_bytes = prop::sample::select(vec![2_000, 20_000, 128 << 20]);
    (kept_days, rollups, compaction_bytes, prop::collection::vec(step, 15..45)).prop_map(
        |(kept_days, rollup_points_min, compaction_bytes, steps)| History {
            kept_days,
            rollup_points_min,
            compaction_bytes,
            steps,
        },
    )
}

#[test]
fn samples_count_until_their_coarsest_tier_expires() {
    run(cases() / 2, &histories(), |history| {
        let mut harness = Harness::new(&history);
        for (i, step) in history.steps.iter().enumerate() {
            harness.step(step);
            harness.check_all(i as i64 * 77_777_777 + harness.now());
        }
    });
}
