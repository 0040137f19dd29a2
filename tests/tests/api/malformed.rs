//! Input that is not HTTP is refused like everything else, with one error body and a request id.

use telltale_tests::Server;

const NEXT: &str = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

/// Returns what the server sends before it closes the connection.
#[track_caller]
fn raw_response(server: &Server, request: &[u8]) -> String {
    let mut wire = server.wire();
    wire.send(request);
    let response = wire.response().unwrap_or_else(|| panic!("{} got no response", shown(request)));
    response.refused(400, "invalid_parameter");
    assert_eq!(response.header("connection"), Some("close"), "{}", response.summary());
    let rest = wire.everything();
    assert!(rest.is_empty(), "{}: {}", shown(request), String::from_utf8_lossy(&rest));
    response.must_header("x-request-id").to_owned()
}

fn shown(request: &[u8]) -> String {
    String::from_utf8_lossy(request).chars().take(80).collect()
}

#[test]
fn input_that_is_not_http_gets_an_error_body() {
    let server = Server::start();
    let long_header =
        format!("GET /healthz HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let long_path = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(1 << 20));
    let mut ids = Vec::new();
    for request in [
        "GET /api/v1/metrics/a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET\r\n\r\n",
        "G\u{1}T /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n",
        "POST /api/v1/metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST /api/v1/metrics HTTP/1.1\r\nHost: a\r\nContent-Length: many\r\n\r\n{}",
        "POST /api/v1/metrics HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n{}",
        "POST /api/v1/metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n{}",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}",
        &long_header,
        &long_path,
    ] {
        ids.push(raw_response(&server, request.as_bytes()));
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "each has an id of its own");
}

#[test]
fn an_early_response_is_complete_and_the_only_one_of_its_request() {
    let server = Server::start();
    let mut wire = server.wire();
    wire.send(NEXT);
    assert_eq!(wire.response().map(|response| response.status), Some(200));
    wire.send(format!("{NEXT}GET /a b HTTP/1.1\r\n\r\n{NEXT}"));
    assert_eq!(wire.response().map(|response| response.status), Some(200));
    let Some(refused) = wire.response() else { panic!("it is refused") };
    refused.refused(400, "invalid_parameter");
    assert!(wire.everything().is_empty(), "nothing follows a refusal of what is not HTTP");
}
