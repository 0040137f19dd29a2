//! Random histories: an engine whose series retire returns the same results as one whose series
//! never do.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::super::registry::RetirementProgress;
use super::retire_tests::memory_dir;
use crate::metrics::BatchBuilder;
use crate::model::{
    Aggregation, Interval, MetricQuery, MetricType, StartTime, TimeRange, TimestampMs,
};
use crate::options::{Maintenance, Options, Retention, TierRetention};
use crate::{Clock, Engine};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const START: i64 = 20_000 * DAY;
const METRICS: [(&str, MetricType); 5] = [
    ("gauge", MetricType::Gauge),
    ("counter", MetricType::Counter),
    ("latency", MetricType::Distribution),
    ("users", MetricType::Set),
    ("total", MetricType::Counter),
];
const CUMULATIVE: usize = 4;
/// The longest retention of any tier, in hours.
const KEPT_HOURS: i64 = 4 * 24;
const PODS: usize = 6;

#[derive(Clone, Debug)]
enum Step {
    /// Writes points of metric and pod, with their age in hours and value.
    Write(Vec<(usize, usize, i64, f64)>),
    /// Looks up a series and keeps the batch, to be written later.
    Hold(usize, usize),
    WriteHeld,
    Pass(i64),
    Seal,
    Merge,
    Expire,
    DeleteMetric(usize),
    Kill,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let age = prop_oneof![4 => Just(0i64), 2 => 0..30i64, 1 => 0..24 * 9i64, 1 => -40..0i64];
    let point = (0..METRICS.len(), 0..PODS, age, 0..100u32);
    let point = point.prop_map(|(metric, pod, age, value)| {
        // The first sample of a stream that started before the newest forgotten sample does not
        // count; forgotten samples are older than any retention.
        let age = if metric == CUMULATIVE { age.min(KEPT_HOURS - 1) } else { age };
        (metric, pod, age, f64::from(value))
    });
    let step = prop_oneof![
        8 => prop::collection::vec(point, 1..8).prop_map(Step::Write),
        1 => (0..METRICS.len(), 0..PODS).prop_map(|(metric, pod)| Step::Hold(metric, pod)),
        1 => Just(Step::WriteHeld),
        6 => prop_oneof![1..20 * HOUR, DAY..6 * DAY].prop_map(Step::Pass),
        2 => Just(Step::Seal),
        2 => Just(Step::Merge),
        5 => Just(Step::Expire),
        1 => (0..METRICS.len()).prop_map(Step::DeleteMetric),
        2 => Just(Step::Kill),
    ];
    prop::collection::vec(step, 1..60)
}

fn open(dir: &Path, clock: &Clock) -> Engine {
    let default = TierRetention::of_days([2, 1, 2, 4, 3]);
    let short = TierRetention::of_days([2, 1, 2, 2, 2]);
    let options = Options {
        maintenance: Maintenance::Manual,
        clock: clock.clone(),
        retention: Retention { default, by_prefix: vec![("count".to_owned(), short)] },
        clock_grace: Duration::ZERO,
        disk_free_bytes: 0,
        rollup_points_min: 1,
        threads: 1,
        cache_bytes: 1 << 20,
        ..Options::default()
    };
    Engine::open(dir, options).unwrap()
}

fn push(batch: &mut BatchBuilder<'_>, (metric, pod): (usize, usize), time: i64, value: f64) {
    let (name, kind) = METRICS[metric];
    let pod = pod.to_string();
    let series = batch.series(name, kind, &[("pod", &pod), ("of", name)]).unwrap();
    let time = TimestampMs(time);
    if metric == CUMULATIVE {
        // A new process for every sample, so no earlier sample is known.
        let start = TimestampMs(time.0 - 1);
        batch.reading(series, time, value, StartTime::At { start, counts: true });
    } else if kind == MetricType::Set {
        batch.member(series, time, &value.to_string());
    } else {
        batch.number(kind, series, time, value);
    }
}

