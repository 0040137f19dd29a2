//! New events: requests that wait for them.

use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, Setup, Stopwatch, covers, eventually, now_ms};

use crate::events::{event, names, send};
use crate::keys::{client_with, make, text};

#[track_caller]
fn tail(client: &Client, query: &str) -> Response {
    client.get(&format!("/api/v1/events/tail?{query}"))
}

#[track_caller]
fn cursor(response: &Response) -> String {
    let body = response.expect(200);
    body["meta"]["cursor"].as_str().unwrap_or_default().to_owned()
}

/// Waits for events; tries again while all places are taken.
fn follow(client: &Client, query: &str) -> Response {
    eventually("a place", || Some(tail(client, query)).filter(|response| response.status != 503))
}

fn now(name: &str, rest: Value) -> Value {
    event(name, now_ms(), rest)
}

#[test]
fn each_event_is_delivered_once_in_the_order_of_writes() {
    covers!("GET /api/v1/events/tail", Happy);
    let server = Server::start();
    let client = server.client();
    send(&client, &[now("before", json!({}))]);
    let first = tail(&client, "wait_seconds=0");
    assert_eq!(first.data(200), json!([]));
    let mut after = cursor(&first);
    let sent: Vec<String> = (0..50).map(|i| format!("e{i}")).collect();
    // Times are in the reverse order: the tail follows the writes.
    let events: Vec<Value> =
        (0..50).map(|i| event(&sent[i], now_ms() - i as i64 * 1_000, json!({}))).collect();
    send(&client, &events[..20]);
    send(&client, &events[20..]);
    let mut received = Vec::new();
    while received.len() < sent.len() {
        let response = tail(&client, &format!("after={after}&limit=7&wait_seconds=5"));
        let page = names(&response);
        assert!(!page.is_empty() && page.len() <= 7, "{page:?}");
        assert_eq!(response.expect(200)["meta"]["missed"], 0);
        received.extend(page);
        after = cursor(&response);
    }
    assert_eq!(received, sent);
    let listed = client.get("/api/v1/events?name=e0").data(200);
    let again = tail(&client, &format!("after={}&name=e0&wait_seconds=0", cursor(&first)));
    assert_eq!(again.data(200), listed, "an event looks the same as in a list");
    assert_eq!(tail(&client, &format!("after={after}&wait_seconds=0")).data(200), json!([]));
}

#[test]
fn a_waiting_request_gets_an_event_within_a_second() {
    let server = Server::start();
    let client = server.client();
    let after = cursor(&tail(&client, "wait_seconds=0"));
    std::thread::scope(|scope| {
        let follower = server.client();
        let query = format!("after={after}&wait_seconds=30&name=wanted&user_id=u&tags[k]=v*");
        let waiting = scope.spawn(move || tail(&follower, &query));
        for rest in
            [json!({}), json!({"user_id": "u"}), json!({"user_id": "x", "tags": {"k": "v1"}})]
        {
            send(&client, &[now("wanted", rest)]);
        }
        send(&client, &[now("other", json!({"user_id": "u", "tags": {"k": "v1"}}))]);
        send(&client, &[now("wanted", json!({"user_id": "u", "tags": {"k": "v1"}}))]);
        let watch = Stopwatch::start();
        let Ok(response) = waiting.join() else { panic!("the follower panicked") };
        assert!(watch.elapsed() < Duration::from_secs(1), "{:?}", watch.elapsed());
        assert_eq!(response.data(200).as_array().map(Vec::len), Some(1), "{}", response.summary());
    });
}

#[test]
fn an_empty_wait_ends_in_time_and_its_cursor_continues() {
    let server = Server::start();
    let client = server.client();
    let watch = Stopwatch::start();
    let response = tail(&client, "wait_seconds=1&name=wanted");
    assert!(watch.elapsed() >= Duration::from_millis(900), "{:?}", watch.elapsed());
    assert_eq!(response.data(200), json!([]));
    send(&client, &[now("other", json!({})), now("wanted", json!({}))]);
    let next = tail(&client, &format!("after={}&name=wanted&wait_seconds=9", cursor(&response)));
    assert_eq!(names(&next), ["wanted"]);
}

#[test]
fn events_of_the_server_are_followed_only_by_name() {
    let server = Server::start();
    let client = server.client();
    let after = cursor(&tail(&client, "wait_seconds=0"));
    let report = json!({"exception": {"type": "E", "message": "m"}});
    client.post("/api/v1/errors", &report).expect(201);
    send(&client, &[now("mine", json!({}))]);
    let own = tail(&client, &format!("after={after}&wait_seconds=9&name=telltale.error"));
    assert_eq!(names(&own), ["telltale.error"]);
    assert_eq!(names(&tail(&client, &format!("after={after}&wait_seconds=0"))), ["mine"]);
}

