//! Reserved names: `telltale.` as prefix of metrics and events, `telltale` of queues. They are
//! refused on every route, and the other items are stored.

use serde_json::{Value, json};
use telltale_tests::remote_write::{TimeSeries, WriteRequest, packed, series};
use telltale_tests::{Client, Response, Server, iso};

use crate::cli::stdout_of;
use crate::events::{event, names, yesterday};
use crate::points::{T0, definitions, gauge, total};

/// A metric of the server.
const TAKEN: &str = "telltale.jobs.failed";

/// Returns the codes of the refused items of a batch.
fn codes(outcome: &Value) -> Vec<Value> {
    outcome["errors"].as_array().into_iter().flatten().map(|error| error["code"].clone()).collect()
}

/// Returns the names of the metrics that tests created.
fn made(client: &Client) -> Vec<Value> {
    definitions(client).iter().map(|definition| definition["name"].clone()).collect()
}

fn counter(name: &str) -> Value {
    json!({"name": name, "type": "counter", "value": 1, "timestamp": iso(T0)})
}

#[test]
fn json_cannot_write_metrics_of_the_server() {
    let server = Server::start();
    let client = server.client();
    let one = client.post("/api/v1/metrics", &gauge(TAKEN, T0, 1.0));
    one.refused_for(422, "reserved_name", "name");
    for name in ["telltale.", "telltale.mine"] {
        client.post("/api/v1/metrics", &counter(name)).refused_for(422, "reserved_name", "name");
    }
    let items = [gauge(TAKEN, T0, 1.0), counter("mine"), gauge(TAKEN, T0, 2.0), counter("mine")];
    // The second time, known series take the fast path.
    for _ in 0..2 {
        let data = client.post("/api/v1/metrics/batch", &json!({ "metrics": items })).data(200);
        assert_eq!((&data["accepted"], &data["rejected"]), (&json!(2), &json!(2)), "{data}");
        assert_eq!(codes(&data), ["reserved_name", "reserved_name"]);
    }
    let body = json!({"metrics": items, "events": [{"name": "telltale.error"}, {"name": "mine"}]});
    let data = client.post("/api/v1/telemetry/batch", &body).data(200);
    assert_eq!(data["metrics"]["accepted"], 2);
    assert_eq!(codes(&data["metrics"]), ["reserved_name", "reserved_name"]);
    assert_eq!(codes(&data["events"]), ["reserved_name"]);
    // Only names with the whole prefix are reserved.
    for name in ["telltale", "telltales.x", "Telltale.x", "my.telltale.x"] {
        client.post("/api/v1/metrics", &counter(name)).data(201);
    }
    assert_eq!(made(&client), ["Telltale.x", "mine", "my.telltale.x", "telltale", "telltales.x"]);
    assert_eq!(total(&client, "mine", T0, T0 + 1_000), 6.0);
}

#[test]
fn bulk_protocols_cannot_write_metrics_of_the_server() {
    let server = Server::start();
    let client = server.client();
    let lines = format!("{}\n{}\n", gauge(TAKEN, T0, 1.0), counter("of.lines"));
    let data = client.request("POST", "/api/v1/import").body(lines).send().data(200);
    assert_eq!((&data["accepted"], codes(&data)), (&json!(1), vec![json!("reserved_name")]));

    let lines = format!("telltale.jobs failed=1 {T0}000000\nof.influx value=1 {T0}000000\n");
    let response = client.request("POST", "/api/v1/influx/write").body(lines).send();
    let details = response.refused(400, "invalid_parameter")["details"].clone();
    assert_eq!((&details["accepted"], codes(&details)), (&json!(1), vec![json!("reserved_name")]));

    let samples = [(T0, 1.0)];
    let response = remote_write(
        &client,
        vec![series(&[("__name__", TAKEN)], &samples), series(&[("__name__", "of_rw")], &samples)],
    );
    let details = response.refused(400, "invalid_parameter")["details"].clone();
    assert_eq!((&details["accepted"], codes(&details)), (&json!(1), vec![json!("reserved_name")]));

    let point = json!({"timeUnixNano": format!("{T0}000000"), "asDouble": 1.0});
    let metric = |name: &str| json!({"name": name, "gauge": {"dataPoints": [point]}});
    let metrics = [metric(TAKEN), metric("of.otlp")];
    let body = json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": metrics}]}]});
    let partial = client.post("/v1/metrics", &body).expect(200)["partialSuccess"].clone();
    assert_eq!(partial["rejectedDataPoints"], "1", "{partial}");
    assert!(partial["errorMessage"].as_str().is_some_and(|m| m.contains("reserved")), "{partial}");
    assert_eq!(made(&client), ["of.influx", "of.lines", "of.otlp", "of_rw"]);
}

