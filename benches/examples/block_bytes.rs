//! Bytes on disk and CPU time by data set, in the engine alone, from columns to compacted blocks.
//!
//! `cargo run --release -p telltale-benches --example block_bytes [data set] [agents] [hours]`
//!
//! - `tsbs`: ten metrics of TSBS cpu-only, each a random walk with steps N(0, 1), clamped to 0 and
//!   100 and truncated to integers; reported every ten seconds.
//! - `doubles`: the same, not truncated.
//! - `mix`: twenty metrics, of which ten are constants and slow counters, six gauges with two
//!   decimals and four noise; each report has a time of its own to the millisecond.
//! - `latencies`: 46 values a second of a log-normal latency with three decimals, as a
//!   distribution.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "its output is for people")]
#![allow(clippy::disallowed_methods, reason = "it measures the process")]

use std::path::Path;

use telltale_benches::data;
use telltale_engine::{Engine, MetricType, Options, PointBatch, SeriesId, TimestampMs};

const STEP_MS: i64 = 10_000;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (self.unit().max(1e-300), self.unit());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// How one metric of an agent changes.
#[derive(Clone, Copy)]
enum Shape {
    Walk { whole: bool },
    Constant,
    SlowCounter,
    TwoDecimals,
    Noise,
    Latency,
}

fn metrics(set: &str) -> Vec<Shape> {
    use Shape::{Constant, Latency, Noise, SlowCounter, TwoDecimals, Walk};
    let of = |shape, n| std::iter::repeat_n(shape, n);
    match set {
        "tsbs" => of(Walk { whole: true }, 10).collect(),
        "doubles" => of(Walk { whole: false }, 10).collect(),
        "latencies" => of(Latency, 1).collect(),
        "mix" => of(Constant, 5)
            .chain(of(SlowCounter, 5))
            .chain(of(TwoDecimals, 6))
            .chain(of(Noise, 4))
            .collect(),
        other => panic!("no data set {other}"),
    }
}

impl Shape {
    fn kind(self) -> MetricType {
        match self {
            Self::Latency => MetricType::Distribution,
            Self::SlowCounter => MetricType::Counter,
            _ => MetricType::Gauge,
        }
    }

    fn next(self, state: &mut f64, rng: &mut Rng) -> f64 {
        match self {
            Self::Walk { whole } => {
                *state = (*state + rng.normal()).clamp(0.0, 100.0);
                if whole { state.floor() } else { *state }
            }
            Self::Constant => 42.0,
            Self::SlowCounter => f64::from(u8::from(rng.unit() < 0.1)),
            Self::TwoDecimals => {
                *state = (*state + rng.normal() * 0.1).clamp(0.0, 100.0);
                (*state * 100.0).round() / 100.0
            }
            Self::Noise => (rng.unit() * 1000.0).round(),
            Self::Latency => ((50f64.ln() + rng.normal() * 0.8).exp() * 1000.0).round() / 1000.0,
        }
    }
}

/// Returns the CPU seconds of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

fn bytes_of(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata().unwrap() {
        meta if meta.is_dir() => bytes_of(&entry.path()),
        meta => meta.len(),
    };
    entries.map(of).sum()
}

fn series(engine: &Engine, shapes: &[Shape], agents: usize) -> Vec<(SeriesId, Shape)> {
    let mut batch = engine.batch();
    let mut series = Vec::new();
    for agent in 0..agents {
        let (host, region) = (format!("host_{agent}"), format!("region-{}", agent % 9));
        let (rack, service) = (format!("{}", agent * 7 % 100), format!("{}", agent % 20));
        let tags = [
            ("hostname", host.as_str()),
            ("region", &region),
            ("rack", &rack),
            ("service", &service),
            ("os", "Ubuntu16.10"),
            ("arch", "x64"),
            ("team", "SF"),
            ("service_version", "1"),
            ("service_environment", "test"),
        ];
        for (number, shape) in shapes.iter().enumerate() {
            let id = batch.series(&format!("metric_{number}"), shape.kind(), &tags).unwrap();
            series.push((id, *shape));
        }
    }
    series
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let set = arguments.next().unwrap_or_else(|| "tsbs".to_owned());
    let mut number = |or| arguments.next().and_then(|n| n.parse().ok()).unwrap_or(or);
    let (agents, hours) = (number(100), number(12) as i64);
    let dir = tempfile::tempdir().unwrap();
    let options = Options { series_per_metric: 1 << 20, ..data::options() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let shapes = metrics(&set);
    let series = series(&engine, &shapes, agents);
    let mut rng = Rng(1);
    let mut state: Vec<f64> = series.iter().map(|_| rng.unit() * 100.0).collect();
    let (step_ms, jitter_ms) = match set.as_str() {
        "latencies" => (216, 0),
        "mix" => (STEP_MS, 30),
        _ => (STEP_MS, 0),
    };
    let (mut points, mut write) = (0u64, 0.0);
    let mut batch = PointBatch::default();
    for step in 0..hours * 3_600_000 / step_ms {
        for (agent, of_agent) in series.chunks(shapes.len()).enumerate() {
            let late = if jitter_ms > 0 { rng.next() as i64 % jitter_ms } else { 0 };
            let time = TimestampMs(data::START + 60_000 + step * step_ms + late);
            let states = state.chunks_mut(shapes.len()).nth(agent).unwrap();
            for ((id, shape), state) in of_agent.iter().zip(states) {
                batch.push_number(shape.kind(), *id, time, shape.next(state, &mut rng));
            }
        }
        if batch.len() >= 5_000 {
            points += batch.len() as u64;
            let before = cpu();
            engine.write(std::mem::take(&mut batch)).unwrap();
            write += cpu() - before;
        }
    }
    let per_point = |cpu: f64| cpu / points as f64 * 1e9;
    println!("{set}: {points} points of {} series", series.len());
    println!("write  {:6.1} ns a point", per_point(write));
    let before = cpu();
    let sealed = engine.seal().unwrap();
    println!("seal   {:6.1} ns a point, {} blocks", per_point(cpu() - before), sealed.blocks);
    let before = cpu();
    let merged = engine.merge().unwrap();
    println!(
        "merge  {:6.1} ns a point, {} blocks",
        per_point(cpu() - before),
        merged.blocks_written
    );
    let stats = engine.stats();
    engine.close().unwrap();
    let per_point = |bytes: u64| bytes as f64 / points as f64;
    println!("blocks {:6.3} bytes a point", per_point(stats.block_bytes));
    println!("files  {:6.3} bytes a point", per_point(bytes_of(dir.path())));
}
