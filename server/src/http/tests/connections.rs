//! Connections: protocols, timeouts and closing.

use std::future::pending;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, TimestampMs};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, Interest, Ready, duplex};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::bench::{Bench, HERE};
use crate::http::client_end::ReadinessWatch;
use crate::http::connection_slots::ConnectionSlots;
use crate::http::{Scope, Settings, connection};
use crate::limits;
use crate::platform::quota::KeyLimits;
use crate::platform::settings::{Auto, Period};
use crate::platform::ticks::Ticks;

/// The readiness of a connection in memory: no event is ever reported.
struct NoReadiness;

impl ReadinessWatch for NoReadiness {
    async fn ready(&self, _: Interest) -> io::Result<Ready> {
        pending().await
    }
}

/// The client side of a connection to a server.
struct Wire {
    stream: DuplexStream,
    serving: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

fn connect(bench: &Bench) -> Wire {
    let (stream, other) = duplex(1 << 20);
    let (stop, stopping) = watch::channel(false);
    let server = Arc::clone(&bench.server);
    let serving = connection::serve(server, HERE, other, Arc::new(NoReadiness), None, stopping);
    let serving = tokio::spawn(serving);
    Wire { stream, serving, stop }
}

fn short_timeouts() -> Settings {
    Settings::changed(|s| {
        s.http.header_timeout = Period::from(Duration::from_millis(50));
        s.http.idle_timeout = Period::from(Duration::from_millis(200));
    })
}

impl Wire {
    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Returns everything that the server sends before it closes the connection.
    async fn everything(mut self) -> String {
        let mut bytes = Vec::new();
        timeout(Duration::from_secs(30), self.stream.read_to_end(&mut bytes))
            .await
            .unwrap()
            .unwrap();
        timeout(Duration::from_secs(30), self.serving).await.unwrap().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Returns what the server sends up to and including `end`.
    async fn until(&mut self, end: &str) -> String {
        let mut text = String::new();
        while !text.contains(end) {
            let byte =
                timeout(Duration::from_secs(30), self.stream.read_u8()).await.unwrap().unwrap();
            text.push(char::from(byte));
        }
        text
    }
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let bench = Bench::new();
    let mut wire = connect(&bench);
    wire.send(&HEALTH.repeat(3)).await;
    for _ in 0..3 {
        let answer = wire.until("\"ok\"}").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    wire.send("GET /nowhere HTTP/1.0\r\n\r\n").await;
    let last = wire.everything().await;
    assert!(last.starts_with("HTTP/1.0 404"), "{last}");
}

#[tokio::test]
async fn headers_that_do_not_arrive_time_out() {
    for beginning in ["G", "GET /healthz HTTP/1.1\r\nhost:", "PRI * HTTP/2.0\r\n"] {
        let bench = Bench::with_system_ticks(short_timeouts());
        let mut wire = connect(&bench);
        wire.send(beginning).await;
        let response = wire.everything().await;
        assert!(response.starts_with("HTTP/1.1 408 "), "{beginning}: {response}");
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{response}");
        assert!(body.contains("\"request_timeout\""), "{response}");
    }
}

#[tokio::test]
async fn an_unfinished_second_request_times_out() {
    let bench = Bench::with_system_ticks(short_timeouts());
    let mut wire = connect(&bench);
    wire.send(HEALTH).await;
    wire.until("\"ok\"}").await;
    wire.send("GET /heal").await;
    assert!(wire.everything().await.starts_with("HTTP/1.1 408 "));
}

#[tokio::test]
async fn an_idle_connection_is_closed_without_a_response() {
    let bench = Bench::with_system_ticks(short_timeouts());
    assert_eq!(connect(&bench).everything().await, "");
    let mut used = connect(&bench);
    used.send(HEALTH).await;
    used.until("\"ok\"}").await;
    assert_eq!(used.everything().await, "");
}

#[tokio::test]
async fn http2_is_served_on_the_same_port_and_closed_when_idle() {
    let bench = Bench::with_system_ticks(short_timeouts());
    let mut wire = connect(&bench);
    wire.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    // An empty SETTINGS frame.
    wire.stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
    let mut response = Vec::new();
    wire.stream.read_to_end(&mut response).await.unwrap();
    let kinds = frame_kinds(&response);
    assert_eq!(kinds.first(), Some(&4), "the server begins with SETTINGS: {kinds:?}");
    assert!(kinds.contains(&7), "the server says GOAWAY: {kinds:?}");
    wire.serving.await.unwrap();
}

fn frame_kinds(mut bytes: &[u8]) -> Vec<u8> {
    let mut kinds = Vec::new();
    while let Some((&[a, b, c, kind, ..], _)) = bytes.split_first_chunk::<9>() {
        kinds.push(kind);
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        bytes = bytes.get(9 + length..).unwrap_or_default();
    }
    kinds
}

#[tokio::test]
async fn the_client_of_a_refused_body_gets_its_response() {
    let bench = Bench::new();
    let mut wire = connect(&bench);
    wire.send(&post(&bench, "/t/body", "content-length: 9000000\r\n\r\n")).await;
    let response = wire.until("}}").await;
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    // The server still reads what the client had begun to send.
    wire.send(&"x".repeat(1 << 20)).await;
    drop(wire.stream);
    wire.serving.await.unwrap();
}

#[tokio::test]
async fn an_unread_body_that_arrives_late_leaves_the_connection_open() {
    let bench = Bench::new();
    let mut wire = connect(&bench);
    for body in
        ["content-length: 2\r\n\r\n|{}", "transfer-encoding: chunked\r\n\r\n|2\r\n{}\r\n0\r\n\r\n"]
    {
        let (head, body) = body.split_once('|').unwrap();
        wire.send(&format!("POST /nowhere HTTP/1.1\r\nhost: a\r\n{head}")).await;
        // The server has processed the request by now, except for the body.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        wire.send(&format!("{body}{HEALTH}")).await;
        let refused = wire.until("}}").await;
        assert!(refused.starts_with("HTTP/1.1 404 "), "{refused}");
        assert!(!refused.contains("connection: close"), "{refused}");
        let next = wire.until("\"ok\"}").await;
        assert!(next.starts_with("HTTP/1.1 200 OK"), "{next}");
    }
}

/// Returns a POST with a key.
fn post(bench: &Bench, path: &str, rest: &str) -> String {
    let key = &bench.key;
    format!("POST {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {key}\r\n{rest}")
}

/// Sends a request whose body never ends. Returns the response and checks that it arrives after
/// this time.
async fn response_to_unfinished_body(
    bench: &Bench,
    path: &str,
    rest: &str,
    takes: Duration,
) -> String {
    const TOLERANCE: Duration = Duration::from_millis(5);
    let mut wire = connect(bench);
    wire.send(&post(bench, path, rest)).await;
    if let Some(silent) = takes.checked_sub(TOLERANCE) {
        let early = timeout(silent, wire.stream.read_u8()).await;
        assert!(early.is_err(), "{path}: {early:?}");
    }
    let response = timeout(2 * TOLERANCE, wire.until("}}")).await.unwrap();
    drop(wire.stream);
    wire.serving.await.unwrap();
    response
}

#[tokio::test(start_paused = true)]
async fn a_response_before_the_end_of_the_body_announces_that_the_connection_closes() {
    let (at_once, late) = (Duration::ZERO, Duration::from_millis(limits::LEFTOVER_MS));
    let bench = Bench::new();
    let idle = bench.server.settings.http.body_idle_timeout.duration();
    let long = limits::LEFTOVER_BYTES_MAX + 1;
    let with_length = format!("content-length: {long}\r\n\r\n");
    let chunk = "x".repeat(1 << 14);
    let chunks = format!("{:x}\r\n{chunk}\r\n", chunk.len()).repeat(17);
    let chunked = format!("transfer-encoding: chunked\r\n\r\n{chunks}");
    for (path, rest, status, takes) in [
        ("/nowhere", "content-length: 2\r\n\r\n", 404, late),
        ("/nowhere", &with_length, 404, at_once),
        ("/nowhere", "content-length: 2\r\nexpect: 100-continue\r\n\r\n", 404, at_once),
        ("/nowhere", "transfer-encoding: chunked\r\n\r\n", 404, late),
        ("/nowhere", "transfer-encoding: chunked\r\n\r\nno length\r\n", 404, at_once),
        ("/nowhere", &chunked, 404, at_once),
        ("/t/body", "transfer-encoding: chunked\r\n\r\nno length\r\n", 400, at_once),
        ("/t/body", "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n", 408, idle),
    ] {
        let response = response_to_unfinished_body(&bench, path, rest, takes).await;
        let shown: String = rest.chars().take(60).collect();
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{path} {shown:?}: {response}"
        );
        assert!(response.contains("\r\nconnection: close\r\n"), "{path} {shown:?}: {response}");
    }
}

#[tokio::test]
async fn an_unread_body_is_discarded_up_to_its_limit() {
    let bench = Bench::new();
    let mut wire = connect(&bench);
    let body = "x".repeat(limits::LEFTOVER_BYTES_MAX as usize);
    let rest = format!("content-length: {}\r\n\r\n{body}{HEALTH}", body.len());
    wire.send(&post(&bench, "/nowhere", &rest)).await;
    assert!(wire.until("}}").await.starts_with("HTTP/1.1 404 "));
    assert!(wire.until("\"ok\"}").await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn a_stopping_server_closes_idle_connections_at_once() {
    let bench = Bench::new();
    let mut used = connect(&bench);
    used.send(HEALTH).await;
    used.until("\"ok\"}").await;
    let fresh = connect(&bench);
    for wire in [used, fresh] {
        wire.stop.send_replace(true);
        assert_eq!(wire.everything().await, "");
    }
}

/// Returns the response to a request sent on a connection that was evicted before its first read.
async fn response_after_eviction(bench: &Bench, request: &str) -> String {
    let settings = Settings::changed(|s| {
        s.http.connections = 2;
        s.http.stranger_connections = Auto::Set(1);
    });
    let clock = Clock::manual(TimestampMs(0));
    let slots = ConnectionSlots::new(&settings, Ticks::following(clock.clone()));
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let slot = slots.enter(address, &bench.server.telemetry).await.unwrap();
    slot.handle().socket_read();
    clock.pass(Duration::from_secs(60));
    let _newer = slots.enter(address, &bench.server.telemetry).await.unwrap();
    let (mut stream, other) = duplex(1 << 20);
    stream.write_all(request.as_bytes()).await.unwrap();
    let (stop, stopping) = watch::channel(false);
    let server = Arc::clone(&bench.server);
    let serving =
        connection::serve(server, HERE, other, Arc::new(NoReadiness), Some(slot), stopping);
    let wire = Wire { stream, serving: tokio::spawn(serving), stop };
    wire.everything().await
}

#[tokio::test]
async fn a_key_received_before_eviction_counts() {
    let bench = Bench::new();
    let key = bench.new_key(&[Scope::Admin], KeyLimits::default());
    let head = format!("GET /t/large HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {key}\r\n");
    let response =
        response_after_eviction(&bench, &format!("{head}connection: close\r\n\r\n")).await;
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert_eq!(
        response_after_eviction(&bench, &head).await,
        "",
        "an incomplete request is not waited for"
    );
}
