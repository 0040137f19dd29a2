//! Cumulative samples against lists: of the delta that each of them added, and of the values that
//! represent its buckets.

use std::collections::BTreeMap;

use proptest::prelude::*;
use telltale_engine::{
    Aggregation, Clock, Engine, Interval, MetricName, MetricQuery, MetricType, StartTime,
    TimeRange, TimestampMs,
};

use super::bucketed_values::{BucketedValues, Verdict, classify};
use super::{DAY, MINUTE, START, cases, memory_dir, open, reopen, run};

/// Number of counting processes; each has its own series.
const HOSTS: u8 = 5;
const COUNTER: &str = "requests";
const HISTOGRAM: &str = "latency";

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    /// Processes continue to count, and send cumulative samples in one batch.
    Observe(Vec<Observation>),
    /// A process restarts.
    Reset(u8),
    /// A process halves the resolution of its exponential buckets.
    Coarsen(u8),
    /// Another sender writes a single value to the series of a process.
    Value(u8, i64, f64),
    Seal,
    Merge,
    Restart,
    AdvanceClock(i64),
    Query {
        length: i64,
        interval: i64,
        by_host: bool,
    },
}

/// What a process counted, and the time of its sample.
#[derive(Clone, Debug)]
struct Observation {
    host: u8,
    /// Milliseconds before the current time: a sample older than the one before is ignored as late.
    age: i64,
    cents: u32,
    values: Vec<f64>,
    delta: bool,
}

/// What a process has counted since its start.
#[derive(Clone, Debug)]
struct Process {
    start: i64,
    cents: u64,
    values: BucketedValues,
}

/// What was stored for a series at a time.
#[derive(Clone, Debug)]
struct Stored {
    host: u8,
    time: i64,
    sum: f64,
    /// Empty for counters.
    values: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
struct Last {
    counter: Option<(i64, u64)>,
    histogram: Option<(i64, BucketedValues)>,
}

struct Harness {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
    processes: Vec<Process>,
    last: Vec<Last>,
    counters: Vec<Stored>,
    values: Vec<Stored>,
    late: u64,
}

impl Harness {
    fn new() -> Self {
        let dir = memory_dir();
        let clock = Clock::manual(TimestampMs(START));
        let engine = open(&dir, &clock);
        let process = |host| Process { start: START, cents: 0, values: BucketedValues::new(host) };
        Self {
            dir,
            clock,
            engine,
            processes: (0..HOSTS).map(process).collect(),
            last: vec![Last::default(); HOSTS.into()],
            counters: Vec::new(),
            values: Vec::new(),
            late: 0,
        }
    }

    fn step(&mut self, step: &Step) {
        let now = self.clock.now().0;
        match step {
            Step::Observe(observations) => self.observe(observations),
            Step::Reset(host) => {
                let values = BucketedValues::new(*host);
                self.processes[usize::from(*host)] = Process { start: now, cents: 0, values };
                // No sample is taken at the instant of the restart.
                self.clock.set(TimestampMs(now + 1));
            }
            Step::Coarsen(host) => self.processes[usize::from(*host)].values.coarsen(),
            Step::Value(host, age, value) => self.value(*host, now - age, *value),
            Step::Seal => {
                self.engine.seal().unwrap();
            }
            Step::Merge => {
                self.engine.merge().unwrap();
            }
            Step::Restart => reopen(&mut self.engine, &self.dir, &self.clock),
            Step::AdvanceClock(ms) => self.clock.set(TimestampMs(now + ms)),
            Step::Query { length, interval, by_host } => {
                self.check_query(*length, *interval, *by_host)
            }
        }
    }

    fn value(&mut self, host: u8, time: i64, value: f64) {
        let mut batch = self.engine.batch();
        let name = format!("host-{host}");
        let kind = MetricType::Distribution;
        let series = batch.series(HISTOGRAM, kind, &[("host", &name)]).unwrap();
        batch.number(kind, series, TimestampMs(time), value);
        let points = batch.finish();
        self.engine.write(points).unwrap();
        self.values.push(Stored { host, time, sum: value, values: vec![value] });
    }