fn remote_write(client: &Client, timeseries: Vec<TimeSeries>) -> Response {
    let request =
        client.request("POST", "/api/v1/write").header("content-type", "application/x-protobuf");
    let body = packed(&WriteRequest { timeseries, metadata: Vec::new() });
    request.header("content-encoding", "snappy").body(body).send()
}

#[test]
fn imports_cannot_write_metrics_of_the_server() {
    let mut server = Server::start();
    let lines = format!("{}\n{}\n", gauge(TAKEN, T0, 1.0), counter("imported"));
    let path = server.home().join("lines.ndjson");
    assert!(std::fs::write(&path, lines).is_ok(), "cannot write the lines");
    let path = path.to_string_lossy().into_owned();
    let reported = |output: &std::process::Output| {
        stdout_of(output) + &String::from_utf8_lossy(&output.stderr)
    };
    let running = reported(&server.cli(["import", "ndjson", &path]));
    assert!(running.contains("reserved"), "{running}");
    assert!(server.terminate().success());
    let stopped = reported(&server.cli(["import", "ndjson", "--restart", &path]));
    assert!(stopped.contains("reserved"), "{stopped}");
    server.restart();
    assert_eq!(made(&server.client()), ["imported"]);
}

#[test]
fn events_of_the_server_cannot_be_sent() {
    let server = Server::start();
    let client = server.client();
    for name in ["telltale.error", "telltale.x", "telltale."] {
        let one = client.post("/api/v1/events", &json!({ "name": name }));
        one.refused_for(422, "reserved_name", "name");
    }
    let items = [
        json!({"name": "telltale.x"}),
        event("telltale", yesterday(), json!({})),
        event("a", yesterday(), json!({})),
    ];
    let data = client.post("/api/v1/events/batch", &json!({ "events": items })).data(200);
    assert_eq!((&data["accepted"], codes(&data)), (&json!(2), vec![json!("reserved_name")]));
    assert_eq!(names(&client.get("/api/v1/events?name=telltale.*")), [""; 0]);
}

#[test]
fn events_of_errors_are_only_found_by_name() {
    let server = Server::start();
    let client = server.client();
    client.post("/api/v1/events", &json!({"name": "tea", "user_id": "ann"})).data(201);
    for _ in 0..2 {
        let error = json!({"exception": {"type": "E", "message": "m"}, "user": {"id": "bob"}});
        client.post("/api/v1/errors", &error).data(201);
    }
    // First in memory, then in blocks.
    for _ in 0..2 {
        for (query, found) in [
            ("", &["tea"][..]),
            ("name=*", &["tea"]),
            ("name=te*", &["tea"]),
            ("user_id=bob", &[]),
            ("name=telltale.error", &["telltale.error"; 2]),
            ("name=telltale.*&user_id=bob", &["telltale.error"; 2]),
            ("name=telltale*", &["telltale.error"; 2]),
        ] {
            let response = client.get(&format!("/api/v1/events?{query}"));
            assert_eq!(names(&response), found, "{query}");
            assert_eq!(response.json()["meta"]["total"], found.len(), "{query}");
            let count = client.get(&format!("/api/v1/events/count?{query}")).data(200);
            assert_eq!(count["total"], found.len(), "{query}");
        }
        let groups = client.get("/api/v1/events/count?group_by=name").data(200);
        assert_eq!(groups["groups"], json!({"tea": 1}));
        let users = client.get("/api/v1/events/count?distinct=user_id").data(200);
        assert_eq!(users["distinct"], 1);
        client.post("/api/v1/admin/seal", &json!({})).data(200);
    }
}

#[test]
fn the_server_creates_its_metrics_when_it_starts() {
    let server = Server::start();
    let client = server.client();
    // Nothing has failed yet, and the query succeeds.
    let path = format!("/api/v1/metrics/{TAKEN}/query?aggregation=sum");
    let data = client.get(&path).data(200);
    assert_eq!(data["series"], json!([]), "{data}");
    client.get("/api/v1/metrics/telltale.mine/query").refused(404, "metric_not_found");
}
