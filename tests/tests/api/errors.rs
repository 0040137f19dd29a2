//! The error body, the table of error codes, and properties that the responses of all paths share.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, iso};

use crate::keys::client_with;
use crate::points::{T0, gauge, send};

#[test]
fn a_path_refuses_other_methods_and_lists_its_own() {
    let server = Server::start();
    let client = server.client();
    for (path, allowed) in [
        ("/api/v1/metrics", "GET, HEAD, POST"),
        ("/api/v1/metrics/batch", "POST"),
        ("/api/v1/metrics/a", "GET, HEAD, DELETE"),
        ("/api/v1/metrics/a/query", "GET, HEAD"),
        ("/api/v1/admin/seal", "POST"),
        ("/healthz", "GET, HEAD"),
    ] {
        for verb in ["PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] {
            let response = client.request(verb, path).send();
            response.refused(405, "method_not_allowed");
            let mut reported: Vec<&str> = response.must_header("allow").split(", ").collect();
            let mut expected: Vec<&str> = allowed.split(", ").collect();
            // `batch` and `{name}` match the same path.
            reported.retain(|verb| path != "/api/v1/metrics/batch" || expected.contains(verb));
            reported.sort_unstable();
            expected.sort_unstable();
            assert_eq!(reported, expected, "{path}");
        }
    }
}

#[test]
fn head_is_get_without_a_body() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    // The server's own metrics may change between two lists of all metrics.
    for path in
        ["/api/v1/metrics?prefix=a", "/api/v1/metrics/a", "/healthz", "/api/v1/openapi.json"]
    {
        let (get, head) = (client.get(path), client.request("HEAD", path).send());
        assert_eq!((head.status, get.status), (200, 200), "{path}");
        assert!(head.body.is_empty(), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{path}");
    }
    let head = client.request("HEAD", "/api/v1/metrics/none").send();
    assert_eq!((head.status, head.body.len()), (404, 0));
}

#[test]
fn every_response_has_a_request_id() {
    let server = Server::start();
    let client = server.client();
    let id = |sent: Option<&str>| {
        let request = client.request("GET", "/api/v1/metrics");
        let request = match sent {
            Some(sent) => request.header("x-request-id", sent),
            None => request,
        };
        request.send().must_header("x-request-id").to_owned()
    };
    let long = "x".repeat(129);
    assert_ne!(id(None), id(None));
    for valid in ["a", "7f3c-11", "01ARZ3NDEKTSV4RRFFQ69G5FAV", &"x".repeat(128)] {
        assert_eq!(id(Some(valid)), valid);
    }
    for invalid in ["", "a b", "a\"b", "<a>", "é", &long] {
        assert_ne!(id(Some(invalid)), invalid);
    }
    let refused =
        client.without_key().request("GET", "/nowhere").header("x-request-id", "abc-7").send();
    assert_eq!(refused.header("x-request-id"), Some("abc-7"));
    telltale_tests::eventually("the request id in the log", || {
        server.log().iter().any(|line| line.contains("\"abc-7\"")).then_some(())
    });
}

/// A request that is refused with one code.
type Provoke = fn(&Client) -> telltale_tests::Response;

#[test]
fn every_error_code_can_occur() {
    let setup = Setup::new().set("metrics.series_per_metric", "1").set("limits.other", "200");
    let server = setup.start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    let cases: [(u16, &str, Provoke); 25] = [
        (400, "invalid_json", |c| c.post_text("/api/v1/metrics", "{")),
        (400, "invalid_parameter", |c| c.get("/api/v1/metrics?limit=x")),
        (401, "unauthorized", |c| c.without_key().get("/api/v1/metrics")),
        (403, "forbidden", |c| client_with(c, json!(["ingest"])).get("/api/v1/metrics")),
        (404, "not_found", |c| c.get("/nowhere")),
        (404, "metric_not_found", |c| c.get("/api/v1/metrics/none")),
        (404, "key_not_found", |c| c.delete("/api/v1/keys/none1234")),
        (405, "method_not_allowed", |c| c.delete("/api/v1/metrics")),
        (409, "conflict", |c| {
            idempotent(c, 1.0);
            idempotent(c, 2.0)
        }),
        (413, "batch_too_large", |c| {
            c.post("/api/v1/metrics/batch", &json!({"metrics": vec![Value::Null; 501]}))
        }),
        (413, "payload_too_large", |c| c.post_text("/api/v1/metrics", " ".repeat(2 << 20))),
        (415, "unsupported_media_type", |c| {
            c.request("POST", "/api/v1/metrics").header("content-encoding", "br").body("{}").send()
        }),
        (422, "missing_name", |c| one(c, json!({"name": null}))),
        (422, "invalid_name", |c| one(c, json!({"name": "\u{1}"}))),
        (422, "reserved_name", |c| one(c, json!({"name": "telltale.a"}))),
        (422, "invalid_type", |c| one(c, json!({"type": "x"}))),
        (422, "invalid_value", |c| one(c, json!({"value": "x"}))),
        (422, "invalid_timestamp", |c| one(c, json!({"timestamp": "x"}))),
        (422, "invalid_tags", |c| one(c, json!({"tags": []}))),
        (422, "type_conflict", |c| one(c, json!({"type": "counter"}))),
        (422, "cardinality_limit", |c| one(c, json!({"tags": {"k": "v"}}))),
        (422, "invalid_aggregation", |c| c.get("/api/v1/metrics/a/query?aggregation=sum")),
        (422, "invalid_interval", |c| c.get("/api/v1/metrics/a/query?interval=2w")),
        (422, "invalid_range", |c| {
            c.get("/api/v1/metrics/a/query?from=2024-01-02&to=2024-01-01T00:00Z")
        }),
        (429, "rate_limited", |c| {
            // While requests are sent, some of the minute's budget comes back.
            let mut sent = (0..2_000).map(|_| c.get("/api/v1/metrics"));
            sent.find(|response| response.status == 429).unwrap_or_else(|| c.get("/api/v1/metrics"))
        }),
    ];
    for (status, code, provoke) in cases {
        provoke(&client).refused(status, code);
    }
}

fn one(client: &Client, change: Value) -> telltale_tests::Response {
    let mut input = gauge("a", T0, 1.0);
    if let (Some(input), Some(change)) = (input.as_object_mut(), change.as_object()) {
        input.extend(change.clone());
    }
    client.post("/api/v1/metrics", &input)
}

fn idempotent(client: &Client, value: f64) -> telltale_tests::Response {
    let request = client.request("POST", "/api/v1/metrics").header("idempotency-key", "k");
    let body = json!({"name": "a", "type": "gauge", "value": value, "timestamp": iso(T0)});
    request.json(&body).send()
}
