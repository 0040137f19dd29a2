//! What a public DSN cannot do: exceed its quota, hide the errors of others, or store secrets.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, Setup, eventually};

use crate::errors_sentry::{all, public_key};
use crate::keys::text;

/// Returns an event with an id and a type of its own.
fn event(number: usize, kind: &str) -> Value {
    json!({"event_id": format!("{number:032x}"), "exception": {"values": [{"type": kind}]}})
}

/// Returns an exception type for a number, without digits, which grouping would ignore.
fn kind(number: usize) -> String {
    let letter = |at: u32| char::from(b'a' + (number / 26_usize.pow(at) % 26) as u8);
    format!("Junk{}{}", letter(0), letter(1))
}

fn send(client: &Client, key: &str, events: &[Value]) -> Response {
    let items = events.iter().map(|event| format!("{{\"type\":\"event\"}}\n{event}\n"));
    let body = format!("{{}}\n{}", items.collect::<String>());
    let auth = format!("Sentry sentry_key={key}, sentry_version=7");
    let open = client.without_key();
    open.request("POST", "/api/1/envelope/").header("x-sentry-auth", auth).body(body).send()
}

fn titles(client: &Client) -> Vec<(String, u64)> {
    let list = all(client);
    let title = |group: &Value| (text(&group["title"]).to_owned(), group["occurrences"].as_u64());
    let groups = list.as_array().into_iter().flatten().map(title);
    let mut titles: Vec<(String, u64)> =
        groups.map(|(title, count)| (title, count.unwrap_or_default())).collect();
    titles.sort();
    titles
}

#[test]
fn every_event_of_an_envelope_counts_against_the_quota() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({"single": 10}));
    let events: Vec<Value> = (0..10).map(|n| event(n, "A")).collect();
    let response = send(&client, &key, &events[..7]);
    assert_eq!((response.status, response.must_header("ratelimit-remaining")), (200, "3"));
    let refused = send(&client, &key, &events[..7]);
    refused.refused(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    assert!(refused.header("x-sentry-rate-limits").is_some());
    assert_eq!(all(&client)[0]["occurrences"], 7);
    // An envelope larger than the quota is never accepted, and nothing of it is stored.
    let small = public_key(&client, &json!({"single": 5}));
    let more: Vec<Value> = (20..26).map(|n| event(n, "A")).collect();
    send(&client, &small, &more).refused(429, "rate_limited");
    assert_eq!(all(&client)[0]["occurrences"], 7);
}

#[test]
fn a_flood_from_one_key_hides_no_errors_of_another() {
    let server = Setup::new().set("errors.new_groups_per_hour", "4").start();
    let client = server.client();
    let (attacker, victim) = (public_key(&client, &json!({})), public_key(&client, &json!({})));
    let flood: Vec<Value> = (0..50).map(|n| event(n, &kind(n))).collect();
    send(&client, &attacker, &flood).expect(200);
    send(&client, &victim, &[event(100, "RealError")]).expect(200);
    let beyond = ("Errors beyond the limit of groups".to_owned(), 46);
    let mut expected: Vec<(String, u64)> = (0..4).map(|n| (kind(n), 1)).collect();
    expected.extend([beyond, ("RealError".to_owned(), 1)]);
    expected.sort();
    assert_eq!(titles(&client), expected);
}

#[test]
fn a_full_table_evicts_groups_of_the_key_that_filled_it() {
    let server = Setup::new().set("errors.groups_max", "10").start();
    let client = server.client();
    let (attacker, victim) = (public_key(&client, &json!({})), public_key(&client, &json!({})));
    send(&client, &victim, &[event(100, "OldError")]).expect(200);
    let flood: Vec<Value> = (0..9).map(|n| event(n, &kind(n))).collect();
    send(&client, &attacker, &flood).expect(200);
    let groups = all(&client);
    let known = groups.as_array().into_iter().flatten().find(|group| group["title"] == kind(0));
    let path = format!("/api/v1/errors/{}", text(&known.unwrap()["id"]));
    client.post(&format!("{path}/assign"), &json!({"user_id": "ada"})).data(200);
    let mut number = 200;
    eventually("a place for a new error", || {
        number += 1;
        send(&client, &victim, &[event(number, "NewError")]).expect(200);
        titles(&client).iter().any(|(title, _)| title == "NewError").then_some(())
    });
    let titles = titles(&client);
    assert!(titles.iter().any(|(title, _)| title == "OldError"), "{titles:?}");
    client.get(&path).data(200);
}

#[test]
fn secrets_are_neither_stored_nor_returned() {
    let server = Server::start();
    let client = server.client();
    let event = json!({
        "event_id": format!("{:032x}", 7),
        "transaction": "GET /reset?token=s3cretA1&page=2",
        "tags": {"url": "https://x.example/cb?access_token=s3cretB2", "auth": "s3cretC3"},
        "user": {"id": "token=s3cretD4"},
        "exception": {"values": [{
            "type": "HTTPError",
            "value": "401 with Bearer s3cretE5 for postgres://ada:s3cretF6@db/x",
            "stacktrace": {"frames": [{
                "function": "connect", "filename": "a.py",
                "vars": {"config": "Config(password='s3cretG7', port=5432)", "pwd": "s3cretH8"}
            }]}
        }]},
        "breadcrumbs": {"values": [{"message": "sent Authorization: Bearer s3cretI9"}]},
    });
    let key = public_key(&client, &json!({}));
    send(&client, &key, &[event]).expect(200);
    let path = format!("/api/v1/errors/{}", text(&all(&client)[0]["id"]));
    let shown = [
        all(&client),
        client.get(&path).data(200),
        client.get(&format!("{path}/events")).data(200),
        client.get("/api/v1/events?name=telltale.error").data(200),
    ];
    let shown: String = shown.iter().map(Value::to_string).collect();
    assert!(!shown.contains("s3cret"), "{shown}");
    for ordinary in ["HTTPError", "page=2", "x.example/cb", "port=5432", "connect"] {
        assert!(shown.contains(ordinary), "{ordinary} in {shown}");
    }
}
