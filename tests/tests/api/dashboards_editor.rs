//! Dashboards as editors use them: replaced as a whole, previewed, restored; with variables,
//! thresholds and overlays.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, covers};

use crate::dashboards::{PATH, make, patch, widget};
use crate::keys::{client_with, text};

fn put(client: &Client, path: &str, body: &Value) -> Response {
    client.request("PUT", path).json(body).send()
}

fn number(title: &str) -> Value {
    json!({"type": "number", "title": title, "query": {"metric": "m"}})
}

fn titles(dashboard: &Value) -> Vec<&str> {
    let widgets = dashboard["widgets"].as_array().into_iter().flatten();
    widgets.map(|widget| text(&widget["title"])).collect()
}

fn versions(client: &Client, path: &str) -> Value {
    client.get(&format!("{path}/versions")).data(200)
}

#[test]
fn a_dashboard_is_replaced_as_a_whole_unless_it_has_changed() {
    covers!("PUT /api/v1/dashboards/{id}", Happy);
    covers!("PUT /api/v1/dashboards/{id}", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let path = make(&client, "Web");
    let body = json!({
        "name": "Shop", "description": "All",
        "variables": [{"name": "host", "source": {"metric": "m", "tag": "host"}, "default": "a"}],
        "overlays": [{"event": "deploy.*", "title": "Deploys", "color": "#00ff00"}],
        "widgets": [number("one"), number("two")],
    });
    let first = put(&client, &path, &body).data(200);
    assert_eq!(titles(&first), ["one", "two"]);
    assert_eq!((&first["name"], &first["variables"]), (&json!("Shop"), &body["variables"]));
    assert_eq!(
        (&first["overlays"], &first["widgets"][1]["position"]["y"]),
        (&body["overlays"], &json!(3))
    );
    assert!(first["version"].is_u64() && first["updated_by"].is_string(), "{first}");
    server.kill9();
    server.restart();
    let client = server.client();
    let read = client.get(&path);
    assert_eq!(read.data(200), first);

    // Kept widgets keep their ids; the version must be the current one, named in either way.
    let kept = json!({"id": first["widgets"][1]["id"], "type": "number", "title": "2", "query": {"metric": "m"}});
    let next =
        json!({"name": "Shop", "version": first["version"], "widgets": [kept, number("three")]});
    let second = put(&client, &path, &next).data(200);
    assert_eq!(titles(&second), ["2", "three"]);
    assert_eq!(second["widgets"][0]["created_at"], first["widgets"][1]["created_at"]);
    assert_eq!(second["widgets"][0]["id"], first["widgets"][1]["id"]);
    assert!(second.get("variables").is_none() && second["description"].is_null(), "{second}");
    let refused = put(&client, &path, &next);
    let error = refused.refused(412, "precondition_failed");
    assert_eq!(error["details"]["version"], second["version"]);
    assert_eq!(refused.must_header("etag"), format!("\"{}\"", second["version"]));
    let stale = client.request("PUT", &path).header("if-match", read.must_header("etag"));
    let error = stale.json(&json!({"name": "x", "widgets": []})).send();
    let error = error.refused(412, "precondition_failed");
    assert_eq!(error["details"]["version"], second["version"]);
    let current = refused.must_header("etag").to_owned();
    let matching = client.request("PUT", &path).header("if-match", current);
    matching.json(&json!({"name": "x", "widgets": []})).send().data(200);
}

#[test]
fn an_invalid_dashboard_replaces_nothing() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "x");
    let unknown = format!("{PATH}/dash_00000000000000000000000000");
    put(&client, &unknown, &json!({"name": "x", "widgets": []}))
        .refused(404, "dashboard_not_found");
    let id = "widget_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let with_id =
        |id: &str| json!({"id": id, "type": "number", "title": "t", "query": {"metric": "m"}});
    for (change, code, field) in [
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"widgets": null}), "missing_field", "widgets"),
        (json!({"widgets": [with_id("w")]}), "invalid_field", "widgets[0].id"),
        (json!({"widgets": [with_id(id), with_id(id)]}), "invalid_field", "widgets[1].id"),
        (
            json!({"widgets": [{"type": "x", "title": "t"}]}),
            "invalid_widget_type",
            "widgets[0].type",
        ),
        (json!({"variables": [{"name": "a-b"}]}), "invalid_field", "variables[0].name"),
        (json!({"variables": vec![json!({"name": "a"}); 21]}), "invalid_field", "variables"),
        (
            json!({"overlays": [{"event": "e", "color": "red"}]}),
            "invalid_field",
            "overlays[0].color",
        ),
        (json!({"overlays": vec![json!({"event": "a"}); 11]}), "invalid_field", "overlays"),
    ] {
        let mut changed = json!({"name": "n", "widgets": []});
        if let (Some(changed), Value::Object(change)) = (changed.as_object_mut(), change) {
            changed.extend(change);
        }
        put(&client, &path, &changed).refused_for(422, code, field);
    }
    put(&client, &path, &json!({"name": "n", "widgets": vec![number("x"); 101]})).refused_for(
        422,
        "invalid_field",
        "widgets",
    );
    put(&client, &path, &json!({"name": "n", "widgets": [], "x": 1}))
        .refused(400, "invalid_parameter");
    assert_eq!(client.get(&path).data(200)["name"], "x");
}

