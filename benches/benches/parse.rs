//! How fast a batch in JSON becomes columns: 500 metric inputs of some 197 bytes, with ISO times and four tags
//! each, the way `POST /api/v1/metrics/batch` takes them; and 500 events of some 300 bytes, with four tags and small
//! properties. One core.
//!
//! `columns` is the whole way, texts and series resolved by the engine; `points` and `events` stop before the engine.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up must not run")]

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use telltale_engine::{Engine, Maintenance, Options, TimestampMs};
use telltale_server::areas::{events, metrics};

/// 2026-01-02T04:00:00Z, later than all points of the batch.
const NOW: TimestampMs = TimestampMs(1_767_326_400_000);
const ITEMS: usize = 500;

/// A batch as an agent sends it: 50 hosts with ten metrics each, every one at its own time.
fn body() -> Vec<u8> {
    let kinds = ["gauge", "counter", "distribution"];
    let mut text = String::from("{\"metrics\":[");
    for i in 0..ITEMS {
        let separator = if i == 0 { "" } else { "," };
        let (kind, metric, host) = (kinds[i % 3], i % 30, i % 50);
        let (second, ms, value) = (i % 60, i * 2 % 1_000, i * 7);
        write!(
            text,
            "{separator}{{\"name\":\"http.server.requests.{metric}\",\"type\":\"{kind}\",\"value\":{value}.{ms:03},\
             \"timestamp\":\"2026-01-02T03:04:{second:02}.{ms:03}Z\",\
             \"tags\":{{\"host\":\"web-{host:03}\",\"region\":\"eu-west-1\",\"service\":\"checkout\",\"status\":\"200\"}}}}"
        )
        .unwrap();
    }
    text.push_str("]}");
    text.into_bytes()
}

fn parse(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let body = body();
    // Agents send the same series again and again: they are known when the clock starts.
    let (points, outcome) = metrics::resolve_batch(&engine, NOW, &body).unwrap();
    assert_eq!((outcome.accepted, points.len()), (ITEMS, ITEMS));
    engine.write(points).unwrap();

    let mut group = c.benchmark_group("parse_batch");
    group.throughput(Throughput::Elements(ITEMS as u64));
    group.bench_function("columns", |b| {
        b.iter(|| metrics::resolve_batch(&engine, NOW, black_box(&body)).unwrap());
    });
    group.bench_function("points", |b| {
        b.iter(|| {
            metrics::read_batch(black_box(&body), NOW, |point| {
                black_box(point);
                Ok(())
            })
            .unwrap()
        });
    });
    group.finish();
}

/// A batch as an application sends it: twenty names, a user in a hundred, every event at its own time.
fn event_body() -> Vec<u8> {
    let mut text = String::from("{\"events\":[");
    for i in 0..ITEMS {
        let separator = if i == 0 { "" } else { "," };
        let (name, user, host, second, ms) = (i % 20, i * 37 % 100, i % 50, i % 60, i * 2 % 1_000);
        write!(
            text,
            "{separator}{{\"name\":\"checkout.order.paid.{name}\",\"timestamp\":\"2026-01-02T03:04:{second:02}.{ms:03}Z\",\
             \"user_id\":\"user-{user:06}\",\"value\":{i}.25,\
             \"properties\":{{\"cart\":{{\"items\":{second},\"total\":{i}.5}},\"coupon\":null,\"session\":\"s-{i:08}\"}},\
             \"tags\":{{\"host\":\"web-{host:03}\",\"region\":\"eu-west-1\",\"service\":\"checkout\",\"plan\":\"business\"}}}}"
        )
        .unwrap();
    }
    text.push_str("]}");
    text.into_bytes()
}

fn parse_events(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let body = event_body();
    let (batch, outcome) = events::resolve_batch(&engine, NOW, &body).unwrap();
    assert_eq!((outcome.accepted, batch.len()), (ITEMS, ITEMS));

    let mut group = c.benchmark_group("parse_events");
    group.throughput(Throughput::Elements(ITEMS as u64));
    group.bench_function("columns", |b| {
        b.iter(|| events::resolve_batch(&engine, NOW, black_box(&body)).unwrap());
    });
    group.bench_function("events", |b| {
        b.iter(|| {
            events::read_batch(black_box(&body), NOW, |event| {
                black_box(event);
                Ok(())
            })
            .unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, parse, parse_events);
criterion_main!(benches);
