//! Unauthenticated clients that connect, or send cheap requests, at high rates: other clients are
//! not affected.

use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::http2::{Http2, frame, get, post};
use telltale_tests::{ADMIN_KEY, Client, Server, Setup, Stopwatch, Wire, eventually};
use tokio::net::TcpSocket;

use crate::keys::{make, text};

const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
/// Incomplete requests, several times the maximum number of connections.
const HALF_OPEN: usize = 150;
/// Longer than any test waits for a response.
const LONG: &str = "\"10m\"";

/// Starts a server with few connections and long client timeouts.
fn small() -> Setup {
    Setup::new()
        .set("http.connections", "40")
        .set("http.header_timeout", LONG)
        .set("http.idle_timeout", LONG)
        .set("http.body_idle_timeout", LONG)
        .set("http.body_timeout", LONG)
        .set("http.stranger_idle_timeout", LONG)
}

fn figure(client: &Client, name: &str) -> u64 {
    let page = client.get("/metrics");
    let line = page.text().lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
}

fn evicted(client: &Client) -> u64 {
    figure(client, "telltale_http_connections_evicted_total")
}

fn flooding(client: &Client) -> u64 {
    figure(client, "telltale_http_connections_flooding_total")
}

fn with_key(verb: &str, path: &str) -> String {
    format!("{verb} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN_KEY}\r\n")
}

/// Sends a request on this connection, and waits for the response for much less time than
/// incomplete requests last.
#[track_caller]
fn is_answered_at_once(wire: &mut Wire) {
    wire.send(with_key("GET", "/api/v1/dashboards") + "\r\n");
    let response = wire.response_within(Duration::from_secs(30));
    assert_eq!(response.map(|response| response.status), Some(200));
}

/// Opens connections and begins a header on each.
fn half_open(server: &Server) -> Vec<Wire> {
    let begin = |_| {
        let mut wire = server.wire();
        wire.send("GET /api/v1/dashboards HTTP/1.1\r\nHost: a\r\nX-Endless: ");
        wire
    };
    (0..HALF_OPEN).map(begin).collect()
}

/// Opens an authenticated connection, which stays open.
fn known(server: &Server) -> Client {
    let client = server.client();
    client.get("/api/v1/dashboards").expect(200);
    client
}

/// Opens a connection from another address of this machine than all others of a test.
#[track_caller]
fn from_elsewhere(server: &Server) -> Wire {
    let connect = || -> io::Result<TcpStream> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into())?;
            socket.connect(server.address()).await?.into_std()
        })
    };
    match connect() {
        Ok(stream) => Wire::over(stream),
        Err(error) => panic!("cannot connect from another address: {error}"),
    }
}

#[test]
fn incomplete_headers_do_not_block_other_clients() {
    let watch = Stopwatch::start();
    let server = small().start();
    let client = known(&server);
    let unauthenticated = half_open(&server);
    // A client from another address is accepted immediately.
    for _ in 0..20 {
        is_answered_at_once(&mut from_elsewhere(&server));
    }
    // Some connections of the address with too many are refused, and later ones are accepted.
    eventually("a later one to get in", || {
        let mut wire = server.wire();
        wire.send(with_key("GET", "/api/v1/dashboards") + "\r\n");
        wire.response().filter(|response| response.status == 200)
    });
    // An address may have 16 connections here.
    let count = eventually("the others to be closed", || {
        let count = evicted(&client);
        (count >= HALF_OPEN as u64 - 16).then_some(count)
    });
    for wire in &unauthenticated {
        assert!(!wire.begins_with(b"H"), "it is closed without a response");
    }
    let lines = eventually("the log line", || {
        let lines =
            server.log().iter().filter(|line| line.contains("in favour of new ones")).count();
        (lines > 0).then_some(lines as u64)
    });
    let most = 1 + watch.elapsed().as_secs() / 10;
    assert!(lines <= most, "{lines} lines about {count} connections in {:?}", watch.elapsed());
}

