//! Clients without a key that connect, or send what costs nothing to send, as often as they can:
//! others do not notice.

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
/// Half-open requests, several times as many as there are connections.
const HALF_OPEN: usize = 150;
/// Longer than any test waits for an answer.
const LONG: &str = "\"10m\"";

/// A server with few connections, which waits for clients as long as they like.
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

/// Asks on this connection, and waits for the answer for much less time than half-open requests
/// last.
#[track_caller]
fn is_answered_at_once(wire: &mut Wire) {
    wire.send(with_key("GET", "/api/v1/dashboards") + "\r\n");
    let answer = wire.answer_within(Duration::from_secs(30));
    assert_eq!(answer.map(|answer| answer.status), Some(200));
}

/// Connections whose clients begin a header and do not end it.
fn half_open(server: &Server) -> Vec<Wire> {
    let begin = |_| {
        let mut wire = server.wire();
        wire.send("GET /api/v1/dashboards HTTP/1.1\r\nHost: a\r\nX-Endless: ");
        wire
    };
    (0..HALF_OPEN).map(begin).collect()
}

/// A client whose connection is known, and stays open.
fn known(server: &Server) -> Client {
    let client = server.client();
    client.get("/api/v1/dashboards").expect(200);
    client
}

/// A connection from another address of this machine than all others of a test.
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
fn headers_that_never_end_keep_nobody_out() {
    let watch = Stopwatch::start();
    let server = small().start();
    let client = known(&server);
    let strangers = half_open(&server);
    // Whoever comes from elsewhere gets in at once.
    for _ in 0..20 {
        is_answered_at_once(&mut from_elsewhere(&server));
    }
    // Of the address that has too many some are refused, and those that come later get in.
    eventually("a later one to get in", || {
        let mut wire = server.wire();
        wire.send(with_key("GET", "/api/v1/dashboards") + "\r\n");
        wire.answer().filter(|answer| answer.status == 200)
    });
    // The share of an address is 16 connections here.
    let count = eventually("the others to be closed", || {
        let count = evicted(&client);
        (count >= HALF_OPEN as u64 - 16).then_some(count)
    });
    for wire in &strangers {
        assert!(!wire.begins_with(b"H"), "it is closed without an answer");
    }
    let lines = eventually("the log to tell", || {
        let lines =
            server.log().iter().filter(|line| line.contains("in favour of new ones")).count();
        (lines > 0).then_some(lines as u64)
    });
    let most = 1 + watch.elapsed().as_secs() / 10;
    assert!(lines <= most, "{lines} lines about {count} connections in {:?}", watch.elapsed());
}

