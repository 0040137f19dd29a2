//! The shape of every answer, as it was agreed: a change to one shows here, as a change of a snapshot.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use telltale_tests::{Answer, Server, iso, masked};

use crate::events::{event, yesterday};
use crate::points::{T0, point, send};

/// Status and body, without what differs from run to run.
fn shape(answer: &Answer) -> Value {
    json!({"status": answer.status, "body": masked(&answer.json())})
}

#[test]
fn shapes_of_metrics() {
    let server = Server::start();
    let client = server.client();
    let one = json!({
        "name": "app.hits", "type": "counter", "value": 2, "timestamp": iso(T0), "tags": {"host": "a"}
    });
    let post = |path: &str, body: &Value| shape(&client.post(path, body));
    assert_json_snapshot!("track", post("/api/v1/metrics", &one));
    let batch = json!({"metrics": [one, {"name": "app.hits", "type": "gauge", "value": 1}]});
    assert_json_snapshot!("track_batch", post("/api/v1/metrics/batch", &batch));
    send(&client, &[point("app.hits", "counter", T0 + 60_000, 3.5, json!({"host": "b"}))]);

    let get = |path: &str| shape(&client.get(path));
    assert_json_snapshot!("definitions", get("/api/v1/metrics?prefix=app."));
    assert_json_snapshot!("definition", get("/api/v1/metrics/app.hits"));
    assert_json_snapshot!("tag_keys", get("/api/v1/metrics/app.hits/tags"));
    assert_json_snapshot!("tag_values", get("/api/v1/metrics/app.hits/tags/host/values"));
    let query = |rest: &str| {
        let (from, to) = (iso(T0), iso(T0 + 120_000));
        get(&format!("/api/v1/metrics/app.hits/query?from={from}&to={to}&interval=1m{rest}"))
    };
    assert_json_snapshot!("query", query(""));
    assert_json_snapshot!("query_several", query("&aggregation=sum,rate"));
    assert_json_snapshot!("query_grouped", query("&group_by=tags.host&fill=null"));
    assert_json_snapshot!("delete", shape(&client.delete("/api/v1/metrics/app.hits")));
}

#[test]
fn shapes_of_events() {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let one = event(
        "order.paid",
        t0,
        json!({
            "user_id": "ann", "value": 49.5, "properties": {"cart": {"items": 2}}, "tags": {"region": "eu"}
        }),
    );
    let post = |path: &str, body: &Value| shape(&client.post(path, body));
    assert_json_snapshot!("event_track", post("/api/v1/events", &one));
    let batch = json!({"events": [event("visit", t0 + 60_000, json!({})), {"name": "a", "tags": {"k": 1}}]});
    assert_json_snapshot!("event_track_batch", post("/api/v1/events/batch", &batch));
    let halves = json!({"events": [], "metrics": [{"name": "a", "type": "gauge"}]});
    assert_json_snapshot!("telemetry_batch", post("/api/v1/telemetry/batch", &halves));

    let (from, to) = (iso(t0), iso(t0 + 120_000));
    let get = |path: &str| shape(&client.get(&format!("/api/v1/events{path}from={from}&to={to}")));
    assert_json_snapshot!("event_list", get("?"));
    let mut page = get("?limit=1&");
    assert!(page["body"]["meta"]["next_cursor"].is_string(), "{page}");
    page["body"]["meta"]["next_cursor"] = json!("<cursor>");
    assert_json_snapshot!("event_list_page", page);
    assert_json_snapshot!("event_count", get("/count?"));
    assert_json_snapshot!("event_count_grouped", get("/count?group_by=tags.region&"));
    assert_json_snapshot!("event_count_both", get("/count?group_by=name&interval=1h&"));
    assert_json_snapshot!("event_stats", get("/stats?"));
    assert_json_snapshot!("event_stats_none", get("/stats?field=cart&"));
    let refused = |body: &Value| post("/api/v1/events", body);
    assert_json_snapshot!("refused_event_tags", refused(&json!({"name": "a", "tags": {"k": 1}})));
    assert_json_snapshot!("refused_event_field", refused(&json!({"name": "a", "properties": []})));
}

#[test]
fn shapes_of_operation() {
    let server = Server::start();
    let client = server.client();
    let body = json!({
        "name": "agent", "user": "ops@example.com", "scopes": ["ingest"], "limits": {"batch": 100}
    });
    let made = client.post("/api/v1/keys", &body);
    let id = made.data(201)["id"].clone();
    let id = id.as_str().unwrap_or_default();
    let without_id = |answer: &Answer| {
        let mut shape = shape(answer).to_string();
        shape = shape.replace(id, "<id>");
        serde_json::from_str::<Value>(&shape).unwrap_or_default()
    };
    assert_json_snapshot!("create_key", without_id(&made));
    let revoked = client.delete(&format!("/api/v1/keys/{id}"));
    assert_json_snapshot!("revoke_key", without_id(&revoked));
    assert_json_snapshot!("keys", without_id(&client.get("/api/v1/keys")));
    assert_json_snapshot!("healthz", shape(&client.get("/healthz")));
    assert_json_snapshot!("readyz", shape(&client.get("/readyz")));
}

#[test]
fn shapes_of_refusals() {
    let server = Server::start();
    let client = server.client();
    let post = |body: &Value| shape(&client.post("/api/v1/metrics", body));
    assert_json_snapshot!(
        "refused_value",
        post(&json!({"name": "a", "type": "gauge", "value": "1"}))
    );
    assert_json_snapshot!("refused_name", post(&json!({"type": "gauge", "value": 1})));
    assert_json_snapshot!("refused_path", shape(&client.get("/nowhere")));
    assert_json_snapshot!("refused_key", shape(&client.without_key().get("/api/v1/metrics")));
    assert_json_snapshot!("refused_metric", shape(&client.get("/api/v1/metrics/none")));
    let query = "/api/v1/metrics?limit=none";
    assert_json_snapshot!("refused_parameter", shape(&client.get(query)));
}
