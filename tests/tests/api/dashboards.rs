//! Dashboards and their widgets: creation, changes, layout, deletion, refusals, concurrent changes.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, covers};

use crate::keys::{client_with, text};

pub(crate) const PATH: &str = "/api/v1/dashboards";

/// Creates an empty dashboard and returns its path.
#[track_caller]
pub(crate) fn make(client: &Client, name: &str) -> String {
    let made = client.post(PATH, &json!({ "name": name })).data(201);
    format!("{PATH}/{}", text(&made["id"]))
}

/// Adds a widget and returns it.
#[track_caller]
pub(crate) fn add(client: &Client, dashboard: &str, body: &Value) -> Value {
    client.post(&format!("{dashboard}/widgets"), body).data(201)
}

/// Returns the body of a widget of a metric.
pub(crate) fn widget(kind: &str, query: Value, options: Value) -> Value {
    json!({"type": kind, "title": format!("a {kind}"), "query": query, "options": options})
}

pub(crate) fn patch(client: &Client, path: &str, body: &Value) -> Response {
    client.request("PATCH", path).json(body).send()
}

fn number(title: &str) -> Value {
    json!({"type": "number", "title": title, "query": {"metric": "m"}})
}

#[test]
fn a_dashboard_is_created_listed_read_changed_and_deleted() {
    covers!("POST /api/v1/dashboards", Happy);
    covers!("GET /api/v1/dashboards", Happy);
    covers!("GET /api/v1/dashboards/{id}", Happy);
    covers!("PATCH /api/v1/dashboards/{id}", Happy);
    covers!("DELETE /api/v1/dashboards/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let made = client.post(PATH, &json!({"name": "Web", "description": "All of it"})).data(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("dash_") && id.len() == 5 + 26, "{id}");
    assert_eq!((&made["name"], &made["description"]), (&json!("Web"), &json!("All of it")));
    assert_eq!(made["widgets"], json!([]));
    let path = format!("{PATH}/{id}");
    add(&client, &path, &number("a"));

    let listed = client.get(PATH).expect(200);
    let first = &listed["data"][0];
    assert_eq!((&first["id"], &first["widgets_count"]), (&made["id"], &json!(1)), "{listed}");
    for field in ["name", "description", "created_at", "updated_at"] {
        assert!(first[field].is_string(), "{field} in {first}");
    }
    assert_eq!(
        listed["meta"],
        json!({"total": 2, "limit": 100, "offset": 0}),
        "with the first one"
    );
    let second = client.get(&format!("{PATH}?limit=1&offset=1")).expect(200);
    assert_eq!(second["data"][0]["name"], "Telltale");

    let changed = patch(&client, &path, &json!({"name": "Shop", "description": null})).data(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("Shop"), &Value::Null));
    server.restart();
    let client = server.client();
    let read = client.get(&path).data(200);
    assert_eq!((&read["name"], &read["widgets"][0]["title"]), (&json!("Shop"), &json!("a")));
    assert_eq!(client.delete(&path).data(200), json!({"id": id, "deleted": true}));
    client.get(&path).refused(404, "dashboard_not_found");
    assert_eq!(client.get(PATH).expect(200)["meta"]["total"], 1);
}