    fn observe(&mut self, all: &[Observation]) {
        let now = self.clock.now().0;
        let (counters, values) = (&mut self.counters, &mut self.values);
        let mut batch = self.engine.batch();
        for Observation { host, age, cents, values: seen, delta } in all {
            let (host, time) = (*host, now - age);
            let process = &mut self.processes[usize::from(host)];
            let last = &mut self.last[usize::from(host)];
            let start_time = match host % 3 {
                0 => StartTime::Unknown,
                n => StartTime::At { start: TimestampMs(process.start), counts: n == 1 },
            };
            let name = format!("host-{host}");
            let tags = [("host", name.as_str())];
            process.cents += u64::from(*cents);
            let series = batch.series(COUNTER, MetricType::Counter, &tags).unwrap();
            batch.reading(series, TimestampMs(time), process.cents as f64 / 100.0, start_time);
            let before = last.counter.replace((time, process.cents));
            let verdict =
                classify(before, time, start_time, |before| process.cents.checked_sub(*before));
            match verdict {
                Verdict::Late => {
                    last.counter = before;
                    self.late += 1;
                }
                Verdict::Added(cents) => {
                    let sum = cents.unwrap_or(process.cents) as f64 / 100.0;
                    counters.push(Stored { host, time, sum, values: Vec::new() });
                }
                Verdict::Nothing => {}
            }
            let kind = MetricType::Distribution;
            let series = batch.series(HISTOGRAM, kind, &tags).unwrap();
            let mut stored = |counted: &BucketedValues| {
                if counted.count() > 0 {
                    values.push(Stored {
                        host,
                        time,
                        sum: counted.sum,
                        values: counted.representative_values(),
                    });
                }
            };
            if *delta {
                let mut counted = BucketedValues::new(host);
                seen.iter().for_each(|value| counted.add(*value));
                batch.histogram(series, TimestampMs(time), &counted.histogram());
                stored(&counted);
                continue;
            }
            seen.iter().for_each(|value| process.values.add(*value));
            let counted = process.values.clone();
            batch.cumulative_histogram(series, TimestampMs(time), counted.histogram(), start_time);
            let before = last.histogram.clone();
            match classify(before.clone(), time, start_time, |before| counted.delta_since(before)) {
                Verdict::Late => self.late += 1,
                Verdict::Added(more) => {
                    stored(more.as_ref().unwrap_or(&counted));
                    last.histogram = Some((time, counted));
                }
                Verdict::Nothing => last.histogram = Some((time, counted)),
            }
        }
        let points = batch.finish();
        self.engine.write(points).unwrap();
    }

    fn check_query(&self, length: i64, interval: i64, by_host: bool) {
        let end = self.clock.now().0 + MINUTE;
        let range = TimeRange::new(end - length, end).widen_to(Interval::MINUTE);
        self.compare(COUNTER, MetricType::Counter, &self.counters, range, interval, by_host);
        let values = self.values.iter().map(|stored| {
            // They are stored in cells of one minute.
            let time = stored.time - stored.time.rem_euclid(MINUTE);
            Stored { time, ..stored.clone() }
        });
        let values: Vec<Stored> = values.collect();
        self.compare(HISTOGRAM, MetricType::Distribution, &values, range, interval, by_host);
    }

