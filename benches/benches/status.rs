//! A status page with 50 monitors and 90 days of each, rendered in all its forms, uncached.
//!
//! `cargo bench -p telltale-benches --bench status`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use telltale_benches::bench_server::BenchServer;
use telltale_benches::data::options;
use telltale_engine::{Clock, Engine, Options, RecordBatch, Table};
use telltale_server::areas::status::render_page;

const MONITORS: usize = 50;
const DAYS: u32 = 90;
/// The table of the times of monitors by day, as `docs/FORMAT.md` describes it.
const MONITOR_DAYS: Table = Table::new(65, "monitor_days");

fn open(path: &std::path::Path) -> Engine {
    Engine::open(path, Options { clock: Clock::system(), ..options() }).unwrap()
}

fn post(server: &BenchServer, path: &str, body: &Value) -> Value {
    let created = ureq::agent()
        .post(format!("http://{}{path}", server.address))
        .header("authorization", &server.authorization)
        .header("content-type", "application/json")
        .send(body.to_string());
    serde_json::from_slice(&created.unwrap().body_mut().read_to_vec().unwrap()).unwrap()
}

/// Stores that every monitor was down for some minutes of every seventh day.
fn write_days(engine: &Engine, ids: &[u128]) {
    let today = u32::try_from(Clock::system().now().0 / 86_400_000).unwrap();
    let mut batch = RecordBatch::new();
    for (number, id) in ids.iter().enumerate() {
        for day in today + 1 - DAYS..today {
            let is_bad = (day as usize + number).is_multiple_of(7);
            let down_ms = if is_bad { 840_000 } else { 0 };
            let times = json!({"up_ms": 85_000_000, "degraded_ms": 0, "down_ms": down_ms, "maintenance_ms": 0});
            let key = [&id.to_be_bytes()[..], &day.to_be_bytes()].concat();
            let value = [&[1][..], times.to_string().as_bytes()].concat();
            batch.put(MONITOR_DAYS, &key, value);
        }
    }
    engine.records().write(batch).unwrap();
}

fn render(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let server = BenchServer::open(open(dir.path()));
    let body = |number| json!({"name": format!("Service {number}"), "type": "heartbeat", "interval_seconds": 86_400});
    let created = (0..MONITORS).map(|number| post(&server, "/api/v1/monitors", &body(number)));
    let ids: Vec<String> =
        created.map(|monitor| monitor["id"].as_str().unwrap().to_owned()).collect();
    let page = json!({"name": "Acme", "subdomain": "acme", "monitors": ids});
    post(&server, "/api/v1/status-pages", &page);
    drop(server);
    let engine = open(dir.path());
    let numbers: Vec<u128> = ids
        .iter()
        .map(|id| ulid::Ulid::from_string(id.trim_start_matches("mon_")).unwrap().into())
        .collect();
    write_days(&engine, &numbers);
    drop(engine);
    let server = BenchServer::open(open(dir.path()));
    assert!(render_page(&server.app, "acme").unwrap() > 100_000, "the page has its days");
    criterion.bench_function("status/render_50_monitors", |bencher| {
        bencher.iter(|| render_page(&server.app, "acme").unwrap());
    });
}

criterion_group!(benches, render);
criterion_main!(benches);
