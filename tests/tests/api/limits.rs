//! How many requests a key may send, and the responses beyond the limit.

use serde_json::json;
use telltale_tests::{Answer, Client, Setup};

use crate::keys::{client_with, make, text};
use crate::points::{T0, gauge};

fn send_one(client: &Client) -> Answer {
    client.post("/api/v1/metrics", &gauge("a", T0, 1.0))
}

fn send_batch(client: &Client) -> Answer {
    client.post("/api/v1/metrics/batch", &json!({"metrics": []}))
}

fn number(answer: &Answer, header: &str) -> u64 {
    match answer.must_header(header).parse() {
        Ok(number) => number,
        Err(error) => panic!("{header}: {error} in {}", answer.summary()),
    }
}

#[test]
fn the_limits_are_those_of_the_contract() {
    let server = Setup::as_shipped().start();
    let client = server.client();
    send_one(&client).data(201);
    for (answer, limit) in [
        (send_batch(&client), 10),
        (client.get("/api/v1/metrics/a/query"), 60),
        (send_one(&client), 1_000),
        (client.get("/api/v1/metrics"), 600),
        (client.get("/api/v1/keys"), 600),
    ] {
        assert!((200..300).contains(&answer.status), "{}", answer.summary());
        assert_eq!(number(&answer, "ratelimit-limit"), limit);
        assert!(number(&answer, "ratelimit-remaining") < limit);
        assert!(number(&answer, "ratelimit-reset") <= 60);
    }
}

#[test]
fn one_request_too_many_is_refused_until_its_time_comes() {
    let server = Setup::as_shipped().start();
    let client = server.client();
    for left in (0..10).rev() {
        let answer = send_batch(&client);
        answer.data(200);
        assert_eq!(number(&answer, "ratelimit-remaining"), left);
    }
    let answer = send_batch(&client);
    answer.refused(429, "rate_limited");
    assert_eq!(number(&answer, "ratelimit-remaining"), 0);
    // Ten a minute come one by one: the next is due within six seconds.
    assert!((1..=6).contains(&number(&answer, "retry-after")), "{}", answer.summary());
    // Other classes and other keys have their own count.
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
        let answer = send_one(&client);
        answer.data(201);
        assert_eq!(answer.header("ratelimit-limit"), None, "{}", answer.summary());
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
fn strangers_are_not_counted_against_a_key() {
    let server = Setup::as_shipped().set("limits.other", "3").start();
    let client = server.client();
    for _ in 0..20 {
        client.without_key().get("/api/v1/metrics").refused(401, "unauthorized");
    }
    client.get("/api/v1/metrics").data(200);
}
