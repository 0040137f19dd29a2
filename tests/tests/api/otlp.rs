//! Metrics of OpenTelemetry: `POST /v1/metrics`.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, DAY_MS, HOUR_MS, Response, Server, Setup, covers, now_ms};

use crate::points::{T0, definitions, pairs, query_metric};

const PATH: &str = "/v1/metrics";

/// Returns nanoseconds as the protocol writes them in JSON.
fn ns(ms: i64) -> String {
    format!("{ms}000000")
}

/// Returns a request with the metrics of one resource and scope.
fn request(metrics: &[Value]) -> Value {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    json!({"resourceMetrics": [{
        "resource": {"attributes": [
            attribute("service.name", "shop"),
            attribute("telemetry.sdk.language", "rust"),
        ]},
        "scopeMetrics": [{"scope": {"name": "lib", "version": "2"}, "metrics": metrics}],
    }]})
}

fn gauge(name: &str, value: impl Into<Value>) -> Value {
    let point = json!({"timeUnixNano": ns(T0), "asDouble": value.into()});
    json!({"name": name, "gauge": {"dataPoints": [point]}})
}

/// Returns a monotonic cumulative sum at this many minutes after [`T0`].
fn total(minute: i64, start: i64, value: i64) -> Value {
    let point = json!({
        "startTimeUnixNano": ns(start), "timeUnixNano": ns(T0 + minute * 60_000),
        "asInt": value.to_string(),
    });
    json!({"name": "requests", "sum": {
        "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [point],
    }})
}

fn export(client: &Client, metrics: &[Value]) -> Response {
    let body = request(metrics).to_string();
    let request = client.request("POST", PATH).header("content-type", "application/json");
    request.body(body).send()
}

#[track_caller]
fn exported(client: &Client, metrics: &[Value]) {
    assert_eq!(export(client, metrics).expect(200), json!({}));
}

#[track_caller]
fn values(client: &Client, metric: &str, aggregation: &str) -> Vec<(i64, f64)> {
    let rest = format!("&interval=1m&aggregation={aggregation}");
    pairs(&query_metric(client, metric, T0, T0 + HOUR_MS, &rest).data(200)["series"])
}

fn tag_keys(client: &Client, metric: &str) -> Vec<String> {
    let keys = client.get(&format!("/api/v1/metrics/{metric}/tags")).data(200);
    let keys = keys.as_array().into_iter().flatten();
    keys.filter_map(|tag| tag["key"].as_str().map(str::to_owned)).collect()
}

#[test]
fn each_kind_of_metric_becomes_a_type() {
    covers!("POST /v1/metrics", Happy);
    let server = Server::start();
    let client = server.client();
    let sum = |name: &str, temporality: i64, monotonic: bool| {
        let point = json!({"timeUnixNano": ns(T0), "asInt": 4});
        json!({"name": name, "sum": {
            "aggregationTemporality": temporality, "isMonotonic": monotonic, "dataPoints": [point],
        }})
    };
    let histogram = json!({"name": "took", "histogram": {"aggregationTemporality": 1, "dataPoints": [
        {"timeUnixNano": ns(T0), "count": "3", "sum": 6.5, "min": 0.5, "max": 4,
         "explicitBounds": [1, 3], "bucketCounts": ["1", "1", "1"]},
    ]}});
    let exponential = json!({"name": "size", "exponentialHistogram": {
    "aggregationTemporality": "AGGREGATION_TEMPORALITY_DELTA", "dataPoints": [
        {"timeUnixNano": ns(T0), "count": 2, "sum": 6, "scale": 0, "zeroCount": 0,
         "positive": {"offset": 0, "bucketCounts": ["1", "1"]}},
    ]}});
    let summary = json!({"name": "old", "summary": {"dataPoints": [{"timeUnixNano": ns(T0)}]}});
    let all = [
        gauge("load", 1.5),
        sum("delta", 1, true),
        sum("drift", 1, false),
        sum("depth", 2, false),
        histogram,
        exponential,
        summary,
    ];
    let response = export(&client, &all).expect(200);
    let partial = &response["partialSuccess"];
    assert_eq!(partial["rejectedDataPoints"], "0");
    assert!(
        partial["errorMessage"].as_str().is_some_and(|reported| reported.contains("summaries"))
    );
    let found: Vec<Value> =
        definitions(&client).iter().map(|d| json!([d["name"], d["type"]])).collect();
    assert_eq!(
        found,
        [
            json!(["delta", "counter"]),
            json!(["depth", "gauge"]),
            json!(["drift", "counter"]),
            json!(["load", "gauge"]),
            json!(["size", "distribution"]),
            json!(["took", "distribution"]),
        ]
    );
    for (metric, aggregation, value) in [
        ("load", "last", 1.5),
        ("delta", "sum", 4.0),
        ("drift", "sum", 4.0),
        ("depth", "last", 4.0),
        ("took", "count", 3.0),
        ("took", "sum", 6.5),
        ("took", "min", 0.5),
        ("took", "max", 4.0),
        ("size", "count", 2.0),
        ("size", "sum", 6.0),
    ] {
        assert_eq!(values(&client, metric, aggregation), [(0, value)], "{metric} {aggregation}");
    }
}

