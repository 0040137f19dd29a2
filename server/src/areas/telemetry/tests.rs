//! Tests of the area through its route: both lists are parsed, stored and reported separately.

use serde_json::{Value, json};

use crate::areas::testing::TestServer;

const PATH: &str = "/api/v1/telemetry/batch";

fn counter(value: u32) -> Value {
    json!({"name": "hits", "type": "counter", "value": value, "timestamp": "2026-01-02T03:00:00Z"})
}

fn hits(house: &TestServer) -> Value {
    house.get("/api/v1/metrics/hits/query?interval=1h").data(200)["series"][0]["value"].clone()
}

#[test]
fn both_lists_are_stored_and_reported() {
    let house = TestServer::open();
    let body = json!({
        "events": [{"name": "a"}, {"name": "b"}, {"name": "c", "tags": {"k": 1}}],
        "metrics": [7, counter(3), counter(4)]
    });
    let data = house.post(PATH, &body).data(200);
    assert_eq!((&data["events"]["accepted"], &data["events"]["rejected"]), (&json!(2), &json!(1)));
    assert_eq!(
        (&data["metrics"]["accepted"], &data["metrics"]["rejected"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        (&data["events"]["errors"][0]["index"], &data["events"]["errors"][0]["code"]),
        (&json!(2), &json!("invalid_tags"))
    );
    assert_eq!(
        (&data["metrics"]["errors"][0]["index"], &data["metrics"]["errors"][0]["code"]),
        (&json!(0), &json!("invalid_value"))
    );
    assert_eq!(hits(&house), 7);
    assert_eq!(house.get("/api/v1/events").body["meta"]["total"], 2);
}

#[test]
fn either_list_may_be_absent() {
    let house = TestServer::open();
    for (body, events, metrics) in [
        (json!({}), 0, 0),
        (json!({"events": null, "metrics": null}), 0, 0),
        (json!({"events": [{"name": "a"}]}), 1, 0),
        (json!({"metrics": [counter(1)]}), 0, 1),
    ] {
        let expected = json!({
            "events": {"accepted": events, "rejected": 0}, "metrics": {"accepted": metrics, "rejected": 0}
        });
        assert_eq!(house.post(PATH, &body).data(200), expected, "{body}");
    }
}

#[test]
fn an_invalid_combined_batch_stores_nothing() {
    let house = TestServer::open();
    let long = json!({"events": vec![json!({"name": "a"}); 250], "metrics": vec![counter(1); 251]});
    house.post(PATH, &long).refused(413, "batch_too_large", "");
    house.post(PATH, &json!([])).refused(400, "invalid_json", "");
    house.post(PATH, &json!({"events": {}})).refused(400, "invalid_parameter", "events");
    let lists = json!({"events": [{"name": "a"}], "metrics": "x"});
    house.post(PATH, &lists).refused(400, "invalid_parameter", "metrics");
    house.get("/api/v1/metrics/hits").refused(404, "metric_not_found", "");
}

#[test]
fn a_repeated_batch_is_stored_once() {
    let house = TestServer::open();
    let body = json!({"events": [{"name": "a"}], "metrics": [counter(2)]});
    let first = house.post_once(PATH, "k", &body);
    let again = house.post_once(PATH, "k", &body);
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(hits(&house), 2);
}
