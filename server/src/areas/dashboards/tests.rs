//! The area through its routes.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};
use telltale_engine::{
    Collection, Engine, Expect, Memory, MemoryOwner, NewEvent, Options, Properties, TimestampMs,
    Write,
};

use super::error::DashboardsError;
use super::model::DashboardDraft;
use super::ops;
use crate::areas::testing::{Answer, NOW, TestServer};
use crate::limits::DASHBOARDS_MAX;
use crate::platform::self_metrics::{RequestCounts, RouteCount, SelfMetrics};

const PATH: &str = "/api/v1/dashboards";

fn create_dashboard(house: &TestServer) -> String {
    let created = house.post(PATH, &json!({"name": "n"})).data(201);
    format!("{PATH}/{}", created["id"].as_str().unwrap())
}

fn patch(house: &TestServer, path: &str, body: &Value) -> Answer {
    house.call(Method::PATCH, path, &[], &body.to_string())
}

fn widget(house: &TestServer, dashboard: &str, change: &Value) -> Answer {
    let mut body = json!({"type": "number", "title": "t", "query": {"metric": "m"}});
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    house.post(&format!("{dashboard}/widgets"), &body)
}

#[test]
fn a_dashboard_is_created_changed_and_deleted() {
    let house = TestServer::open();
    let created = house.post(PATH, &json!({"name": "n", "description": "d"})).data(201);
    let now = "2026-01-02T03:04:05.678Z";
    let expected = json!({
        "id": created["id"], "name": "n", "description": "d", "created_at": now, "updated_at": now, "widgets": [],
        "version": created["version"], "updated_by": created["updated_by"],
    });
    assert!(created["version"].is_u64() && created["updated_by"].is_string(), "{created}");
    assert_eq!(created, expected);
    let path = format!("{PATH}/{}", created["id"].as_str().unwrap());
    assert_eq!(house.get(&path).data(200), expected);
    let changed = patch(&house, &path, &json!({"name": "o", "description": null})).data(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("o"), &Value::Null));
    assert_eq!(patch(&house, &path, &json!({})).data(200)["name"], "o");
    let list = house.get(PATH).body;
    assert_eq!(list["data"][0]["widgets_count"], 0);
    assert_eq!(list["meta"], json!({"total": 1, "limit": 100, "offset": 0}));
    assert_eq!(house.delete(&path).data(200), json!({"id": created["id"], "deleted": true}));
    house.get(&path).refused(404, "dashboard_not_found", "");
}

#[test]
fn invalid_widgets_are_refused() {
    let house = TestServer::open();
    house.post("/api/v1/metrics", &json!({"name": "m", "type": "gauge", "value": 1})).data(201);
    let path = create_dashboard(&house);
    for (change, code, field) in [
        (json!({"type": null}), "missing_field", "type"),
        (json!({"type": "gauge"}), "invalid_widget_type", "type"),
        (json!({"type": 1}), "invalid_widget_type", "type"),
        (json!({"title": null}), "missing_field", "title"),
        (json!({"title": ""}), "missing_field", "title"),
        (json!({"title": "x".repeat(201)}), "invalid_field", "title"),
        (json!({"title": "  "}), "invalid_field", "title"),
        (json!({"type": "graph", "options": {"style": "dots"}}), "invalid_field", "options.style"),
        (
            json!({"type": "heatmap", "options": {"x_axis": "month"}}),
            "invalid_field",
            "options.x_axis",
        ),
        (json!({"query": null}), "missing_field", "query"),
        (json!({"query": []}), "invalid_query", "query"),
        (json!({"query": {}}), "invalid_query", "query"),
        (json!({"query": {"metric": "m", "event": "e"}}), "invalid_query", "query"),
        (json!({"query": {"metric": 1}}), "invalid_query", "query.metric"),
        (json!({"query": {"metric": "m", "unit": 1}}), "invalid_query", "query.unit"),
        (
            json!({"query": {"metric": "m", "aggregation": "sum"}}),
            "invalid_query",
            "query.aggregation",
        ),
        (
            json!({"query": {"metric": "m", "group_by": "tags.a"}}),
            "invalid_query",
            "query.group_by",
        ),
        (
            json!({"query": {"metric": "m", "tags": {"a": "x".repeat(501)}}}),
            "invalid_query",
            "query.tags",
        ),
        (
            json!({"type": "graph", "query": {"metric": "m", "interval": "1m"}, "options": {"time_range": "52w"}}),
            "invalid_query",
            "query.interval",
        ),
    ] {
        refused(&house, &path, &change, code, field);
    }
}

