//! Tests of the area through its routes: requests, responses, and reading the data back.

use serde_json::{Value, json};

use crate::areas::testing::TestServer;

/// A time in the hour before [`crate::areas::testing::NOW`].
fn at(minute: u32) -> String {
    format!("2026-01-02T02:{minute:02}:30.000Z")
}

fn event(name: &str, minute: u32, user: &str, value: f64, region: &str) -> Value {
    json!({
        "name": name, "timestamp": at(minute), "user_id": user, "value": value,
        "properties": {"cart": {"total": value * 2.0}}, "tags": {"region": region}
    })
}

/// Returns a server with three orders and a visit, sent in arbitrary order.
fn sample_server() -> TestServer {
    let house = TestServer::open();
    let events = json!({"events": [
        event("order.paid", 12, "ann", 2.0, "eu"),
        event("order.paid", 10, "bob", 1.0, "us"),
        event("order.sent", 10, "ann", 4.0, "eu"),
        {"name": "visit", "timestamp": at(11)},
    ]});
    let data = house.post("/api/v1/events/batch", &events).data(200);
    assert_eq!(data, json!({"accepted": 4, "rejected": 0}));
    house
}

fn names(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|event| event["name"].as_str().unwrap()).collect()
}

#[test]
fn a_tracked_event_is_returned() {
    let house = TestServer::open();
    let input =
        json!({"name": "order.paid", "user_id": 7, "value": 49.5, "tags": {"region": "eu"}});
    let mut data = house.post("/api/v1/events", &input).data(201);
    let id = data["id"].take();
    let id = id.as_str().unwrap();
    assert!(id.starts_with("evt_") && id.len() == 30, "{id}");
    let expected = json!({
        "id": null, "name": "order.paid", "timestamp": "2026-01-02T03:04:05.678Z", "user_id": "7", "value": 49.5
    });
    assert_eq!(data, expected);
    let next = house.post("/api/v1/events", &json!({"name": "a"})).data(201);
    assert!(next["id"].as_str().unwrap() > id, "ids ascend");
    assert_eq!((&next["user_id"], &next["value"]), (&Value::Null, &Value::Null));
    let path = "/api/v1/events";
    house.post(path, &json!({"value": 1})).refused(422, "missing_name", "name");
    house.post(path, &json!({"name": "a", "tags": {"k": 1}})).refused(422, "invalid_tags", "tags");
    house.post(path, &json!([])).refused(400, "invalid_json", "");
}

#[test]
fn a_batch_reports_its_invalid_items() {
    let house = TestServer::open();
    let body = json!({"events": [{"name": "a"}, {"name": "a", "properties": []}, {"name": "a", "user_id": ""}]});
    let data = house.post("/api/v1/events/batch", &body).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(1), &json!(2)));
    let errors = json!([
        {"index": 1, "code": "invalid_field", "message": "properties must be an object"},
        {"index": 2, "code": "invalid_field", "message": "user_id must have 1 to 200 characters"},
    ]);
    assert_eq!(data["errors"], errors);
    let long = json!({"events": vec![Value::Null; 501]});
    house.post("/api/v1/events/batch", &long).refused(413, "batch_too_large", "events");
    house.post("/api/v1/events/batch", &json!({})).refused(422, "missing_field", "events");
}

#[test]
fn a_repeated_request_has_the_same_id() {
    let house = TestServer::open();
    let body = json!({"name": "a"});
    let first = house.post_once("/api/v1/events", "k", &body);
    let again = house.post_once("/api/v1/events", "k", &body);
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(house.get("/api/v1/events").body["meta"]["total"], 1);
}

#[test]
fn events_are_listed_newest_first() {
    let house = sample_server();
    let all = house.get("/api/v1/events").body;
    assert_eq!(names(&all), ["order.paid", "visit", "order.sent", "order.paid"]);
    assert_eq!(all["meta"], json!({"total": 4, "limit": 100, "offset": 0}));
    let mut newest = all["data"][0].clone();
    newest["id"] = Value::Null;
    let mut expected = event("order.paid", 12, "ann", 2.0, "eu");
    expected["id"] = Value::Null;
    expected["value"] = json!(2);
    assert_eq!(newest, expected);
    let visit = &all["data"][1];
    assert_eq!(
        (&visit["properties"], &visit["tags"], &visit["value"]),
        (&json!({}), &json!({}), &Value::Null)
    );

    let ask = |query: &str| house.get(&format!("/api/v1/events?{query}")).body;
    assert_eq!(names(&ask("name=order.*&user_id=ann")), ["order.paid", "order.sent"]);
    assert_eq!(names(&ask("tags[region]=!eu")), ["visit", "order.paid"]);
    assert_eq!(names(&ask("limit=1&offset=1")), ["visit"]);
    let first = ask("limit=3&name=order.*");
    assert_eq!(first["meta"].get("next_cursor"), None);
    let first = ask("limit=3");
    let cursor = first["meta"]["next_cursor"].as_str().unwrap();
    let rest = ask(&format!("cursor={cursor}"));
    assert_eq!((names(&rest), &rest["meta"]["total"]), (vec!["order.paid"], &json!(4)));
    assert_eq!(rest["meta"].get("next_cursor"), None);
    house.get("/api/v1/events?limit=0").refused(400, "invalid_parameter", "limit");
    house.get("/api/v1/events?from=soon").refused(422, "invalid_timestamp", "from");
}

#[test]
fn events_are_counted_by_time_and_group() {
    let house = sample_server();
    let ask = |query: &str| house.get(&format!("/api/v1/events/count?{query}")).data(200);
    let point = |minute: u32, count: u32| json!({"timestamp": format!("2026-01-02T02:{minute:02}:00.000Z"), "count": count});
    assert_eq!(ask(""), json!({"total": 4, "series": [point(10, 2), point(11, 1), point(12, 1)]}));
    assert_eq!(
        ask("group_by=tags.region"),
        json!({"total": 4, "groups": {"": 1, "eu": 2, "us": 1}})
    );
    assert_eq!(
        ask("group_by=user_id&interval=5m&name=order.paid"),
        json!({"total": 2, "groups": {"ann": 1, "bob": 1}, "series": {"ann": [point(10, 1)], "bob": [point(10, 1)]}})
    );
    assert_eq!(ask("name=none"), json!({"total": 0, "series": []}));
    house.get("/api/v1/events/count?interval=7").refused(422, "invalid_interval", "interval");
    house.get("/api/v1/events/count?group_by=region").refused(400, "invalid_parameter", "group_by");
}

#[test]
fn statistics_cover_the_value_or_a_property() {
    let house = sample_server();
    let ask = |query: &str| house.get(&format!("/api/v1/events/stats?{query}")).data(200);
    assert_eq!(
        ask(""),
        json!({"count": 3, "sum": 7, "avg": 7.0 / 3.0, "min": 1, "max": 4, "p50": 2, "p95": 4, "p99": 4})
    );
    let cart =
        json!({"count": 2, "sum": 6, "avg": 3, "min": 2, "max": 4, "p50": 2, "p95": 4, "p99": 4});
    assert_eq!(ask("name=order.paid&field=cart.total"), cart);
    assert_eq!(ask("name=order.paid&field=properties.cart.total"), cart);
    let none = json!({
        "count": 0, "sum": null, "avg": null, "min": null, "max": null, "p50": null, "p95": null, "p99": null
    });
    assert_eq!(ask("field=cart"), none);
    house.get("/api/v1/events/stats?field=").refused(400, "invalid_parameter", "field");
}
