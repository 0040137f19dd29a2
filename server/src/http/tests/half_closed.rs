//! Clients that close their sending side, or the connection, while their request is in progress.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;

use super::bench::{Bench, HERE};
use crate::http::socket::share;
use crate::http::{Settings, connection};
use crate::platform::settings::Period;

/// Longer than any test here takes.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The client side of a connection to a server.
struct Client<S> {
    stream: S,
    serving: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

fn connect(bench: &Bench) -> Client<UnixStream> {
    let (stream, other) = UnixStream::pair().unwrap();
    let (reader, writer) = other.into_split();
    let (socket, readiness) = share(reader, writer);
    let (stop, stopping) = watch::channel(false);
    let server = Arc::clone(&bench.server);
    let serving = tokio::spawn(connection::serve(server, HERE, socket, readiness, None, stopping));
    Client { stream, serving, stop }
}

/// Connects over TCP, which supports resets.
async fn connect_tcp(bench: &Bench) -> Client<TcpStream> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (reader, writer) = listener.accept().await.unwrap().0.into_split();
    let (socket, readiness) = share(reader, writer);
    let (stop, stopping) = watch::channel(false);
    let server = Arc::clone(&bench.server);
    let serving = tokio::spawn(connection::serve(server, HERE, socket, readiness, None, stopping));
    Client { stream, serving, stop }
}

/// Uses the system's ticks.
fn with_grace(grace: Duration) -> Bench {
    Bench::with_system_ticks(Settings::changed(|s| s.http.half_closed_grace = Period::from(grace)))
}

/// Returns a request with a key.
fn request(bench: &Bench, line: &str, rest: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n{rest}\r\n", bench.key)
}

/// Waits until this many requests are in progress.
async fn wait_in_flight(bench: &Bench, count: usize) {
    let reached = async {
        while bench.server.admission.requests() != count {
            yield_now().await;
        }
    };
    timeout(TIMEOUT, reached).await.unwrap();
}

/// Waits until the server has dropped the connection and its request.
async fn wait_dropped(bench: &Bench, serving: JoinHandle<()>) {
    timeout(TIMEOUT, serving).await.expect("the connection ends").unwrap();
    wait_in_flight(bench, 0).await;
}

impl Client<UnixStream> {
    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Closes the sending side and returns everything that the server sends before it closes the
    /// connection.
    async fn finish(mut self) -> String {
        self.stream.shutdown().await.unwrap();
        let mut bytes = Vec::new();
        timeout(TIMEOUT, self.stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
        timeout(TIMEOUT, self.serving).await.unwrap().unwrap();
        drop(self.stop);
        String::from_utf8(bytes).unwrap()
    }
}

fn chunks(count: usize) -> String {
    let spaces = "1\r\n \r\n".repeat(count);
    format!("transfer-encoding: chunked\r\n\r\n{spaces}2\r\n{{}}\r\n0\r\n")
}

// `Bench::new` uses manual ticks, so the grace period never ends in the tests that use it.

#[tokio::test]
async fn a_half_closed_client_gets_its_responses() {
    let bench = Bench::new();
    let later = request(&bench, "GET /t/later", "");
    let body = request(&bench, "POST /t/body", "content-length: 4\r\n\r\n{}");
    let chunked = request(&bench, "POST /t/body", &chunks(20));
    for (requests, count) in [
        (later.clone(), 1),
        (body.clone(), 1),
        (chunked.clone(), 1),
        (request(&bench, "GET /t/large", ""), 1),
        ([later.clone(), chunked, later.clone(), body, later].concat(), 5),
    ] {
        let mut client = connect(&bench);
        client.send(&requests).await;
        let response = client.finish().await;
        assert_eq!(response.matches("HTTP/1.1 200 OK").count(), count, "{requests}: {response}");
        assert!(!response.contains("HTTP/1.1 4"), "{response}");
    }
}

#[tokio::test]
async fn a_client_that_closes_its_side_during_a_request_gets_the_response() {
    let bench = Bench::new();
    let mut client = connect(&bench);
    client.send(&request(&bench, "GET /t/later", "")).await;
    wait_in_flight(&bench, 1).await;
    assert!(client.finish().await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn a_body_that_ends_early_is_refused_at_once() {
    let bench = Bench::new();
    for rest in [
        "content-length: 10\r\n\r\n{}",
        "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        "transfer-encoding: chunked\r\n\r\n9\r\n{}",
    ] {
        let mut client = connect(&bench);
        let whole = request(&bench, "POST /t/body", rest);
        client.send(whole.strip_suffix("\r\n").unwrap()).await;
        let response = client.finish().await;
        assert!(response.is_empty() || response.starts_with("HTTP/1.1 400 "), "{rest}: {response}");
    }
}

#[tokio::test]
async fn an_idle_connection_closes_with_its_client() {
    let bench = Bench::new();
    assert_eq!(connect(&bench).finish().await, "");
    let mut used = connect(&bench);
    used.send("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut first = [0];
    used.stream.read_exact(&mut first).await.unwrap();
    assert!(used.finish().await.ends_with("\"ok\"}"));
}

#[tokio::test]
async fn a_request_is_dropped_after_the_grace_period() {
    let bench = with_grace(Duration::from_millis(50));
    let never = request(&bench, "GET /t/never", "");
    for requests in [never.clone(), never.repeat(2)] {
        let mut client = connect(&bench);
        client.send(&requests).await;
        wait_in_flight(&bench, 1).await;
        assert_eq!(client.finish().await, "");
        wait_in_flight(&bench, 0).await;
    }
}

#[tokio::test]
async fn the_grace_period_applies_while_the_server_stops() {
    let bench = with_grace(Duration::from_millis(50));
    let mut client = connect(&bench);
    client.send(&request(&bench, "GET /t/never", "")).await;
    wait_in_flight(&bench, 1).await;
    client.stop.send_replace(true);
    assert_eq!(client.finish().await, "");
    wait_in_flight(&bench, 0).await;
}

#[tokio::test]
async fn a_request_that_only_waits_is_dropped_at_once() {
    let bench = Bench::new();
    let wait = request(&bench, "POST /t/wait", "content-length: 2\r\n\r\n{}");
    let wait = wait.strip_suffix("\r\n").unwrap();
    for requests in [wait.to_owned(), wait.repeat(2)] {
        let mut client = connect(&bench);
        client.send(&requests).await;
        assert_eq!(client.finish().await, "", "{requests}");
    }
}

#[tokio::test]
async fn a_request_whose_client_has_disconnected_is_dropped_at_once() {
    let bench = Bench::new();
    let never = request(&bench, "GET /t/never", "");
    for requests in [never.clone(), never.repeat(2)] {
        let mut client = connect(&bench);
        client.send(&requests).await;
        wait_in_flight(&bench, 1).await;
        let Client { stream, serving, stop } = client;
        drop(stream);
        wait_dropped(&bench, serving).await;
        drop(stop);

        let mut client = connect_tcp(&bench).await;
        client.stream.write_all(requests.as_bytes()).await.unwrap();
        wait_in_flight(&bench, 1).await;
        let Client { stream, serving, stop } = client;
        stream.set_zero_linger().unwrap();
        drop(stream);
        wait_dropped(&bench, serving).await;
        drop(stop);
    }
}
