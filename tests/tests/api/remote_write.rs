//! Prometheus remote-write over HTTP, both versions: stored data, refusals, and what is reported to
//! agents.

use serde_json::{Value, json};
use telltale_tests::remote_write::{
    Histogram, Metadata, MetricMetadata, RequestV2, TimeSeries, WriteRequest, pack, packed, sample,
    series,
};
use telltale_tests::{Client, MINUTE_MS, Response, Server, Setup, covers, now_ms};

use crate::points::{T0, pairs, query_metric, total};

const PATH: &str = "/api/v1/write";
const V1: &str = "application/x-protobuf";
const V2: &str = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

/// Sends a body as an agent does.
fn send(client: &Client, content_type: &str, body: Vec<u8>) -> Response {
    let request = client.request("POST", PATH).header("content-type", content_type);
    request.header("content-encoding", "snappy").body(body).send()
}

fn write(client: &Client, timeseries: Vec<TimeSeries>) -> Response {
    send(client, V1, packed(&WriteRequest { timeseries, metadata: Vec::new() }))
}

fn write_v2(client: &Client, request: &RequestV2) -> Response {
    send(client, V2, packed(request))
}

/// Returns the numbers of samples, histograms and exemplars that a response of version 2 reports as
/// written.
fn written(response: &Response) -> [&str; 3] {
    ["samples", "histograms", "exemplars"]
        .map(|what| response.must_header(&format!("x-prometheus-remote-write-{what}-written")))
}

fn minutes(client: &Client, name: &str, rest: &str) -> Vec<(i64, f64)> {
    let rest = format!("&interval=1m{rest}");
    let response = query_metric(client, name, T0, T0 + 60 * MINUTE_MS, &rest);
    let minute = |(ms, value): (i64, f64)| (ms / MINUTE_MS, value);
    pairs(&response.data(200)["series"]).into_iter().map(minute).collect()
}

fn at(minute: i64) -> i64 {
    T0 + minute * MINUTE_MS
}

#[test]
fn both_versions_are_stored() {
    covers!("POST /api/v1/write", Happy);
    let server = Server::start();
    let client = server.client();
    let labels = [("__name__", "load"), ("host", "a"), ("rack", "")];
    let response = write(&client, vec![series(&labels, &[(at(0), 1.5), (at(1), 2.5)])]);
    assert_eq!((response.status, response.body.len()), (204, 0), "{}", response.summary());
    assert_eq!(response.header("x-prometheus-remote-write-samples-written"), None);
    let mut request = RequestV2::new();
    request.series(&labels).samples = vec![sample(at(2), 3.5), sample(at(3), STALE)];
    let response = write_v2(&client, &request);
    assert_eq!((response.status, written(&response)), (204, ["2", "0", "0"]));
    let expected = [(0, 1.5), (1, 2.5), (2, 3.5)];
    assert_eq!(minutes(&client, "load", "&tags[host]=a&aggregation=last"), expected);
    let keys = client.get("/api/v1/metrics/load/tags").data(200);
    assert_eq!(keys.as_array().map(Vec::len), Some(1), "{keys}");
}

#[test]
fn optional_headers_may_be_missing() {
    let server = Server::start();
    let client = server.client();
    let body = |value| {
        let timeseries = vec![series(&[("__name__", "load")], &[(at(0), value)])];
        WriteRequest { timeseries, metadata: Vec::new() }
    };
    let last = || minutes(&client, "load", "&aggregation=last")[0].1;
    let post = || client.request("POST", PATH);
    assert_eq!(post().body(packed(&body(1.0))).send().status, 204);
    assert_eq!(last(), 1.0);
    let named = "application/x-protobuf; proto=prometheus.WriteRequest";
    assert_eq!(post().header("content-type", named).body(packed(&body(2.0))).send().status, 204);
    assert_eq!(last(), 2.0);
    // Uncompressed, or compressed as on other routes, with a content encoding.
    let plain = unpacked(&body(3.0));
    let request = post().header("content-type", V1).header("content-encoding", "identity");
    assert_eq!(request.body(plain.clone()).send().status, 204);
    assert_eq!(last(), 3.0);
    let zstd = zstd::encode_all(unpacked(&body(4.0)).as_slice(), 0).unwrap_or_default();
    let request = post().header("content-type", V1).header("content-encoding", "zstd");
    assert_eq!(request.body(zstd).send().status, 204);
    assert_eq!(last(), 4.0);
    assert_eq!(post().header("content-type", V1).body(pack(b"")).send().status, 204);
}

/// Encodes a message without compression.
fn unpacked(message: &impl prost::Message) -> Vec<u8> {
    message.encode_to_vec()
}

