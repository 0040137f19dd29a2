//! Events: from JSON to blocks, and dashboard queries of five million of them over HTTP.
//!
//! `cargo bench -p telltale-benches --bench events`
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failing bench may panic; one figure is a size"
)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::bench_server::BenchServer;
use telltale_benches::data::{START, day_of_points, options};
use telltale_benches::events::{Dice, EVENTS, day_of_events, json, write};
use telltale_engine::{Engine, TimestampMs};
use telltale_server::areas::events::resolve_batch;

const DAY: &str = "from=2024-10-04T00:00:00Z&to=2024-10-05T00:00:00Z";

/// Parse, log, head and seal, as in `POST /api/v1/events/batch`.
fn ingest(c: &mut Criterion) {
    const BATCHES: u64 = 1_000;
    let mut dice = Dice::new(2);
    let bodies: Vec<Vec<u8>> = (0..BATCHES).map(|_| json(&mut dice, 500)).collect();
    let bytes = bodies.iter().map(Vec::len).sum::<usize>() as f64 / (BATCHES * 500) as f64;
    println!("a JSON event has {bytes:.0} bytes");
    let now = TimestampMs(START + 2 * telltale_benches::data::DAY);
    let mut group = c.benchmark_group("events");
    group.sample_size(10);
    group.throughput(Throughput::Elements(BATCHES * 500));
    group.bench_function("JSON to blocks, durable by interval", |b| {
        b.iter_batched(
            || {
                let dir = tempfile::tempdir().unwrap();
                let engine = Engine::open(dir.path(), options()).unwrap();
                (dir, engine)
            },
            |(dir, engine)| {
                for body in &bodies {
                    let (batch, outcome) = resolve_batch(&engine, now, body).unwrap();
                    assert_eq!(outcome.accepted, 500);
                    write(&engine, batch);
                }
                engine.seal().unwrap();
                drop(engine);
                dir
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn questions(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), options()).unwrap();
    day_of_events(&engine);
    let stats = engine.stats();
    assert_eq!(stats.events_stored, EVENTS);
    let each = stats.event_block_bytes as f64 / EVENTS as f64;
    println!("an event takes {each:.2} bytes on disk, in {} blocks", stats.event_blocks);
    let server = BenchServer::open(engine);
    let agent = ureq::Agent::new_with_defaults();
    let ask = |path: &str| {
        let url = format!("http://{}/api/v1/{path}", server.address);
        let request = agent.get(url).header("Authorization", &server.authorization);
        request.call().unwrap().body_mut().read_to_string().unwrap()
    };
    let mut group = c.benchmark_group("events over HTTP");
    group.sample_size(30);
    for (name, path) in [
        (
            "newest 100 by name prefix and tag",
            format!("events?name=shop.event-1*&tags[page]=page-7&{DAY}"),
        ),
        (
            "newest 100 from offset 100 000",
            format!("events?name=shop.event-1*&offset=100000&{DAY}"),
        ),
        ("newest 100 of a user", format!("events?user_id=user-77&{DAY}")),
        (
            "count by 1h and a tag of 50 values",
            format!("events/count?interval=1h&group_by=tags.page&{DAY}"),
        ),
        ("count by 1m", format!("events/count?interval=1m&{DAY}")),
        ("stats of one name", format!("events/stats?name=shop.event-7&{DAY}")),
        ("fields of one name", format!("events/fields?name=shop.event-7&{DAY}")),
        ("values of a property", format!("events/values?field=total&{DAY}")),
        ("values of a tag", format!("events/values?field=tags.page&{DAY}")),
        (
            "stats of a property of one name",
            format!("events/stats?name=shop.event-7&field=total&{DAY}"),
        ),
    ] {
        assert!(ask(&path).starts_with("{\"data\":"), "{name}");
        group.bench_function(name, |b| b.iter(|| black_box(ask(&path))));
    }
    let funnel = r#"{"steps":[{"name":"shop.event-1"},{"name":"shop.event-2"},{"name":"shop.event-3"}],"from":"2024-10-04T00:00:00Z","to":"2024-10-05T00:00:00Z","window":"1h"}"#;
    group.bench_function("funnel of three steps", |b| {
        b.iter(|| {
            let url = format!("http://{}/api/v1/events/funnel", server.address);
            let request = agent.post(url).header("Authorization", &server.authorization);
            let request = request.header("Content-Type", "application/json");
            black_box(request.send(funnel).unwrap().body_mut().read_to_string().unwrap())
        });
    });
    group.finish();
}

/// A dashboard of twelve widgets over a day of 8.6 million samples and five million events.
fn dashboard(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), options()).unwrap();
    day_of_points(&engine);
    day_of_events(&engine);
    let server = BenchServer::open(engine);
    let agent = ureq::Agent::new_with_defaults();
    let post = |path: &str, body: &str| {
        let url = format!("http://{}/api/v1/{path}", server.address);
        let request = agent.post(url).header("Authorization", &server.authorization);
        let request = request.header("Content-Type", "application/json");
        request.send(body).unwrap().body_mut().read_to_string().unwrap()
    };
    let made = post("dashboards", r#"{"name":"bench"}"#);
    let id = made.split('"').find(|part| part.starts_with("dash_")).unwrap();
    for widget in [
        r#"{"type":"number","title":"1","query":{"metric":"cpu","aggregation":"avg"},"options":{"comparison":{"type":"previous_period"}}}"#,
        r#"{"type":"number","title":"2","query":{"event":"shop.event-3","aggregation":"count"}}"#,
        r#"{"type":"number","title":"3","query":{"event":"shop.event-4","aggregation":"unique_users"}}"#,
        r#"{"type":"graph","title":"4","query":{"metric":"cpu","aggregation":"avg","interval":"5m"}}"#,
        r#"{"type":"graph","title":"5","query":{"metric":"cpu","aggregation":"max","interval":"5m","group_by":"tags.zone"}}"#,
        r#"{"type":"graph","title":"6","query":{"event":"shop.event-5","aggregation":"count","interval":"5m"}}"#,
        r#"{"type":"graph","title":"7","query":{"event":"shop.event-6","aggregation":"sum","interval":"1h"}}"#,
        r#"{"type":"bar","title":"8","query":{"event":"shop.event-7","aggregation":"count","group_by":"tags.page"}}"#,
        r#"{"type":"pie","title":"9","query":{"event":"shop.event-8","aggregation":"count","group_by":"tags.country"}}"#,
        r#"{"type":"table","title":"10","query":{"metric":"cpu","aggregation":"avg","group_by":"tags.zone"}}"#,
        r#"{"type":"heatmap","title":"11","query":{"event":"shop.event-9","aggregation":"count"}}"#,
        r#"{"type":"number","title":"12","query":{"event":"shop.event-10","aggregation":"p95","field":"total"}}"#,
    ] {
        post(&format!("dashboards/{id}/widgets"), widget);
    }
    let url = format!("http://{}/api/v1/dashboards/{id}?{DAY}", server.address);
    let ask = || {
        let request = agent.get(&url).header("Authorization", &server.authorization);
        request.call().unwrap().body_mut().read_to_string().unwrap()
    };
    let answer = ask();
    assert!(!answer.contains("\"error\"") && answer.matches("widget_").count() == 12, "{answer}");
    let mut group = c.benchmark_group("dashboard over HTTP");
    group.sample_size(30);
    group.bench_function("12 widgets over 24 h", |b| b.iter(|| black_box(ask())));
    group.finish();
}

criterion_group!(benches, ingest, questions, dashboard);
criterion_main!(benches);
