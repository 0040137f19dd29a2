//! Errors: the cost of a Sentry event from its JSON to its group and its stored form, and lists of
//! the maximum number of groups over HTTP.
//!
//! `cargo bench -p telltale-benches --bench errors`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::bench_server::BenchServer;
use telltale_benches::data::options;
use telltale_engine::Engine;
use telltale_server::areas::errors::{ErrorSettings, examine};

/// The number of groups in the lists.
const GROUPS: usize = 100_000;
/// Events of an envelope, the maximum.
const EVENTS: usize = 100;

/// Returns an envelope with one event of about 25 KB, 5 KB compressed: 40 frames with sources and
/// variables, breadcrumbs, headers.
fn envelope() -> Vec<u8> {
    let mut frames = String::new();
    for i in 0..40 {
        let separator = if i == 0 { "" } else { "," };
        let in_app = i % 3 == 0;
        write!(
            frames,
            "{separator}{{\"filename\":\"shop/module_{i}.py\",\"abs_path\":\"/srv/shop/module_{i}.py\",\"function\":\"handle_{i}\",\
             \"module\":\"shop.module_{i}\",\"lineno\":7{i},\"in_app\":{in_app},\
             \"pre_context\":[\"def handle_{i}(request):\",\"    cart = request.cart\",\"    total = 0\"],\
             \"context_line\":\"    total += price(cart.items[{i}])\",\
             \"post_context\":[\"    return total\",\"\",\"class Cart:\"],\
             \"vars\":{{\"request\":\"<Request 0x7f{i:04x}>\",\"cart\":\"<Cart of {i} items>\",\"total\":\"{i}.5\",\"api_token\":\"t{i}\"}}}}"
        )
        .unwrap();
    }
    let mut crumbs = String::new();
    for i in 0..50 {
        let separator = if i == 0 { "" } else { "," };
        write!(
            crumbs,
            "{separator}{{\"type\":\"http\",\"category\":\"httplib\",\"level\":\"info\",\"timestamp\":\"2026-01-02T03:04:{i:02}.000Z\",\
             \"data\":{{\"url\":\"https://api.example.com/v1/items/{i}\",\"method\":\"GET\",\"status_code\":200}}}}"
        )
        .unwrap();
    }
    let event = format!(
        "{{\"event_id\":\"9ec79c33ec9942ab8353589fcb2e04dc\",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"platform\":\"python\",\
         \"level\":\"error\",\"release\":\"shop@1.2.3\",\"environment\":\"production\",\"server_name\":\"web-17\",\
         \"user\":{{\"id\":\"user-17\",\"ip_address\":\"10.0.0.1\"}},\"tags\":{{\"region\":\"eu\",\"tier\":\"gold\"}},\
         \"request\":{{\"url\":\"https://shop.example.com/checkout\",\"method\":\"POST\",\"headers\":{{\"Accept\":\"*/*\",\"Cookie\":\"a=b\"}}}},\
         \"exception\":{{\"values\":[{{\"type\":\"KeyError\",\"value\":\"no price for 17\",\"stacktrace\":{{\"frames\":[{frames}]}}}}]}},\
         \"breadcrumbs\":{{\"values\":[{crumbs}]}},\"sdk\":{{\"name\":\"sentry.python\",\"version\":\"2.75.0\"}}}}"
    );
    let length = event.len();
    format!("{{}}\n{{\"type\":\"event\",\"length\":{length}}}\n{event}\n").into_bytes()
}

fn event(c: &mut Criterion) {
    let envelope = envelope();
    let scrub_keys = ErrorSettings::default().scrub_keys;
    assert_eq!(examine(&envelope, &scrub_keys).unwrap().len(), 1);
    let mut group = c.benchmark_group("errors");
    group.throughput(Throughput::Elements(1));
    group.bench_function("an event of an SDK to what is stored", |b| {
        b.iter(|| examine(black_box(&envelope), &scrub_keys).unwrap());
    });
    group.finish();
}

/// Returns an envelope of events of different errors.
fn distinct(first: usize) -> String {
    let mut envelope = String::from("{}\n");
    for i in first..first + EVENTS {
        let level = ["warning", "error", "fatal"][i % 3];
        write!(
            envelope,
            "{{\"type\":\"event\"}}\n{{\"event_id\":\"{i:032x}\",\"level\":\"{level}\",\"user\":{{\"id\":{i}}},\
             \"exception\":{{\"type\":\"Error{i}\",\"value\":\"something of a length that messages have went wrong\"}}}}\n"
        )
        .unwrap();
    }
    envelope
}

fn lists(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::open(dir.path(), options()).unwrap();
    let server = BenchServer::open(engine);
    let agent = ureq::Agent::new_with_defaults();
    let url = |path: &str| format!("http://{}{path}", server.address);
    for first in (0..GROUPS).step_by(EVENTS) {
        let request = agent.post(url("/api/1/envelope/"));
        let request = request.header("Authorization", &server.authorization);
        request.send(distinct(first)).unwrap();
    }
    let ask = |path: &str| {
        let request = agent.get(url(path)).header("Authorization", &server.authorization);
        request.call().unwrap().body_mut().read_to_string().unwrap()
    };
    let mut group = c.benchmark_group("errors");
    group.sample_size(30);
    for (name, query, total) in [
        ("list of 50 among 100 000", "", GROUPS),
        ("the same by state and level", "?status=unresolved&level=fatal", GROUPS / 3),
        ("the same by a text that one has", "?search=error99999", 1),
        ("the same by a text that all have", "?search=something&since=1h", GROUPS),
    ] {
        let path = format!("/api/v1/errors{query}");
        assert!(ask(&path).contains(&format!("\"total\":{total},")), "{name}");
        group.bench_function(name, |b| b.iter(|| black_box(ask(&path))));
    }
    let first = ask("/api/v1/errors?limit=1");
    let id = first.split('"').find(|text| text.starts_with("err_")).unwrap().to_owned();
    let path = format!("/api/v1/errors/{id}");
    group.bench_function("an error with its newest occurrence", |b| {
        b.iter(|| black_box(ask(&path)))
    });
    group.finish();
}

criterion_group!(benches, event, lists);
criterion_main!(benches);