#[test]
fn an_invalid_body_is_refused_completely() {
    covers!("POST /api/v1/write", Refusal);
    let server = Setup::new().set("bodies.bulk", "\"4MiB\"").start();
    let client = server.client();
    let good = series(&[("__name__", "load")], &[(at(0), 1.0)]);
    let request = WriteRequest { timeseries: vec![good; 50], metadata: Vec::new() };
    let (plain, body) = (unpacked(&request), packed(&request));
    for (media, status) in [
        ("application/json", 415),
        ("text/plain", 415),
        ("application/x-protobuf;proto=io.prometheus.write.v3.Request", 415),
        (V1, 204),
    ] {
        assert_eq!(send(&client, media, body.clone()).status, status, "{media}");
    }
    let request = client.request("POST", PATH).header("content-type", V1);
    let response = request.header("content-encoding", "lz4").body(body.clone()).send();
    response.refused(415, "unsupported_media_type");
    assert_eq!(client.delete("/api/v1/metrics/load").status, 200);
    for bad in [
        body[..body.len() - 1].to_vec(),
        body[..body.len() / 2].to_vec(),
        plain.clone(),
        b"{\"metrics\": []}".to_vec(),
        pack(&plain[..plain.len() - 1]),
        pack(b"{\"metrics\": []}"),
    ] {
        for media in [V1, V2] {
            send(&client, media, bad.clone()).refused(400, "invalid_parameter");
        }
    }
    assert_eq!(written(&send(&client, V2, pack(b"x"))), ["0", "0", "0"]);
    // Decompression bombs: small bodies that exceed the limit when decompressed, or declare so.
    let bomb = pack(&vec![0; (4 << 20) + 1]);
    assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
    for bomb in [bomb, b"\xff\xff\xff\xff\x0f".to_vec()] {
        send(&client, V1, bomb).refused(413, "payload_too_large");
    }
    assert_eq!(client.get("/api/v1/metrics/load").status, 404, "nothing of all that is stored");
}

#[test]
fn valid_samples_are_stored_and_invalid_ones_reported() {
    let server = Server::start();
    let client = server.client();
    let many: Vec<(String, String)> = (0..40).map(|i| (format!("k{i}"), "v".to_owned())).collect();
    let mut many: Vec<(&str, &str)> = many.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    many.push(("__name__", "load"));
    let bad = vec![
        series(&[("__name__", "load")], &[(at(0), 1.0), (at(1), f64::NAN), (at(2), 3.0)]),
        series(&[("host", "a")], &[(at(0), 1.0)]),
        series(&many, &[(at(0), 1.0), (at(1), 1.0)]),
        series(&[("__name__", "load")], &[(now_ms() + 25 * 60 * MINUTE_MS, 1.0)]),
        series(&[("__name__", "load")], &[(at(4), STALE)]),
    ];
    let error = write(&client, bad.clone()).refused(400, "invalid_parameter");
    let details = &error["details"];
    assert_eq!((&details["accepted"], &details["rejected"]), (&json!(3), &json!(5)), "{error}");
    let value_sent = |error: &Value| json!([error["index"], error["code"]]);
    let errors: Vec<Value> =
        details["errors"].as_array().into_iter().flatten().map(value_sent).collect();
    let expected = [
        json!([0, "invalid_value"]),
        json!([1, "missing_name"]),
        json!([2, "invalid_tags"]),
        json!([3, "invalid_timestamp"]),
    ];
    assert_eq!(errors, expected);
    assert_eq!(minutes(&client, "load", "&aggregation=last"), [(0, 1.0), (2, 3.0)]);

    let mut request = RequestV2::new();
    request.series(&[("__name__", "load")]).samples = vec![sample(at(5), 5.0), sample(-1, 1.0)];
    request.series(&[]).samples = vec![sample(at(5), 5.0)];
    let response = write_v2(&client, &request);
    response.refused(400, "invalid_parameter");
    assert_eq!(written(&response), ["1", "0", "0"]);
}

#[test]
fn a_million_labels_are_one_error() {
    let server = Server::start();
    let client = server.client();
    let million = vec![("k", "v"); 1_000_000];
    let good = series(&[("__name__", "load")], &[(at(0), 1.0)]);
    let error = write(&client, vec![series(&million, &[(at(0), 1.0)]), good]);
    let error = error.refused(400, "invalid_parameter");
    assert_eq!(error["details"]["errors"][0]["code"], "invalid_tags", "{error}");
    assert_eq!(minutes(&client, "load", "&aggregation=last"), [(0, 1.0)]);
}