#[test]
fn cumulative_samples_become_increases_across_restarts_of_either_side() {
    let mut server = Server::start();
    let began = T0 - HOUR_MS;
    exported(&server.client(), &[total(0, began, 100)]);
    exported(&server.client(), &[total(1, began, 107)]);
    server.restart();
    exported(&server.client(), &[total(2, began, 110)]);
    // A repetition, a restarted agent, and a restarted agent with a value above the previous one.
    exported(&server.client(), &[total(2, began, 110)]);
    exported(&server.client(), &[total(3, T0 + 150_000, 5)]);
    exported(&server.client(), &[total(4, T0 + 200_000, 50)]);
    let client = server.client();
    assert_eq!(
        values(&client, "requests", "sum"),
        [(60_000, 7.0), (120_000, 3.0), (180_000, 5.0), (240_000, 50.0)],
        "what was counted before we heard of it is nobody's increase"
    );
}

#[test]
fn a_stream_that_starts_after_the_server_counts_from_zero() {
    let server = Server::start();
    let client = server.client();
    let now = now_ms() + 1_000;
    let point = json!({
        "startTimeUnixNano": ns(now), "timeUnixNano": ns(now + 1_000), "asInt": 3,
    });
    let sum = json!({"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [point]});
    exported(&client, &[json!({"name": "young", "sum": sum})]);
    let rest = "&interval=1d&aggregation=sum";
    let response = query_metric(&client, "young", now - DAY_MS, now + DAY_MS, rest).data(200);
    assert_eq!(response["series"][0]["value"], 3.0);
}

#[test]
fn valid_data_points_are_stored_and_invalid_ones_reported() {
    let server = Server::start();
    let client = server.client();
    exported(&client, &[gauge("known", 1)]);
    let delta = json!({"name": "known", "sum": {"aggregationTemporality": 1, "dataPoints": [
        {"timeUnixNano": ns(T0), "asInt": 1},
    ]}});
    let late = json!({"name": "late", "gauge": {"dataPoints": [
        {"timeUnixNano": ns(now_ms() + 2 * DAY_MS), "asInt": 1},
    ]}});
    let absent = json!({"name": "absent", "gauge": {"dataPoints": [{"flags": 1}]}});
    let all = [gauge("a", 1), gauge("b", "NaN"), late, delta, absent, gauge("c", 2)];
    let response = export(&client, &all).expect(200);
    assert_eq!(response["partialSuccess"]["rejectedDataPoints"], "3");
    let reported = response["partialSuccess"]["errorMessage"].as_str().unwrap_or_default();
    for part in
        ["3 of 5 data points", "\"b\": the value must be", "\"late\": time_unix_nano", "known"]
    {
        assert!(reported.contains(part), "{part} in {reported}");
    }
    assert_eq!(values(&client, "a", "last"), [(0, 1.0)]);
    assert_eq!(values(&client, "c", "last"), [(0, 2.0)]);
    client.get("/api/v1/metrics/absent").refused(404, "metric_not_found");
}

#[test]
fn invalid_requests_are_refused_and_store_nothing() {
    covers!("POST /v1/metrics", Refusal);
    let server = Server::start();
    let client = server.client();
    let send = |media: &str, body: &[u8]| {
        client.request("POST", PATH).header("content-type", media).body(body).send()
    };
    send("application/json", b"{\"resourceMetrics\": [").refused(400, "invalid_json");
    send("application/json", b"{\"resourceMetrics\": 1}").refused(400, "invalid_json");
    send("application/x-protobuf", b"\x0a\x7f").refused(400, "invalid_parameter");
    send("application/x-protobuf", b"hello, world").refused(400, "invalid_parameter");
    for media in ["text/plain", "application/grpc", "application/octet-stream"] {
        send(media, b"").refused(415, "unsupported_media_type");
    }
    client.request("POST", PATH).body("{}").send().refused(415, "unsupported_media_type");
    let good = gauge("good", 1).to_string();
    let cut =
        format!("{{\"resourceMetrics\":[{{\"scopeMetrics\":[{{\"metrics\":[{good},{{]}}]}}]}}");
    send("application/json", cut.as_bytes()).refused(400, "invalid_json");
    assert_eq!(definitions(&client), Vec::<Value>::new());
    let empty = send("application/x-protobuf", b"");
    assert_eq!((empty.status, empty.body.len()), (200, 0));
    assert_eq!(empty.must_header("content-type"), "application/x-protobuf");
}

#[test]
fn bodies_may_be_compressed_and_are_limited() {
    let server = Setup::new().set("bodies.bulk", "\"64KiB\"").start();
    let client = server.client();
    let packed = |body: &str| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        assert!(packer.write_all(body.as_bytes()).is_ok());
        let Ok(body) = packer.finish() else { panic!("nothing was packed") };
        let request = client.request("POST", PATH).header("content-encoding", "gzip");
        request.header("content-type", "application/json; charset=utf-8").body(body).send()
    };
    let body = request(&[gauge("packed", 1)]).to_string();
    assert_eq!(packed(&body).expect(200), json!({}));
    assert_eq!(values(&client, "packed", "last"), [(0, 1.0)]);
    packed(&format!("{body}{}", " ".repeat(64 << 10))).refused(413, "payload_too_large");
}

#[test]
fn the_configuration_selects_the_attributes_that_become_tags() {
    let server = Server::start();
    exported(&server.client(), &[gauge("m", 1)]);
    assert_eq!(tag_keys(&server.client(), "m"), ["service.name"]);
    let server = Setup::new()
        .set("otlp.resource_attributes", "[\"telemetry.sdk.language\"]")
        .set("otlp.scope_attributes", "[\"otel.scope.name\"]")
        .start();
    exported(&server.client(), &[gauge("m", 1)]);
    assert_eq!(tag_keys(&server.client(), "m"), ["otel.scope.name", "telemetry.sdk.language"]);
    let none = Setup::new().set("otlp.resource_attributes", "[]").start();
    exported(&none.client(), &[gauge("m", 1)]);
    assert_eq!(tag_keys(&none.client(), "m"), Vec::<String>::new());
}

#[test]
fn a_repeated_request_stores_nothing_twice() {
    let server = Server::start();
    let client = server.client();
    let delta = json!({"name": "hits", "sum": {"aggregationTemporality": 1, "dataPoints": [
        {"timeUnixNano": ns(T0), "asInt": 1},
    ]}});
    for replayed in [false, true] {
        let response = client
            .with_key(ADMIN_KEY)
            .request("POST", PATH)
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(request(std::slice::from_ref(&delta)).to_string())
            .send();
        assert_eq!(response.expect(200), json!({}));
        assert_eq!(response.header("idempotency-replayed").is_some(), replayed);
    }
    assert_eq!(values(&client, "hits", "sum"), [(0, 1.0)]);
}
