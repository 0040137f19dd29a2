//! Unauthenticated clients have few slots and take none from others.

use std::time::Duration;

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Server, Setup, Wire, eventually};

use crate::floods::public_key;
use crate::keys::text;

const PER_ADDRESS: usize = 4;

/// Starts a server with few slots of any kind.
fn small() -> Setup {
    Setup::new()
        .set("http.requests_in_flight", "8")
        .set("http.strangers_in_flight", "6")
        .set("http.strangers_per_address", &PER_ADDRESS.to_string())
        .set("http.stranger_body_timeout", "\"60s\"")
        .set("http.body_idle_timeout", "\"60s\"")
}

/// A request whose key is in its body, which is not sent.
fn silent_envelope(server: &Server) -> Wire {
    let mut wire = server.wire();
    wire.send(
        "POST /api/1/envelope/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-sentry-envelope\r\n\
         Content-Length: 1000\r\n\r\n{",
    );
    wire
}

#[test]
fn unauthenticated_clients_that_send_nothing_take_no_slots_of_others() {
    let server = small().start();
    let mut unauthenticated: Vec<Wire> =
        (0..PER_ADDRESS + 20).map(|_| silent_envelope(&server)).collect();
    let mut refused = 0;
    eventually("those beyond the places of one address to be refused", || {
        for wire in &mut unauthenticated {
            if let Some(response) = wire.response_within(Duration::from_millis(5)) {
                response.refused(503, "overloaded");
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
    // Their slots are released when they disconnect.
    drop(unauthenticated);
    eventually("a place to be free", || {
        let mut wire = silent_envelope(&server);
        wire.response_within(Duration::from_millis(200)).is_none().then_some(())
    });
}

#[test]
fn an_unauthenticated_client_has_a_shorter_body_timeout() {
    let setup = small().set("http.stranger_body_timeout", "\"300ms\"");
    let server = setup.start();
    match silent_envelope(&server).response() {
        Some(response) => drop(response.refused(408, "request_timeout")),
        None => panic!("the server hung up without saying why"),
    }
}

/// A request to sign in whose body does not arrive, and for which the server waits.
#[track_caller]
fn silent_sign_in(server: &Server) -> Wire {
    let mut wire = server.wire();
    wire.send(
        "POST /api/v1/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n",
    );
    assert_eq!(wire.response().map(|response| response.status), Some(100));
    wire
}

#[test]
fn who_signs_in_slowly_has_the_limits_of_strangers() {
    // A quarter of these is for public keys, of which one address has a quarter.
    let server = small().set("http.requests_in_flight", "64").start();
    let client = server.client();
    let public = public_key(&client);
    let slow = [(); PER_ADDRESS].map(|()| silent_sign_in(&server));
    let point = json!({"type": "counter", "name": "orders", "value": 1});
    for _ in 0..4 {
        client.with_key(text(&public["key"])).post("/api/v1/metrics", &point).expect(201);
    }
    client.without_key().post("/api/v1/session", &json!({})).refused(503, "overloaded");
    drop(slow);
    let server = small().set("http.stranger_body_timeout", "\"300ms\"").start();
    let response = silent_sign_in(&server).response_within(Duration::from_secs(30));
    match response {
        Some(response) => drop(response.refused(408, "request_timeout")),
        None => panic!("the server waits as long as for others"),
    }
}

#[test]
fn unauthenticated_connections_have_a_shorter_idle_timeout() {
    let setup = Setup::new().set("http.stranger_idle_timeout", "\"300ms\"");
    let server = setup.set("http.idle_timeout", "\"10m\"").start();
    let mut known = server.wire();
    known.send(format!(
        "GET /api/v1/dashboards HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN_KEY}\r\n\r\n"
    ));
    assert_eq!(known.response().map(|response| response.status), Some(200));
    let mut unauthenticated = server.wire();
    unauthenticated.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(unauthenticated.response().map(|response| response.status), Some(200));
    assert!(unauthenticated.response().is_none(), "it is closed");
    let mut silent = server.wire();
    assert!(
        silent.response().is_none_or(|response| response.status == 408),
        "so is one that never asked"
    );
    known.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(known.response().map(|response| response.status), Some(200));
}
