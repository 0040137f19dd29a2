//! Parsing of bodies into columns on one core: 500 JSON metric inputs of about 197 bytes, with ISO
//! timestamps and four tags each, as in `POST /api/v1/metrics/batch`; 500 events of about 300
//! bytes, with four tags and small properties; bulk bodies of 5 000 lines: Influx lines of 200
//! bytes with ten tags and one field, Influx lines with ten tags and ten fields, and metric inputs
//! as NDJSON; and remote-write requests of 5 000 series with ten labels and one sample each, where
//! `unpack` is the decompression.
//!
//! `columns` includes strings and series resolved by the engine; `points` and `events` end before
//! the engine. `structures` is what serde_json and prost take for the same bodies.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up must not run")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use prost::Message;
use serde::Deserialize;
use telltale_engine::{Engine, Maintenance, Options, TimestampMs};
use telltale_server::areas::bulk::Families;
use telltale_server::areas::bulk::Version;
use telltale_server::areas::{bulk, events, metrics};
use telltale_tests::remote_write::{self, RequestV2, TimeSeriesV2, WriteRequest};

/// 2026-01-02T04:00:00Z, later than all samples of the batch.
const NOW: TimestampMs = TimestampMs(1_767_326_400_000);
const ITEMS: usize = 500;

/// Returns a batch of an agent: 50 hosts with ten metrics each, every sample with a time of its
/// own.
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

/// The body as structures derived with serde, borrowed where the body is.
#[derive(Deserialize)]
struct Structures<'b> {
    #[serde(borrow)]
    metrics: Vec<Structure<'b>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "the bench measures how they are read")]
struct Structure<'b> {
    name: &'b str,
    #[serde(rename = "type")]
    kind: &'b str,
    value: f64,
    timestamp: &'b str,
    #[serde(borrow)]
    tags: BTreeMap<&'b str, &'b str>,
}