    fn compare(
        &self,
        metric: &str,
        kind: MetricType,
        stored: &[Stored],
        range: TimeRange,
        interval: i64,
        by_host: bool,
    ) {
        if stored.is_empty() {
            return;
        }
        let mut wanted: BTreeMap<(String, i64), Vec<&Stored>> = BTreeMap::new();
        for stored in stored.iter().filter(|s| range.contains(TimestampMs(s.time))) {
            let group = if by_host { format!("host-{}", stored.host) } else { String::new() };
            let start = stored.time - stored.time.rem_euclid(interval);
            wanted.entry((group, start)).or_default().push(stored);
        }
        let aggregations = Aggregation::of(kind).to_vec();
        let query = MetricQuery {
            metric: MetricName::new(metric).unwrap(),
            range,
            interval: Interval::from_ms(interval).unwrap(),
            aggregations: aggregations.clone(),
            filters: vec![],
            group_by: if by_host { vec!["host".to_owned()] } else { vec![] },
        };
        let answer = self.engine.query(&query).unwrap();
        for group in &answer.groups {
            for (i, start) in group.starts.iter().enumerate() {
                let at = (group.key.join(","), start.0);
                let stored = wanted.remove(&at).unwrap_or_else(|| panic!("{at:?}: {query:?}"));
                for (column, aggregation) in group.columns.iter().zip(&aggregations) {
                    let bucket = TimeRange::new(start.0, start.0 + interval).intersect(range);
                    let seconds = bucket.len_ms() as f64 / 1000.0;
                    let (expected, tolerance) = expected(*aggregation, &stored, seconds);
                    assert!(
                        (column[i] - expected).abs() <= tolerance,
                        "{aggregation:?} at {at:?}: {} instead of {expected}\n{query:?}",
                        column[i]
                    );
                }
            }
        }
        assert!(wanted.is_empty(), "{:?} of {query:?}", wanted.keys());
    }
}

/// Returns the expected value of an aggregation, and its tolerance.
fn expected(aggregation: Aggregation, stored: &[&Stored], seconds: f64) -> (f64, f64) {
    let mut values: Vec<f64> = stored.iter().flat_map(|s| &s.values).copied().collect();
    values.sort_by(f64::total_cmp);
    let sum: f64 = stored.iter().map(|s| s.sum).sum();
    let size: f64 = stored.iter().map(|s| s.sum.abs()).sum::<f64>() * 1e-12 + 1e-9;
    let exact = |value: f64| (value, value.abs() * 1e-12);
    match aggregation {
        Aggregation::Sum => (sum, size),
        Aggregation::Rate => (sum / seconds, size / seconds),
        Aggregation::Avg => (sum / values.len() as f64, size),
        Aggregation::Min => exact(values[0]),
        Aggregation::Max => exact(values[values.len() - 1]),
        Aggregation::Count => (values.len() as f64, 0.0),
        percentile => {
            let rank =
                (percentile.quantile().unwrap() * values.len() as f64 - 1e-9).ceil().max(1.0);
            let value = values[rank as usize - 1];
            if values.len() <= 64 { exact(value) } else { (value, value.abs() * 0.01 + 1e-7) }
        }
    }
}

fn observation() -> impl Strategy<Value = Observation> {
    let value = prop_oneof![
        6 => (1i32..2_000).prop_map(|v| f64::from(v) / 100.0),
        2 => (-300i32..300).prop_map(|v| f64::from(v) / 8.0),
        1 => Just(0.0),
    ];
    let ages = prop_oneof![4 => 0i64..1_000, 1 => 0..3 * MINUTE];
    (0..HOSTS, ages, 0u32..5_000, prop::collection::vec(value, 0..30), prop::bool::weighted(0.3))
        .prop_map(|(host, age, cents, values, delta)| Observation {
            host,
            age,
            cents,
            values,
            delta,
        })
}

fn histories() -> impl Strategy<Value = Vec<Step>> {
    let intervals = prop::sample::select(vec![MINUTE, 5 * MINUTE, 60 * MINUTE, DAY, 7 * MINUTE]);
    let lengths = prop_oneof![MINUTE..30 * MINUTE, MINUTE..DAY, Just(5 * DAY)];
    let step = prop_oneof![
        10 => prop::collection::vec(observation(), 1..12).prop_map(Step::Observe),
        2 => (0..HOSTS).prop_map(Step::Reset),
        1 => (0..HOSTS).prop_map(Step::Coarsen),
        1 => (0..HOSTS, 0..10 * MINUTE, 0i32..99)
            .prop_map(|(host, age, v)| Step::Value(host, age, f64::from(v) / 4.0)),
        3 => Just(Step::Seal),
        2 => Just(Step::Merge),
        2 => Just(Step::Restart),
        6 => (1..3 * MINUTE).prop_map(Step::AdvanceClock),
        1 => (0..DAY).prop_map(Step::AdvanceClock),
        6 => (lengths, intervals, any::<bool>())
            .prop_map(|(length, interval, by_host)| Step::Query { length, interval, by_host }),
    ];
    prop::collection::vec(step, 30..100)
}

#[test]
fn deltas_equal_those_of_a_list_of_cumulative_samples() {
    run(cases(), &histories(), |history| {
        let mut harness = Harness::new();
        let mut restarted = false;
        for step in &history {
            restarted |= matches!(step, Step::Restart);
            harness.step(step);
        }
        if !restarted {
            assert_eq!(harness.engine.stats().late_samples, harness.late);
        }
        harness.check_query(40 * DAY, DAY, true);
    });
}
