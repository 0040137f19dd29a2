//! Authorization: missing and malformed keys, scopes.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, Response, Server};

use crate::keys::{client_with, make, text};
use crate::points::{T0, gauge};

#[test]
fn every_invalid_key_gets_the_same_refusal() {
    let server = Server::start();
    let client = server.client();
    let revoked = make(&client, json!(["admin"]), json!({}));
    client.delete(&format!("/api/v1/keys/{}", text(&revoked["id"]))).data(200);

    let (start, last) = ADMIN_KEY.split_at(ADMIN_KEY.len() - 1);
    let wrong_end = format!("{start}{}", if last == "a" { "b" } else { "a" });
    let unknown = ADMIN_KEY.replace("testadmin", "nosuchkey");
    let long = format!("tt_{}_{}", "a".repeat(5_000), "b".repeat(5_000));
    let bearer = |key: &str| format!("Bearer {key}");
    let mut messages = Vec::new();
    for header in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Basic dXNlcjpwYXNz".to_owned(),
        ADMIN_KEY.to_owned(),
        format!("Digest {ADMIN_KEY}"),
        format!("Basic {ADMIN_KEY}"),
        bearer(start),
        bearer(&wrong_end),
        bearer(&format!("{ADMIN_KEY}x")),
        bearer(&ADMIN_KEY.to_uppercase()),
        bearer(&unknown),
        bearer(&long),
        bearer("tt__"),
        bearer("tt_testadmin_"),
        bearer("tt_testadmin"),
        bearer(text(&revoked["key"])),
        format!("{} {}", bearer(ADMIN_KEY), ADMIN_KEY),
    ] {
        let keyless = client.without_key();
        let response = keyless
            .request("GET", "/api/v1/metrics")
            .header("authorization", header.as_bytes())
            .send();
        assert_eq!(response.must_header("www-authenticate"), "Bearer");
        messages.push(response.refused(401, "unauthorized")["message"].clone());
    }
    let mut wire = server.wire();
    wire.send("GET /api/v1/metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \u{e9}\r\n\r\n");
    match wire.response() {
        Some(response) => messages.push(response.refused(401, "unauthorized")["message"].clone()),
        None => panic!("the server hung up"),
    }
    let missing = client.without_key().get("/api/v1/metrics").refused(401, "unauthorized");
    assert!(messages.iter().all(|message| *message == missing["message"]), "{messages:?}");
    for word in ["Bearer", "bearer", "BEARER"] {
        let header = format!("{word} {ADMIN_KEY}");
        let request = client.without_key();
        request.request("GET", "/api/v1/metrics").header("authorization", header).send().data(200);
    }
}

#[test]
fn two_keys_in_one_request_are_refused() {
    let server = Server::start();
    let header = format!("Bearer {ADMIN_KEY}");
    let response =
        server.client().request("GET", "/api/v1/metrics").header("authorization", header).send();
    assert!(matches!(response.status, 200 | 401), "{}", response.summary());
}

#[test]
fn a_scope_permits_its_routes_only() {
    let server = Server::start();
    let client = server.client();
    let ingest = client_with(&client, json!(["ingest"]));
    let read = client_with(&client, json!(["read"]));
    let write = client_with(&client, json!(["write"]));
    let admin = client_with(&client, json!(["admin"]));

    let point = gauge("a", T0, 1.0);
    let send = |c: &Client| c.post("/api/v1/metrics", &point);
    let send_many = |c: &Client| c.post("/api/v1/metrics/batch", &json!({"metrics": [point]}));
    let list = |c: &Client| c.get("/api/v1/metrics");
    let query = |c: &Client| c.get("/api/v1/metrics/a/query");
    let seal = |c: &Client| c.post("/api/v1/admin/seal", &Value::Null);
    let delete = |c: &Client| c.delete("/api/v1/metrics/a");
    type Call<'a> = &'a dyn Fn(&Client) -> Response;
    let calls: [(&str, Call<'_>, [bool; 4]); 6] = [
        ("send", &send, [true, false, false, true]),
        ("send many", &send_many, [true, false, false, true]),
        ("list", &list, [false, true, false, true]),
        ("query", &query, [false, true, false, true]),
        ("seal", &seal, [false, false, false, true]),
        ("delete", &delete, [false, false, false, true]),
    ];
    for (name, call, allowed) in calls {
        for (client, allowed) in [&ingest, &read, &write, &admin].into_iter().zip(allowed) {
            let response = call(client);
            if allowed {
                assert!((200..300).contains(&response.status), "{name}: {}", response.summary());
            } else {
                response.refused(403, "forbidden");
            }
        }
    }
}

#[test]
fn public_routes_need_no_key() {
    let server = Server::start();
    let client = server.client().without_key();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    for path in ["/metrics", "/api/v1/metrics", "/api/v1/keys"] {
        client.get(path).refused(401, "unauthorized");
    }
}

#[test]
fn an_unauthenticated_client_learns_no_names() {
    let server = Server::start();
    let client = server.client();
    client.post("/api/v1/metrics", &gauge("secret.metric", T0, 1.0)).data(201);
    let stranger = client.without_key();
    for path in ["/api/v1/metrics/secret.metric", "/api/v1/metrics/no.such.metric"] {
        stranger.get(path).refused(401, "unauthorized");
    }
}