#[test]
fn types_are_derived_from_metadata_and_names_and_kept() {
    let server = Server::start();
    let client = server.client();
    let family = |name: &str, kind| MetricMetadata {
        kind,
        metric_family_name: name.to_owned(),
        ..MetricMetadata::default()
    };
    let metadata = vec![family("hits", 1), family("level_total", 2)];
    let value_sent = WriteRequest { timeseries: Vec::new(), metadata };
    assert_eq!(send(&client, V1, packed(&value_sent)).status, 204);
    // Of a cumulative counter, the second sample is the first with an increase.
    let one = |name| series(&[("__name__", name)], &[(at(0), 1.0), (at(1), 2.0)]);
    let names = ["hits", "level_total", "jobs_total", "jobs_sum", "jobs"];
    assert_eq!(write(&client, names.map(one).to_vec()).status, 204);
    let mut request = RequestV2::new();
    for (name, kind) in [("seen", 1), ("seen_total", 2)] {
        let series = request.series(&[("__name__", name)]);
        series.samples = vec![sample(at(0), 1.0), sample(at(1), 2.0)];
        series.metadata = Some(Metadata { kind, ..Metadata::default() });
    }
    assert_eq!(write_v2(&client, &request).status, 204);
    for (name, kind) in [
        ("hits", "counter"),
        ("level_total", "gauge"),
        ("jobs_total", "counter"),
        ("jobs_sum", "counter"),
        ("jobs", "gauge"),
        ("seen", "counter"),
        ("seen_total", "gauge"),
    ] {
        let definition = client.get(&format!("/api/v1/metrics/{name}")).data(200);
        assert_eq!(definition["type"], kind, "{name}");
    }
    let distribution = json!({"name": "other_total", "type": "distribution", "value": 1});
    client.post("/api/v1/metrics", &distribution).data(201);
    let error = write(&client, vec![one("other_total"), one("jobs")]);
    let error = error.refused(400, "invalid_parameter");
    assert_eq!(error["details"]["errors"][0]["code"], "type_conflict", "{error}");
    assert_eq!(error["details"]["accepted"], 2, "{error}");
}

#[test]
fn counters_count_once_through_kills_stops_and_repeats() {
    let mut server = Server::start();
    let cumulative_sample = |minute: i64, total: f64| {
        let other = series(&[("__name__", "hits_total"), ("host", "b")], &[(at(minute), 1.0)]);
        vec![series(&[("__name__", "hits_total"), ("host", "a")], &[(at(minute), total)]), other]
    };
    let mut expected = 0.0;
    for (round, (reported, grown)) in
        [(100.0, 0.0), (107.0, 7.0), (107.5, 0.5), (3.0, 3.0), (10.0, 7.0), (10.0, 0.0)]
            .into_iter()
            .enumerate()
    {
        let minute = round as i64;
        expected += grown;
        for _ in 0..2 {
            assert_eq!(write(&server.client(), cumulative_sample(minute, reported)).status, 204);
            // A late sample adds nothing.
            assert_eq!(write(&server.client(), cumulative_sample(minute - 1, 50.0)).status, 204);
        }
        if round % 3 == 1 {
            assert_eq!(server.client().post("/api/v1/admin/seal", &json!({})).status, 200);
        }
        if round % 2 == 0 {
            server.kill9();
        } else {
            assert!(server.terminate().success());
        }
        server.restart();
        let client = server.client();
        assert_eq!(total(&client, "hits_total", T0, at(60)), expected, "round {round}");
    }
    let by_host = minutes(&server.client(), "hits_total", "&tags[host]=b");
    assert!(by_host.iter().all(|(_, grown)| *grown == 0.0), "{by_host:?}");
}

#[test]
fn native_histograms_become_distributions() {
    let mut server = Server::start();
    let histogram = |minute, values: u64, sum| Histogram {
        count_int: Some(values),
        sum,
        positive_spans: vec![telltale_tests::remote_write::BucketSpan { offset: 4, length: 1 }],
        positive_deltas: vec![i64::try_from(values).unwrap_or(0)],
        timestamp: at(minute),
        ..Histogram::default()
    };
    let one = |histogram| {
        let mut series = series(&[("__name__", "latency"), ("host", "a")], &[]);
        series.histograms = vec![histogram];
        series
    };
    assert_eq!(write(&server.client(), vec![one(histogram(0, 100, 1_000.0))]).status, 204);
    server.kill9();
    server.restart();
    let mut request = RequestV2::new();
    let next = request.series(&[("__name__", "latency"), ("host", "a")]);
    next.histograms = vec![histogram(1, 130, 1_330.0), histogram(2, 20, 250.0)];
    let response = write_v2(&server.client(), &request);
    assert_eq!((response.status, written(&response)), (204, ["0", "2", "0"]));
    let client = server.client();
    let of =
        |aggregation: &str| minutes(&client, "latency", &format!("&aggregation={aggregation}"));
    assert_eq!(of("count"), [(1, 30.0), (2, 20.0)]);
    assert_eq!(of("sum"), [(1, 330.0), (2, 250.0)]);
    // All values are in (8, 16].
    assert!(of("p50").iter().all(|(_, value)| (8.0..=16.0).contains(value)), "{:?}", of("p50"));
}

#[test]
fn a_repeated_request_gets_the_same_response() {
    let server = Server::start();
    let client = server.client();
    let mut request = RequestV2::new();
    request.series(&[("__name__", "load")]).samples = vec![sample(at(0), 1.0), sample(-1, 1.0)];
    let body = packed(&request);
    let once = || {
        let request = client.request("POST", PATH).header("content-type", V2);
        request.header("idempotency-key", "k").body(body.clone()).send()
    };
    let (first, again) = (once(), once());
    first.refused(400, "invalid_parameter");
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(written(&first), written(&again));
    assert_eq!(again.must_header("idempotency-replayed"), "true");
}
