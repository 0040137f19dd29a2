//! Metric definitions, tag keys and values, deletion.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers, iso, same};

use crate::points::{T0, definitions, encoded, gauge, point, query_metric, send};

/// Writes four metrics with a few series each.
fn story() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    send(
        &client,
        &[
            point("app.web.hits", "counter", T0 + 5, 1.0, json!({"host": "a", "path": "/"})),
            point("app.web.hits", "counter", T0, 1.0, json!({"host": "b", "path": "/"})),
            point("app.web.hits", "counter", T0 + 9, 1.0, json!({"host": "b", "region": "eu"})),
            point("app.web.users", "set", T0, "x", json!({})),
            point("app.web.ms", "distribution", T0, 3.5, json!({})),
            point("app.cpu", "gauge", T0, 0.5, json!({"host": "a"})),
        ],
    );
    (server, client)
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|d| d["name"].as_str()).collect()
}

#[test]
fn definitions_are_listed_by_name() {
    covers!("GET /api/v1/metrics", Happy);
    let (_server, client) = story();
    let body = client.get("/api/v1/metrics?prefix=app.").expect(200);
    assert_eq!(names(&body["data"]), ["app.cpu", "app.web.hits", "app.web.ms", "app.web.users"]);
    same(
        &body["data"][1],
        &json!({"name": "app.web.hits", "type": "counter", "tags": ["host", "path", "region"],
                "first_seen": iso(T0), "last_seen": iso(T0 + 9)}),
    );
    same(&body["meta"], &json!({"total": 4, "limit": 100, "offset": 0}));
    // Without a prefix the list also contains the metrics of the server itself, sorted by name.
    let all = client.get("/api/v1/metrics").data(200);
    assert!(names(&all).is_sorted(), "{all}");
    assert!(names(&all).contains(&"app.cpu"), "{all}");
}

#[test]
fn definitions_are_filtered_and_paged() {
    let (_server, client) = story();
    for (query, expected, total) in [
        ("prefix=app.web.", vec!["app.web.hits", "app.web.ms", "app.web.users"], 3),
        ("prefix=app.web.h", vec!["app.web.hits"], 1),
        ("prefix=x", vec![], 0),
        ("type=gauge&prefix=app.", vec!["app.cpu"], 1),
        ("type=set&prefix=app.web", vec!["app.web.users"], 1),
        ("prefix=app.&limit=2", vec!["app.cpu", "app.web.hits"], 4),
        ("prefix=app.&limit=2&offset=3", vec!["app.web.users"], 4),
        ("prefix=app.&offset=4", vec![], 4),
        ("prefix=app.&offset=4000000000", vec![], 4),
    ] {
        let body = client.get(&format!("/api/v1/metrics?{query}")).expect(200);
        assert_eq!(names(&body["data"]), expected, "{query}");
        assert_eq!(body["meta"]["total"], total, "{query}");
    }
}

#[test]
fn a_list_with_invalid_parameters_is_refused() {
    covers!("GET /api/v1/metrics", Refusal);
    let (_server, client) = story();
    for query in ["limit=x", "limit=-1", "limit=0", "offset=-1", "offset=x", "limit=1.5", "limit="]
    {
        client.get(&format!("/api/v1/metrics?{query}")).refused(400, "invalid_parameter");
    }
    client.get("/api/v1/metrics?type=histogram").refused_for(422, "invalid_type", "type");
}

#[test]
fn one_definition_has_its_number_of_points() {
    covers!("GET /api/v1/metrics/{name}", Happy);
    let (_server, client) = story();
    same(
        &client.get("/api/v1/metrics/app.web.hits").data(200),
        &json!({"name": "app.web.hits", "type": "counter", "tags": ["host", "path", "region"],
                "first_seen": iso(T0), "last_seen": iso(T0 + 9), "data_points": 3}),
    );
}

#[test]
fn an_unknown_metric_is_not_found() {
    covers!("GET /api/v1/metrics/{name}", Refusal);
    covers!("GET /api/v1/metrics/{name}/tags", Refusal);
    covers!("GET /api/v1/metrics/{name}/tags/{key}/values", Refusal);
    covers!("DELETE /api/v1/metrics/{name}", Refusal);
    let (_server, client) = story();
    let long = "x".repeat(5_000);
    for name in ["web", "app.web.hit", "app.web.hits.", "WEB.HITS", "%00", &long] {
        for rest in ["", "/tags", "/tags/host/values", "/query"] {
            let response = client.get(&format!("/api/v1/metrics/{name}{rest}"));
            response.refused(404, "metric_not_found");
        }
        client.delete(&format!("/api/v1/metrics/{name}")).refused(404, "metric_not_found");
    }
    // Bytes that are not UTF-8 cannot be a name.
    client.get("/api/v1/metrics/%FF").refused(400, "invalid_parameter");
}

#[test]
fn tag_keys_and_values_are_counted() {
    covers!("GET /api/v1/metrics/{name}/tags", Happy);
    covers!("GET /api/v1/metrics/{name}/tags/{key}/values", Happy);
    let (_server, client) = story();
    let keys = client.get("/api/v1/metrics/app.web.hits/tags").data(200);
    let keys: Vec<(&str, u64)> = counted(&keys, "key", "values");
    assert_eq!(keys, [("host", 2), ("path", 1), ("region", 1)]);
    let values = client.get("/api/v1/metrics/app.web.hits/tags/host/values").data(200);
    let values: Vec<(&str, u64)> = counted(&values, "value", "series");
    assert_eq!(values, [("a", 1), ("b", 2)]);
}

fn counted<'a>(list: &'a Value, name: &str, count: &str) -> Vec<(&'a str, u64)> {
    list.as_array()
        .into_iter()
        .flatten()
        .map(|item| (item[name].as_str().unwrap_or("?"), item[count].as_u64().unwrap_or(u64::MAX)))
        .collect()
}

#[test]
fn a_deleted_metric_may_be_created_again_with_another_type() {
    covers!("DELETE /api/v1/metrics/{name}", Happy);
    let (mut server, client) = story();
    let data = client.delete("/api/v1/metrics/app.web.hits").data(200);
    assert_eq!(data["deleted"], true, "{data}");
    for path in ["/api/v1/metrics/app.web.hits", "/api/v1/metrics/app.web.hits/query"] {
        client.get(path).refused(404, "metric_not_found");
    }
    client.delete("/api/v1/metrics/app.web.hits").refused(404, "metric_not_found");
    server.restart();
    let client = server.client();
    assert_eq!(names(&definitions(&client).into()), ["app.cpu", "app.web.ms", "app.web.users"]);
    send(&client, &[gauge("app.web.hits", T0, 7.0)]);
    let data = client.get("/api/v1/metrics/app.web.hits").data(200);
    same(&json!([data["type"], data["tags"], data["data_points"]]), &json!(["gauge", [], 1]));
    let series = query_metric(&client, "app.web.hits", T0 - 10, T0 + 10, "&interval=1d").data(200);
    assert_eq!(series["series"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_definition_outlives_a_restart() {
    let (mut server, client) = story();
    let before = client.get("/api/v1/metrics/app.web.hits").data(200);
    server.restart();
    assert_eq!(server.client().get("/api/v1/metrics/app.web.hits").data(200), before);
    let path = format!("/api/v1/metrics/{}", encoded("app.web.hits"));
    assert_eq!(server.client().get(&path).data(200), before);
}
