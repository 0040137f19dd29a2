//! The evaluation of 10 000 alert rules over 100 000 series: rules that differ in the host they
//! select, rules about many metrics with groups, and rules whose queries cannot be combined.
//!
//! `cargo bench -p telltale-benches --bench alerting`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use telltale_benches::bench_server::BenchServer;
use telltale_benches::data::options;
use telltale_engine::{Clock, Engine, MetricType, Options, TimestampMs};
use telltale_server::areas::alerting::evaluate_rules;

const RULES: usize = 10_000;
const SERIES: usize = 100_000;
/// Samples of each series in the window of the rules.
const SAMPLES: i64 = 10;
const STEP_MS: i64 = 30_000;
/// Samples of a write.
const BATCH: usize = 50_000;

/// A server whose engine has the last minutes of all series. `series` returns the metric and the
/// tags of each.
fn server(
    series: impl Fn(usize) -> (String, Vec<(&'static str, String)>),
) -> (tempfile::TempDir, BenchServer) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { clock: Clock::system(), ..options() };
    let engine = Engine::open(dir.path(), options).unwrap();
    let now = Clock::system().now().0;
    for chunk in (0..SERIES).collect::<Vec<_>>().chunks(BATCH / SAMPLES as usize) {
        let mut batch = engine.batch();
        for number in chunk {
            let (metric, tags) = series(*number);
            let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (*k, v.as_str())).collect();
            let id = batch.series(&metric, MetricType::Gauge, &tags).unwrap();
            for sample in 0..SAMPLES {
                let at = TimestampMs(now - sample * STEP_MS);
                batch.number(MetricType::Gauge, id, at, (number % 90) as f64);
            }
        }
        engine.write(batch.finish()).unwrap();
    }
    (dir, BenchServer::open(engine))
}

fn create_rules(server: &BenchServer, rule: impl Fn(usize) -> Value) {
    let agent = ureq::agent();
    for number in 0..RULES {
        let mut body = rule(number);
        body["name"] = json!(format!("rule {number}"));
        body["condition"] = json!({"op": "gt", "threshold": 95});
        body["window"] = json!("5m");
        let created = agent
            .post(format!("http://{}/api/v1/alert_rules", server.address))
            .header("authorization", &server.authorization)
            .header("content-type", "application/json")
            .send(body.to_string());
        assert_eq!(created.unwrap().status(), 201);
    }
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("alerting");
    group.sample_size(10);
    // Ten cores of each of 10 000 hosts, and a rule for each host.
    let series = |n: usize| {
        let tags = vec![("core", (n % 10).to_string()), ("host", format!("host-{:05}", n / 10))];
        ("cpu.usage".to_owned(), tags)
    };
    let (_dir, by_host) = server(series);
    create_rules(&by_host, |n| {
        let tags = json!({"host": format!("host-{n:05}")});
        json!({"query": {"metric": "cpu.usage", "aggregation": "avg", "tags": tags}})
    });
    group.bench_function("evaluate_10k_rules_by_host", |b| {
        b.iter(|| evaluate_rules(&by_host.app).unwrap());
    });
    drop(by_host);

    // 1 000 metrics of 100 hosts, and ten rules for each metric, with an alert for each host.
    let series = |n: usize| {
        (format!("metric.m{:03}", n / 100), vec![("host", format!("host-{:02}", n % 100))])
    };
    let (_dir, by_metric) = server(series);
    create_rules(&by_metric, |n| {
        let metric = format!("metric.m{:03}", n % 1_000);
        json!({"query": {"metric": metric, "aggregation": "avg"}, "group_by": "tags.host"})
    });
    group.bench_function("evaluate_10k_rules_of_1k_metrics", |b| {
        b.iter(|| evaluate_rules(&by_metric.app).unwrap());
    });
    drop(by_metric);

    // As the first, but each rule selects a prefix, which needs a query of its own.
    let series = |n: usize| {
        let tags = vec![("core", (n % 10).to_string()), ("host", format!("host-{:05}", n / 10))];
        ("cpu.usage".to_owned(), tags)
    };
    let (_dir, apart) = server(series);
    create_rules(&apart, |n| {
        let tags = json!({"host": format!("host-{n:05}*")});
        json!({"query": {"metric": "cpu.usage", "aggregation": "avg", "tags": tags}})
    });
    group.bench_function("evaluate_10k_rules_apart", |b| {
        b.iter(|| evaluate_rules(&apart.app).unwrap());
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
