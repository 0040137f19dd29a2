//! Samples that arrive for days whose samples have expired: nothing hides or deletes what is there, and no answer depends on
//! whether a merge has run.

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

struct World {
    _dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
}

fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}

impl World {
    fn new(now: i64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(now));
        // Samples for two days, minutes for four, and so on.
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

    /// Moves the clock to the day `days` after the one that began at [`START`].
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

    /// The values of the buckets of the first day.
    fn ask(&self, kind: MetricType, aggregation: Aggregation, interval: Interval) -> Vec<f64> {
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

    /// Everything that can be asked of the first day.
    fn ask_all(&self, kind: MetricType) -> Vec<Vec<f64>> {
        let ask = |a: &Aggregation| WIDTHS.map(|width| self.ask(kind, *a, width));
        Aggregation::of(kind).iter().flat_map(ask).collect()
    }

    fn total(&self, kind: MetricType, interval: Interval) -> f64 {
        let aggregation = match kind {
            MetricType::Set => Aggregation::Count,
            _ => Aggregation::Sum,
        };
        self.ask(kind, aggregation, interval).iter().sum()
    }
}

/// A sample a second for ten minutes: 600 ones, or members.
fn ten_minutes(kind: MetricType) -> Vec<(i64, f64)> {
    let value = |i: i64| if kind == MetricType::Set { i as f64 } else { 1.0 };
    (0..600).map(|i| (i * 1000, value(i))).collect()
}

const ADDED: [MetricType; 3] = [MetricType::Counter, MetricType::Distribution, MetricType::Set];

#[test]
fn a_late_sample_leaves_the_day_that_it_belongs_to_whole() {
    for kind in ADDED {
        let world = World::new(START + HOUR);
        world.write(kind, &ten_minutes(kind)).seal().day(3).merge().expire();
        let late: Vec<(i64, f64)> = (0..5).map(|i| (20 * MINUTE + i, 1e6 + i as f64)).collect();
        let added = if kind == MetricType::Set { 5.0 } else { late.iter().map(|l| l.1).sum() };
        world.write(kind, &late);
        let whole = 600.0 + added;
        for step in ["in the head", "sealed", "merged", "minutes expired", "five minutes expired"] {
            match step {
                "sealed" => _ = world.seal(),
                "merged" => _ = world.merge(),
                "minutes expired" => _ = world.day(6).merge().expire(),
                "five minutes expired" => _ = world.day(10).merge().expire(),
                _ => {}
            }
            let totals = WIDTHS.map(|width| world.total(kind, width));
            // Members of two buckets count in both, these are in one each.
            assert_eq!(totals, [whole; 4], "{kind:?} {step}");
        }
    }
}

#[test]
fn a_late_gauge_sample_leaves_the_day_whole() {
    let kind = MetricType::Gauge;
    let world = World::new(START + HOUR);
    world.write(kind, &ten_minutes(kind)).seal().day(3).merge().expire();
    world.write(kind, &[(20 * MINUTE, 601.0)]);
    for step in ["in the head", "sealed", "merged", "expired"] {
        match step {
            "sealed" => _ = world.seal(),
            "merged" => _ = world.merge(),
            "expired" => _ = world.day(20).merge().expire(),
            _ => {}
        }
        assert_eq!(world.ask(kind, Aggregation::Avg, Interval::DAY), [1201.0 / 601.0], "{step}");
        assert_eq!(world.ask(kind, Aggregation::Min, Interval::DAY), [1.0], "{step}");
    }
}

#[test]
fn a_part_of_a_day_without_samples_is_not_lost_when_the_day_is_merged() {
    for kind in ADDED {
        let world = World::new(START + HOUR);
        // One part is merged and loses its samples, the other is sealed after that.
        world.write(kind, &ten_minutes(kind)).seal();
        world.clock.set(TimestampMs(START + 3 * HOUR));
        world.merge().day(4).expire();
        // Fewer than a thousand members in all, which are counted exactly.
        let late = ten_minutes(kind).into_iter().take(300);
        let late: Vec<(i64, f64)> = late.map(|(time, v)| (5 * HOUR + time, v + 1000.0)).collect();
        let added = if kind == MetricType::Set { 300.0 } else { 300.0 * 1001.0 };
        world.write(kind, &late).seal();
        let before = world.ask_all(kind);
        assert_eq!(WIDTHS.map(|width| world.total(kind, width)), [600.0 + added; 4], "{kind:?}");
        world.merge();
        assert_eq!(world.ask_all(kind), before, "{kind:?}");
        world.expire().merge().day(10).expire().merge();
        let coarse = [Interval::HOUR, Interval::DAY].map(|width| world.total(kind, width));
        assert_eq!(coarse, [600.0 + added; 2], "{kind:?}");
    }
}

#[test]
fn a_replaced_gauge_sample_counts_the_same_before_and_after_a_merge() {
    let kind = MetricType::Gauge;
    for days in [1, 3, 6, 10, 20] {
        let world = World::new(START + HOUR);
        world.write(kind, &ten_minutes(kind)).seal().day(1).merge();
        world.day(days).merge().expire();
        // The same sample three times: in two blocks and in the head.
        for value in [5.0, 7.0, 9.0] {
            world.write(kind, &[(30_000, value), (40 * MINUTE, value)]);
            if value < 9.0 {
                world.seal();
            }
        }
        let before = world.ask_all(kind);
        world.seal();
        assert_eq!(world.ask_all(kind), before, "sealed on day {days}");
        world.merge();
        assert_eq!(world.ask_all(kind), before, "merged on day {days}");
        let max = world.ask(kind, Aggregation::Max, Interval::DAY);
        assert_eq!(max, [9.0], "on day {days}");
    }
}

#[test]
fn samples_that_replace_others_are_merged_before_those_expire() {
    let kind = MetricType::Gauge;
    let world = World::new(START + HOUR);
    world.write(kind, &ten_minutes(kind)).seal().day(3).merge();
    world.write(kind, &[(30_000, 601.0)]);
    let whole = [1200.0 / 600.0];
    for step in 0..4 {
        world.expire();
        assert_eq!(world.ask(kind, Aggregation::Avg, Interval::DAY), whole, "step {step}");
        if step == 0 {
            world.seal();
        } else {
            world.merge();
        }
    }
}

#[test]
fn the_rate_of_a_coarse_cell_is_by_the_seconds_of_the_cell() {
    let kind = MetricType::Counter;
    let world = World::new(START + HOUR);
    let all_day: Vec<(i64, f64)> = (0..DAY / 10_000).map(|i| (i * 10_000, 10.0)).collect();
    world.write(kind, &all_day).seal().day(1).merge();
    for days in [2, 3, 6, 10, 20] {
        world.day(days).merge().expire();
        for width in WIDTHS {
            let rates = world.ask(kind, Aggregation::Rate, width);
            assert!(!rates.is_empty(), "{width:?} on day {days}");
            assert!(rates.iter().all(|rate| *rate == 1.0), "{width:?} on day {days}: {rates:?}");
        }
    }
}

#[test]
fn sums_and_averages_near_the_largest_double_have_the_right_sign() {
    let check = |values: &[f64], sum: f64, avg: f64| {
        for (kind, aggregation, expected) in [
            (MetricType::Gauge, Aggregation::Avg, avg),
            (MetricType::Counter, Aggregation::Sum, sum),
            (MetricType::Distribution, Aggregation::Avg, avg),
            (MetricType::Distribution, Aggregation::Sum, sum),
        ] {
            let world = World::new(START + HOUR);
            let times = (0..).map(|i| i * MINUTE / 4);
            let samples: Vec<(i64, f64)> = times.zip(values.iter().copied()).collect();
            world.write(kind, &samples);
            for step in ["in the head", "sealed", "merged", "expired"] {
                match step {
                    "sealed" => _ = world.seal(),
                    "merged" => _ = world.day(1).merge(),
                    "expired" => _ = world.day(6).merge().expire(),
                    _ => {}
                }
                let got = world.ask(kind, aggregation, Interval::DAY);
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
