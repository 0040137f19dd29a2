//! Where the bytes and the processor go: TSBS cpu-only through the engine alone, from columns to merged blocks.
//!
//! `cargo run --release --example tsbs_bytes [hosts] [hours] [float]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to be read by people")]
#![allow(clippy::disallowed_methods, reason = "it measures")]

use telltale_benches::data;
use telltale_engine::{Engine, MetricType, Options, PointBatch, SeriesId, TimestampMs};

const METRICS: [&str; 10] = [
    "usage_user",
    "usage_system",
    "usage_idle",
    "usage_nice",
    "usage_iowait",
    "usage_irq",
    "usage_softirq",
    "usage_steal",
    "usage_guest",
    "usage_guest_nice",
];

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

fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = stat[stat.rfind(')').unwrap()..].split_whitespace().collect();
    (f[12].parse::<f64>().unwrap() + f[13].parse::<f64>().unwrap()) / 100.0
}

fn du(dir: &std::path::Path) -> u64 {
    let mut total = 0;
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let meta = entry.metadata().unwrap();
        if meta.is_dir() { total += du(&entry.path()) } else { total += meta.len() }
    }
    total
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let hosts: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100);
    let hours: i64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(12);
    let float = arguments.next().is_some();
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(
        &dir.path().join("data"),
        Options { series_per_metric: 1 << 20, ..data::options() },
    )
    .unwrap();
    let mut batch = engine.batch();
    let mut rng = Rng(1);
    let ids: Vec<SeriesId> = (0..hosts)
        .flat_map(|h| METRICS.map(|m| (h, m)))
        .map(|(h, m)| {
            let (host, rack, region) =
                (format!("host_{h}"), format!("{}", h * 7 % 100), format!("region-{}", h % 9));
            batch
                .series(
                    m,
                    MetricType::Gauge,
                    &[
                        ("hostname", &host),
                        ("region", &region),
                        ("datacenter", &format!("{region}-1")),
                        ("rack", &rack),
                        ("os", "Ubuntu16.10"),
                        ("arch", "x64"),
                        ("team", "SF"),
                        ("service", &format!("{}", h % 20)),
                        ("service_version", "1"),
                        ("service_environment", "test"),
                    ],
                )
                .unwrap()
        })
        .collect();
    drop(batch);
    let mut state: Vec<f64> = ids.iter().map(|_| rng.unit() * 100.0).collect();
    let steps = hours * 360;
    let (mut generate, mut write) = (0.0, 0.0);
    for step in 0..steps {
        let c = cpu();
        let mut batch = PointBatch::default();
        for (id, v) in ids.iter().zip(&mut state) {
            *v = (*v + rng.normal()).clamp(0.0, 100.0);
            let value = if float { *v } else { v.floor() };
            batch.push_number(
                MetricType::Gauge,
                *id,
                TimestampMs(data::START + step * 10_000),
                value,
            );
        }
        let c2 = cpu();
        generate += c2 - c;
        engine.write(batch).unwrap();
        write += cpu() - c2;
    }
    let points = ids.len() as f64 * steps as f64;
    let per = |s: f64| s / points * 1e9;
    println!(
        "{points} points; generate {:.1} ns, write {:.1} ns a point",
        per(generate),
        per(write)
    );
    let c = cpu();
    let report = engine.seal().unwrap();
    println!(
        "seal {:.1} ns: {report:?} {:.3} B/point",
        per(cpu() - c),
        report.bytes as f64 / points
    );
    let c = cpu();
    let report = engine.merge().unwrap();
    println!("merge {:.1} ns: {report:?}", per(cpu() - c));
    println!("{:#?}", engine.stats());
    println!("files {:.3} B/point", du(dir.path()) as f64 / points);
    for entry in std::fs::read_dir(dir.path().join("data")).unwrap().flatten() {
        let size =
            if entry.path().is_dir() { du(&entry.path()) } else { entry.metadata().unwrap().len() };
        println!("  {:?} {size}", entry.file_name());
        if entry.path().is_dir() {
            for e in std::fs::read_dir(entry.path()).unwrap().flatten() {
                if e.metadata().unwrap().len() > 20_000 {
                    println!("     {:?} {}", e.file_name(), e.metadata().unwrap().len());
                }
            }
        }
    }
    engine.close().unwrap();
    println!("files after close {:.3} B/point", du(dir.path()) as f64 / points);
}
