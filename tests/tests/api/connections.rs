//! Slow, numerous, misbehaving and broken clients, and the protocols of the listener.

use std::time::Duration;

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Response, Server, Setup, Stopwatch, Wire, eventually, h2_status};

use crate::points::{T0, gauge, send};

/// A request head with a key; more headers and the empty line may follow.
fn head(verb: &str, path: &str) -> String {
    format!("{verb} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN_KEY}\r\n")
}

fn hasty() -> Setup {
    Setup::new()
        .set("http.header_timeout", "\"400ms\"")
        .set("http.body_idle_timeout", "\"400ms\"")
        .set("http.body_timeout", "\"400ms\"")
        .set("http.idle_timeout", "\"400ms\"")
}

/// Returns what the server sends before it closes the connection of a slow client: at most a
/// timeout.
#[track_caller]
fn given_up(response: Option<Response>) {
    if let Some(response) = response {
        response.refused(408, "request_timeout");
    }
}

#[test]
fn missing_headers_time_out() {
    let server = hasty().start();
    for beginning in ["G", "GET /healthz HTTP/1.1\r\n", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: "] {
        let watch = Stopwatch::start();
        let mut wire = server.wire();
        wire.send(beginning);
        given_up(wire.response());
        assert!(watch.elapsed() < Duration::from_secs(60), "{:?}", watch.elapsed());
    }
    assert_eq!(server.client().get("/healthz").status, 200);
}

#[test]
fn a_missing_body_times_out() {
    let server = hasty().start();
    let request = head("POST", "/api/v1/metrics") + "Content-Type: application/json\r\n";
    for body in
        ["Content-Length: 100\r\n\r\n{\"name\"", "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"n"]
    {
        let mut wire = server.wire();
        wire.send(&request).send(body);
        match wire.response() {
            Some(response) => drop(response.refused(408, "request_timeout")),
            None => panic!("the server hung up without saying why"),
        }
    }
}

#[test]
fn a_slow_body_times_out() {
    let server = hasty().start();
    let mut wire = server.wire();
    wire.send(head("POST", "/api/v1/metrics"));
    wire.send("Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n");
    let response = eventually("the server to lose its patience", || {
        wire.send(" ");
        wire.response_within(Duration::from_millis(20))
    });
    response.refused(408, "request_timeout");
}

#[test]
fn a_connection_without_requests_is_closed() {
    let server = hasty().start();
    let mut silent = server.wire();
    let mut used = server.wire();
    used.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(used.response().map(|a| a.status), Some(200));
    given_up(used.response());
    given_up(silent.response());
}

/// The open files this process may have, without those of the test itself.
fn files_to_spare() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3)).and_then(|n| n.parse().ok());
    soft.unwrap_or(1_024_usize).saturating_sub(200)
}

#[test]
fn thousands_of_idle_connections_use_little_memory_and_block_no_client() {
    // A busy machine may need long for so many connections.
    let server = Setup::new()
        .set("http.stranger_idle_timeout", "\"5m\"")
        .set("http.stranger_connections", "5000")
        .set("http.stranger_connections_per_address", "5000")
        .set("http.stranger_requests_per_second", "0")
        .start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    let before = resident_bytes(server.pid());
    let count = files_to_spare().min(4_000);
    let mut idle: Vec<Wire> = (0..count).map(|_| server.wire()).collect();
    for (at, wire) in idle.iter_mut().enumerate() {
        // A third sends nothing, a third begins a request, a third has received a response.
        match at % 3 {
            0 => {}
            1 => drop(wire.send("GET /api")),
            _ => {
                wire.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
                assert_eq!(wire.response().map(|response| response.status), Some(200));
            }
        }
    }
    for _ in 0..20 {
        client.get("/api/v1/metrics/a").data(200);
    }
    let each = resident_bytes(server.pid()).saturating_sub(before) / count;
    assert!(each < 64 << 10, "{each} bytes for each of {count} connections");
    drop(idle);
    client.get("/api/v1/metrics/a").data(200);
}

fn resident_bytes(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    kilobytes << 10
}

