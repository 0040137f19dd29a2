//! Samples against a list of samples.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use telltale_engine::{
    Aggregation, Clock, Engine, Interval, MetricName, MetricQuery, MetricType, TagCondition,
    TagFilter, TimeRange, TimestampMs, briefly,
};

use super::{DAY, MINUTE, START, cases, memory_dir, open, reopen, run};

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Sample>),
    Seal,
    Merge,
    Restart,
    /// Moves the clock, so that windows and days end.
    AdvanceClock(i64),
    Query(QueryCase),
}

#[derive(Clone, Debug)]
struct Sample {
    kind: MetricType,
    host: u8,
    zone: u8,
    /// Milliseconds before (or a little after) the current time.
    age: i64,
    value: f64,
}

#[derive(Clone, Debug)]
struct QueryCase {
    kind: MetricType,
    from_age: i64,
    length: i64,
    interval: i64,
    zone: Option<u8>,
    exclude: bool,
    group: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) host: u8,
    pub(super) zone: u8,
    pub(super) time: i64,
    pub(super) value: f64,
    /// Series ids ascend in the order of creation.
    pub(super) series: usize,
}

/// Every sample, by type, in the order of writing.
#[derive(Default)]
struct Model {
    points: BTreeMap<MetricType, Vec<Point>>,
    series: Vec<(MetricType, u8, u8)>,
}

impl Model {
    fn add(&mut self, now: i64, sample: &Sample) {
        let key = (sample.kind, sample.host, sample.zone);
        let series = self.series.iter().position(|s| *s == key).unwrap_or_else(|| {
            self.series.push(key);
            self.series.len() - 1
        });
        let time = (now - sample.age).max(0);
        let point =
            Point { host: sample.host, zone: sample.zone, time, value: sample.value, series };
        let points = self.points.entry(sample.kind).or_default();
        if sample.kind == MetricType::Gauge {
            points.retain(|p| (p.series, p.time) != (series, time));
        }
        points.push(point);
    }

    fn buckets(&self, case: &QueryCase, range: TimeRange) -> BTreeMap<(String, i64), Vec<Point>> {
        let mut buckets: BTreeMap<(String, i64), Vec<Point>> = BTreeMap::new();
        for point in self.points.get(&case.kind).into_iter().flatten() {
            let matches = case.zone.is_none_or(|zone| (point.zone == zone) != case.exclude);
            if matches && range.contains(TimestampMs(point.time)) {
                let group = match case.group {
                    Some("host") => host(point.host),
                    Some("zone") => zone(point.zone),
                    _ => String::new(),
                };
                // Distributions and sets are stored in cells of one minute.
                let points = matches!(case.kind, MetricType::Gauge | MetricType::Counter);
                let time =
                    if points { point.time } else { point.time - point.time.rem_euclid(MINUTE) };
                let start = time - time.rem_euclid(case.interval);
                buckets.entry((group, start)).or_default().push(point.clone());
            }
        }
        buckets
    }
}

fn host(host: u8) -> String {
    format!("host-{host}")
}

/// Zone 0 means no tag.
fn zone(zone: u8) -> String {
    if zone == 0 { String::new() } else { format!("zone-{zone}") }
}

pub(super) fn member(value: f64) -> String {
    format!("user-{value}")
}

fn seconds(case: &QueryCase, range: TimeRange, start: i64) -> f64 {
    TimeRange::new(start, start + case.interval).intersect(range).len_ms() as f64 / 1000.0
}

/// Neumaier's sum: a plain sum has larger errors than the engine's, which is compared with it.
fn exact_sum(values: &[f64]) -> f64 {
    let (mut sum, mut error) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        error += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + error
}

pub(super) fn expected(aggregation: Aggregation, points: &[Point], seconds: f64) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|p| p.value).collect();
    values.sort_by(f64::total_cmp);
    let sum = exact_sum(&values);
    match aggregation {
        Aggregation::Last => points.iter().max_by_key(|p| (p.time, p.series)).unwrap().value,
        Aggregation::Avg => sum / values.len() as f64,
        Aggregation::Min => values[0],
        Aggregation::Max => values[values.len() - 1],
        Aggregation::Sum => sum,
        Aggregation::Rate => sum / seconds,
        Aggregation::Count => values.len() as f64,
        percentile => {
            let rank =
                (percentile.quantile().unwrap() * values.len() as f64 - 1e-9).ceil().max(1.0);
            values[rank as usize - 1]
        }
    }
}

