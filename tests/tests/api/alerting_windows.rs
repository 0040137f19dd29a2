//! Maintenance windows: creation, changes, deletion, refusals, and when they are current.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, covers};

use crate::keys::text;

const PATH: &str = "/api/v1/maintenance_windows";

/// Returns the body of a window that includes all test runs.
fn window(name: &str) -> Value {
    json!({"name": name, "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z"})
}

/// Creates a window and returns its path.
#[track_caller]
fn make(client: &Client, body: &Value) -> String {
    format!("{PATH}/{}", text(&client.post(PATH, body).data(201)["id"]))
}

fn patch(client: &Client, path: &str, body: &Value) -> Response {
    client.request("PATCH", path).json(body).send()
}

#[test]
fn a_window_is_created_listed_read_changed_and_deleted() {
    covers!("POST /api/v1/maintenance_windows", Happy);
    covers!("GET /api/v1/maintenance_windows", Happy);
    covers!("GET /api/v1/maintenance_windows/{id}", Happy);
    covers!("PATCH /api/v1/maintenance_windows/{id}", Happy);
    covers!("DELETE /api/v1/maintenance_windows/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let mut body = window("Move");
    body["services"] = json!(["shop"]);
    let made = client.post(PATH, &body).data(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("mw_") && id.len() == 3 + 26, "{id}");
    assert_eq!((&made["active"], &made["currently_active"]), (&json!(true), &json!(true)));
    assert_eq!((&made["rule_ids"], &made["services"]), (&Value::Null, &json!(["shop"])));
    assert_eq!((&made["timezone"], &made["next_starts_at"]), (&json!("UTC"), &Value::Null));
    assert!(text(&made["created_by"]).contains('@'), "{made}");
    make(
        &client,
        &json!({
            "name": "Weekly", "starts_at": "2090-01-01T02:00:00Z", "ends_at": "2090-01-01T04:00:00Z",
            "recurring": true, "recurrence_rule": "FREQ=WEEKLY;BYDAY=SU", "timezone": "Europe/Berlin",
        }),
    );
    let listed = client.get(PATH).expect(200);
    assert_eq!(listed["meta"], json!({"total": 2, "limit": 100, "offset": 0}));
    let weekly = &listed["data"][0];
    assert_eq!((&weekly["name"], &weekly["recurring"]), (&json!("Weekly"), &json!(true)));
    let current = client.get(&format!("{PATH}?current=true")).data(200);
    assert_eq!(current.as_array().map(Vec::len), Some(1), "{current}");
    assert_eq!((&current[0]["id"], &current[0]["currently_active"]), (&made["id"], &json!(true)));

    let path = format!("{PATH}/{id}");
    let changed = patch(&client, &path, &json!({"active": false, "name": "Stay"})).data(200);
    assert_eq!((&changed["name"], &changed["currently_active"]), (&json!("Stay"), &json!(false)));
    let off = client.get(&format!("{PATH}?active=false")).data(200);
    assert_eq!((off.as_array().map(Vec::len), &off[0]["id"]), (Some(1), &made["id"]));
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&path).data(200), changed);
    assert_eq!(client.delete(&path).data(200), json!({"id": id, "deleted": true}));
    client.get(&path).refused(404, "maintenance_window_not_found");
}

#[test]
fn invalid_windows_are_refused() {
    covers!("POST /api/v1/maintenance_windows", Refusal);
    covers!("GET /api/v1/maintenance_windows", Refusal);
    covers!("GET /api/v1/maintenance_windows/{id}", Refusal);
    covers!("PATCH /api/v1/maintenance_windows/{id}", Refusal);
    covers!("DELETE /api/v1/maintenance_windows/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, &window("w"));
    for (change, code, field) in [
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"starts_at": null}), "missing_field", "starts_at"),
        (json!({"starts_at": "tomorrow"}), "invalid_timestamp", "starts_at"),
        (json!({"ends_at": "2020-01-01T00:00:00Z"}), "invalid_field", "ends_at"),
        (json!({"recurring": true}), "invalid_field", "recurrence_rule"),
        (json!({"recurrence_rule": "FREQ=DAILY"}), "invalid_field", "recurrence_rule"),
        (
            json!({"recurring": true, "recurrence_rule": "FREQ=MINUTELY"}),
            "invalid_field",
            "recurrence_rule",
        ),
        (json!({"timezone": "Nowhere"}), "invalid_field", "timezone"),
        (json!({"rule_ids": []}), "invalid_field", "rule_ids"),
        (json!({"rule_ids": ["esc_1"]}), "invalid_field", "rule_ids[0]"),
        (json!({"services": [""]}), "invalid_field", "services[0]"),
    ] {
        let mut body = window("w");
        if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
            body.extend(change.clone());
        }
        client.post(PATH, &body).refused_for(422, code, field);
        patch(&client, &path, &change).refused_for(422, code, field);
    }
    client.get(&format!("{PATH}?active=yes")).refused_for(400, "invalid_parameter", "active");
    let none = format!("{PATH}/mw_none");
    client.get(&none).refused(404, "maintenance_window_not_found");
    client.delete(&none).refused(404, "maintenance_window_not_found");
    patch(&client, &none, &json!({})).refused(404, "maintenance_window_not_found");
}
