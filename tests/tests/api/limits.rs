//! Rate limits of keys, and the responses when they are exceeded.

use serde_json::json;
use telltale_tests::{Client, Response, Setup};

use crate::keys::{client_with, make, text};
use crate::points::{T0, gauge};

fn send_one(client: &Client) -> Response {
    client.post("/api/v1/metrics", &gauge("a", T0, 1.0))
}

fn send_batch(client: &Client) -> Response {
    client.post("/api/v1/metrics/batch", &json!({"metrics": []}))
}

fn number(response: &Response, header: &str) -> u64 {
    match response.must_header(header).parse() {
        Ok(number) => number,
        Err(error) => panic!("{header}: {error} in {}", response.summary()),
    }
}

#[test]
fn the_default_limits_are_those_of_the_contract() {
    let server = Setup::as_shipped().start();
    let client = server.client();
    send_one(&client).data(201);
    for (response, limit) in [
        (send_batch(&client), 10),
        (client.get("/api/v1/metrics/a/query"), 60),
        (send_one(&client), 1_000),
        (client.get("/api/v1/metrics"), 600),
        (client.get("/api/v1/keys"), 600),
    ] {
        assert!((200..300).contains(&response.status), "{}", response.summary());
        assert_eq!(number(&response, "ratelimit-limit"), limit);
        assert!(number(&response, "ratelimit-remaining") < limit);
        assert!(number(&response, "ratelimit-reset") <= 60);
    }
}

#[test]
fn a_request_above_the_limit_is_refused_until_one_is_free() {
    let server = Setup::as_shipped().start();
    let client = server.client();
    for left in (0..10).rev() {
        let response = send_batch(&client);
        response.data(200);
        assert_eq!(number(&response, "ratelimit-remaining"), left);
    }
    let response = send_batch(&client);
    response.refused(429, "rate_limited");
    assert_eq!(number(&response, "ratelimit-remaining"), 0);
    // Ten per minute are released one by one: the next within six seconds.
    assert!((1..=6).contains(&number(&response, "retry-after")), "{}", response.summary());
    // Other classes and other keys have limits of their own.
    send_one(&client).data(201);
    let other = client_with(&client, json!(["ingest"]));
    send_batch(&other).data(200);
}

#[test]
fn a_refused_request_stores_nothing() {
    let server = Setup::as_shipped().set("limits.single", "2").start();
    let client = server.client();
    for name in ["a", "b", "c"] {
        client.post("/api/v1/metrics", &gauge(name, T0, 1.0));
    }
    client.get("/api/v1/metrics/b").data(200);
    client.get("/api/v1/metrics/c").refused(404, "metric_not_found");
}

#[test]
fn limits_can_be_changed_for_the_server_and_for_a_key() {
    let setup = Setup::as_shipped().set("limits.batch", "2").set("limits.single", "\"unlimited\"");
    let server = setup.start();
    let client = server.client();
    for _ in 0..2 {
        send_batch(&client).data(200);
    }
    send_batch(&client).refused(429, "rate_limited");
    for _ in 0..50 {
        let response = send_one(&client);
        response.data(201);
        assert_eq!(response.header("ratelimit-limit"), None, "{}", response.summary());
    }
    let made = make(&client, json!(["ingest"]), json!({"batch": 4, "single": 1}));
    let own = client.with_key(text(&made["key"]));
    for _ in 0..4 {
        send_batch(&own).data(200);
    }
    send_batch(&own).refused(429, "rate_limited");
    send_one(&own).data(201);
    send_one(&own).refused(429, "rate_limited");
    let made = make(&client, json!(["ingest"]), json!({"batch": "unlimited"}));
    let free = client.with_key(text(&made["key"]));
    for _ in 0..20 {
        send_batch(&free).data(200);
    }
}

#[test]
fn unauthenticated_requests_do_not_count_against_a_key() {
    let server = Setup::as_shipped().set("limits.other", "3").start();
    let client = server.client();
    for _ in 0..20 {
        client.without_key().get("/api/v1/metrics").refused(401, "unauthorized");
    }
    client.get("/api/v1/metrics").data(200);
}