#[test]
fn widgets_are_added_changed_moved_and_removed() {
    covers!("POST /api/v1/dashboards/{id}/widgets", Happy);
    covers!("PATCH /api/v1/dashboards/{id}/widgets/{widget_id}", Happy);
    covers!("PATCH /api/v1/dashboards/{id}/layout", Happy);
    covers!("DELETE /api/v1/dashboards/{id}/widgets/{widget_id}", Happy);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let first = add(&client, &path, &number("a"));
    assert!(text(&first["id"]).starts_with("widget_"), "{first}");
    assert!(first["created_at"].is_string());
    assert_eq!(first["position"], json!({"x": 0, "y": 0, "width": 4, "height": 3}));
    let mut placed = number("b");
    placed["position"] = json!({"x": 4, "y": 2, "width": 8, "height": 5});
    let second = add(&client, &path, &placed);
    assert_eq!(second["position"], placed["position"]);
    let third = add(&client, &path, &number("c"));
    assert_eq!(third["position"], json!({"x": 0, "y": 7, "width": 4, "height": 3}));

    let one = format!("{path}/widgets/{}", text(&third["id"]));
    let change = json!({"title": "d", "query": {"metric": "n"}, "options": {"time_range": "7d"}});
    let changed = patch(&client, &one, &change).data(200);
    assert_eq!((&changed["title"], &changed["query"]), (&json!("d"), &json!({"metric": "n"})));
    assert_eq!(
        (&changed["options"], &changed["position"]),
        (&change["options"], &third["position"])
    );
    let cleared = patch(&client, &one, &json!({"options": null, "position": null})).data(200);
    assert_eq!(cleared["options"], json!({}));
    assert_eq!(cleared["title"], "d", "what is not named stays");

    let to =
        |id: &Value, x: u32, y: u32| json!({"id": id, "x": x, "y": y, "width": 6, "height": 2});
    let moves = [to(&first["id"], 0, 0), to(&second["id"], 6, 0)];
    let moved = patch(&client, &format!("{path}/layout"), &json!({ "widgets": moves })).data(200);
    assert_eq!(moved.as_array().map(Vec::len), Some(3), "all widgets are returned: {moved}");
    assert_eq!(moved[1]["position"], json!({"x": 6, "y": 0, "width": 6, "height": 2}));
    assert_eq!(moved[2]["position"], cleared["position"]);

    let gone = client.delete(&one).data(200);
    assert_eq!(gone, json!({"id": third["id"], "deleted": true}));
    let left = client.get(&path).data(200);
    assert_eq!(left["widgets"].as_array().map(Vec::len), Some(2));
    client.delete(&one).refused(404, "widget_not_found");
}