#[test]
fn waiting_requests_are_limited_and_take_no_slots_of_others() {
    covers!("GET /api/v1/events/tail", Refusal);
    let server = Setup::new()
        .set("events.tail_waiters_max", "3")
        .set("http.requests_in_flight", "2")
        .start();
    let client = server.client();
    let after = cursor(&tail(&client, "wait_seconds=0"));
    let query = format!("after={after}&wait_seconds=30");
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let (follower, query) = (server.client(), query.clone());
                scope.spawn(move || follow(&follower, &query))
            })
            .collect();
        let refused = eventually("the limit", || {
            let response = tail(&client, &format!("after={after}&wait_seconds=1"));
            response.text().contains("events.tail_waiters_max").then_some(response)
        });
        refused.refused(503, "overloaded");
        assert!(refused.must_header("retry-after").parse::<u32>().is_ok());
        // A request that does not wait needs no place.
        tail(&client, &format!("after={after}&wait_seconds=0")).expect(200);
        send(&client, &[now("wake", json!({}))]);
        for one in waiting {
            let Ok(response) = one.join() else { panic!("a follower panicked") };
            assert_eq!(names(&response), ["wake"]);
        }
    });
    tail(&client, &format!("after={after}&wait_seconds=30")).expect(200);
    for (query, field) in [
        ("after=x", "after"),
        ("after=", "after"),
        ("wait_seconds=-1", "wait_seconds"),
        ("wait_seconds=x", "wait_seconds"),
        ("limit=0", "limit"),
        ("name=", "name"),
        ("tags[a]=!b*", "tags[a]"),
    ] {
        tail(&client, query).refused_for(400, "invalid_parameter", field);
    }
}

#[test]
fn one_key_does_not_take_the_places_of_others() {
    let server = Setup::new()
        .set("events.tail_waiters_max", "3")
        .set("events.key_tail_waiters_max", "2")
        .start();
    let client = server.client();
    let other = client_with(&client, json!(["read"]));
    let after = cursor(&tail(&client, "wait_seconds=0"));
    let query = format!("after={after}&wait_seconds=30");
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let (follower, query) = (client.clone(), query.clone());
                scope.spawn(move || follow(&follower, &query))
            })
            .collect();
        let refused = eventually("the limit of the key", || {
            let response = tail(&client, &format!("after={after}&wait_seconds=1"));
            (response.status == 503).then_some(response)
        });
        refused.refused(503, "overloaded");
        tail(&other, &format!("after={after}&wait_seconds=1")).expect(200);
        send(&client, &[now("wake", json!({}))]);
        for one in waiting {
            let Ok(response) = one.join() else { panic!("a follower panicked") };
            assert_eq!(names(&response), ["wake"]);
        }
    });
}

#[test]
fn a_slow_client_learns_how_many_events_it_has_missed() {
    let server = Server::start();
    let client = server.client();
    let after = cursor(&tail(&client, "wait_seconds=0"));
    let many: Vec<Value> = (0..10_500).map(|_| now("flood", json!({}))).collect();
    send(&client, &many);
    let response = tail(&client, &format!("after={after}&limit=1000&wait_seconds=9"));
    assert_eq!(response.expect(200)["meta"]["missed"], 500);
    assert_eq!(names(&response).len(), 1_000);
}

#[test]
fn waiting_requests_end_with_the_server_and_a_restart_is_told() {
    let mut server = Setup::new().set("events.tail_waiters_max", "1").start();
    let client = server.client();
    let after = cursor(&tail(&client, "wait_seconds=0"));
    let query = format!("after={after}&wait_seconds=30");
    let follower = client.clone();
    let waiting = std::thread::spawn(move || follow(&follower, &query).status);
    eventually("the request to wait", || {
        (tail(&client, &format!("after={after}&wait_seconds=1")).status == 503).then_some(())
    });
    let watch = Stopwatch::start();
    server.terminate();
    assert!(watch.elapsed() < Duration::from_secs(25), "{:?}", watch.elapsed());
    assert!(waiting.join().is_ok_and(|status| status == 200));
    server.restart();
    let client = server.client();
    let response = tail(&client, &format!("after={after}&wait_seconds=30"));
    assert_eq!(response.expect(200)["meta"]["missed"], Value::Null);
    let response = tail(&client, &format!("after={}&wait_seconds=0", cursor(&response)));
    assert_eq!(response.expect(200)["meta"]["missed"], 0);
}

#[test]
fn a_waiting_request_ends_when_its_key_is_revoked() {
    let server = Server::start();
    let client = server.client();
    let made = make(&client, json!(["read"]), json!({}));
    let follower = client.with_key(text(&made["key"]));
    let after = cursor(&tail(&follower, "wait_seconds=0"));
    let query = format!("after={after}&wait_seconds=30");
    let waiting = std::thread::spawn(move || tail(&follower, &query));
    client.delete(&format!("/api/v1/keys/{}", text(&made["id"]))).expect(200);
    let Ok(response) = waiting.join() else { panic!("the follower panicked") };
    response.refused(401, "unauthorized");
    let writer = client.with_key(text(&make(&client, json!(["ingest"]), json!({}))["key"]));
    tail(&writer, "wait_seconds=0").refused(403, "forbidden");
}
