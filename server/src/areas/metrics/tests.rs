//! Tests of the area through its routes: requests, responses, and reading the data back.

use serde_json::{Value, json};
use telltale_engine::Options;

use crate::areas::testing::TestServer;

/// A time in the hour before [`crate::areas::testing::NOW`].
fn at(minute: u32) -> String {
    format!("2026-01-02T02:{minute:02}:30.000Z")
}

fn point(name: &str, kind: &str, value: impl Into<Value>, minute: u32, tags: &Value) -> Value {
    json!({"name": name, "type": kind, "value": value.into(), "timestamp": at(minute), "tags": tags})
}

/// Returns a server with a metric of each type and a few series.
fn sample_server() -> TestServer {
    let house = TestServer::open();
    let (a, b) = (json!({"host": "a", "dc": 1}), json!({"host": "b"}));
    let points = json!({"metrics": [
        point("cpu", "gauge", 1, 10, &a),
        point("cpu", "gauge", 2.5, 12, &a),
        point("cpu", "gauge", 4, 12, &b),
        point("hits", "counter", 3, 10, &a),
        point("hits", "counter", 4, 10, &b),
        point("ms", "distribution", 10, 10, &a),
        point("ms", "distribution", 30, 10, &b),
        point("users", "set", "ann", 10, &a),
        point("users", "set", "ann", 10, &b),
        point("users", "set", "bob", 10, &b),
    ]});
    let data = house.post("/api/v1/metrics/batch", &points).data(200);
    assert_eq!(data, json!({"accepted": 10, "rejected": 0}));
    house
}

#[test]
fn a_tracked_sample_is_returned() {
    let house = TestServer::open();
    for (kind, value) in [
        ("gauge", json!(21.5)),
        ("counter", json!(-3)),
        ("distribution", json!(0.001)),
        ("set", json!("ann")),
    ] {
        let input = json!({"name": kind, "type": kind, "value": value, "tags": {"host": "a"}});
        assert_eq!(
            house.post("/api/v1/metrics", &input).data(201),
            json!({"name": kind, "type": kind, "value": value, "timestamp": "2026-01-02T03:04:05.678Z"})
        );
    }
    let path = "/api/v1/metrics";
    house.post(path, &json!({"type": "gauge", "value": 1})).refused(422, "missing_name", "name");
    house.post(path, &json!([])).refused(400, "invalid_json", "");
    let other = json!({"name": "gauge", "type": "counter", "value": 1});
    house.post(path, &other).refused(422, "type_conflict", "type");
}

#[test]
fn a_batch_reports_its_invalid_items() {
    let house = TestServer::open();
    let body = json!({"metrics": [
        {"name": "a", "type": "gauge", "value": 1},
        {"name": "a", "type": "gauge"},
        {"name": "a", "type": "set", "value": "m"},
        {"name": "a", "type": "gauge", "value": 1, "tags": {"k": "v".repeat(501)}},
    ]});
    let data = house.post("/api/v1/metrics/batch", &body).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(1), &json!(3)));
    let codes: Vec<(&Value, &Value)> =
        data["errors"].as_array().unwrap().iter().map(|e| (&e["index"], &e["code"])).collect();
    assert_eq!(
        codes,
        [
            (&json!(1), &json!("invalid_value")),
            (&json!(2), &json!("type_conflict")),
            (&json!(3), &json!("invalid_tags"))
        ]
    );
    let message = "value must be a finite number for type gauge";
    assert_eq!(data["errors"][0]["message"], message);
    let long = json!({"metrics": vec![Value::Null; 501]});
    house.post("/api/v1/metrics/batch", &long).refused(413, "batch_too_large", "metrics");
    house.post("/api/v1/metrics/batch", &json!({})).refused(422, "missing_field", "metrics");
    let none = json!({"metrics": 1});
    house.post("/api/v1/metrics/batch", &none).refused(400, "invalid_parameter", "metrics");
}

#[test]
fn series_over_the_limit_are_refused() {
    let house = TestServer::with(Options { series_per_metric: 2, ..Options::default() });
    let track = |host: u32| {
        let input = json!({"name": "a", "type": "gauge", "value": 1, "tags": {"host": host}});
        house.post("/api/v1/metrics", &input)
    };
    track(1).data(201);
    track(2).data(201);
    track(3).refused(422, "cardinality_limit", "tags");
    track(1).data(201);
}

#[test]
fn a_repeated_request_stores_nothing_twice() {
    let house = TestServer::open();
    let body = json!({"metrics": [point("hits", "counter", 2, 10, &json!({}))]});
    let first = house.post_once("/api/v1/metrics/batch", "k", &body);
    let again = house.post_once("/api/v1/metrics/batch", "k", &body);
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    let sum = house.get("/api/v1/metrics/hits/query?interval=1h").data(200);
    assert_eq!(sum["series"][0]["value"], 2);
    let none = json!({"metrics": []});
    house.post_once("/api/v1/metrics/batch", "empty", &none).data(200);
    let again = house.post_once("/api/v1/metrics/batch", "empty", &none);
    assert_eq!(again.headers["idempotency-replayed"], "true");
}