fn parse(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let body = body();
    // Agents send the same series repeatedly: they are known before the measurement.
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
    // A reader that builds structures of everything, to compare with.
    assert_eq!(serde_json::from_slice::<Structures<'_>>(&body).unwrap().metrics.len(), ITEMS);
    group.bench_function("structures", |b| {
        b.iter(|| serde_json::from_slice::<Structures<'_>>(black_box(&body)).unwrap());
    });
    group.finish();
}

/// Returns a batch of an application: twenty names, one user per hundred events, every event with a
/// time of its own.
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

/// Returns the series of a Prometheus request: one sample of each of ten metrics of 500 hosts, half
/// of them counters, about 230 bytes each.
const SERIES: usize = 5_000;

fn labels(series: usize) -> [(&'static str, String); 10] {
    let (metric, host) = (series % 10, series / 10);
    [
        (
            "__name__",
            format!("node_network_{metric}_{}", ["bytes_total", "queue_length"][metric % 2]),
        ),
        ("cluster", "production-eu-west-1".to_owned()),
        ("datacenter", "eu-west-1a".to_owned()),
        ("device", format!("eth{}", host % 4)),
        ("env", "production".to_owned()),
        ("instance", format!("web-{host:05}.eu-west-1.internal:9100")),
        ("job", "node-exporter".to_owned()),
        ("region", "eu-west-1".to_owned()),
        ("service", "checkout".to_owned()),
        ("team", "payments".to_owned()),
    ]
}

fn write_v1(round: i64) -> WriteRequest {
    let series = |i: usize| {
        let labels = labels(i);
        let pairs: Vec<(&str, &str)> = labels.iter().map(|(k, v)| (*k, v.as_str())).collect();
        remote_write::series(&pairs, &[(NOW.0 - 60_000 + round, (i as i64 * 17 + round) as f64)])
    };
    WriteRequest { timeseries: (0..SERIES).map(series).collect(), metadata: Vec::new() }
}

fn write_v2(round: i64) -> RequestV2 {
    let mut places = HashMap::new();
    let mut request = RequestV2::new();
    for (i, one) in write_v1(round).timeseries.into_iter().enumerate() {
        let mut refs = Vec::new();
        for text in labels(i).into_iter().flat_map(|(key, value)| [key.to_owned(), value]) {
            let next = request.symbols.len() as u32;
            refs.push(*places.entry(text.clone()).or_insert(next));
            if request.symbols.len() < places.len() + 1 {
                request.symbols.push(text);
            }
        }
        let (labels_refs, samples) = (refs, one.samples);
        request.timeseries.push(TimeSeriesV2 { labels_refs, samples, ..TimeSeriesV2::default() });
    }
    request
}

fn parse_remote_write(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let families = Families::default();
    let resolve = |version, body: &[u8]| {
        bulk::resolve_remote_write(&engine, &families, version, body, NOW).unwrap()
    };
    let bodies = [
        ("v1", Version::V1, write_v1(1).encode_to_vec(), remote_write::packed(&write_v1(1))),
        ("v2", Version::V2, write_v2(1).encode_to_vec(), remote_write::packed(&write_v2(1))),
    ];
    let mut group = c.benchmark_group("parse_remote_write");
    group.throughput(Throughput::Elements(SERIES as u64));
    for (name, version, body, packed) in bodies {
        let (points, outcome, _) = resolve(version, &body);
        assert_eq!((outcome.accepted(), outcome.rejected()), (SERIES, 0));
        engine.write(points).unwrap();
        group.bench_function(format!("{name}/columns"), |b| {
            b.iter(|| resolve(version, black_box(&body)));
        });
        group.bench_function(format!("{name}/unpack"), |b| {
            b.iter(|| snap::raw::Decoder::new().decompress_vec(black_box(&packed)).unwrap());
        });
    }
    // For comparison, a parser that builds a document of everything.
    let body = write_v1(1).encode_to_vec();
    group.bench_function("v1/structures", |b| {
        b.iter(|| WriteRequest::decode(black_box(body.as_slice())).unwrap());
    });
    group.finish();
}

/// Lines of a bulk body.
const LINES: usize = 5_000;

/// Returns ten tags, as agents of a fleet have them.
fn tags(host: usize) -> String {
    format!(
        ",hostname=host_{host:04},region=eu-west-1,datacenter=eu-west-1b,rack=67,os=Ubuntu16.10,arch=x86,team=CHI,\
         service=7,service_version=1,service_environment=test"
    )
}

/// Returns lines of about 200 bytes with one field each.
fn narrow_lines() -> Vec<u8> {
    let mut text = String::new();
    for i in 0..LINES {
        let (tags, value, cent) = (tags(i % 1_000), i * 7 % 100, i % 100);
        let tick = 1_767_312_000_000_000_000 + (i / 1_000) as u64 * 10_000_000_000;
        writeln!(text, "cpu_total{tags} usage={value}.{cent:02} {tick}").unwrap();
    }
    text.into_bytes()
}

/// Returns lines of ten fields each, as the Time Series Benchmark Suite sends them.
fn wide_lines() -> Vec<u8> {
    const FIELDS: [&str; 10] = [
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
    let mut text = String::new();
    for i in 0..LINES {
        write!(text, "cpu{}", tags(i % 1_000)).unwrap();
        for (field, name) in FIELDS.iter().enumerate() {
            let separator = if field == 0 { ' ' } else { ',' };
            write!(text, "{separator}{name}={}i", (i * 7 + field * 13) % 101).unwrap();
        }
        let tick = 1_767_312_000_000_000_000 + (i / 1_000) as u64 * 10_000_000_000;
        writeln!(text, " {tick}").unwrap();
    }
    text.into_bytes()
}

fn parse_influx(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let precision = bulk::Precision::default();
    let mut group = c.benchmark_group("parse_influx");
    for (name, body, fields) in
        [("one field a line", narrow_lines(), 1), ("ten fields a line", wide_lines(), 10)]
    {
        let (points, outcome) = bulk::resolve_influx(&engine, &body, precision, NOW);
        assert_eq!((outcome.accepted(), points.len()), (LINES, LINES * fields));
        group.throughput(Throughput::Elements(LINES as u64));
        group.bench_function(format!("{name}, {} B, columns", body.len() / LINES), |b| {
            b.iter(|| bulk::resolve_influx(&engine, black_box(&body), precision, NOW));
        });
    }
    let body = narrow_lines();
    group.bench_function("one field a line, names and tags read each time", |b| {
        b.iter(|| {
            bulk::read_influx(black_box(&body), precision, NOW, |point| {
                black_box(point);
            })
        });
    });
    group.finish();
}

fn parse_ndjson(c: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { maintenance: Maintenance::Manual, ..Options::default() };
    let engine = Engine::open(&dir.path().join("data"), options).unwrap();
    let mut text = String::new();
    for i in 0..LINES {
        let (host, second, ms, value) = (i % 1_000, i % 60, i * 2 % 1_000, i * 7);
        writeln!(
            text,
            "{{\"name\":\"http.server.requests\",\"type\":\"gauge\",\"value\":{value}.{ms:03},\
             \"timestamp\":\"2026-01-02T03:04:{second:02}.{ms:03}Z\",\
             \"tags\":{{\"host\":\"web-{host:03}\",\"region\":\"eu-west-1\",\"service\":\"checkout\",\"status\":\"200\"}}}}"
        )
        .unwrap();
    }
    let body = text.into_bytes();
    let (points, outcome) = bulk::resolve_import(&engine, &body, NOW);
    assert_eq!((outcome.accepted(), points.len()), (LINES, LINES));
    let mut group = c.benchmark_group("parse_ndjson");
    group.throughput(Throughput::Elements(LINES as u64));
    group.bench_function(format!("{} B, columns", body.len() / LINES), |b| {
        b.iter(|| bulk::resolve_import(&engine, black_box(&body), NOW));
    });
    group.finish();
}

criterion_group!(benches, parse, parse_events, parse_remote_write, parse_influx, parse_ndjson);
criterion_main!(benches);