#[test]
fn a_connection_above_the_limit_waits_for_another_to_close() {
    let server = Setup::new().set("http.connections", "5").start();
    let mut taken: Vec<Wire> = (0..5).map(|_| server.wire()).collect();
    for wire in &mut taken {
        wire.send(head("GET", "/api/v1/metrics") + "\r\n");
        assert_eq!(wire.response().map(|response| response.status), Some(200));
    }
    let mut late = server.wire();
    late.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(
        late.response_within(Duration::from_millis(300)).is_none(),
        "all others have shown keys"
    );
    drop(taken);
    assert_eq!(late.response().map(|response| response.status), Some(200));
}

#[test]
fn input_that_is_not_http_has_no_effect() {
    let server = Server::start();
    let long = "x".repeat(1 << 20);
    let many: String = (0..2_000).map(|i| format!("X-{i}: y\r\n")).collect();
    let with_length = |length: &str| {
        format!("{}Content-Length: {length}\r\n\r\n", head("POST", "/api/v1/metrics"))
    };
    for bytes in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(9),
        b"GET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\nHost\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n".to_vec(),
        b"GET /nowhere HTTP/1.1\r\nHost: a\nX: y\n\n".to_vec(),
        b"GET \xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n").into_bytes(),
        format!("{long} / HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes(),
        with_length("-1").into_bytes(),
        with_length("99999999999999999999").into_bytes(),
        with_length("1, 2").into_bytes(),
        with_length("0x10").into_bytes(),
        format!(
            "{}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            head("POST", "/api/v1/metrics")
        )
        .into_bytes(),
        format!("{}Transfer-Encoding: gzip\r\n\r\nx", head("POST", "/api/v1/metrics")).into_bytes(),
        format!("{}Transfer-Encoding: chunked\r\n\r\nZZ\r\n", head("POST", "/api/v1/metrics"))
            .into_bytes(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".to_vec(),
    ] {
        let mut wire = server.wire();
        wire.send(&bytes).finish();
        let received = wire.everything();
        let text = String::from_utf8_lossy(&received);
        if text.starts_with("HTTP/1") {
            let status = text.split(' ').nth(1).unwrap_or_default();
            let reported: String = text.chars().take(300).collect();
            assert!(status.starts_with('4'), "{reported}");
        }
    }
    assert_eq!(server.client().get("/healthz").status, 200);
}

#[test]
fn a_client_that_disconnects_during_its_body_stores_nothing() {
    let server = Server::start();
    let body = json!({"metrics": [gauge("left", T0, 1.0)]}).to_string();
    for end in [0, 1, body.len() / 2, body.len() - 1] {
        let mut wire = server.wire();
        wire.send(head("POST", "/api/v1/metrics/batch"));
        wire.send(format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        ));
        wire.send(&body.as_bytes()[..end]);
    }
    server.client().get("/api/v1/metrics/left").refused(404, "metric_not_found");
}

#[test]
fn a_connection_serves_many_requests_in_order() {
    let server = Server::start();
    let mut wire = server.wire();
    let both = [head("GET", "/api/v1/metrics"), head("GET", "/nowhere")].map(|h| h + "\r\n");
    wire.send(both.concat().repeat(10));
    for _ in 0..10 {
        assert_eq!(wire.response().map(|response| response.status), Some(200));
        assert_eq!(wire.response().map(|response| response.status), Some(404));
    }
    // A refusal without reading the body does not affect the next request.
    let body = " ".repeat(2 << 20);
    wire.send(head("POST", "/nowhere"));
    wire.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    assert_eq!(wire.response().map(|response| response.status), Some(404));
    wire.send(head("GET", "/api/v1/metrics") + "\r\n");
    if let Some(response) = wire.response() {
        response.data(200);
    }
}

#[test]
fn a_client_may_expect_100_continue() {
    let server = Server::start();
    let body = gauge("a", T0, 1.0).to_string();
    let mut wire = server.wire();
    wire.send(head("POST", "/api/v1/metrics"));
    wire.send(format!(
        "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    assert_eq!(wire.response().map(|response| response.status), Some(100));
    wire.send(&body);
    assert_eq!(wire.response().map(|response| response.status), Some(201));
}

#[test]
fn the_same_port_speaks_http_2() {
    let server = Server::start();
    let url = |path: &str| format!("http://{}{path}", server.address());
    assert_eq!(h2_status(&url("/api/v1/metrics"), ADMIN_KEY), "2 200");
    assert_eq!(h2_status(&url("/api/v1/metrics"), "tt_wrong"), "2 401");
    assert_eq!(h2_status(&url("/nowhere"), ADMIN_KEY), "2 404");
}