#[test]
fn query_responses_have_the_shapes_of_the_specification() {
    let house = sample_server();
    let query = |metric: &str, query: &str| {
        house.get(&format!("/api/v1/metrics/{metric}/query?{query}")).data(200)
    };
    let minute = |minute: u32| format!("2026-01-02T02:{minute:02}:00.000Z");
    assert_eq!(
        query("cpu", ""),
        json!({"name": "cpu", "aggregation": "avg", "interval": "1m", "series": [
            {"timestamp": minute(10), "value": 1},
            {"timestamp": minute(12), "value": 3.25},
        ]})
    );
    assert_eq!(
        query("cpu", "aggregation=min,max&interval=5m&tags[host]=a"),
        json!({"name": "cpu", "interval": "5m", "series": [
            {"timestamp": minute(10), "min": 1, "max": 2.5},
        ]})
    );
    assert_eq!(
        query("hits", "group_by=tags.dc,tags.host")["groups"],
        json!({
            "1,a": [{"timestamp": minute(10), "value": 3}],
            ",b": [{"timestamp": minute(10), "value": 4}],
        })
    );
    assert_eq!(query("ms", "aggregation=p50,count")["series"][0]["p50"], 10);
    assert_eq!(query("users", "")["series"][0]["value"], 2);
    let filled = query("cpu", "from=2026-01-02T02:10Z&to=2026-01-02T02:13Z&fill=previous");
    let values: Vec<&Value> =
        filled["series"].as_array().unwrap().iter().map(|p| &p["value"]).collect();
    assert_eq!(values, [&json!(1), &json!(1), &json!(3.25)]);
    assert_eq!(query("cpu", "tags[host]=none")["series"], json!([]));
}

#[test]
fn invalid_queries_are_refused() {
    let house = sample_server();
    let query =
        |metric: &str, query: &str| house.get(&format!("/api/v1/metrics/{metric}/query?{query}"));
    query("none", "").refused(404, "metric_not_found", "");
    query("cpu", "aggregation=sum").refused(422, "invalid_aggregation", "aggregation");
    query("cpu", "interval=7").refused(422, "invalid_interval", "interval");
    query("cpu", "from=soon").refused(422, "invalid_timestamp", "from");
    query("cpu", "from=2026-01-03").refused(422, "invalid_range", "from");
    query("cpu", "group_by=host").refused(400, "invalid_parameter", "group_by");
    query("cpu", "tags[host]=a*,b").refused(400, "invalid_parameter", "tags[host]");
}

#[test]
fn definitions_are_listed_and_read() {
    let house = sample_server();
    let list = house.get("/api/v1/metrics?prefix=&limit=2&offset=1").body;
    let hits = json!({
        "name": "hits", "type": "counter", "tags": ["dc", "host"], "first_seen": at(10), "last_seen": at(10)
    });
    assert_eq!(list["data"][0], hits);
    assert_eq!(list["meta"], json!({"total": 4, "limit": 2, "offset": 1}));
    let sets = house.get("/api/v1/metrics?type=set").data(200);
    assert_eq!((&sets[0]["name"], sets.as_array().map(Vec::len)), (&json!("users"), Some(1)));
    house.get("/api/v1/metrics?type=histogram").refused(422, "invalid_type", "type");
    house.get("/api/v1/metrics?limit=0").refused(400, "invalid_parameter", "limit");

    let cpu = house.get("/api/v1/metrics/cpu").data(200);
    assert_eq!((&cpu["data_points"], &cpu["last_seen"]), (&json!(3), &json!(at(12))));
    let keys = house.get("/api/v1/metrics/cpu/tags").body;
    assert_eq!(keys["data"], json!([{"key": "dc", "values": 1}, {"key": "host", "values": 2}]));
    assert_eq!(keys["meta"], json!({"total": 2, "limit": 100, "offset": 0}));
    let hosts = house.get("/api/v1/metrics/cpu/tags/host/values?offset=1").body;
    assert_eq!(hosts["data"], json!([{"value": "b", "series": 1}]));
    assert_eq!(hosts["meta"]["total"], 2);
    for path in ["none", "none/tags", "none/tags/host/values"] {
        house.get(&format!("/api/v1/metrics/{path}")).refused(404, "metric_not_found", "");
    }
}

#[test]
fn a_deleted_metric_is_not_found() {
    let house = sample_server();
    let deleted = house.delete("/api/v1/metrics/cpu").data(200);
    assert_eq!(deleted, json!({"id": "cpu", "name": "cpu", "deleted": true}));
    house.get("/api/v1/metrics/cpu").refused(404, "metric_not_found", "");
    house.delete("/api/v1/metrics/cpu").refused(404, "metric_not_found", "");
}

#[test]
fn names_with_special_characters_are_encoded_in_paths() {
    let house = TestServer::open();
    for name in ["a/b", "a%2Fb", "batch", "..", "query?x#y", "\u{202e}é\"\\"] {
        let input = json!({"name": name, "type": "gauge", "value": 1});
        house.post("/api/v1/metrics", &input).data(201);
        let encoded =
            percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC)
                .to_string();
        assert_eq!(house.get(&format!("/api/v1/metrics/{encoded}")).data(200)["name"], name);
        assert_eq!(house.get(&format!("/api/v1/metrics/{encoded}/query")).data(200)["name"], name);
    }
}
