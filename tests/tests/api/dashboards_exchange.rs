//! Dashboards between servers: exported, imported, duplicated.

use serde_json::{Value, json};
use telltale_tests::{Server, covers};

use crate::dashboards::{PATH, add, make, widget};
use crate::keys::text;

/// A dashboard with a widget of every type, as exported.
fn everything() -> Value {
    let at = |n: u32| json!({"x": n % 3 * 4, "y": n / 3 * 3, "width": 4, "height": 3});
    let one = |n: u32, kind: &str, query: Value, options: Value| json!({"type": kind, "title": format!("a {kind}"), "position": at(n), "query": query, "options": options});
    json!({"version": 1, "name": "All of it", "description": "One of every type", "widgets": [
        one(0, "number", json!({"metric": "a", "tags": {"host": "web-*"}}), json!({
            "format": {"prefix": "~", "suffix": " ms", "decimals": 1}, "comparison": {"type": "previous_period"},
            "time_range": "7d"
        })),
        one(1, "graph", json!({"metric": "a", "interval": "5m", "group_by": "tags.host"}), json!({
            "style": "line", "time_range": "24h", "show_legend": false
        })),
        one(2, "bar", json!({"metric": "a", "group_by": "tags.host"}), json!({
            "orientation": "horizontal", "limit": 5
        })),
        one(3, "pie", json!({"event": "order.*", "group_by": "user_id"}), json!({"show_legend": true})),
        one(4, "table", json!({
            "event": "order.paid", "aggregation": "sum", "field": "cart.total", "group_by": "tags.shop"
        }), json!({"columns": ["shop", "sum", "count"], "limit": 20, "sort": {"field": "sum", "order": "desc"}})),
        one(5, "heatmap", json!({"event": "order.paid"}), json!({
            "x_axis": "hour_of_day", "y_axis": "day_of_week"
        })),
    ]})
}

#[test]
fn an_export_is_imported_unchanged() {
    covers!("POST /api/v1/dashboards/import", Happy);
    covers!("GET /api/v1/dashboards/{id}/export", Happy);
    let server = Server::start();
    let client = server.client();
    let import = format!("{PATH}/import");
    let document = everything();
    let imported = client.post(&import, &document).data(201);
    let path = format!("{PATH}/{}", text(&imported["id"]));
    assert_eq!(imported["widgets"].as_array().map(Vec::len), Some(6));
    let exported = client.get(&format!("{path}/export"));
    assert_eq!(exported.data(200), document);
    // The response of the export is, unchanged, a body of the import.
    let again = client.post(&import, &exported.json()).data(201);
    assert_ne!(again["id"], imported["id"]);
    assert_ne!(again["widgets"][0]["id"], imported["widgets"][0]["id"]);
    let second = client.get(&format!("{PATH}/{}/export", text(&again["id"])));
    assert_eq!(second.data(200), document);
    assert!(exported.must_header("etag").starts_with('"'));
}

#[test]
fn widgets_of_an_import_get_positions() {
    let server = Server::start();
    let client = server.client();
    let one = widget("number", json!({"metric": "a"}), json!({}));
    let imported =
        client.post(&format!("{PATH}/import"), &json!({"name": "n", "widgets": [one, one]}));
    let widgets = imported.data(201)["widgets"].clone();
    assert_eq!(widgets[0]["position"]["y"], 0);
    assert_eq!(widgets[1]["position"], json!({"x": 0, "y": 3, "width": 4, "height": 3}));
}

#[test]
fn an_invalid_import_creates_nothing() {
    covers!("POST /api/v1/dashboards/import", Refusal);
    let server = Server::start();
    let client = server.client();
    let good = widget("number", json!({"metric": "a"}), json!({}));
    let with = |bad: Value| json!({"name": "n", "widgets": [good, bad]});
    let many = vec![good.clone(); 101];
    for (body, status, code, field) in [
        (json!({}), 422, "missing_name", "name"),
        (json!({"name": "n", "version": 2}), 422, "invalid_field", "version"),
        (json!({"name": "n", "colour": 1}), 400, "invalid_parameter", "colour"),
        (json!({"name": "n", "widgets": many}), 422, "invalid_field", "widgets"),
        (json!({"name": "n", "data": {"name": "n"}}), 422, "invalid_field", "data"),
        (json!({"data": {}}), 422, "missing_name", "data.name"),
        (with(json!({})), 422, "missing_field", "widgets[1].type"),
        (
            with(widget("gauge", json!({}), json!({}))),
            422,
            "invalid_widget_type",
            "widgets[1].type",
        ),
        (with(widget("number", json!({}), json!({}))), 422, "invalid_query", "widgets[1].query"),
        (
            with(widget("pie", json!({"metric": "a"}), json!({"limit": 0}))),
            422,
            "invalid_field",
            "widgets[1].options.limit",
        ),
        (
            with(widget("pie", json!({"metric": "a"}), json!({"limits": 1}))),
            400,
            "invalid_parameter",
            "widgets[1].options.limits",
        ),
    ] {
        client.post(&format!("{PATH}/import"), &body).refused_for(status, code, field);
    }
    assert_eq!(client.get(PATH).expect(200)["meta"]["total"], 1, "only the first one is there");
}

#[test]
fn a_duplicate_is_independent() {
    covers!("POST /api/v1/dashboards/{id}/duplicate", Happy);
    covers!("POST /api/v1/dashboards/{id}/duplicate", Refusal);
    covers!("GET /api/v1/dashboards/{id}/export", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let first = add(&client, &path, &widget("number", json!({"metric": "a"}), json!({})));
    let duplicate = format!("{path}/duplicate");
    let copy = client.request("POST", &duplicate).send().data(201);
    assert_eq!(copy["name"], "d (copy)");
    assert_ne!(copy["widgets"][0]["id"], first["id"]);
    assert_eq!(copy["widgets"][0]["query"], first["query"]);
    assert_eq!(copy["widgets"][0]["position"], first["position"]);
    client.delete(&path).data(200);
    let copy = format!("{PATH}/{}", text(&copy["id"]));
    assert_eq!(client.get(&copy).data(200)["widgets"].as_array().map(Vec::len), Some(1));
    let named = client.post(&format!("{copy}/duplicate"), &json!({"name": "e"})).data(201);
    assert_eq!(named["name"], "e");
    let again = format!("{copy}/duplicate");
    client.post(&again, &json!({"name": ""})).refused_for(422, "missing_name", "name");
    client.post(&again, &json!({"title": "e"})).refused_for(400, "invalid_parameter", "title");
    client.post(&duplicate, &json!({})).refused(404, "dashboard_not_found");
    client.get(&format!("{path}/export")).refused(404, "dashboard_not_found");
}

#[test]
fn the_name_of_a_duplicate_is_within_its_limit() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, &"é".repeat(200));
    let copy = client.post(&format!("{path}/duplicate"), &json!({})).data(201);
    let name = text(&copy["name"]);
    assert_eq!(name.chars().count(), 200);
    assert!(name.ends_with("é (copy)"), "{name}");
}
