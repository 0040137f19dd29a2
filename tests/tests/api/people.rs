//! The people that a server knows, and their preferences.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers};

use crate::keys::{client_with, text};

const USERS: &str = "/api/v1/users";
const PREFERENCES: &str = "/api/v1/preferences";

#[test]
fn the_people_of_keys_schedules_and_errors_are_listed() {
    covers!("GET /api/v1/users", Happy);
    covers!("GET /api/v1/users", Refusal);
    let server = Server::start();
    let client = server.client();
    let key = |user: &str| json!({"name": "k", "user": user, "scopes": ["read"]});
    client.post("/api/v1/keys", &key("ann@example.com")).data(201);
    let second = client.post("/api/v1/keys", &key("ann@example.com")).data(201);
    client.delete(&format!("/api/v1/keys/{}", text(&second["id"]))).data(200);
    let schedule = json!({
        "name": "Ops", "schedule_type": "custom", "timezone": "UTC", "members": ["bob@example.com"],
        "rotation_type": "daily", "rotation_start": "2026-01-01T00:00:00Z",
    });
    client.post("/api/v1/on_call_schedules", &schedule).expect(201);
    let error = client.post("/api/v1/errors", &json!({"exception": {"type": "E"}})).data(201);
    let path = format!("/api/v1/errors/{}/assign", text(&error["id"]));
    client.post(&path, &json!({"user_id": "cleo"})).data(200);

    let find = |query: &str| client.get(&format!("{USERS}?{query}")).expect(200);
    let person = |name: &str| find(&format!("search={name}"))["data"][0].clone();
    let ann = person("ANN@");
    assert_eq!((&ann["user"], &ann["keys"]), (&json!("ann@example.com"), &json!(1)));
    assert_eq!((&ann["on_call_member"], &ann["last_seen"]), (&json!(false), &Value::Null));
    assert_eq!(person("bob")["on_call_member"], true);
    let cleo = person("cleo");
    assert_eq!((&cleo["assignee"], &cleo["keys"]), (&json!(true), &json!(0)));
    let all = find("");
    let names: Vec<&str> =
        all["data"].as_array().into_iter().flatten().map(|user| text(&user["user"])).collect();
    assert!(names.is_sorted() && names.len() >= 4, "{names:?}");
    let second = find("limit=1&offset=1");
    assert_eq!(
        (text(&second["data"][0]["user"]), &second["meta"]["total"]),
        (names[1], &json!(names.len()))
    );
    assert_eq!(find("search=nobody")["data"], json!([]));
    client.get(&format!("{USERS}?limit=0")).refused_for(400, "invalid_parameter", "limit");
    let long = format!("{USERS}?search={}", "x".repeat(255));
    client.get(&long).refused_for(400, "invalid_parameter", "search");
}

#[test]
fn preferences_belong_to_the_user_whichever_key_is_used() {
    covers!("GET /api/v1/preferences", Happy);
    covers!("PUT /api/v1/preferences", Happy);
    let mut server = Server::start();
    let client = server.client();
    let key = |client: &Client, user: &str| {
        let body = json!({"name": "k", "user": user, "scopes": ["read"]});
        client.with_key(text(&client.post("/api/v1/keys", &body).data(201)["key"]))
    };
    let ann = key(&client, "ann@example.com");
    let first = ann.get(PREFERENCES);
    assert_eq!(
        first.data(200),
        json!({"user": "ann@example.com", "preferences": {}, "updated_at": null})
    );
    let wanted = json!({"starred_dashboards": ["dash_\u{202e}/%2F"], "time_zone": null, "n": 1e308, "x": {"a": [true]}});
    let put = |client: &Client, etag: &str, preferences: &Value| {
        let request = client.request("PUT", PREFERENCES).header("if-match", etag);
        request.json(&json!({ "preferences": preferences })).send()
    };
    let stored = put(&ann, first.must_header("etag"), &wanted);
    assert_eq!(stored.data(200)["preferences"], wanted);
    server.kill9();
    server.restart();
    let other = key(&server.client(), "ann@example.com");
    let read = other.get(PREFERENCES);
    assert_eq!(read.data(200), stored.data(200));
    assert_eq!(read.must_header("etag"), stored.must_header("etag"));
    let unchanged =
        other.request("GET", PREFERENCES).header("if-none-match", read.must_header("etag"));
    assert_eq!(unchanged.send().status, 304);
    put(&other, first.must_header("etag"), &json!({})).refused(412, "precondition_failed");
    assert_eq!(
        put(&other, stored.must_header("etag"), &json!({})).data(200)["preferences"],
        json!({})
    );
    let bob = key(&server.client(), "bob@example.com");
    assert_eq!(bob.get(PREFERENCES).data(200)["updated_at"], Value::Null);
}

#[test]
fn preferences_are_small_objects() {
    covers!("GET /api/v1/preferences", Refusal);
    covers!("PUT /api/v1/preferences", Refusal);
    let server = Server::start();
    let client = server.client();
    let put = |body: Value| client.request("PUT", PREFERENCES).json(&body).send();
    put(json!({})).refused_for(422, "missing_field", "preferences");
    for wrong in [json!(null), json!([]), json!("a"), json!({"a": "x".repeat(17_000)})] {
        let refused = put(json!({ "preferences": wrong }));
        assert_eq!(refused.status, 422, "{}", refused.summary());
    }
    put(json!({"preferences": {}, "user": "eve"})).refused(400, "invalid_parameter");
    let huge = client.request("PUT", PREFERENCES).body(r#"{"preferences": {"a": 1e999}}"#);
    let huge = huge.header("content-type", "application/json").send();
    assert!(huge.status == 400 || huge.status == 422, "{}", huge.summary());
    client.get(&format!("{PREFERENCES}?user=eve")).refused(400, "invalid_parameter");
    let writer = client_with(&client, json!(["ingest"]));
    writer.get(PREFERENCES).refused(403, "forbidden");
}
