//! Tests of keys through their routes.

use serde_json::{Value, json};

use crate::areas::testing::{Answer, TestServer};

fn create(house: &TestServer, change: &Value) -> Answer {
    let mut body = json!({"name": "n", "user": "a@example.com", "scopes": ["read"]});
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    house.post("/api/v1/keys", &body)
}

#[test]
fn a_key_is_created_listed_and_revoked() {
    let house = TestServer::open();
    let limits = json!({"batch": "unlimited", "query": 6000});
    let mut created =
        create(&house, &json!({"scopes": ["read", "ingest"], "limits": limits})).data(201);
    let key = created.as_object_mut().and_then(|created| created.remove("key")).unwrap_or_default();
    let id = created["id"].as_str().unwrap_or_default().to_owned();
    assert!(key.as_str().is_some_and(|key| key.starts_with(&format!("tt_{id}_"))), "{key}");
    assert_eq!(
        created,
        json!({
            "id": id, "name": "n", "user": "a@example.com", "scopes": ["ingest", "read"], "limits": limits,
            "public_ingest": false, "created_at": "2026-01-02T03:04:05.678Z", "last_used_at": null,
            "revoked_at": null
        })
    );
    let list = house.get("/api/v1/keys").body;
    assert_eq!(list, json!({"data": [created], "meta": {"total": 1, "limit": 100, "offset": 0}}));

    let revoked = house.delete(&format!("/api/v1/keys/{id}")).data(200);
    assert_eq!(revoked, json!({"id": id, "deleted": true}));
    let listed = house.get("/api/v1/keys").data(200);
    assert_eq!(listed[0]["revoked_at"], "2026-01-02T03:04:05.678Z");
    house.delete("/api/v1/keys/none").refused(404, "key_not_found", "");
}

#[test]
fn a_secret_is_returned_only_once() {
    let house = TestServer::open();
    let body = json!({"name": "n", "user": "a@example.com", "scopes": ["admin"]});
    let first = house.post_once("/api/v1/keys", "k", &body).data(201);
    let again = house.post_once("/api/v1/keys", "k", &body).data(201);
    assert_eq!(first["id"], again["id"]);
    assert!(first["key"].is_string() && again.get("key").is_none(), "{again}");
}

#[test]
fn an_invalid_key_is_refused() {
    let house = TestServer::open();
    for (change, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"name": "x".repeat(201)}), "invalid_name", "name"),
        (json!({"user": null}), "missing_field", "user"),
        (json!({"user": "nobody"}), "invalid_field", "user"),
        (json!({"scopes": null}), "missing_field", "scopes"),
        (json!({"scopes": []}), "invalid_field", "scopes"),
        (json!({"scopes": ["root"]}), "invalid_field", "scopes"),
        (json!({"scopes": ["read"], "public_ingest": true}), "invalid_field", "scopes"),
        (json!({"limits": {"batch": 0}}), "invalid_field", "limits.batch"),
        (json!({"limits": {"batch": "many"}}), "invalid_field", "limits.batch"),
        (json!({"limits": {"bulk": 1}}), "invalid_field", "limits.bulk"),
    ] {
        create(&house, &change).refused(422, code, field);
    }
    create(&house, &json!({"limit": {}})).refused(400, "invalid_parameter", "limit");
    assert_eq!(house.get("/api/v1/keys").data(200), json!([]));
}
