//! How the cost of each operation grows: CPU time over powers of ten of metrics, series, tag keys, days and seals. The exponent
//! between the two largest sizes is printed; above 1.2 the program fails, since then something is square.
//!
//! `cargo run --release -p telltale-benches --example costs [largest size]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to be read by people")]

use std::path::Path;
use std::time::Duration;

use telltale_benches::data::{DAY, START, options};
use telltale_engine::{
    Aggregation, Clock, Engine, Interval, MetricName, MetricQuery, MetricType, Options, Retention,
    TierRetention, TimeRange, TimestampMs,
};

const EXPONENT_MAX: f64 = 1.2;
/// Less is noise.
const SECONDS_MIN: f64 = 0.3;
/// Definitions of one batch.
const BATCH: usize = 10_000;
const DECADE: Duration = Duration::from_secs(40 * 365 * 86_400);

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growing {
    Metrics,
    Series,
    TagKeys,
    Days,
    Seals,
}

impl Growing {
    const ALL: [Self; 5] = [Self::Metrics, Self::Series, Self::TagKeys, Self::Days, Self::Seals];

    /// The largest of it that somebody may have: each seal is synced, and no data is older than a few decades.
    fn most(self, asked: usize) -> usize {
        match self {
            Self::Metrics | Self::Series | Self::TagKeys => asked,
            Self::Days => asked.min(10_000),
            Self::Seals => asked.min(1_000),
        }
    }

    /// The metric and the tags of the point with this number, and its time.
    fn point(self, n: usize) -> (String, Option<(String, String)>, i64) {
        let plain = || "cpu".to_owned();
        match self {
            Self::Metrics => (format!("metric_{n}"), None, START),
            Self::Series => (plain(), Some(("host".to_owned(), format!("host-{n}"))), START),
            Self::TagKeys => (plain(), Some((format!("key_{n}"), "x".to_owned())), START),
            Self::Days => (plain(), None, START - n as i64 * DAY),
            Self::Seals => (plain(), None, START + n as i64 * 60_000),
        }
    }
}

/// Seconds of CPU that this process has taken, on all cores.
fn cpu_seconds() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / TICKS
}

fn open(dir: &Path) -> Engine {
    let kept = TierRetention {
        raw: DECADE,
        minute: DECADE,
        five_minutes: DECADE,
        hour: DECADE,
        day: DECADE,
    };
    let options = Options {
        clock: Clock::manual(TimestampMs(START + 2 * DAY)),
        series_per_metric: usize::MAX,
        tag_keys_per_metric: usize::MAX,
        series_total: usize::MAX,
        head_bytes: 4 << 30,
        retention: Retention { default: kept, ..Retention::default() },
        ..options()
    };
    Engine::open(dir, options).unwrap()
}

fn write(engine: &Engine, growing: Growing, numbers: std::ops::Range<usize>) {
    let mut batch = engine.batch();
    for n in numbers {
        let (name, tag, time) = growing.point(n);
        let tags: Vec<(&str, &str)> = tag.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let series = batch.series(&name, MetricType::Gauge, &tags).unwrap();
        batch.number(MetricType::Gauge, series, TimestampMs(time), n as f64);
    }
    engine.write(batch.finish()).unwrap();
}

fn ask(engine: &Engine, growing: Growing, size: usize) {
    let asked = if growing == Growing::Metrics { size.min(10_000) } else { 1 };
    for n in 0..asked {
        let (name, _, _) = growing.point(n);
        let query = MetricQuery {
            metric: MetricName::new(&name).unwrap(),
            range: TimeRange::new(START - 10_001 * DAY, START + 2 * DAY),
            interval: Interval::DAY,
            aggregations: vec![Aggregation::Avg],
            filters: vec![],
            group_by: vec![],
        };
        engine.query(&query).unwrap();
    }
}

/// The steps of a life, with the seconds of CPU that each took.
fn live(growing: Growing, size: usize) -> Vec<(&'static str, f64)> {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = open(dir.path());
    let mut steps = Vec::new();
    let mut before = cpu_seconds();
    let mut step = |name| {
        let now = cpu_seconds();
        steps.push((name, now - before));
        before = now;
    };
    for first in (0..size).step_by(if growing == Growing::Seals { 1 } else { BATCH }) {
        let end = if growing == Growing::Seals { first + 1 } else { size.min(first + BATCH) };
        write(&engine, growing, first..end);
        if growing == Growing::Seals {
            engine.seal().unwrap();
        }
    }
    step("ingest");
    engine.seal().unwrap();
    step("seal");
    write(&engine, growing, 0..size.min(1_000));
    engine.seal().unwrap();
    step("another seal");
    engine.merge().unwrap();
    step("merge");
    ask(&engine, growing, size);
    step("query");
    engine.close().unwrap();
    drop(engine);
    step("close");
    engine = open(dir.path());
    step("start");
    engine.verify().unwrap();
    step("verify");
    for n in 0..if growing == Growing::Metrics { size } else { 1 } {
        engine.delete_metric(&growing.point(n).0).unwrap();
    }
    engine.seal().unwrap();
    step("delete");
    steps
}

fn main() {
    let most = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let mut too_steep = false;
    for growing in Growing::ALL {
        let most = growing.most(most);
        let (small, large) = (live(growing, most / 10), live(growing, most));
        for ((name, less), (_, more)) in small.into_iter().zip(large) {
            let exponent = (more.max(SECONDS_MIN) / less.max(SECONDS_MIN / 10.0)).log10();
            let is_steep = more > SECONDS_MIN && exponent > EXPONENT_MAX;
            too_steep |= is_steep;
            println!(
                "{:<8} {name:<12} {:>8}: {less:>7.2} s {most:>8}: {more:>7.2} s  exponent {exponent:>5.2}{}",
                format!("{growing:?}"),
                most / 10,
                if is_steep { "  TOO STEEP" } else { "" }
            );
        }
    }
    assert!(!too_steep, "an exponent is above {EXPONENT_MAX}");
}
