//! `Idempotency-Key`: a repeated request has no further effect.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, iso};

use crate::keys::{client_with, text};
use crate::points::{T0, total};

fn count(value: i64) -> Value {
    json!({"metrics": [{"name": "c", "type": "counter", "value": value, "timestamp": iso(T0)}]})
}

fn post(client: &Client, key: &str, body: &Value) -> Response {
    let request = client.request("POST", "/api/v1/metrics/batch").header("idempotency-key", key);
    request.json(body).send()
}

fn stored(client: &Client) -> f64 {
    total(client, "c", T0, T0 + 1_000)
}

#[test]
fn a_repeated_request_gets_the_same_response_and_is_stored_once() {
    let mut server = Server::start();
    let client = server.client();
    let first = post(&client, "retry-1", &count(3));
    first.data(200);
    assert_eq!(first.header("idempotency-replayed"), None);
    for _ in 0..3 {
        let again = post(&client, "retry-1", &count(3));
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!((again.status, &again.body), (first.status, &first.body));
    }
    assert_eq!(stored(&client), 3.0);
    server.kill9();
    server.restart();
    let client = server.client();
    let again = post(&client, "retry-1", &count(3));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(stored(&client), 3.0);
}

#[test]
fn a_receipt_outlives_seal_and_merge() {
    let mut server = Server::start();
    let client = server.client();
    post(&client, "k", &count(3)).data(200);
    for path in ["/api/v1/admin/seal", "/api/v1/admin/merge"] {
        assert_eq!(client.post(path, &json!({})).status, 200);
        assert_eq!(post(&client, "k", &count(3)).header("idempotency-replayed"), Some("true"));
    }
    server.restart();
    let again = post(&server.client(), "k", &count(3));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(stored(&server.client()), 3.0);
}

#[test]
fn the_same_key_with_another_body_is_a_conflict() {
    let server = Server::start();
    let client = server.client();
    post(&client, "k", &count(3)).data(200);
    post(&client, "k", &count(4)).refused(409, "conflict");
    post(&client, "other", &count(4)).data(200);
    assert_eq!(stored(&client), 7.0);
}

#[test]
fn a_key_is_scoped_to_client_and_route() {
    let server = Server::start();
    let client = server.client();
    let other = client_with(&client, json!(["ingest"]));
    post(&client, "k", &count(1)).data(200);
    assert_eq!(post(&other, "k", &count(1)).header("idempotency-replayed"), None);
    let request = client.request("POST", "/api/v1/metrics").header("idempotency-key", "k");
    let response = request.json(&count(1)["metrics"][0]).send();
    response.data(201);
    assert_eq!(response.header("idempotency-replayed"), None);
    assert_eq!(stored(&client), 3.0);
}

#[test]
fn a_refusal_is_not_stored() {
    let server = Server::start();
    let client = server.client();
    let request = client.request("POST", "/api/v1/metrics/batch").header("idempotency-key", "k");
    request
        .header("content-type", "application/json")
        .body("{")
        .send()
        .refused(400, "invalid_json");
    let response = post(&client, "k", &count(1));
    response.data(200);
    assert_eq!(response.header("idempotency-replayed"), None);
}

#[test]
fn a_single_point_may_be_repeated_too() {
    let server = Server::start();
    let client = server.client();
    let body = json!({"name": "c", "type": "counter", "value": 2, "timestamp": iso(T0)});
    let send = || {
        let request = client.request("POST", "/api/v1/metrics").header("idempotency-key", "one");
        request.json(&body).send()
    };
    let (first, second) = (send(), send());
    first.data(201);
    assert_eq!((second.status, &second.body), (201, &first.body));
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    assert_eq!(stored(&client), 2.0);
}

#[test]
fn configuration_may_be_repeated_too() {
    let server = Server::start();
    let client = server.client();
    let body = json!({"name": "n", "user": "a@example.com", "scopes": ["read"]});
    let send = || {
        let request = client.request("POST", "/api/v1/keys").header("idempotency-key", "k1");
        request.json(&body).send()
    };
    let (first, second) = (send().data(201), send().data(201));
    assert_eq!(text(&first["id"]), text(&second["id"]));
    assert_eq!(client.get("/api/v1/keys").data(200).as_array().map(Vec::len), Some(2));
}

#[test]
fn malformed_idempotency_keys_are_refused() {
    let server = Server::start();
    let client = server.client();
    post(&client, &"k".repeat(255), &count(1)).data(200);
    for bad in ["", &"k".repeat(256)] {
        post(&client, bad, &count(1)).refused(400, "invalid_parameter");
    }
    assert_eq!(stored(&client), 1.0);
}

#[test]
fn concurrent_requests_with_the_same_key_are_stored_once() {
    let server = Server::start();
    let client = server.client();
    for round in 0..20 {
        let key = format!("round-{round}");
        std::thread::scope(|scope| {
            let sent: Vec<_> =
                (0..6).map(|_| scope.spawn(|| post(&client, &key, &count(1)))).collect();
            for response in sent.into_iter().map(|s| s.join()) {
                match response {
                    Ok(response) if response.status == 200 => {}
                    // Another request with this key is in progress.
                    Ok(response) => drop(response.refused(409, "conflict")),
                    Err(_) => panic!("a request got no response"),
                }
            }
        });
    }
    assert_eq!(stored(&client), 20.0);
}
