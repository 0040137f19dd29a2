//! A dashboard query over HTTP: keep-alive, authentication, middleware and JSON included.
//!
//! `cargo bench -p telltale-benches --bench http`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use telltale_benches::bench_server::BenchServer;
use telltale_benches::data::{day_of_points, options};
use telltale_engine::Engine;

fn dashboard(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), options()).unwrap();
    day_of_points(&engine);
    engine.merge().unwrap();
    let server = BenchServer::open(engine);
    let agent = ureq::Agent::new_with_defaults();
    let ask = |query: &str| {
        let url = format!("http://{}/api/v1/metrics/cpu/query?{query}", server.address);
        let request = agent.get(url).header("Authorization", &server.authorization);
        request.call().unwrap().body_mut().read_to_string().unwrap()
    };
    let day = "from=2024-10-04&to=2024-10-04";
    let mut group = c.benchmark_group("http");
    group.sample_size(30);
    for (name, query) in [
        (
            "1000 series, 24 h at 10 s, avg by 5m and tag",
            format!("{day}&interval=5m&group_by=tags.zone"),
        ),
        ("the same by minute", format!("{day}&interval=1m&group_by=tags.zone")),
        ("one series by 5m", format!("{day}&interval=5m&tags[host]=host-77")),
    ] {
        assert!(ask(&query).contains("2024-10-04T23:55:00.000Z"), "{name}");
        group.bench_function(name, |b| b.iter(|| black_box(ask(&query))));
    }
    group.finish();
}

criterion_group!(benches, dashboard);
criterion_main!(benches);