#[test]
fn a_connection_with_a_key_is_not_closed_for_strangers() {
    let server = small().start();
    let client = known(&server);
    let mut idle: Vec<Wire> = (0..5).map(|_| server.wire()).collect();
    for wire in &mut idle {
        is_answered_at_once(wire);
    }
    // A first request that is not over yet: its key counts from the moment that it is seen.
    let body = r#"{"type":"counter","name":"orders","value":1}"#;
    let mut sending = server.wire();
    sending.send(with_key("POST", "/api/v1/metrics"));
    sending.send(format!(
        "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    assert_eq!(sending.answer().map(|answer| answer.status), Some(100));
    let _strangers = half_open(&server);
    let enough = || (evicted(&client) >= HALF_OPEN as u64 - 16).then_some(());
    eventually("strangers to be closed", enough);
    sending.send(body);
    assert_eq!(sending.answer().map(|answer| answer.status), Some(201));
    for wire in &mut idle {
        is_answered_at_once(wire);
    }
}

/// Floods of frames that are no requests, by what they are called. Within HTTP/2 all of them are
/// allowed.
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
fn a_stranger_who_sends_floods_of_frames_is_cut_off() {
    let server = Setup::new().set("http.stranger_idle_timeout", LONG).start();
    let client = server.client();
    for (at, (name, flood)) in floods().into_iter().enumerate() {
        let mut stranger = Http2::begin(server.wire());
        stranger.send(flood).closes();
        let counted = || (flooding(&client) == at as u64 + 1).then_some(());
        eventually(&format!("the flood of {name} to be counted"), counted);
    }
    // A few of them are what clients send.
    let mut stranger = Http2::begin(server.wire());
    stranger.send(frame(PING, 0, 0, b"pingping").repeat(20));
    stranger.send(frame(WINDOW_UPDATE, 0, 0, &1_000_u32.to_be_bytes()).repeat(20));
    assert!(stranger.send(get(1, "/healthz", None)).is_answered(1));
    assert_eq!(flooding(&client), 5);
}

#[test]
fn a_client_with_a_key_may_send_more_frames_but_not_without_end() {
    let server = Server::start();
    let client = server.client();
    let mut known = Http2::begin(server.wire());
    known.send(get(1, "/api/v1/dashboards", Some(ADMIN_KEY)));
    assert!(known.is_answered(1));
    let update = frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes());
    known.send(update.repeat(8_000));
    assert!(known.is_alive());
    known.send(get(3, "/api/v1/dashboards", Some(ADMIN_KEY)));
    assert!(known.is_answered(3));
    assert_eq!(flooding(&client), 0);
    known.send(update.repeat(500_000)).closes();
    eventually("the flood to be counted", || (flooding(&client) == 1).then_some(()));
}

/// Sends what makes a library write a warning for each frame.
#[track_caller]
fn send_pongs(server: &Server) {
    let mut stranger = Http2::begin(server.wire());
    stranger.send(frame(PING, ACK, 0, b"pingping").repeat(100));
    assert!(stranger.is_alive());
}

fn lines_of_libraries(server: &Server) -> usize {
    server.log().iter().filter(|line| line.contains("\"target\":\"h2")).count()
}

#[test]
fn clients_do_not_make_libraries_write_to_the_log() {
    let server = Server::start();
    send_pongs(&server);
    // The log is in order.
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

/// A server on which an address may send few requests without a key.
fn strict() -> Setup {
    // The tests ask for readiness too before they begin.
    Setup::new().set("http.stranger_requests_per_second", "50")
}

#[test]
fn who_asks_too_often_without_a_key_is_refused_until_a_key_is_shown() {
    let server = strict().start();
    let mut wire = server.wire();
    let mut ask = |head: &str| {
        wire.send(format!("{head}\r\n"));
        wire.answer()
    };
    let open = "GET /healthz HTTP/1.1\r\nHost: a\r\n";
    let refused = eventually("a request too many", || {
        (0..200).find_map(|_| ask(open).filter(|answer| answer.status != 200))
    });
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let keyed = ask(&with_key("GET", "/api/v1/dashboards"));
    assert_eq!(keyed.map(|answer| answer.status), Some(200));
    for _ in 0..200 {
        assert_eq!(ask(open).map(|answer| answer.status), Some(200));
    }
}

#[test]
fn mistakes_without_a_key_have_a_rate_whatever_they_are() {
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
        let ask = || {
            let mut wire = server.wire();
            wire.send(mistake.clone());
            wire.answer().map(|answer| answer.status)
        };
        assert_eq!(ask(), Some(status), "{mistake}");
        eventually("a request too many", || (0..200).find(|_| ask() == Some(429)).map(|_| ()));
        let mut keyed = server.wire();
        is_answered_at_once(&mut keyed);
    }
}

/// Asks 500 times for what is refused with this code: the log has few lines about that, and one
/// that counts the others.
#[track_caller]
fn writes_few_lines(server: &Server, code: &str, mut ask: impl FnMut()) {
    let watch = Stopwatch::start();
    for _ in 0..500 {
        ask();
    }
    let client = server.client();
    let told = |line: &String| line.contains("were suppressed");
    eventually("the log to tell of the others", || {
        client.get("/api/v1/dashboards").expect(200);
        server.log().iter().any(told).then_some(())
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
        assert!(wire.answer().is_some_and(|answer| [401, 429].contains(&answer.status)));
    });
    // Those with a key stay.
    server.client().get("/api/v1/metrics/nothing").expect(404);
    let stays = |line: &String| line.contains("/api/v1/metrics/nothing");
    eventually("its line", || server.log().iter().any(stays).then_some(()));
}

#[test]
fn what_is_not_http_writes_few_lines_to_the_log() {
    let server = Server::start();
    writes_few_lines(&server, "invalid_parameter", || {
        let mut wire = server.wire();
        wire.send("GET\r\n\r\n");
        assert_eq!(wire.answer().map(|answer| answer.status), Some(400));
    });
}

/// A key that anybody may see.
#[track_caller]
fn public_key(client: &Client) -> Value {
    let key = json!({
        "name": "page", "user": "ops@example.com", "scopes": ["ingest"], "public_ingest": true,
        "limits": {"single": "unlimited"}
    });
    client.post("/api/v1/keys", &key).data(201)
}

/// What is sent with a key on a connection of HTTP/1.
fn sent(verb: &str, path: &str, key: &Value, body: &str) -> String {
    let (key, length) = (text(&key["key"]), body.len());
    format!(
        "{verb} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn refusals_of_a_public_key_write_few_lines_to_the_log() {
    // Otherwise most of them would be refused for their number.
    let server = Setup::new().set("http.stranger_requests_per_second", "0").start();
    let client = server.client();
    let (public, reader) = (public_key(&client), make(&client, json!(["read"]), json!({})));
    let mut wire = server.wire();
    writes_few_lines(&server, "forbidden", || {
        wire.send(sent("GET", "/api/v1/metrics", &public, ""));
        assert_eq!(wire.answer().map(|answer| answer.status), Some(403));
    });
    // That the owner of a key lacks a scope is logged, with the key.
    client
        .with_key(text(&reader["key"]))
        .post("/api/v1/metrics", &json!({}))
        .refused(403, "forbidden");
    let stays =
        |line: &String| line.contains("\"forbidden\"") && line.contains(text(&reader["id"]));
    eventually("its line", || server.log().iter().any(stays).then_some(()));
}

#[test]
fn connections_with_a_public_key_take_no_places_of_others() {
    let server = small().start();
    let client = known(&server);
    let public = public_key(&client);
    let point = r#"{"type":"counter","name":"orders","value":1}"#;
    // More than there may be connections: each takes the place of an older one.
    let mut senders = Vec::new();
    for _ in 0..60 {
        let mut wire = server.wire();
        wire.send(sent("POST", "/api/v1/metrics", &public, point));
        assert_eq!(wire.answer().map(|answer| answer.status), Some(201));
        senders.push(wire);
    }
    assert!(evicted(&client) >= 60 - 16, "{} were closed", evicted(&client));
    is_answered_at_once(&mut server.wire());
}

#[test]
fn slow_bodies_with_a_public_key_take_no_places_of_others() {
    // A quarter of these for public keys, of which one address has a quarter.
    let server = small().set("http.requests_in_flight", "64").start();
    let client = known(&server);
    let public = public_key(&client);
    let point = r#"{"type":"counter","name":"orders","value":1}"#;
    let status = || {
        let mut wire = server.wire();
        wire.send(sent("POST", "/api/v1/metrics", &public, point));
        wire.answer().map(|answer| answer.status)
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
fn a_keyed_upload_in_small_frames_is_no_flood() {
    let server = Server::start();
    let mut known = Http2::begin(server.wire());
    // More small frames than a stranger may send beside requests, and not more than h2 takes of any
    // client.
    let body = format!("{}{{}}", " ".repeat(208 * 100 - 2));
    let pieces = body.as_bytes().chunks(100).enumerate();
    let data: Vec<u8> =
        pieces.flat_map(|(at, piece)| frame(0, u8::from(at == 207), 1, piece)).collect();
    // The request and its body come at once: the server reads them before it has looked at the key.
    let request = [post(1, "/api/v1/metrics", ADMIN_KEY), data].concat();
    assert!(known.send(request).is_answered(1));
    assert_eq!(flooding(&server.client()), 0);
}
