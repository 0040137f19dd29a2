//! Who has not shown a key gets little, and takes nothing from those who have.

use std::time::Duration;

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Server, Setup, Wire, eventually};

const PER_ADDRESS: usize = 4;

/// A server with few places of any kind.
fn small() -> Setup {
    Setup::new()
        .set("http.requests_in_flight", "8")
        .set("http.strangers_in_flight", "6")
        .set("http.strangers_per_address", &PER_ADDRESS.to_string())
        .set("http.stranger_body_timeout", "\"60s\"")
        .set("http.body_idle_timeout", "\"60s\"")
}

/// A request whose sender only its body would tell, which does not come.
fn silent_envelope(server: &Server) -> Wire {
    let mut wire = server.wire();
    wire.send(
        "POST /api/1/envelope/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-sentry-envelope\r\n\
         Content-Length: 1000\r\n\r\n{",
    );
    wire
}

#[test]
fn strangers_who_send_nothing_take_no_places_of_others() {
    let server = small().start();
    let mut strangers: Vec<Wire> =
        (0..PER_ADDRESS + 20).map(|_| silent_envelope(&server)).collect();
    let mut refused = 0;
    eventually("those beyond the places of one address to be refused", || {
        for wire in &mut strangers {
            if let Some(answer) = wire.answer_within(Duration::from_millis(5)) {
                answer.refused(503, "overloaded");
                refused += 1;
            }
        }
        (refused == 20).then_some(())
    });
    let client = server.client();
    for _ in 0..20 {
        let point = json!({ "type": "counter", "name": "orders", "value": 1 });
        client.post("/api/v1/metrics", &point).expect(201);
    }
    // Their places are free when they leave.
    drop(strangers);
    eventually("a place to be free", || {
        let mut wire = silent_envelope(&server);
        wire.answer_within(Duration::from_millis(200)).is_none().then_some(())
    });
}

#[test]
fn a_stranger_has_little_time_for_a_body() {
    let setup = small().set("http.stranger_body_timeout", "\"300ms\"");
    let server = setup.start();
    match silent_envelope(&server).answer() {
        Some(answer) => drop(answer.refused(408, "request_timeout")),
        None => panic!("the server hung up without saying why"),
    }
}

#[test]
fn connections_of_strangers_rest_for_a_shorter_time() {
    let setup = Setup::new().set("http.stranger_idle_timeout", "\"300ms\"");
    let server = setup.set("http.idle_timeout", "\"10m\"").start();
    let mut known = server.wire();
    known.send(format!(
        "GET /api/v1/dashboards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN_KEY}\r\n\r\n"
    ));
    assert_eq!(known.answer().map(|answer| answer.status), Some(200));
    let mut stranger = server.wire();
    stranger.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(stranger.answer().map(|answer| answer.status), Some(200));
    assert!(stranger.answer().is_none(), "it is closed");
    let mut silent = server.wire();
    assert!(
        silent.answer().is_none_or(|answer| answer.status == 408),
        "so is one that never asked"
    );
    known.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(known.answer().map(|answer| answer.status), Some(200));
}
