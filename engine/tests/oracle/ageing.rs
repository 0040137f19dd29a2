//! Samples that age, against a list: a sample counts until the tier that is kept longest expires, whenever it came and whatever
//! happened to it meanwhile. After every step everything is asked.
//!
//! The list knows one thing about tiers: where cells have taken the place of samples, which the result reports, instants within
//! a cell are one, and a gauge sample that is part of a cell is replaced no more.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use telltale_engine::{
    Aggregation, Clock, CoarseRange, Durability, Engine, Interval, Maintenance, MetricName,
    MetricQuery, MetricType, Options, QueryResult, Retention, TierRetention, TimeRange,
    TimestampMs,
};

use super::points::{Point, close, expected, member};
use super::{DAY, MINUTE, START, cases, memory_dir, run};

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Sample>),
    Seal,
    Merge,
    Expire,
    Restart,
    Delete(MetricType),
    Pass(i64),
}

#[derive(Clone, Debug)]
struct Sample {
    kind: MetricType,
    host: u8,
    /// Days before today.
    days: i64,
    /// Milliseconds of the day.
    of_day: i64,
    value: f64,
}

/// A history, how long tiers are kept, and which rollups are written beside samples.
#[derive(Clone, Debug)]
struct History {
    kept_days: [u64; 5],
    rollup_points_min: u64,
    /// What a merge may take: next to nothing cuts it into pieces of a few rows.
    merge_bytes: usize,
    steps: Vec<Step>,
}

/// Where a sample is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Head,
    /// In a block that no merge has read.
    Sealed,
    Merged,
}

#[derive(Clone, Debug)]
struct Kept {
    point: Point,
    place: Place,
}

struct World {
    dir: tempfile::TempDir,
    clock: Clock,
    options: Options,
    engine: Option<Engine>,
    kept_days: [u64; 5],
    /// In the order of writing.
    samples: BTreeMap<MetricType, Vec<Kept>>,
    /// None for those of metrics that were deleted, and those that retired: their ids are not given again.
    series: Vec<Option<(MetricType, u8)>>,
}

impl World {
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
            // The clock is right, however far it moves between two starts.
            clock_grace: Duration::ZERO,
            cache_bytes: 8 << 20,
            disk_free_bytes: 0,
            rollup_points_min: history.rollup_points_min,
            merge_bytes: history.merge_bytes,
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
                    if kept.place == Place::Head {
                        kept.place = Place::Sealed;
                    }
                });
            }
            Step::Merge => {
                self.engine().merge().unwrap();
                self.each(|kept| {
                    if kept.place == Place::Sealed {
                        kept.place = Place::Merged;
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
            Step::Pass(ms) => self.clock.set(TimestampMs(self.now() + ms)),
        }
    }

    fn each(&mut self, change: impl Fn(&mut Kept)) {
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
                        || (in_cells && old.place == Place::Merged)
                });
            }
            let point = Point { host, zone: 0, time, value, series };
            kept.push(Kept { point, place: Place::Head });
        }
        let points = batch.finish();
        engine.write(points).unwrap();
    }

    /// Where cells have taken the place of samples.
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
            // The minutes of distributions and sets are their samples.
            let numbers = matches!(kind, MetricType::Gauge | MetricType::Counter);
            let kept_ms = if numbers { rest.max(minute) } else { rest };
            samples.retain(|kept| {
                kept.place == Place::Head || now - end_of_day(kept.point.time) < kept_ms
            });
        }
        if self.engine().stats().points_head == 0 {
            self.each(|kept| {
                if kept.place == Place::Head {
                    kept.place = Place::Sealed;
                }
            });
        }
    }

    /// Series that retired come back with other ids, and so as other series.
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

    /// Asks everything: all that there is by wide buckets, and less by narrow ones.
    fn ask_all(&self, seed: i64) {
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
                self.ask(*kind, range, Interval::from_ms(interval).unwrap());
            }
        }
    }

    fn ask(&self, kind: MetricType, asked: TimeRange, interval: Interval) {
        let result = self.query(kind, asked, interval);
        let about = || format!("{kind:?} {asked:?} by {interval:?}, coarse {:?}", result.coarse);
        result.coarse.iter().for_each(|coarse| self.check_width(kind, coarse));
        let numbers = matches!(kind, MetricType::Gauge | MetricType::Counter);
        let asked = if numbers { asked } else { asked.widen_to(Interval::MINUTE) };
        let mut wanted: BTreeMap<i64, Vec<Point>> = BTreeMap::new();
        for Kept { point, .. } in self.samples.get(&kind).into_iter().flatten() {
            let mut time = TimestampMs(point.time);
            if !numbers {
                time = time.floor_to(Interval::MINUTE);
            }
            match result.coarse.iter().find(|coarse| coarse.range.contains(time)) {
                Some(coarse) => time = time.floor_to(coarse.width),
                None if asked.contains(time) => {}
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
                        got *= seconds(asked, &result.coarse, interval, *start);
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

    /// Nothing is coarser than the finest tier that is still kept.
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

/// The seconds of the range that belong to a bucket, cell by cell.
fn seconds(asked: TimeRange, coarse: &[CoarseRange], interval: Interval, start: i64) -> f64 {
    let bucket = TimeRange::new(start, start + interval.ms());
    let fine = |range: TimeRange| range.intersect(bucket).len_ms();
    let mut ms = fine(asked);
    for part in coarse {
        ms -= fine(part.range.intersect(asked));
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
    // Few instants, so that gauges are replaced and cells have company.
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
    // Many samples of few days at once, so that rollups shrink.
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
        3 => (0..6 * 60 * MINUTE).prop_map(Step::Pass),
        5 => (DAY / 2..4 * DAY).prop_map(Step::Pass),
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
    let merge_bytes = prop::sample::select(vec![2_000, 20_000, 128 << 20]);
    (kept_days, rollups, merge_bytes, prop::collection::vec(step, 15..45)).prop_map(
        |(kept_days, rollup_points_min, merge_bytes, steps)| History {
            kept_days,
            rollup_points_min,
            merge_bytes,
            steps,
        },
    )
}

#[test]
fn samples_count_until_their_coarsest_tier_expires() {
    run(cases() / 2, &histories(), |history| {
        let mut world = World::new(&history);
        for (i, step) in history.steps.iter().enumerate() {
            world.step(step);
            world.ask_all(i as i64 * 77_777_777 + world.now());
        }
    });
}
