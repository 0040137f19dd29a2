//! Samples that arrive for days whose raw samples have expired: they neither hide nor delete
//! existing data, and query results do not depend on whether a compaction has run.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use std::time::Duration;

use telltale_engine::{
    Aggregation, Clock, Engine, Interval, Maintenance, MetricName, MetricQuery, MetricType,
    Options, Retention, TierRetention, TimeRange, TimestampMs,
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const START: i64 = 20_000 * DAY;
const WIDTHS: [Interval; 4] =
    [Interval::MINUTE, Interval::FIVE_MINUTES, Interval::HOUR, Interval::DAY];

struct Harness {
    _dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
}

fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

impl Harness {
    fn new(now: i64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(now));
        // Samples are kept for two days, minutes for four, and so on.
        let kept = TierRetention {
            raw: days(2),
            minute: days(4),
            five_minutes: days(8),
            hour: days(16),
            day: days(32),
        };
        let options = Options {
            maintenance: Maintenance::Manual,
            clock: clock.clone(),
            retention: Retention { default: kept, by_prefix: Vec::new() },
            ..Options::default()
        };
        let engine = Engine::open(dir.path(), options).unwrap();
        Self { _dir: dir, clock, engine }
    }

    /// Moves the clock to the day `days` days after [`START`].
    fn day(&self, days: i64) -> &Self {
        self.clock.set(TimestampMs(START + days * DAY + HOUR));
        self
    }

    fn write(&self, kind: MetricType, samples: &[(i64, f64)]) -> &Self {
        let mut batch = self.engine.batch();
        let series = batch.series(kind.as_str(), kind, &[]).unwrap();
        for (time, value) in samples {
            let time = TimestampMs(START + time);
            match kind {
                MetricType::Set => batch.member(series, time, &value.to_string()),
                _ => batch.number(kind, series, time, *value),
            }
        }
        self.engine.write(batch.finish()).unwrap();
        self
    }

    fn seal(&self) -> &Self {
        self.engine.seal().unwrap();
        self
    }

    fn merge(&self) -> &Self {
        self.engine.merge().unwrap();
        self
    }

    fn expire(&self) -> &Self {
        self.engine.expire().unwrap();
        self
    }

    /// Returns the values of the buckets of the first day.
    fn query(&self, kind: MetricType, aggregation: Aggregation, interval: Interval) -> Vec<f64> {
        let query = MetricQuery {
            metric: MetricName::new(kind.as_str()).unwrap(),
            range: TimeRange::new(START, START + DAY),
            interval,
            aggregations: vec![aggregation],
            filters: vec![],
            group_by: vec![],
        };
        let answer = self.engine.query(&query).unwrap();
        answer.groups.first().map(|group| group.columns[0].clone()).unwrap_or_default()
    }

    /// Returns the results of all aggregations at all intervals for the first day.
    fn query_all(&self, kind: MetricType) -> Vec<Vec<f64>> {
        let query = |a: &Aggregation| WIDTHS.map(|width| self.query(kind, *a, width));
        Aggregation::of(kind).iter().flat_map(query).collect()
    }

    /// Returns the sum or the number of members of the first day.
    fn total(&self, kind: MetricType, interval: Interval) -> f64 {
        let aggregation = match kind {
            MetricType::Set => Aggregation::Count,
            _ => Aggregation::Sum,
        };
        self.query(kind, aggregation, interval).iter().sum()
    }
}

/// One sample a second for ten minutes: 600 times the value 1, or 600 distinct members.
fn ten_minutes(kind: MetricType) -> Vec<(i64, f64)> {
    let value = |i: i64| if kind == MetricType::Set { i as f64 } else { 1.0 };
    (0..600).map(|i| (i * 1000, value(i))).collect()
}

const ADDED: [MetricType; 3] = [MetricType::Counter, MetricType::Distribution, MetricType::Set];

#[test]
fn a_late_sample_leaves_its_day_complete() {
    for kind in ADDED {
        let harness = Harness::new(START + HOUR);
        harness.write(kind, &ten_minutes(kind)).seal().day(3).merge().expire();
        let late: Vec<(i64, f64)> = (0..5).map(|i| (20 * MINUTE + i, 1e6 + i as f64)).collect();
        let added = if kind == MetricType::Set { 5.0 } else { late.iter().map(|l| l.1).sum() };
        harness.write(kind, &late);
        let whole = 600.0 + added;
        for step in ["in the head", "sealed", "merged", "minutes expired", "five minutes expired"] {
            match step {
                "sealed" => _ = harness.seal(),
                "merged" => _ = harness.merge(),
                "minutes expired" => _ = harness.day(6).merge().expire(),
                "five minutes expired" => _ = harness.day(10).merge().expire(),
                _ => {}
            }
            let totals = WIDTHS.map(|width| harness.total(kind, width));
            // Members of two buckets count in both; each of these is in one bucket.
            assert_eq!(totals, [whole; 4], "{kind:?} {step}");
        }
    }
}

#[test]
fn a_late_gauge_sample_leaves_its_day_complete() {
    let kind = MetricType::Gauge;
    let harness = Harness::new(START + HOUR);
    harness.write(kind, &ten_minutes(kind)).seal().day(3).merge().expire();
    harness.write(kind, &[(20 * MINUTE, 601.0)]);
    for step in ["in the head", "sealed", "merged", "expired"] {
        match step {
            "sealed" => _ = harness.seal(),
            "merged" => _ = harness.merge(),
            "expired" => _ = harness.day(20).merge().expire(),
            _ => {}
        }
        assert_eq!(
            harness.query(kind, Aggregation::Avg, Interval::DAY),
            [1201.0 / 601.0],
            "{step}"
        );
        assert_eq!(harness.query(kind, Aggregation::Min, Interval::DAY), [1.0], "{step}");
    }
}