fn results(engine: &Engine, now: i64) -> Vec<String> {
    let mut results = Vec::new();
    for (name, kind) in METRICS {
        let aggregation = match kind {
            MetricType::Gauge => Aggregation::Last,
            MetricType::Set => Aggregation::Count,
            _ => Aggregation::Sum,
        };
        for interval in [Interval::HOUR, Interval::DAY] {
            let result = engine.query(
                &MetricQuery::of_all(
                    name,
                    TimeRange::new(now - 20 * DAY, now + 3 * DAY),
                    interval,
                    &[aggregation],
                )
                .by("pod"),
            );
            results.push(match result {
                Ok(result) => format!("{name}: {:?}", result.groups),
                Err(error) => format!("{name}: {error}"),
            });
        }
        let definition = engine.metric(name).unwrap();
        results.push(format!(
            "{:?}",
            definition.map(|it| (it.first_seen, it.last_seen, it.data_points))
        ));
    }
    results
}

/// Runs a history. Unless `retires`, a batch that is never written keeps all series from retiring.
/// Returns the results after each step and the number of retired series.
fn run_history(steps: &[Step], retires: bool) -> (Vec<Vec<String>>, u64) {
    let dir = memory_dir();
    let clock = Clock::manual(TimestampMs(START));
    let mut engine = open(dir.path(), &clock);
    let (mut seen, mut held, mut retired) = (Vec::new(), Vec::new(), 0);
    let mut keep = (!retires).then(|| engine.batch().finish());
    for step in steps {
        let now = clock.now().0;
        match step {
            Step::Write(points) => {
                let mut batch = engine.batch();
                for (metric, pod, age, value) in points {
                    push(&mut batch, (*metric, *pod), now - age * HOUR, *value);
                }
                engine.write(batch.finish()).unwrap();
            }
            Step::Hold(metric, pod) => {
                let mut batch = engine.batch();
                push(&mut batch, (*metric, *pod), now, 7.0);
                held.push(batch.finish());
            }
            Step::WriteHeld => held.drain(..).for_each(|points| _ = engine.write(points).unwrap()),
            Step::Pass(ms) => clock.pass(Duration::from_millis(ms.unsigned_abs())),
            Step::Seal => _ = engine.seal().unwrap(),
            Step::Merge => _ = engine.merge().unwrap(),
            Step::Expire => {
                engine.seal().unwrap();
                let before = engine.stats().series;
                engine.expire().unwrap();
                retired += before - engine.stats().series;
                if !retires {
                    let marked = engine.inner().telemetry.metrics.registry().marked();
                    assert_ne!(marked, RetirementProgress::Quiet);
                }
            }
            Step::DeleteMetric(metric) => {
                // The metric may not exist.
                let _deleted = engine.delete_metric(METRICS[*metric].0);
            }
            Step::Kill => {
                held.clear();
                drop((keep.take(), engine));
                engine = open(dir.path(), &clock);
                keep = (!retires).then(|| engine.batch().finish());
            }
        }
        seen.push(results(&engine, clock.now().0));
    }
    assert_eq!(engine.verify().unwrap().damaged, [""; 0]);
    (seen, retired)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn results_are_those_of_an_engine_whose_series_never_retire(steps in steps()) {
        let (results, _) = run_history(&steps, true);
        let (expected, kept) = run_history(&steps, false);
        prop_assert_eq!(kept, 0);
        for (at, (result, expected)) in results.iter().zip(&expected).enumerate() {
            prop_assert_eq!(result, expected, "after step {}: {:?}", at, &steps[at]);
        }
    }
}

#[test]
fn series_retire_in_histories() {
    let point =
        |age| Step::Write(vec![(0, 0, age, 1.0), (1, 0, age, 1.0), (CUMULATIVE, 0, age, 1.0)]);
    let steps = [point(0), Step::Merge, Step::Pass(7 * DAY), Step::Expire, point(0), Step::Kill];
    assert_eq!(run_history(&steps, true).1, 3);
    assert_eq!(run_history(&steps, false).1, 0);
}
