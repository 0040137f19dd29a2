//! Clients that send a request, close their side of the connection and wait for the response, as
//! `nc -N` does; and clients that have disconnected.

use std::time::Duration;

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Server, Setup, Stopwatch, eventually};

use crate::jobs::{enqueue, fetch, register};
use crate::jobs_waiting::waiting_fetches;
use crate::points::{T0, gauge};

/// A request head with a key; more headers and the empty line may follow.
fn head(verb: &str, path: &str) -> String {
    format!("{verb} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN_KEY}\r\n")
}

fn with_body(path: &str, body: &str) -> String {
    let length = body.len();
    let head = head("POST", path);
    format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn a_half_closed_client_gets_its_response_and_the_connection_ends() {
    let server = Server::start();
    let point = gauge("a", T0, 1.0).to_string();
    for (request, status) in [
        (with_body("/api/v1/metrics", &point), 201),
        (head("GET", "/api/v1/metrics/a") + "\r\n", 200),
        (head("GET", "/api/v1/openapi.json") + "\r\n", 200),
        (head("GET", "/nowhere") + "\r\n", 404),
    ] {
        let mut wire = server.wire();
        wire.send(&request).finish();
        let Some(response) = wire.response() else { panic!("no response to {request}") };
        assert_eq!(response.status, status, "{request}");
        let length = response.must_header("content-length").parse();
        assert_eq!(length, Ok(response.body.len()), "{request}");
        assert!(wire.everything().is_empty(), "the connection ends");
    }
}

#[test]
fn a_body_that_ends_early_is_not_waited_for() {
    // Only the end of the connection ends these requests in time.
    let server = Setup::new()
        .set("http.half_closed_grace", "\"10m\"")
        .set("http.body_idle_timeout", "\"10m\"")
        .set("http.body_timeout", "\"10m\"")
        .start();
    let point = gauge("cut", T0, 1.0).to_string();
    let whole = with_body("/api/v1/metrics", &point);
    for cut in [1, point.len() / 2, point.len()] {
        let mut wire = server.wire();
        wire.send(&whole.as_bytes()[..whole.len() - cut]).finish();
        if let Some(response) = wire.response() {
            response.refused(400, "invalid_json");
        }
        assert!(wire.everything().is_empty(), "the connection ends");
    }
    server.client().get("/api/v1/metrics/cut").refused(404, "metric_not_found");
}

#[test]
fn a_half_closed_connection_without_a_request_ends_at_once() {
    let server = Setup::new()
        .set("http.half_closed_grace", "\"10m\"")
        .set("http.idle_timeout", "\"10m\"")
        .set("http.stranger_idle_timeout", "\"10m\"")
        .start();
    assert!(server.wire().finish().everything().is_empty());
    let mut used = server.wire();
    used.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(used.response().map(|response| response.status), Some(200));
    assert!(used.finish().everything().is_empty());
}

#[test]
fn a_worker_that_disconnects_with_a_pipelined_request_loses_no_job() {
    let server = Server::start();
    let client = server.client();
    let (gone, stays) = (register(&client, &["default"]), register(&client, &["default"]));
    let waits = with_body(&format!("{gone}/fetch"), r#"{"wait_seconds":30}"#);
    let behind = head("GET", "/api/v1/metrics") + "\r\n";
    let watch = Stopwatch::start();
    for is_reset in [false, true] {
        let mut wire = server.wire();
        if is_reset {
            // Closing with an unread response resets the connection.
            wire.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
            let came = || wire.begins_with(b"HTTP/1.1 200").then_some(());
            eventually("a response", came);
        }
        wire.send(format!("{waits}{behind}"));
        eventually("it to wait", || (waiting_fetches(&client) == 1).then_some(()));
        drop(wire);
        eventually("it to be forgotten", || (waiting_fetches(&client) == 0).then_some(()));
    }
    assert!(watch.elapsed() < Duration::from_secs(25), "it took {:?}", watch.elapsed());
    let id = enqueue(&client, &json!({"class_name": "A"}));
    let job = eventually("the job to come back", || fetch(&client, &stays, 1).pop());
    assert_eq!((&job["job_id"], &job["attempt"]), (&json!(id), &json!(1)), "nothing counts");
}