#[test]
fn a_layout_with_an_unknown_widget_changes_nothing() {
    covers!("PATCH /api/v1/dashboards/{id}/layout", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let id = add(&client, &path, &number("a"))["id"].clone();
    let other = make(&client, "other");
    let elsewhere = add(&client, &other, &number("b"))["id"].clone();
    let before = client.get(&path).data(200);
    let layout = |path: &str, widgets: Value| {
        patch(&client, &format!("{path}/layout"), &json!({ "widgets": widgets }))
    };
    let at = |id: &Value| json!({"id": id, "x": 1, "y": 1, "width": 2, "height": 2});
    layout(&path, json!([at(&id), at(&elsewhere)])).refused(404, "widget_not_found");
    layout(&path, json!([at(&id), at(&id)])).refused_for(422, "invalid_field", "widgets[1].id");
    let off = json!({"id": id, "x": 11, "y": 0, "width": 2, "height": 1});
    layout(&path, json!([off])).refused_for(422, "invalid_field", "widgets[0].x");
    let partial = json!({"id": id, "x": 1});
    layout(&path, json!([partial])).refused_for(422, "missing_field", "widgets[0].y");
    patch(&client, &format!("{path}/layout"), &json!({})).refused_for(
        422,
        "missing_field",
        "widgets",
    );
    layout(&format!("{PATH}/none"), json!([])).refused(404, "dashboard_not_found");
    assert_eq!(client.get(&path).data(200), before);
}

#[test]
fn invalid_dashboards_are_refused() {
    covers!("POST /api/v1/dashboards", Refusal);
    covers!("PATCH /api/v1/dashboards/{id}", Refusal);
    covers!("GET /api/v1/dashboards", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    for (body, status, code, field) in [
        (json!({"name": null}), 422, "missing_name", "name"),
        (json!({"name": ""}), 422, "missing_name", "name"),
        (json!({"name": "x".repeat(201)}), 422, "invalid_name", "name"),
        (json!({"name": "a\nb"}), 422, "invalid_name", "name"),
        (json!({"name": "  "}), 422, "invalid_name", "name"),
        (json!({"name": 1}), 400, "invalid_parameter", "name"),
        (json!({"name": "a", "widgets": []}), 400, "invalid_parameter", "widgets"),
        (
            json!({"name": "a", "description": "x".repeat(2_001)}),
            422,
            "invalid_field",
            "description",
        ),
    ] {
        client.post(PATH, &body).refused_for(status, code, field);
        patch(&client, &path, &body).refused_for(status, code, field);
    }
    client.post(PATH, &json!({})).refused_for(422, "missing_name", "name");
    patch(&client, &format!("{PATH}/none"), &json!({})).refused(404, "dashboard_not_found");
    client.get(&format!("{PATH}?limit=0")).refused_for(400, "invalid_parameter", "limit");
    client.get(&format!("{PATH}?offset=-1")).refused_for(400, "invalid_parameter", "offset");
    assert_eq!(client.get(PATH).expect(200)["meta"]["total"], 2);
}

#[test]
fn invalid_widgets_are_refused() {
    covers!("POST /api/v1/dashboards/{id}/widgets", Refusal);
    covers!("PATCH /api/v1/dashboards/{id}/widgets/{widget_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let gauge = json!({"name": "g", "type": "gauge", "value": 1});
    client.post("/api/v1/metrics", &gauge).data(201);
    let path = make(&client, "d");
    let widgets = format!("{path}/widgets");
    for (change, code, field) in [
        (json!({"type": "gauge"}), "invalid_widget_type", "type"),
        (json!({"type": null}), "missing_field", "type"),
        (json!({"title": null}), "missing_field", "title"),
        (json!({"query": null}), "missing_field", "query"),
        (json!({"query": {}}), "invalid_query", "query"),
        (json!({"query": {"metric": "a", "event": "b"}}), "invalid_query", "query"),
        (
            json!({"query": {"metric": "g", "aggregation": "sum"}}),
            "invalid_query",
            "query.aggregation",
        ),
        (
            json!({"query": {"event": "e", "aggregation": "last"}}),
            "invalid_query",
            "query.aggregation",
        ),
        (json!({"query": {"metric": "g", "interval": "10w"}}), "invalid_query", "query.interval"),
        (json!({"query": {"metric": "g", "group_by": "host"}}), "invalid_query", "query.group_by"),
        (json!({"query": {"metric": "g", "tags": ["a"]}}), "invalid_query", "query.tags"),
        (json!({"query": {"metric": "g", "unit": "ms"}}), "invalid_query", "query.unit"),
        (json!({"options": {"time_range": "yesterday"}}), "invalid_field", "options.time_range"),
    ] {
        let mut body = number("a");
        if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
            body.extend(change.clone());
        }
        client.post(&widgets, &body).refused_for(422, code, field);
    }
    client.post(&widgets, &json!({"colour": 1})).refused(400, "invalid_parameter");
    let none = format!("{PATH}/none/widgets");
    client.post(&none, &number("a")).refused(404, "dashboard_not_found");

    let id = add(&client, &path, &number("a"))["id"].clone();
    let one = format!("{widgets}/{}", text(&id));
    let before = client.get(&path).data(200);
    for (body, status, code, field) in [
        (json!({"title": null}), 422, "missing_field", "title"),
        (json!({"query": null}), 422, "missing_field", "query"),
        (
            json!({"query": {"metric": "g", "aggregation": "p50"}}),
            422,
            "invalid_query",
            "query.aggregation",
        ),
        (json!({"options": {"columns": ["value"]}}), 422, "invalid_field", "options.columns"),
        (json!({"type": "graph"}), 400, "invalid_parameter", "type"),
    ] {
        patch(&client, &one, &body).refused_for(status, code, field);
    }
    patch(&client, &format!("{widgets}/none"), &json!({})).refused(404, "widget_not_found");
    assert_eq!(client.get(&path).data(200), before);
}

#[test]
fn unknown_ids_are_not_found() {
    covers!("GET /api/v1/dashboards/{id}", Refusal);
    covers!("DELETE /api/v1/dashboards/{id}", Refusal);
    covers!("DELETE /api/v1/dashboards/{id}/widgets/{widget_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    client.get(&format!("{PATH}/none")).refused(404, "dashboard_not_found");
    client.delete(&format!("{PATH}/none")).refused(404, "dashboard_not_found");
    client.delete(&format!("{PATH}/none/widgets/none")).refused(404, "dashboard_not_found");
    client.delete(&format!("{path}/widgets/none")).refused(404, "widget_not_found");
    client.get(&format!("{path}?from=soon")).refused_for(422, "invalid_timestamp", "from");
    client.get(&format!("{path}?to=soon")).refused_for(422, "invalid_timestamp", "to");
    let inverted = format!("{path}?from=2026-01-02&to=2026-01-01");
    client.get(&inverted).refused_for(422, "invalid_range", "from");
}

#[test]
fn reading_and_writing_need_their_scopes() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let reader = client_with(&client, json!(["read"]));
    reader.get(&path).data(200);
    reader.post(PATH, &json!({"name": "x"})).refused(403, "forbidden");
    reader.delete(&path).refused(403, "forbidden");
    let writer = client_with(&client, json!(["write"]));
    patch(&writer, &path, &json!({"name": "y"})).data(200);
    writer.get(&path).refused(403, "forbidden");
}

#[test]
fn an_if_match_that_does_not_match_changes_nothing() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let id = add(&client, &path, &number("a"))["id"].clone();
    let one = format!("{path}/widgets/{}", text(&id));
    let layout = json!({"widgets": [{"id": id, "x": 5, "y": 5, "width": 1, "height": 1}]});
    let read = client.get(&path);
    let etag = read.must_header("etag").to_owned();
    assert_eq!(client.get(&path).must_header("etag"), etag, "nothing changed, nor did the tag");
    for lie in ["\"0\"", "\"999999\"", "W/\"1\"", "1", "\"x\", \"y\""] {
        let change = |method, path: &str, body: &Value| {
            client.request(method, path).header("if-match", lie).json(body).send()
        };
        change("PATCH", &path, &json!({"name": "lie"})).refused(412, "precondition_failed");
        change("PATCH", &one, &json!({"title": "lie"})).refused(412, "precondition_failed");
        change("PATCH", &format!("{path}/layout"), &layout).refused(412, "precondition_failed");
        change("DELETE", &one, &json!({})).refused(412, "precondition_failed");
        change("DELETE", &path, &json!({})).refused(412, "precondition_failed");
    }
    assert_eq!(client.get(&path).json(), read.json());
    let rename = |name: &str, etag: &str| {
        let body = json!({ "name": name });
        client.request("PATCH", &path).header("if-match", etag).json(&body).send()
    };
    let renamed = rename("first", &etag);
    renamed.data(200);
    rename("second", &etag).refused(412, "precondition_failed");
    rename("third", renamed.must_header("etag")).data(200);
    rename("fourth", "*").data(200);
    let known = client.get(&path).must_header("etag").to_owned();
    let again = client.request("GET", &path).header("if-none-match", &known).send();
    assert_eq!(again.status, 304);
}

#[test]
fn no_concurrent_change_is_lost() {
    const CLIENTS: usize = 8;
    const EACH: usize = 6;
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let id = add(&client, &path, &number("a"))["id"].clone();
    let one = format!("{path}/widgets/{}", text(&id));
    std::thread::scope(|scope| {
        for n in 0..CLIENTS {
            let (client, path, one) = (server.client(), path.as_str(), one.as_str());
            scope.spawn(move || {
                for i in 0..EACH {
                    add(&client, path, &number(&format!("{n}-{i}")));
                    patch(&client, one, &json!({"title": format!("title {n}")})).data(200);
                }
            });
        }
    });
    let widgets = client.get(&path).data(200)["widgets"].clone();
    let titles: BTreeSet<&str> =
        widgets.as_array().into_iter().flatten().map(|widget| text(&widget["title"])).collect();
    assert_eq!(titles.len(), 1 + CLIENTS * EACH, "{titles:?}");
    let rows: BTreeSet<u64> = widgets
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|widget| widget["position"]["y"].as_u64())
        .collect();
    assert_eq!(rows.len(), 1 + CLIENTS * EACH, "each found a row that was free");
}