/// Checks that a widget with this change is refused with this code and field.
#[track_caller]
fn refused(house: &TestServer, dashboard: &str, change: &Value, code: &str, field: &str) {
    let answer = widget(house, dashboard, change);
    assert_eq!(answer.body["error"]["code"], code, "{change}: {}", answer.body);
    answer.refused(422, code, field);
}

#[test]
fn invalid_options_are_refused() {
    let house = TestServer::open();
    house.post("/api/v1/metrics", &json!({"name": "m", "type": "gauge", "value": 1})).data(201);
    let path = create_dashboard(&house);
    for (change, code, field) in [
        (json!({"options": {"time_range": "1y"}}), "invalid_field", "options.time_range"),
        (json!({"options": {"limit": 3}}), "invalid_field", "options.limit"),
        (json!({"type": "bar", "options": {"limit": 0}}), "invalid_field", "options.limit"),
        (json!({"type": "bar", "options": {"limit": 1001}}), "invalid_field", "options.limit"),
        (
            json!({"options": {"comparison": {"type": "last_year"}}}),
            "invalid_field",
            "options.comparison.type",
        ),
        (
            json!({"options": {"format": {"suffix": "x".repeat(21)}}}),
            "invalid_field",
            "options.format.suffix",
        ),
        (
            json!({"type": "heatmap", "options": {"y_axis": "hour_of_day"}}),
            "invalid_field",
            "options.y_axis",
        ),
        (json!({"type": "table", "options": {"columns": []}}), "invalid_field", "options.columns"),
        (
            json!({"type": "table", "options": {"columns": ["host"]}}),
            "invalid_field",
            "options.columns[0]",
        ),
        (
            json!({"type": "table", "options": {"columns": ["value", "value"]}}),
            "invalid_field",
            "options.columns[1]",
        ),
        (
            json!({"type": "table", "options": {"sort": {"field": "sum"}}}),
            "invalid_field",
            "options.sort.field",
        ),
    ] {
        refused(&house, &path, &change, code, field);
    }
    for (change, field) in [
        (json!({"colour": 1}), "colour"),
        (json!({"options": {"colour": 1}}), "options.colour"),
        (json!({"position": {"x": 1.5, "y": 0, "width": 1, "height": 1}}), "position.x"),
        (json!({"position": {"x": -1, "y": 0, "width": 1, "height": 1}}), "position.x"),
    ] {
        widget(&house, &path, &change).refused(400, "invalid_parameter", field);
    }
    assert_eq!(house.get(&path).data(200)["widgets"], json!([]));
}

#[test]
fn a_position_outside_the_grid_is_refused() {
    let house = TestServer::open();
    let path = create_dashboard(&house);
    for (x, y, width, height, field) in [
        (0_u32, 0_u32, 0_u32, 1_u32, "width"),
        (0, 0, 13, 1, "width"),
        (0, 0, 1, 0, "height"),
        (12, 0, 1, 1, "x"),
        (9, 0, 4, 3, "x"),
        (u32::MAX, 0, 1, 1, "x"),
        (0, 10_000, 1, 1, "y"),
    ] {
        let position = json!({"x": x, "y": y, "width": width, "height": height});
        let answer = widget(&house, &path, &json!({ "position": position }));
        answer.refused(422, "invalid_field", &format!("position.{field}"));
    }
    let partial = json!({"position": {"x": 0, "y": 0, "width": 1}});
    widget(&house, &path, &partial).refused(422, "missing_field", "position.height");
}