#[test]
fn an_authenticated_connection_is_not_closed_for_unauthenticated_ones() {
    let server = small().start();
    let client = known(&server);
    let mut idle: Vec<Wire> = (0..5).map(|_| server.wire()).collect();
    for wire in &mut idle {
        is_answered_at_once(wire);
    }
    // A first request that is incomplete: its key counts from the moment it is read.
    let body = r#"{"type":"counter","name":"orders","value":1}"#;
    let mut sending = server.wire();
    sending.send(with_key("POST", "/api/v1/metrics"));
    sending.send(format!(
        "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    assert_eq!(sending.response().map(|response| response.status), Some(100));
    let _strangers = half_open(&server);
    let enough = || (evicted(&client) >= HALF_OPEN as u64 - 16).then_some(());
    eventually("strangers to be closed", enough);
    sending.send(body);
    assert_eq!(sending.response().map(|response| response.status), Some(201));
    for wire in &mut idle {
        is_answered_at_once(wire);
    }
}

/// Floods of frames that are not part of requests, by name. HTTP/2 allows all of them.
fn floods() -> [(&'static str, Vec<u8>); 5] {
    [
        ("settings", frame(SETTINGS, 0, 0, &[]).repeat(5_000)),
        ("pings", frame(PING, 0, 0, b"pingping").repeat(5_000)),
        ("pongs", frame(PING, ACK, 0, b"pingping").repeat(5_000)),
        ("window updates", frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()).repeat(5_000)),
        ("unknown frames", frame(99, 0, 0, &[]).repeat(5_000)),
    ]
}

#[test]
fn an_unauthenticated_flood_of_frames_is_disconnected() {
    let server = Setup::new().set("http.stranger_idle_timeout", LONG).start();
    let client = server.client();
    for (at, (name, flood)) in floods().into_iter().enumerate() {
        let mut unauthenticated = Http2::begin(server.wire());
        unauthenticated.send(flood).closes();
        let counted = || (flooding(&client) == at as u64 + 1).then_some(());
        eventually(&format!("the flood of {name} to be counted"), counted);
    }
    // A few of them are normal.
    let mut unauthenticated = Http2::begin(server.wire());
    unauthenticated.send(frame(PING, 0, 0, b"pingping").repeat(20));
    unauthenticated.send(frame(WINDOW_UPDATE, 0, 0, &1_000_u32.to_be_bytes()).repeat(20));
    assert!(unauthenticated.send(get(1, "/healthz", None)).has_response(1));
    assert_eq!(flooding(&client), 5);
}

#[test]
fn an_authenticated_client_may_send_more_frames_up_to_a_limit() {
    let server = Server::start();
    let client = server.client();
    let mut known = Http2::begin(server.wire());
    known.send(get(1, "/api/v1/dashboards", Some(ADMIN_KEY)));
    assert!(known.has_response(1));
    let update = frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes());
    known.send(update.repeat(8_000));
    assert!(known.is_alive());
    known.send(get(3, "/api/v1/dashboards", Some(ADMIN_KEY)));
    assert!(known.has_response(3));
    assert_eq!(flooding(&client), 0);
    known.send(update.repeat(500_000)).closes();
    eventually("the flood to be counted", || (flooding(&client) == 1).then_some(()));
}

/// Sends frames that make a library log a warning for each.
#[track_caller]
fn send_pongs(server: &Server) {
    let mut unauthenticated = Http2::begin(server.wire());
    unauthenticated.send(frame(PING, ACK, 0, b"pingping").repeat(100));
    assert!(unauthenticated.is_alive());
}

fn lines_of_libraries(server: &Server) -> usize {
    server.log().iter().filter(|line| line.contains("\"target\":\"h2")).count()
}

#[test]
fn clients_cannot_make_libraries_write_to_the_log() {
    let server = Server::start();
    send_pongs(&server);
    // Log lines are in order.
    server.client().get("/api/v1/nothing").expect(404);
    let is_later = |line: &String| line.contains("/api/v1/nothing");
    eventually("a later line", || server.log().iter().any(is_later).then_some(()));
    assert_eq!(lines_of_libraries(&server), 0);
}

#[test]
fn libraries_that_the_operator_names_are_logged() {
    let server = Setup::new().set("log.level", "\"info,h2=warn\"").start();
    send_pongs(&server);
    eventually("a line for each frame", || (lines_of_libraries(&server) >= 100).then_some(()));
}

/// Starts a server on which an address may send few requests without a key.
fn strict() -> Setup {
    // The harness also requests `/readyz` at the start.
    Setup::new().set("http.stranger_requests_per_second", "50")
}

#[test]
fn too_many_requests_without_a_key_are_refused_until_a_key_is_sent() {
    let server = strict().start();
    let mut wire = server.wire();
    let mut send_request = |head: &str| {
        wire.send(format!("{head}\r\n"));
        wire.response()
    };
    let open = "GET /healthz HTTP/1.1\r\nHost: a\r\n";
    let refused = eventually("a request too many", || {
        (0..200).find_map(|_| send_request(open).filter(|response| response.status != 200))
    });
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let keyed = send_request(&with_key("GET", "/api/v1/dashboards"));
    assert_eq!(keyed.map(|response| response.status), Some(200));
    for _ in 0..200 {
        assert_eq!(send_request(open).map(|response| response.status), Some(200));
    }
}

#[test]
fn refused_requests_without_a_key_are_rate_limited() {
    let envelope = "POST /api/1/envelope/ HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n";
    let many: String = (0..120).map(|n| format!("X-{n}: 1\r\n")).collect();
    let mistakes = [
        (format!("{envelope}Content-Encoding: foo\r\n\r\n{{}}"), 415),
        (format!("{envelope}Content-Encoding: gzip\r\n\r\n{{}}"), 400),
        (format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{many}\r\n"), 400),
        ("GET /healthz?nothing=1 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
    ];
    for (mistake, status) in mistakes {
        let server = strict().start();
        let send_request = || {
            let mut wire = server.wire();
            wire.send(mistake.clone());
            wire.response().map(|response| response.status)
        };
        assert_eq!(send_request(), Some(status), "{mistake}");
        eventually("a request too many", || {
            (0..200).find(|_| send_request() == Some(429)).map(|_| ())
        });
        let mut keyed = server.wire();
        is_answered_at_once(&mut keyed);
    }
}

/// Sends 500 requests that are refused with this code: the log contains few lines about them, and
/// one with the number of the others.
#[track_caller]
fn writes_few_lines(server: &Server, code: &str, mut send_request: impl FnMut()) {
    let watch = Stopwatch::start();
    for _ in 0..500 {
        send_request();
    }
    let client = server.client();
    let reported = |line: &String| line.contains("were suppressed");
    eventually("the log line with the number of the others", || {
        client.get("/api/v1/dashboards").expect(200);
        server.log().iter().any(reported).then_some(())
    });
    let code = format!("\"{code}\"");
    let lines = server.log().iter().filter(|line| line.contains(&code)).count();
    let most = 10 * (2 + usize::try_from(watch.elapsed().as_secs()).unwrap_or(usize::MAX));
    assert!(lines < 400 && lines <= most, "{lines} lines in {:?}", watch.elapsed());
}

#[test]
fn refusals_without_a_key_write_few_lines_to_the_log() {
    let server = Server::start();
    let mut wire = server.wire();
    writes_few_lines(&server, "unauthorized", || {
        wire.send("GET /api/v1/metrics HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(wire.response().is_some_and(|response| [401, 429].contains(&response.status)));
    });
    // Lines about clients with a key remain.
    server.client().get("/api/v1/metrics/nothing").expect(404);
    let stays = |line: &String| line.contains("/api/v1/metrics/nothing");
    eventually("its line", || server.log().iter().any(stays).then_some(()));
}

#[test]
fn input_that_is_not_http_writes_few_lines_to_the_log() {
    let server = Server::start();
    writes_few_lines(&server, "invalid_parameter", || {
        let mut wire = server.wire();
        wire.send("GET\r\n\r\n");
        assert_eq!(wire.response().map(|response| response.status), Some(400));
    });
}

/// A public key.
#[track_caller]
pub(crate) fn public_key(client: &Client) -> Value {
    let key = json!({
        "name": "page", "user": "ops@example.com", "scopes": ["ingest"], "public_ingest": true,
        "limits": {"single": "unlimited"}
    });
    client.post("/api/v1/keys", &key).data(201)
}

/// Returns a request with a key for a connection of HTTP/1.
fn sent(verb: &str, path: &str, key: &Value, body: &str) -> String {
    let (key, length) = (text(&key["key"]), body.len());
    format!(
        "{verb} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn refusals_of_a_public_key_write_few_lines_to_the_log() {
    // Otherwise most of them would exceed the rate limit.
    let server = Setup::new().set("http.stranger_requests_per_second", "0").start();
    let client = server.client();
    let (public, reader) = (public_key(&client), make(&client, json!(["read"]), json!({})));
    let mut wire = server.wire();
    writes_few_lines(&server, "forbidden", || {
        wire.send(sent("GET", "/api/v1/metrics", &public, ""));
        assert_eq!(wire.response().map(|response| response.status), Some(403));
    });
    // A missing scope of a secret key is logged, with the key.
    client
        .with_key(text(&reader["key"]))
        .post("/api/v1/metrics", &json!({}))
        .refused(403, "forbidden");
    let stays =
        |line: &String| line.contains("\"forbidden\"") && line.contains(text(&reader["id"]));
    eventually("its line", || server.log().iter().any(stays).then_some(()));
}

#[test]
fn connections_with_a_public_key_take_no_slots_of_others() {
    let server = small().start();
    let client = known(&server);
    let public = public_key(&client);
    let point = r#"{"type":"counter","name":"orders","value":1}"#;
    // More than the maximum number of connections: each replaces an older one.
    let mut senders = Vec::new();
    for _ in 0..60 {
        let mut wire = server.wire();
        wire.send(sent("POST", "/api/v1/metrics", &public, point));
        assert_eq!(wire.response().map(|response| response.status), Some(201));
        senders.push(wire);
    }
    assert!(evicted(&client) >= 60 - 16, "{} were closed", evicted(&client));
    is_answered_at_once(&mut server.wire());
}

#[test]
fn slow_bodies_with_a_public_key_take_no_slots_of_others() {
    // A quarter of these is for public keys, of which one address has a quarter.
    let server = small().set("http.requests_in_flight", "64").start();
    let client = known(&server);
    let public = public_key(&client);
    let point = r#"{"type":"counter","name":"orders","value":1}"#;
    let status = || {
        let mut wire = server.wire();
        wire.send(sent("POST", "/api/v1/metrics", &public, point));
        wire.response().map(|response| response.status)
    };
    assert_eq!(status(), Some(201));
    let key = text(&public["key"]);
    let head =
        format!("POST /api/v1/metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n");
    let begun = head + "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    let slow: Vec<Wire> = std::iter::repeat_with(|| {
        let mut wire = server.wire();
        wire.send(begun.clone());
        wire
    })
    .take(4)
    .collect();
    eventually("all places of the address to be taken", || (status() == Some(503)).then_some(()));
    for _ in 0..20 {
        is_answered_at_once(&mut server.wire());
    }
    drop(slow);
    eventually("a place to be free again", || (status() == Some(201)).then_some(()));
}

#[test]
fn an_authenticated_upload_in_small_frames_is_not_a_flood() {
    let server = Server::start();
    let mut known = Http2::begin(server.wire());
    // More small frames than an unauthenticated client may send beside requests, and not more than
    // h2 accepts from any client.
    let body = format!("{}{{}}", " ".repeat(208 * 100 - 2));
    let pieces = body.as_bytes().chunks(100).enumerate();
    let data: Vec<u8> =
        pieces.flat_map(|(at, piece)| frame(0, u8::from(at == 207), 1, piece)).collect();
    // Request and body arrive together: the server reads them before it has checked the key.
    let request = [post(1, "/api/v1/metrics", ADMIN_KEY), data].concat();
    assert!(known.send(request).has_response(1));
    assert_eq!(flooding(&server.client()), 0);
}
