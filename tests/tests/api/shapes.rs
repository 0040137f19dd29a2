//! The shape of every response: a change shows as a changed snapshot.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use telltale_tests::{Response, Server, iso, masked};

use crate::dashboards::{PATH, add, make, patch, widget};
use crate::events::{event, yesterday};
use crate::keys::text;
use crate::points::{T0, point, send};

/// Returns status and body, without values that differ between runs.
fn shape(response: &Response) -> Value {
    json!({"status": response.status, "body": masked(&response.json())})
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
    let without_id = |response: &Response| {
        let mut shape = shape(response).to_string();
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
fn shapes_of_dashboards() {
    let server = Server::start();
    let client = server.client();
    let hits = |minute: i64, value: u32, host: &str| {
        point("app.hits", "counter", T0 + minute * 60_000, value, json!({"host": host}))
    };
    send(&client, &[hits(0, 2, "a"), hits(0, 3, "b"), hits(1, 4, "a"), hits(90, 8, "b")]);
    let made = client.post(PATH, &json!({"name": "Web", "description": "All of it"}));
    assert_json_snapshot!("create_dashboard", shape(&made));
    let path = format!("{PATH}/{}", text(&made.data(201)["id"]));
    let (plain, by_host) =
        (json!({"metric": "app.hits"}), json!({"metric": "app.hits", "group_by": "tags.host"}));
    let compared = json!({"format": {"suffix": "/h"}, "comparison": {"type": "previous_period"}});
    let number = widget("number", plain.clone(), json!({}));
    assert_json_snapshot!("add_widget", shape(&client.post(&format!("{path}/widgets"), &number)));
    let columns =
        json!({"columns": ["host", "sum", "rate"], "sort": {"field": "sum", "order": "asc"}});
    for (kind, query, options) in [
        ("number", &plain, compared),
        ("graph", &plain, json!({"style": "line"})),
        ("graph", &by_host, json!({"show_legend": true})),
        ("bar", &by_host, json!({"orientation": "horizontal", "limit": 1})),
        ("pie", &by_host, json!({})),
        ("table", &by_host, columns),
        ("heatmap", &plain, json!({"x_axis": "hour_of_day", "y_axis": "day_of_week"})),
    ] {
        add(&client, &path, &widget(kind, query.clone(), options));
    }
    let late = json!({"metric": "app.late", "aggregation": "rate"});
    let late = add(&client, &path, &widget("number", late, json!({})));
    let gauge = json!({"name": "app.late", "type": "gauge", "value": 1});
    client.post("/api/v1/metrics", &gauge).data(201);
    let span = format!("from={}&to={}", iso(T0), iso(T0 + 7_200_000));
    assert_json_snapshot!("dashboard", shape(&client.get(&format!("{path}?{span}"))));
    let one = format!("{path}/widgets/{}", text(&late["id"]));
    assert_json_snapshot!("widget_data", shape(&client.get(&format!("{one}/data?{span}"))));
    let retitled = patch(&client, &one, &json!({"title": "late", "query": plain}));
    assert_json_snapshot!("update_widget", shape(&retitled));
    let listed = client.get(&format!("{PATH}?limit=1"));
    assert_json_snapshot!("dashboards", shape(&listed));
    assert_json_snapshot!("delete_widget", shape(&client.delete(&one)));

    let small = make(&client, "small");
    let id = add(&client, &small, &number)["id"].clone();
    let moved = json!({"widgets": [{"id": id, "x": 6, "y": 0, "width": 6, "height": 2}]});
    assert_json_snapshot!("layout", shape(&patch(&client, &format!("{small}/layout"), &moved)));
    let renamed = patch(&client, &small, &json!({"name": "smaller"}));
    assert_json_snapshot!("update_dashboard", shape(&renamed));
    assert_json_snapshot!("export_dashboard", shape(&client.get(&format!("{small}/export"))));
    let copied = client.post(&format!("{small}/duplicate"), &json!({"name": "copy"}));
    assert_json_snapshot!("duplicate_dashboard", shape(&copied));
    assert_json_snapshot!("delete_dashboard", shape(&client.delete(&small)));
    assert_json_snapshot!("refused_dashboard", shape(&client.get(&format!("{PATH}/none"))));
    let bad = widget("number", json!({}), json!({}));
    let refused = client.post(&format!("{path}/widgets"), &bad);
    assert_json_snapshot!("refused_widget", shape(&refused));
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