#[test]
fn earlier_versions_are_listed_read_and_restored() {
    covers!("GET /api/v1/dashboards/{id}/versions", Happy);
    covers!("GET /api/v1/dashboards/{id}/versions", Refusal);
    covers!("GET /api/v1/dashboards/{id}/versions/{version}", Happy);
    covers!("GET /api/v1/dashboards/{id}/versions/{version}", Refusal);
    covers!("POST /api/v1/dashboards/{id}/restore", Happy);
    covers!("POST /api/v1/dashboards/{id}/restore", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let path = make(&client, "1");
    let body = json!({"name": "2", "widgets": [number("a")], "variables": [{"name": "v"}]});
    let second = put(&client, &path, &body).data(200);
    patch(&client, &path, &json!({"name": "3"})).data(200);
    server.kill9();
    server.restart();
    let client = server.client();
    let listed = versions(&client, &path);
    let names: Vec<&str> =
        listed.as_array().into_iter().flatten().map(|version| text(&version["name"])).collect();
    assert_eq!(names, ["3", "2", "1"]);
    assert_eq!((&listed[0]["current"], &listed[1]["current"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&listed[1]["version"], &listed[1]["widgets_count"]),
        (&second["version"], &json!(1))
    );
    assert!(listed[1]["saved_by"].is_string() && listed[1]["saved_at"].is_string(), "{listed}");
    let page = client.get(&format!("{path}/versions?limit=1&offset=2")).expect(200);
    assert_eq!((&page["data"][0]["name"], &page["meta"]["total"]), (&json!("1"), &json!(3)));
    let read = client.get(&format!("{path}/versions/{}", second["version"])).data(200);
    assert_eq!((&read["name"], titles(&read)), (&json!("2"), vec!["a"]));
    assert_eq!(read["version"], second["version"]);

    let restore =
        |version: &Value| client.post(&format!("{path}/restore"), &json!({ "version": version }));
    let restored = restore(&second["version"]).data(200);
    assert_eq!((&restored["name"], titles(&restored)), (&json!("2"), vec!["a"]));
    assert_eq!(restored["variables"], body["variables"]);
    assert_eq!(restored["widgets"][0]["id"], second["widgets"][0]["id"]);
    assert_eq!(versions(&client, &path)[1]["name"], "3", "it can be undone");

    let padded = format!("0{}", second["version"]);
    for version in ["0", "1", "18446744073709551615", "x", "-1", "99999999999999999999999", &padded]
    {
        let missing = client.get(&format!("{path}/versions/{version}"));
        missing.refused(404, "dashboard_version_not_found");
    }
    restore(&json!(1)).refused(404, "dashboard_version_not_found");
    restore(&Value::Null).refused_for(422, "missing_field", "version");
    let stale = client
        .request("POST", &format!("{path}/restore"))
        .header("if-match", "\"1\"")
        .json(&json!({"version": second["version"]}))
        .send();
    stale.refused(412, "precondition_failed");
    let unknown = format!("{PATH}/dash_00000000000000000000000000");
    client.get(&format!("{unknown}/versions")).refused(404, "dashboard_not_found");
    client.get(&format!("{unknown}/versions/1")).refused(404, "dashboard_not_found");
    client
        .post(&format!("{unknown}/restore"), &json!({"version": 1}))
        .refused(404, "dashboard_not_found");

    // 50 versions are kept, and none of a deleted dashboard.
    for n in 0..60 {
        patch(&client, &path, &json!({"name": format!("n{n}")})).data(200);
    }
    let listed = versions(&client, &path);
    assert_eq!(listed.as_array().map(Vec::len), Some(51));
    assert_eq!((&listed[0]["name"], &listed[50]["name"]), (&json!("n59"), &json!("n9")));
    restore(&second["version"]).refused(404, "dashboard_version_not_found");
    client.delete(&path).data(200);
    client.get(&format!("{path}/versions")).refused(404, "dashboard_not_found");
}

#[test]
fn variables_choose_what_widgets_and_overlays_show() {
    covers!("GET /api/v1/dashboards/{id}/annotations", Happy);
    covers!("GET /api/v1/dashboards/{id}/annotations", Refusal);
    let server = Server::start();
    let client = server.client();
    for (host, value) in [("a", 1), ("b", 20), ("c,d", 300)] {
        let body = json!({"name": "m", "type": "counter", "value": value, "tags": {"host": host}});
        client.post("/api/v1/metrics", &body).data(201);
        let event = json!({"name": "deploy.web", "user_id": "ann", "tags": {"host": host}, "properties": {"by": ["a"]}});
        client.post("/api/v1/events", &event).data(201);
    }
    let query =
        json!({"metric": "m", "aggregation": "sum", "tags": {"host": "$host", "x": "$zone"}});
    let path = make(&client, "d");
    let body = json!({
        "name": "d", "widgets": [widget("number", query, json!({}))],
        "variables": [{"name": "host", "default": "a"}, {"name": "zone"}],
        "overlays": [{"event": "none"}, {"event": "deploy.*", "tags": {"host": "$host"}}],
    });
    let id = put(&client, &path, &body).data(200)["widgets"][0]["id"].clone();
    let data = format!("{path}/widgets/{}/data", text(&id));
    for (query, sum, events) in [
        ("", 1, 1),
        ("var[host]=*", 321, 3),
        ("var[host]=a,b", 21, 2),
        ("var[host]=!a", 320, 2),
        ("var%5Bhost%5D=c%5C%2Cd", 300, 1),
    ] {
        assert_eq!(client.get(&format!("{data}?{query}")).data(200)["value"], sum, "{query}");
        let dashboard = client.get(&format!("{path}?{query}")).data(200);
        assert_eq!(dashboard["widgets"][0]["value"], sum, "{query}");
        let drawn = client.get(&format!("{path}/annotations?{query}")).data(200);
        assert_eq!(drawn["annotations"].as_array().map(Vec::len), Some(events), "{query}: {drawn}");
    }
    let none = client.get(&format!("{data}?var[zone]=nowhere")).data(200);
    assert!(none["value"].is_null() && none.get("error").is_none(), "{none}");
    let drawn = client.get(&format!("{path}/annotations")).data(200);
    let event = &drawn["annotations"][0];
    assert_eq!(
        (&event["overlay"], &event["name"], &event["user_id"], &event["tags"]),
        (&json!(1), &json!("deploy.web"), &json!("ann"), &json!({"host": "a"}))
    );
    assert_eq!(event["properties"], json!({"by": ["a"]}));
    assert_eq!(drawn["left_out"], 0);
    let past = client.get(&format!("{path}/annotations?from=2020-01-01&to=2020-01-02")).data(200);
    assert_eq!(
        (&past["annotations"], &past["from"]),
        (&json!([]), &json!("2020-01-01T00:00:00.000Z"))
    );
    for (query, status, code) in [
        ("var[nobody]=a", 400, "invalid_parameter"),
        ("var[host]=a&var[host]=b", 400, "invalid_parameter"),
        ("var[host]=a*,b", 400, "invalid_parameter"),
        ("from=2020-01-02&to=2020-01-01", 422, "invalid_range"),
    ] {
        for path in [&path, &data, &format!("{path}/annotations")] {
            client.get(&format!("{path}?{query}")).refused(status, code);
        }
    }
    let unknown = format!("{PATH}/dash_00000000000000000000000000/annotations");
    client.get(&unknown).refused(404, "dashboard_not_found");

    // A copy and an export have them too.
    let copy = client.post(&format!("{path}/duplicate"), &json!({})).data(201);
    assert_eq!((&copy["variables"], &copy["overlays"]), (&body["variables"], &body["overlays"]));
    let export = client.get(&format!("{path}/export")).data(200);
    let imported = client.post(&format!("{PATH}/import"), &export).data(201);
    assert_eq!(
        (&imported["variables"], &imported["overlays"]),
        (&body["variables"], &body["overlays"])
    );
}

#[test]
fn many_events_of_an_overlay_are_left_out_and_counted() {
    let server = Server::start();
    let client = server.client();
    let events = vec![json!({"name": "deploy"}); 250];
    client.post("/api/v1/events/batch", &json!({ "events": events })).data(200);
    let path = make(&client, "d");
    let body = json!({"name": "d", "widgets": [], "overlays": [{"event": "deploy"}]});
    put(&client, &path, &body).data(200);
    let drawn = client.get(&format!("{path}/annotations")).data(200);
    assert_eq!(drawn["annotations"].as_array().map(Vec::len), Some(200));
    assert_eq!(drawn["left_out"], 50);
}

#[test]
fn a_widget_is_computed_before_it_is_stored() {
    covers!("POST /api/v1/dashboards/preview", Happy);
    covers!("POST /api/v1/dashboards/preview", Refusal);
    let server = Server::start();
    let client = server.client();
    let sample = json!({"name": "m", "type": "counter", "value": 7, "tags": {"host": "a"}});
    client.post("/api/v1/metrics", &sample).data(201);
    let before = client.get(PATH).expect(200)["meta"]["total"].clone();
    let reader = client_with(&client, json!(["read"]));
    let preview = |query: &str, body: &Value| reader.post(&format!("{PATH}/preview{query}"), body);
    let body = json!({
        "type": "number", "query": {"metric": "m", "tags": {"host": "$host"}},
        "variables": [{"name": "host", "default": "b"}],
    });
    let shown = preview("?var[host]=a", &body).data(200);
    assert_eq!((&shown["type"], &shown["value"]), (&json!("number"), &json!(7)));
    assert!(shown["from"].is_string() && shown.get("id").is_none(), "{shown}");
    assert!(preview("", &body).data(200)["value"].is_null());
    let graph = json!({"type": "graph", "query": {"metric": "m", "interval": "1d"}});
    let shown = preview("?from=2020-01-01&to=2020-01-03", &graph).data(200);
    assert_eq!((&shown["series"], &shown["to"]), (&json!([]), &json!("2020-01-04T00:00:00.000Z")));
    for (body, code, field) in [
        (json!({}), "missing_field", "type"),
        (json!({"type": "number"}), "missing_field", "query"),
        (json!({"type": "x", "query": {"metric": "m"}}), "invalid_widget_type", "type"),
        (
            json!({"type": "number", "query": {"metric": "m", "aggregation": "p50"}}),
            "invalid_query",
            "query.aggregation",
        ),
        (
            json!({"type": "pie", "query": {"metric": "m"}, "options": {"thresholds": []}}),
            "invalid_field",
            "options.thresholds",
        ),
    ] {
        preview("", &body).refused_for(422, code, field);
    }
    preview("?var[x]=a", &graph).refused_for(400, "invalid_parameter", "var[x]");
    preview("?from=2020-01-02&to=2020-01-01", &graph).refused(422, "invalid_range");
    preview("", &json!({"type": "number", "title": "t"})).refused(400, "invalid_parameter");
    assert_eq!(client.get(PATH).expect(200)["meta"]["total"], before, "nothing is stored");
}

#[test]
fn thresholds_are_kept_as_sent() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let of = |thresholds: Value| {
        let options = json!({ "thresholds": thresholds });
        let body = widget("number", json!({"metric": "m"}), options);
        client.post(&format!("{path}/widgets"), &body)
    };
    let thresholds = json!([
        {"value": -1e308, "level": "good"},
        {"value": 80, "level": "warning", "label": "\u{202e}80 %"},
        {"value": 95.5, "level": "critical"},
    ]);
    let made = of(thresholds).data(201);
    assert_eq!(
        made["options"]["thresholds"][1],
        json!({"value": 80.0, "level": "warning", "label": "\u{202e}80 %"})
    );
    of(json!(vec![json!({"value": 1, "level": "good"}); 11])).refused_for(
        422,
        "invalid_field",
        "options.thresholds",
    );
    let long = json!([{"value": 1, "level": "good", "label": "x".repeat(201)}]);
    of(long).refused_for(422, "invalid_field", "options.thresholds[0].label");
    for (wrong, status, code) in [
        (json!([{"value": 1}]), 422, "missing_field"),
        (json!([{"value": 1, "level": "bad"}]), 422, "invalid_field"),
        (json!([{"value": null, "level": "good"}]), 400, "invalid_parameter"),
        (json!({}), 400, "invalid_parameter"),
    ] {
        of(wrong).refused(status, code);
    }
}