#[test]
fn a_compaction_keeps_the_part_of_a_day_whose_samples_expired() {
    for kind in ADDED {
        let harness = Harness::new(START + HOUR);
        // One part is compacted and loses its samples; the other is sealed after that.
        harness.write(kind, &ten_minutes(kind)).seal();
        harness.clock.set(TimestampMs(START + 3 * HOUR));
        harness.merge().day(4).expire();
        // Fewer than a thousand members in all, which are counted exactly.
        let late = ten_minutes(kind).into_iter().take(300);
        let late: Vec<(i64, f64)> = late.map(|(time, v)| (5 * HOUR + time, v + 1000.0)).collect();
        let added = if kind == MetricType::Set { 300.0 } else { 300.0 * 1001.0 };
        harness.write(kind, &late).seal();
        let before = harness.query_all(kind);
        assert_eq!(WIDTHS.map(|width| harness.total(kind, width)), [600.0 + added; 4], "{kind:?}");
        harness.merge();
        assert_eq!(harness.query_all(kind), before, "{kind:?}");
        harness.expire().merge().day(10).expire().merge();
        let coarse = [Interval::HOUR, Interval::DAY].map(|width| harness.total(kind, width));
        assert_eq!(coarse, [600.0 + added; 2], "{kind:?}");
    }
}

#[test]
fn a_replaced_gauge_sample_counts_the_same_before_and_after_a_compaction() {
    let kind = MetricType::Gauge;
    for days in [1, 3, 6, 10, 20] {
        let harness = Harness::new(START + HOUR);
        harness.write(kind, &ten_minutes(kind)).seal().day(1).merge();
        harness.day(days).merge().expire();
        // The same sample three times: in two blocks and in the head.
        for value in [5.0, 7.0, 9.0] {
            harness.write(kind, &[(30_000, value), (40 * MINUTE, value)]);
            if value < 9.0 {
                harness.seal();
            }
        }
        let before = harness.query_all(kind);
        harness.seal();
        assert_eq!(harness.query_all(kind), before, "sealed on day {days}");
        harness.merge();
        assert_eq!(harness.query_all(kind), before, "merged on day {days}");
        let max = harness.query(kind, Aggregation::Max, Interval::DAY);
        assert_eq!(max, [9.0], "on day {days}");
    }
}

#[test]
fn samples_that_replace_others_are_compacted_before_those_expire() {
    let kind = MetricType::Gauge;
    let harness = Harness::new(START + HOUR);
    harness.write(kind, &ten_minutes(kind)).seal().day(3).merge();
    harness.write(kind, &[(30_000, 601.0)]);
    let whole = [1200.0 / 600.0];
    for step in 0..4 {
        harness.expire();
        assert_eq!(harness.query(kind, Aggregation::Avg, Interval::DAY), whole, "step {step}");
        if step == 0 {
            harness.seal();
        } else {
            harness.merge();
        }
    }
}

#[test]
fn the_rate_of_a_coarse_cell_is_per_second_of_the_cell() {
    let kind = MetricType::Counter;
    let harness = Harness::new(START + HOUR);
    let all_day: Vec<(i64, f64)> = (0..DAY / 10_000).map(|i| (i * 10_000, 10.0)).collect();
    harness.write(kind, &all_day).seal().day(1).merge();
    for days in [2, 3, 6, 10, 20] {
        harness.day(days).merge().expire();
        for width in WIDTHS {
            let rates = harness.query(kind, Aggregation::Rate, width);
            assert!(!rates.is_empty(), "{width:?} on day {days}");
            assert!(rates.iter().all(|rate| *rate == 1.0), "{width:?} on day {days}: {rates:?}");
        }
    }
}

#[test]
fn sums_and_averages_near_the_largest_double_are_correct() {
    let check = |values: &[f64], sum: f64, avg: f64| {
        for (kind, aggregation, expected) in [
            (MetricType::Gauge, Aggregation::Avg, avg),
            (MetricType::Counter, Aggregation::Sum, sum),
            (MetricType::Distribution, Aggregation::Avg, avg),
            (MetricType::Distribution, Aggregation::Sum, sum),
        ] {
            let harness = Harness::new(START + HOUR);
            let times = (0..).map(|i| i * MINUTE / 4);
            let samples: Vec<(i64, f64)> = times.zip(values.iter().copied()).collect();
            harness.write(kind, &samples);
            for step in ["in the head", "sealed", "merged", "expired"] {
                match step {
                    "sealed" => _ = harness.seal(),
                    "merged" => _ = harness.day(1).merge(),
                    "expired" => _ = harness.day(6).merge().expire(),
                    _ => {}
                }
                let got = harness.query(kind, aggregation, Interval::DAY);
                let close = |got: &f64| (got / expected - 1.0).abs() < 1e-15;
                assert!(
                    got.len() == 1 && got.iter().all(close),
                    "{kind:?} {aggregation:?} of {values:?} {step}: {got:?} instead of {expected}"
                );
            }
        }
    };
    check(&[-1e308; 4], f64::MIN, -1e308);
    check(&[1e308, 1e308, 1e308, 0.0], f64::MAX, 7.5e307);
    check(&[1e308, 1e308, -1e308, -5e307], 5e307, 1.25e307);
    check(&[1e308, 1e308, 1e308, -1e308, -1e308, -1e308, 0.3, 0.3], 0.6, 0.075);
    check(&[-1.5e308, 1.0 / 3.0, -1.5e308, 1.5e308], -1.5e308, -3.75e307);
}