#[test]
fn a_wrong_if_match_changes_nothing() {
    let house = TestServer::open();
    let path = create_dashboard(&house);
    let id = widget(&house, &path, &json!({})).data(201)["id"].as_str().unwrap().to_owned();
    let before = house.get(&path);
    let etag = before.headers["etag"].to_str().unwrap().to_owned();
    let one = format!("{path}/widgets/{id}");
    let layout =
        json!({"widgets": [{"id": id, "x": 1, "y": 1, "width": 1, "height": 1}]}).to_string();
    for wrong in ["\"1\"", "W/\"7\"", "nonsense", "\"\""] {
        for (method, path, body) in [
            (Method::PATCH, &path, r#"{"name": "wrong"}"#),
            (Method::PATCH, &format!("{path}/layout"), layout.as_str()),
            (Method::PATCH, &one, r#"{"title": "wrong"}"#),
            (Method::DELETE, &one, ""),
            (Method::DELETE, &path, ""),
        ] {
            let answer = house.call(method, path, &[("if-match", wrong)], body);
            answer.refused(412, "precondition_failed", "");
        }
    }
    assert_eq!(house.get(&path).body, before.body);
    let renamed = house.call(Method::PATCH, &path, &[("if-match", &etag)], r#"{"name": "o"}"#);
    let next = renamed.headers["etag"].to_str().unwrap().to_owned();
    renamed.data(200);
    let stale = house.call(Method::PATCH, &path, &[("if-match", &etag)], r#"{"name": "p"}"#);
    stale.refused(412, "precondition_failed", "");
    house.call(Method::DELETE, &one, &[("if-match", &next)], "").data(200);
}

#[test]
fn the_etag_changes_with_the_values_of_the_widgets() {
    let house = TestServer::open();
    let path = create_dashboard(&house);
    widget(&house, &path, &json!({})).data(201);
    let first = house.get(&path);
    let etag = first.headers["etag"].to_str().unwrap();
    let again = || house.call(Method::GET, &path, &[("if-none-match", etag)], "");
    assert_eq!(again().status, 304);
    house.post("/api/v1/metrics", &json!({"name": "m", "type": "gauge", "value": 7})).data(201);
    assert_eq!(again().data(200)["widgets"][0]["value"], 7);
}

/// Writes one minute of a server's own metrics.
fn write_self_metrics(engine: &Engine) {
    static BOUNDS_US: [u64; 2] = [1_000, 10_000];
    let route = |method, path| RouteCount {
        method,
        path,
        statuses: [0, 0, 9, 0, 1, 0],
        latencies: vec![8, 1, 1],
        bounds_us: &BOUNDS_US,
        latency_sum_us: 30_000,
    };
    let counts = RequestCounts {
        routes: vec![route("GET", "/api/v1/metrics"), route("POST", "/api/v1/metrics")],
        connections: 3,
        body_bytes: 1_000,
        refused_quota: 2,
        refused_load: 1,
    };
    SelfMetrics::new(engine.clone(), move || counts.clone()).write(NOW).unwrap();
}

#[test]
fn the_default_dashboard_shows_the_server_s_own_metrics() {
    let house = TestServer::open();
    let app = Arc::clone(house.app());
    write_self_metrics(app.engine());
    super::make_first(&app).unwrap();
    super::make_first(&app).unwrap();
    let list = house.get(PATH).data(200);
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    let path = format!("{PATH}/{}", list[0]["id"].as_str().unwrap());
    let dashboard = house.get(&path).data(200);
    let widgets = dashboard["widgets"].as_array().unwrap();
    assert!((12..=16).contains(&widgets.len()), "{} widgets", widgets.len());
    for widget in widgets {
        let values = ["value", "series", "groups", "items", "rows", "cells"];
        let found = values.iter().find_map(|name| widget.get(name)).unwrap_or(&Value::Null);
        let is_empty = found.is_null()
            || found.as_array().is_some_and(Vec::is_empty)
            || found.as_object().is_some_and(serde_json::Map::is_empty);
        assert!(!is_empty, "the server writes the metric of each widget: {widget}");
    }
    let kinds: std::collections::BTreeSet<&str> =
        widgets.iter().filter_map(|widget| widget["type"].as_str()).collect();
    assert_eq!(kinds.len(), 6, "every type occurs: {kinds:?}");
    let positions = widgets.iter().map(|widget| &widget["position"]);
    let cells: Vec<(u64, u64)> = positions
        .flat_map(|at| {
            let n = |name: &str| at[name].as_u64().unwrap();
            let (x, y, width, height) = (n("x"), n("y"), n("width"), n("height"));
            (0..width).flat_map(move |dx| (0..height).map(move |dy| (x + dx, y + dy)))
        })
        .collect();
    let distinct: std::collections::BTreeSet<&(u64, u64)> = cells.iter().collect();
    assert_eq!(distinct.len(), cells.len(), "no widgets overlap");
}

#[test]
fn a_failing_widget_does_not_affect_the_others() {
    let house = TestServer::with(Options { query_points: 50, ..Options::default() });
    let points: Vec<Value> = (0..100)
        .map(|i| {
            json!({"name": "many", "type": "counter", "value": 1, "timestamp": format!("2026-01-02T02:00:{:02}.{:03}Z", i / 10, i % 10)})
        })
        .chain([json!({"name": "m", "type": "gauge", "value": 5})])
        .collect();
    house.post("/api/v1/metrics/batch", &json!({ "metrics": points })).data(200);
    let path = create_dashboard(&house);
    widget(&house, &path, &json!({})).data(201);
    widget(&house, &path, &json!({"query": {"metric": "many"}})).data(201);
    widget(&house, &path, &json!({"query": {"metric": "none"}})).data(201);
    let dashboard = house.get(&path).data(200);
    let widgets = &dashboard["widgets"];
    assert_eq!(widgets[0]["value"], 5);
    assert_eq!(widgets[1]["error"]["code"], "invalid_range", "{}", widgets[1]);
    assert!(widgets[1]["error"]["message"].is_string() && widgets[1].get("value").is_none());
    assert_eq!(widgets[2]["value"], Value::Null);
    assert!(widgets[2].get("error").is_none());
}

#[test]
fn a_write_responds_without_values_if_memory_is_full() {
    let memory = Memory::new(64 << 30);
    let house = TestServer::with(Options { memory: memory.clone(), ..Options::default() });
    house.post("/api/v1/metrics", &json!({"name": "m", "type": "gauge", "value": 5})).data(201);
    let path = create_dashboard(&house);
    widget(&house, &path, &json!({})).data(201);
    let others = memory.take(MemoryOwner::Merges, memory.limit() - memory.held()).unwrap();
    house.get(&path).refused(503, "overloaded", "");
    let changed = patch(&house, &path, &json!({"name": "o"})).data(200);
    let copy = house.post(&format!("{path}/duplicate"), &json!({})).data(201);
    assert_eq!((&changed["name"], &copy["name"]), (&json!("o"), &json!("o (copy)")));
    for widget in [&changed["widgets"][0], &copy["widgets"][0]] {
        assert_eq!(widget["title"], "t");
        assert!(widget.get("value").is_none() && widget.get("error").is_none(), "{widget}");
    }
    drop(others);
    assert_eq!(house.get(&path).data(200)["widgets"][0]["value"], 5);
}

#[test]
fn concurrent_requests_do_not_exceed_the_limit_of_dashboards_together() {
    let house = TestServer::open();
    let app = house.app();
    let mut transaction = app.engine().documents().begin();
    let stored = json!({"name": "n", "created_at_ms": 0, "updated_at_ms": 0, "widgets": []});
    for n in 1..DASHBOARDS_MAX {
        let id = format!("dash_{n}");
        transaction.put(Collection("dashboards"), &id, &stored, Expect::Absent).unwrap();
    }
    transaction.commit().unwrap();
    let insert = || {
        let (name, description) = ("n".to_owned(), None);
        let (variables, overlays, widgets) = (Vec::new(), Vec::new(), Vec::new());
        let draft = DashboardDraft { name, description, variables, overlays, widgets };
        let dashboard = ops::build(app, draft, "ann@example.com").unwrap();
        match ops::insert(app, dashboard, None) {
            Ok(_) => 1,
            Err(DashboardsError::TooMany) => 0,
            Err(error) => panic!("{error}"),
        }
    };
    let inserted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(insert)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(inserted, 1);
}

/// Stores orders of two shops, one minute apart, the newest one minute ago.
fn orders(house: &TestServer) {
    let engine = house.app().engine();
    let mut batch = engine.event_batch();
    for (n, (shop, user, value)) in
        [("a", "ann", 10.0), ("b", "bob", 30.0), ("b", "ann", 5.0), ("a", "bob", 2.0)]
            .into_iter()
            .enumerate()
    {
        let time = TimestampMs(NOW.0 - (n as i64 + 1) * 60_000);
        let properties = Properties::parse(&format!("{{\"cart\":{{\"items\":{n}}}}}")).unwrap();
        let event = NewEvent {
            name: "order.paid",
            time,
            user: Some(user),
            value: Some(value),
            tags: &[("shop", shop)],
            properties: Some(&properties),
        };
        batch.push(&event).unwrap();
    }
    let (send_outcome, outcome_of_write) = std::sync::mpsc::channel();
    let write = Write { events: Some(batch), ..Write::default() };
    engine.submit(write, move |outcome| send_outcome.send(outcome).unwrap());
    outcome_of_write.recv().unwrap().unwrap();
}

#[test]
fn events_are_grouped_by_several_keys() {
    let house = TestServer::open();
    orders(&house);
    let path = create_dashboard(&house);
    let query =
        json!({"event": "order.paid", "aggregation": "sum", "group_by": "tags.shop,user_id"});
    let table = json!({"columns": ["shop", "user_id", "sum"], "sort": {"field": "sum"}});
    for (kind, options) in [("bar", json!({})), ("table", table)] {
        let change = json!({"type": kind, "query": query, "options": options});
        widget(&house, &path, &change).data(201);
    }
    let span = "from=2026-01-02T00:00Z&to=2026-01-03T00:00Z";
    let dashboard = house.get(&format!("{path}?{span}")).data(200);
    let item = |label: &str, value: u32| json!({"label": label, "value": value});
    assert_eq!(
        dashboard["widgets"][0]["items"],
        json!([item("b,bob", 30), item("a,ann", 10), item("b,ann", 5), item("a,bob", 2)])
    );
    let row = |shop: &str, user: &str, sum: u32| json!({"shop": shop, "user_id": user, "sum": sum});
    assert_eq!(
        dashboard["widgets"][1]["rows"],
        json!([row("b", "bob", 30), row("a", "ann", 10), row("b", "ann", 5), row("a", "bob", 2)])
    );
}

#[test]
fn every_widget_type_can_show_events() {
    let house = TestServer::open();
    orders(&house);
    let path = create_dashboard(&house);
    let by_shop = json!({"event": "order.paid", "aggregation": "sum", "group_by": "tags.shop"});
    let table =
        json!({"columns": ["shop", "sum", "count", "unique_users"], "sort": {"field": "sum"}});
    for (kind, query, options) in [
        ("number", json!({"event": "order.*"}), json!({"comparison": {"type": "previous_period"}})),
        ("number", json!({"event": "order.paid", "aggregation": "avg"}), json!({})),
        (
            "number",
            json!({"event": "order.paid", "aggregation": "max", "field": "cart.items"}),
            json!({}),
        ),
        ("number", json!({"event": "order.paid", "aggregation": "unique_users"}), json!({})),
        ("number", json!({"event": "order.paid", "tags": {"shop": "b"}}), json!({})),
        ("number", json!({"event": "none", "aggregation": "avg"}), json!({})),
        ("graph", json!({"event": "order.paid", "interval": "1h"}), json!({})),
        (
            "graph",
            json!({"event": "order.paid", "interval": "1h", "group_by": "user_id"}),
            json!({}),
        ),
        ("bar", by_shop.clone(), json!({})),
        ("pie", json!({"event": "order.paid", "group_by": "name"}), json!({})),
        ("table", by_shop, table),
        ("heatmap", json!({"event": "order.paid", "aggregation": "avg"}), json!({})),
    ] {
        let change = json!({"type": kind, "query": query, "options": options});
        widget(&house, &path, &change).data(201);
    }
    let span = "from=2026-01-02T00:00Z&to=2026-01-03T00:00Z";
    let dashboard = house.get(&format!("{path}?{span}")).data(200);
    let widgets = &dashboard["widgets"];
    assert_eq!((&widgets[0]["value"], &widgets[0]["previous_value"]), (&json!(4), &json!(0)));
    assert_eq!(widgets[1]["value"], 11.75);
    assert_eq!(widgets[2]["value"], 3);
    assert_eq!(widgets[3]["value"], 2);
    assert_eq!(widgets[4]["value"], 2);
    assert_eq!(widgets[5]["value"], Value::Null);
    let hour = "2026-01-02T03:00:00.000Z";
    assert_eq!(widgets[6]["series"], json!([{"timestamp": hour, "value": 4}]));
    let two = json!([{"timestamp": hour, "value": 2}]);
    assert_eq!(widgets[7]["groups"], json!({"ann": two, "bob": two}));
    assert_eq!(
        widgets[8]["items"],
        json!([{"label": "b", "value": 35}, {"label": "a", "value": 12}])
    );
    assert_eq!(widgets[9]["items"], json!([{"label": "order.paid", "value": 4}]));
    assert_eq!(
        widgets[10]["rows"],
        json!([
            {"shop": "b", "sum": 35, "count": 2, "unique_users": 2},
            {"shop": "a", "sum": 12, "count": 2, "unique_users": 2},
        ])
    );
    assert_eq!(widgets[11]["cells"], json!([{"x": 3, "y": 5, "value": 11.75}]));
}
