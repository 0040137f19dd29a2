//! Memory per active series: resident bytes of the process before and after a million series with
//! six tags each are written, first as new series and then repeated.
//!
//! `cargo run --release -p telltale-benches --example series_memory [series]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "its output is for people")]

use telltale_benches::data::{START, options};
use telltale_engine::{Engine, MetricType, TimestampMs};

/// Ten metrics of every host.
const METRICS: usize = 10;

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn round(engine: &Engine, hosts: usize, tick: i64) {
    for first in (0..hosts).step_by(1_000) {
        let mut batch = engine.batch();
        for host in first..(first + 1_000).min(hosts) {
            let (name, rack) = (format!("host-{host}"), format!("rack-{}", host / 40));
            let zone = format!("zone-{}", host % 20);
            for metric in 0..METRICS {
                let tags = [
                    ("host", name.as_str()),
                    ("rack", &rack),
                    ("zone", &zone),
                    ("team", "core"),
                    ("os", "debian"),
                    ("arch", "x86_64"),
                ];
                let metric = format!("agent.metric_{metric}");
                let series = batch.series(&metric, MetricType::Gauge, &tags).unwrap();
                batch.number(
                    MetricType::Gauge,
                    series,
                    TimestampMs(START + tick * 10_000),
                    host as f64,
                );
            }
        }
        let points = batch.finish();
        engine.write(points).unwrap();
    }
}

fn main() {
    let series: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), options()).unwrap();
    let before = resident();
    (0..3).for_each(|tick| round(&engine, series / METRICS, tick));
    let filled = resident();
    engine.seal().unwrap();
    let stats = engine.stats();
    let each = |bytes: u64| bytes / stats.series;
    println!("series                        {}", stats.series);
    println!(
        "resident per series           {} B, with three points of each in memory",
        each(filled - before)
    );
    println!("after sealing them            {} B", each(resident().saturating_sub(before)));
    println!("registry, as accounted        {} B", each(stats.registry_bytes));
    println!(
        "on disk                       {} B, points included",
        each(stats.disk_bytes.unwrap())
    );
}