pub(super) fn close(aggregation: Aggregation, got: f64, wanted: f64, points: &[Point]) -> bool {
    let size = points.iter().map(|p| p.value.abs()).fold(0.0, f64::max);
    let tolerance = match aggregation {
        Aggregation::P50 | Aggregation::P90 | Aggregation::P95 | Aggregation::P99
            if points.len() > 64 =>
        {
            wanted.abs() * 0.01 + 1e-7
        }
        Aggregation::Sum | Aggregation::Avg | Aggregation::Rate => {
            size * points.len() as f64 * 1e-14
        }
        _ => 0.0,
    };
    (got - wanted).abs() <= tolerance
}

struct Harness {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    model: Model,
}

impl Harness {
    fn new() -> Self {
        let dir = memory_dir();
        let clock = Clock::manual(TimestampMs(START));
        let engine = open(&dir, &clock);
        Self { dir, clock, engine, model: Model::default() }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Write(samples) => self.write(samples),
            Step::Seal => {
                self.engine.seal().unwrap();
            }
            Step::Merge => {
                self.engine.merge().unwrap();
            }
            Step::Restart => reopen(&mut self.engine, &self.dir, &self.clock),
            Step::AdvanceClock(ms) => self.clock.set(TimestampMs(self.clock.now().0 + ms)),
            Step::Query(case) => self.check_query(case),
        }
    }

    fn write(&mut self, samples: &[Sample]) {
        let now = self.clock.now().0;
        let mut batch = self.engine.batch();
        for sample in samples {
            let (host, zone) = (host(sample.host), zone(sample.zone));
            let mut tags = vec![("host", host.as_str())];
            if sample.zone != 0 {
                tags.push(("zone", &zone));
            }
            let series = batch.series(sample.kind.as_str(), sample.kind, &tags).unwrap();
            let time = TimestampMs((now - sample.age).max(0));
            match sample.kind {
                MetricType::Set => batch.member(series, time, &member(sample.value)),
                kind => batch.number(kind, series, time, sample.value),
            }
            self.model.add(now, sample);
        }
        let points = batch.finish();
        self.engine.write(points).unwrap();
    }

    fn check_query(&self, case: &QueryCase) {
        if !self.model.points.contains_key(&case.kind) {
            return;
        }
        let end = self.clock.now().0 - case.from_age;
        let mut range = TimeRange::new(end - case.length, end);
        if !matches!(case.kind, MetricType::Gauge | MetricType::Counter) {
            range = range.widen_to(Interval::MINUTE);
        }
        let filter = case.zone.map(|number| {
            let values = vec![zone(number)].into();
            let condition = if case.exclude {
                TagCondition::NoneOf(values)
            } else {
                TagCondition::AnyOf(values)
            };
            TagFilter { key: "zone".into(), condition }
        });
        let aggregations = Aggregation::of(case.kind).to_vec();
        let query = MetricQuery {
            metric: MetricName::new(case.kind.as_str()).unwrap(),
            range,
            interval: Interval::from_ms(case.interval).unwrap(),
            aggregations: aggregations.clone(),
            filters: filter.into_iter().collect(),
            group_by: case.group.iter().map(|g| (*g).to_owned()).collect(),
        };
        let answer = self.engine.query(&query).unwrap();
        assert_eq!(answer.stats.quarantined, 0);
        if let Some(brief) = briefly(|| self.engine.query(&query)) {
            let brief = brief.unwrap();
            assert_eq!(
                (brief.groups, brief.coarse),
                (answer.groups.clone(), answer.coarse.clone())
            );
        }
        let wanted = self.model.buckets(case, range);
        let mut seen = BTreeSet::new();
        for group in &answer.groups {
            let key = group.key.join(",");
            for (i, start) in group.starts.iter().enumerate() {
                let at = (key.clone(), start.0);
                let points =
                    wanted.get(&at).unwrap_or_else(|| panic!("{at:?} is not expected: {query:?}"));
                for (column, aggregation) in group.columns.iter().zip(&aggregations) {
                    let expected = match (case.kind, aggregation) {
                        (MetricType::Set, _) => {
                            points.iter().map(|p| member(p.value)).collect::<BTreeSet<_>>().len()
                                as f64
                        }
                        _ => expected(*aggregation, points, seconds(case, range, start.0)),
                    };
                    assert!(
                        close(*aggregation, column[i], expected, points),
                        "{aggregation:?} at {at:?}: {} instead of {expected}\n{query:?}",
                        column[i]
                    );
                }
                seen.insert(at);
            }
        }
        assert_eq!(seen, wanted.keys().cloned().collect(), "{query:?}");
    }
}