#[test]
fn of_concurrent_changes_with_the_same_etag_one_succeeds() {
    const CLIENTS: usize = 8;
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let etag = client.get(&path).must_header("etag").to_owned();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let change = |n: usize| {
            let (client, path, etag) = (server.client(), path.as_str(), etag.as_str());
            scope.spawn(move || {
                let body = json!({"name": format!("n{n}")});
                client.request("PATCH", path).header("if-match", etag).json(&body).send().status
            })
        };
        let changes: Vec<_> = (0..CLIENTS).map(change).collect();
        changes.into_iter().filter_map(|change| change.join().ok()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|s| **s == 412).count(), CLIENTS - 1, "{statuses:?}");
}

#[test]
fn a_repeated_request_creates_nothing_twice() {
    let server = Server::start();
    let client = server.client();
    let send = |path: &str, key: &str, body: &Value| {
        client.request("POST", path).header("idempotency-key", key).json(body).send()
    };
    let path = make(&client, "d");
    let (name, widgets) = (json!({"name": "n"}), format!("{path}/widgets"));
    for (at, body) in [
        (PATH, name.clone()),
        (widgets.as_str(), number("a")),
        (&format!("{PATH}/import"), name),
        (&format!("{path}/duplicate"), json!({})),
    ] {
        let first = send(at, "k", &body).data(201);
        let again = send(at, "k", &body);
        assert_eq!(again.must_header("idempotency-replayed"), "true", "{at}");
        assert_eq!(again.data(201)["id"], first["id"], "{at}");
        send(at, "k", &json!({"name": "other"})).refused(409, "conflict");
    }
    assert_eq!(client.get(PATH).expect(200)["meta"]["total"], 5);
    assert_eq!(client.get(&path).data(200)["widgets"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_default_dashboard_is_created_once_and_can_be_changed() {
    let mut server = Server::start();
    let client = server.client();
    let listed = client.get(PATH).expect(200);
    assert_eq!(
        (&listed["meta"]["total"], &listed["data"][0]["name"]),
        (&json!(1), &json!("Telltale"))
    );
    let path = format!("{PATH}/{}", text(&listed["data"][0]["id"]));
    let shown = client.get(&path).data(200);
    let widgets = shown["widgets"].as_array().cloned().unwrap_or_default();
    assert!(widgets.len() >= 12, "{}", widgets.len());
    assert!(widgets.iter().all(|widget| widget.get("error").is_none()), "{shown}");
    patch(&client, &path, &json!({"name": "Mine"})).data(200);
    server.restart();
    let client = server.client();
    assert_eq!(client.get(PATH).data(200)[0]["name"], "Mine");
    client.delete(&path).data(200);
    server.restart();
    assert_eq!(server.client().get(PATH).expect(200)["meta"]["total"], 0, "it does not come back");
}

#[test]
fn a_position_may_have_a_zero_fraction() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let mut placed = number("a");
    placed["position"] = json!({"x": 4.0, "y": 2.0, "width": 8.0, "height": 5.0});
    let made = add(&client, &path, &placed);
    assert_eq!(made["position"], json!({"x": 4, "y": 2, "width": 8, "height": 5}));
    let moved =
        json!({"widgets": [{"id": made["id"], "x": 0.0, "y": 0, "width": 2.0, "height": 1}]});
    let widgets = patch(&client, &format!("{path}/layout"), &moved).data(200);
    assert_eq!(widgets[0]["position"], json!({"x": 0, "y": 0, "width": 2, "height": 1}));
    placed["position"]["x"] = json!(0.5);
    let response = client.post(&format!("{path}/widgets"), &placed);
    response.refused_for(400, "invalid_parameter", "position.x");
    let graph = json!({"type": "graph", "title": "g", "query": {"metric": "m"}, "options": {"style": "dots"}});
    let response = client.post(&format!("{path}/widgets"), &graph);
    response.refused_for(422, "invalid_field", "options.style");
}
