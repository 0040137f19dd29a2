//! API keys over HTTP: created, listed, revoked, limited.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, Server, covers};

/// Creates a key with these scopes and returns the response.
#[track_caller]
pub(crate) fn make(client: &Client, scopes: Value, limits: Value) -> Value {
    let body =
        json!({"name": "a key", "user": "ops@example.com", "scopes": scopes, "limits": limits});
    client.post("/api/v1/keys", &body).data(201)
}

/// Returns a client with a new key of these scopes.
#[track_caller]
pub(crate) fn client_with(client: &Client, scopes: Value) -> Client {
    client.with_key(text(&make(client, scopes, json!({}))["key"]))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn a_key_is_shown_once_and_works() {
    covers!("POST /api/v1/keys", Happy);
    covers!("GET /api/v1/keys", Happy);
    let server = Server::start();
    let client = server.client();
    let made =
        make(&client, json!(["read", "ingest"]), json!({"batch": "unlimited", "query": 6000}));
    let key = text(&made["key"]);
    let parts: Vec<&str> = key.splitn(3, '_').collect();
    assert_eq!((parts[0], parts[1], parts[2].len()), ("tt", text(&made["id"]), 43), "{key}");
    assert!((8..=32).contains(&parts[1].len()), "{key}");
    assert!(parts[1..].iter().all(|p| p.chars().all(|c| c.is_ascii_alphanumeric())), "{key}");
    assert_eq!(made["name"], "a key");
    assert_eq!(made["user"], "ops@example.com");
    assert_eq!(made["limits"], json!({"batch": "unlimited", "query": 6000}));
    let mut scopes: Vec<&str> =
        made["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["ingest", "read"]);
    client.with_key(key).get("/api/v1/metrics").data(200);

    let listed = client.get("/api/v1/keys");
    let entries = listed.data(200);
    assert_eq!(entries.as_array().map(Vec::len), Some(2), "{entries}");
    assert_eq!(entries[0]["id"], made["id"], "the newest stands first: {entries}");
    assert_eq!(entries[0]["revoked_at"], Value::Null);
    assert!(!listed.text().contains(parts[2]), "a secret is shown once");
    assert!(
        !ADMIN_KEY.rsplit('_').next().is_some_and(|secret| listed.text().contains(secret)),
        "a secret is shown once"
    );
}

#[test]
fn a_revoked_key_is_refused_immediately_and_permanently() {
    covers!("DELETE /api/v1/keys/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let made = make(&client, json!(["read"]), json!({}));
    let holder = client.with_key(text(&made["key"]));
    holder.get("/api/v1/metrics").data(200);
    let data = client.delete(&format!("/api/v1/keys/{}", text(&made["id"]))).data(200);
    assert_eq!((&data["id"], &data["deleted"]), (&made["id"], &json!(true)));
    holder.get("/api/v1/metrics").refused(401, "unauthorized");
    server.restart();
    let client = server.client();
    client.with_key(text(&made["key"])).get("/api/v1/metrics").refused(401, "unauthorized");
    client.get("/api/v1/metrics").data(200);
}

#[test]
fn a_key_survives_a_kill() {
    let mut server = Server::start();
    let made = make(&server.client(), json!(["read"]), json!({}));
    server.kill9();
    server.restart();
    server.client().with_key(text(&made["key"])).get("/api/v1/metrics").data(200);
}

#[test]
fn the_last_use_of_a_key_is_reported() {
    let server = Server::start();
    let client = server.client();
    let made = make(&client, json!(["read"]), json!({}));
    client.with_key(text(&made["key"])).get("/api/v1/metrics").data(200);
    telltale_tests::eventually("the last use to be told", || {
        let keys = client.get("/api/v1/keys").data(200);
        keys[0]["last_used_at"].is_string().then_some(())
    });
}

#[test]
fn an_invalid_key_request_is_refused() {
    covers!("POST /api/v1/keys", Refusal);
    let server = Server::start();
    let client = server.client();
    for (change, code) in [
        (json!({"name": null}), "missing_name"),
        (json!({"name": ""}), "missing_name"),
        (json!({"name": "x".repeat(201)}), "invalid_name"),
        (json!({"name": 1}), "invalid_parameter"),
        (json!({"name": "   "}), "invalid_name"),
        (json!({"user": null}), "missing_field"),
        (json!({"user": "nobody"}), "invalid_field"),
        (json!({"scopes": null}), "missing_field"),
        (json!({"scopes": []}), "invalid_field"),
        (json!({"scopes": ["root"]}), "invalid_field"),
        (json!({"scopes": "read"}), "invalid_parameter"),
        (json!({"limits": {"batch": 0}}), "invalid_field"),
        (json!({"limits": {"batch": "many"}}), "invalid_field"),
        (json!({"limits": {"bulk": 1}}), "invalid_field"),
        (json!({"limits": []}), "invalid_parameter"),
        (json!({"public_ingest": "yes"}), "invalid_parameter"),
    ] {
        let mut body = json!({"name": "n", "user": "a@example.com", "scopes": ["read"]});
        if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
            body.extend(change.clone());
        }
        let response = client.post("/api/v1/keys", &body);
        assert_eq!(response.json()["error"]["code"], code, "{change}: {}", response.summary());
        let status = if code == "invalid_parameter" { 400 } else { 422 };
        response.refused(status, code);
    }
    // A misspelled field on a configuration route is not ignored.
    let body = json!({"name": "n", "user": "a@example.com", "scopes": ["read"], "limit": {}});
    client.post("/api/v1/keys", &body).refused(400, "invalid_parameter");
    assert_eq!(client.get("/api/v1/keys").data(200).as_array().map(Vec::len), Some(1));
}

#[test]
fn only_admins_see_and_change_keys() {
    covers!("GET /api/v1/keys", Refusal);
    covers!("DELETE /api/v1/keys/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let other = client_with(&client, json!(["read", "write", "ingest"]));
    other.get("/api/v1/keys").refused(403, "forbidden");
    other.delete("/api/v1/keys/testadmin").refused(403, "forbidden");
    let body = json!({"name": "n", "user": "a@example.com", "scopes": ["admin"]});
    other.post("/api/v1/keys", &body).refused(403, "forbidden");
    client.delete("/api/v1/keys/nobody12").refused(404, "key_not_found");
}

#[test]
fn a_public_key_can_send_and_nothing_else() {
    let server = Server::start();
    let client = server.client();
    let body = json!({
        "name": "page", "user": "a@example.com", "scopes": ["ingest"], "public_ingest": true
    });
    let made = client.post("/api/v1/keys", &body).data(201);
    assert_eq!(made["public_ingest"], true);
    let body = json!({
        "name": "page", "user": "a@example.com", "scopes": ["ingest", "read"], "public_ingest": true
    });
    client.post("/api/v1/keys", &body).refused(422, "invalid_field");

    let page = client.with_key(text(&made["key"]));
    page.post("/api/v1/errors", &json!({"exception": {"type": "A"}})).data(201);
    let job = json!({"class_name": "Mail"});
    page.post("/api/v1/jobs", &job).refused(403, "forbidden");
    page.post("/api/v1/jobs/batch", &json!({"jobs": [job]})).refused(403, "forbidden");
    page.post("/api/v1/workers", &json!({"hostname": "a", "queues": ["default"]}))
        .refused(403, "forbidden");
    client_with(&client, json!(["ingest"])).post("/api/v1/jobs", &job).expect(201);
    assert_eq!(client.get("/api/v1/queues/default").expect(200)["size"], 1);
}

#[test]
fn the_worker_protocol_needs_the_work_scope() {
    let server = Server::start();
    let client = server.client();
    let program = client_with(&client, json!(["ingest", "read", "write"]));
    let worker = client_with(&client, json!(["work"]));
    let job = json!({"class_name": "Mail", "arguments": {"password": "hunter2"}});
    program.post("/api/v1/jobs", &job).expect(201);
    worker.post("/api/v1/jobs", &job).refused(403, "forbidden");

    let path = crate::jobs::register(&worker, &["default"]);
    let held = crate::jobs::fetch_one(&worker, &path);
    assert_eq!(held["arguments"]["password"], "hunter2");
    let its = format!("/api/v1/jobs/{}", text(&held["job_id"]));
    let with_token = json!({"reservation_token": held["reservation_token"]});
    let about = json!({"hostname": "a", "queues": ["default"]});
    let calls = [
        ("/api/v1/workers".to_owned(), about),
        (format!("{path}/heartbeat"), json!({})),
        (format!("{path}/fetch"), json!({})),
        (format!("{its}/extend"), with_token.clone()),
        (format!("{its}/fail"), with_token.clone()),
        (format!("{its}/ack"), with_token.clone()),
    ];
    for (path, body) in calls {
        program.post(&path, &body).refused(403, "forbidden");
    }
    program.delete(&path).refused(403, "forbidden");

    worker.post(&format!("{path}/heartbeat"), &json!({})).expect(200);
    worker.post(&format!("{its}/ack"), &with_token).expect(200);
    worker.delete(&path).expect(200);
    worker.get(&its).refused(403, "forbidden");
}

#[test]
fn the_etag_of_a_key_changes_with_the_key_and_not_with_its_use() {
    covers!("GET /api/v1/keys/{id}", Happy);
    covers!("GET /api/v1/keys/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    client.get("/api/v1/keys/nobody12").refused(404, "key_not_found");
    let body = json!({"name": "n", "user": "a@example.com", "scopes": ["read"]});
    let created = client.post("/api/v1/keys", &body);
    let made = created.data(201);
    let path = format!("/api/v1/keys/{}", text(&made["id"]));
    let etag = created.must_header("etag").to_owned();

    client.with_key(text(&made["key"])).get("/api/v1/metrics").data(200);
    let read = telltale_tests::eventually("the use of the key to be told", || {
        let read = client.get(&path);
        read.data(200)["last_used_at"].is_string().then_some(read)
    });
    assert!(read.data(200).get("key").is_none(), "{}", read.summary());
    let revoke = |etag: &str| client.request("DELETE", &path).header("if-match", etag).send();
    for lie in ["\"0\"", "\"999999\"", "1"] {
        revoke(lie).refused(412, "precondition_failed");
    }
    assert_eq!(client.get(&path).data(200)["revoked_at"], Value::Null);
    revoke(&etag).data(200);
    assert!(client.get(&path).data(200)["revoked_at"].is_string());
    // The ETag read before the change no longer matches.
    revoke(read.must_header("etag")).refused(412, "precondition_failed");
    client.get("/api/v1/keys").must_header("etag");
}

#[test]
fn a_repeated_request_creates_no_second_key_after_a_kill() {
    let mut server = Server::start();
    let body = json!({"name": "n", "user": "a@example.com", "scopes": ["read"]});
    let send = |server: &Server| {
        let client = server.client();
        let request = client.request("POST", "/api/v1/keys").header("idempotency-key", "once");
        request.json(&body).send()
    };
    let first = send(&server).data(201);
    server.kill9();
    server.restart();
    let again = send(&server);
    assert_eq!(again.must_header("idempotency-replayed"), "true");
    assert_eq!(again.data(201)["id"], first["id"]);
    server.client().with_key(text(&first["key"])).get("/api/v1/metrics").data(200);
    assert_eq!(server.client().get("/api/v1/keys").data(200).as_array().map(Vec::len), Some(2));
}