fn kinds() -> impl Strategy<Value = MetricType> {
    prop::sample::select(MetricType::ALL.to_vec())
}

fn ages() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => 0..10 * MINUTE,
        2 => 0..4 * 60 * MINUTE,
        1 => 0..3 * DAY,
        1 => -DAY..0i64,
        // Equal times, so that gauges are overwritten.
        2 => (0i64..30).prop_map(|m| m * MINUTE),
    ]
}

fn values() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-10_000i64..10_000).prop_map(|m| m as f64 / 100.0),
        2 => (0i64..20).prop_map(|m| m as f64),
        2 => -1e6..1e6f64,
        1 => Just(0.0),
    ]
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let sample = (kinds(), 0u8..5, 0u8..3, ages(), values())
        .prop_map(|(kind, host, zone, age, value)| Sample { kind, host, zone, age, value });
    prop::collection::vec(sample, 1..120)
}

fn query_cases() -> impl Strategy<Value = Step> {
    let intervals =
        prop::sample::select(vec![MINUTE, 5 * MINUTE, 60 * MINUTE, DAY, 7 * MINUTE, 90_000]);
    let lengths = prop_oneof![1..30 * MINUTE, 1..3 * DAY, Just(5 * DAY)];
    let groups = prop::sample::select(vec![None, Some("host"), Some("zone")]);
    (kinds(), -DAY..2 * DAY, lengths, intervals, prop::option::of(0u8..3), any::<bool>(), groups)
        .prop_map(|(kind, from_age, length, interval, zone, exclude, group)| {
            // Zone 0 has no value for a filter.
            let zone = zone.filter(|z| *z != 0);
            Step::Query(QueryCase { kind, from_age, length, interval, zone, exclude, group })
        })
}

fn histories() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => samples().prop_map(Step::Write),
        3 => Just(Step::Seal),
        2 => Just(Step::Merge),
        1 => Just(Step::Restart),
        2 => (0..5 * 60 * MINUTE).prop_map(Step::AdvanceClock),
        1 => (0..2 * DAY).prop_map(Step::AdvanceClock),
        12 => query_cases(),
    ];
    prop::collection::vec(step, 30..100)
}

#[test]
fn query_results_equal_those_of_a_list_of_samples() {
    run(cases(), &histories(), |history| {
        let mut harness = Harness::new();
        history.iter().for_each(|step| harness.step(step));
    });
}

#[test]
fn percentiles_of_many_values_stay_within_a_percent() {
    let mut harness = Harness::new();
    for round in 0..6i64 {
        let samples: Vec<Sample> = (0..2_000i64)
            .map(|i| Sample {
                kind: MetricType::Distribution,
                host: (i % 3) as u8,
                zone: (i % 2) as u8 + 1,
                age: i * 97 % (20 * MINUTE),
                value: ((i * 7919 + round * 31) % 10_007 - 2_000) as f64 * 0.37,
            })
            .collect();
        harness.step(&Step::Write(samples));
        if round % 2 == 0 {
            harness.step(&Step::Seal);
        }
        if round == 3 {
            harness.step(&Step::Merge);
        }
    }
    for interval in [MINUTE, 5 * MINUTE, 60 * MINUTE, DAY] {
        for group in [None, Some("host")] {
            harness.check_query(&QueryCase {
                kind: MetricType::Distribution,
                from_age: -1,
                length: DAY,
                interval,
                zone: None,
                exclude: false,
                group,
            });
        }
    }
}
