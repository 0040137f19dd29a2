//! Responses are compressed when the client accepts it.

use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::Value;
use telltale_tests::{MINUTE_MS, Response, Server, iso};

use crate::points::{T0, gauge, send};

fn unpacked(response: &Response) -> Vec<u8> {
    let mut body = Vec::new();
    let bytes = response.body.as_slice();
    let done = match response.header("content-encoding") {
        Some("gzip") => GzDecoder::new(bytes).read_to_end(&mut body).is_ok(),
        Some("deflate") => ZlibDecoder::new(bytes).read_to_end(&mut body).is_ok(),
        Some("zstd") => zstd::decode_all(bytes).map(|all| body = all).is_ok(),
        other => panic!("{other:?} is not an encoding"),
    };
    assert!(done, "{}", response.summary());
    body
}

#[test]
fn large_responses_are_compressed_as_the_client_accepts() {
    let server = Server::start();
    let client = server.client();
    let points: Vec<Value> = (0..1_000).map(|i| gauge("a", T0 + i * MINUTE_MS, i as f64)).collect();
    send(&client, &points);
    let path = format!(
        "/api/v1/metrics/a/query?interval=1m&from={}&to={}",
        iso(T0),
        iso(T0 + 1_000 * MINUTE_MS)
    );
    let plain = client.get(&path);
    assert_eq!(plain.header("content-encoding"), None);
    for (accept, expected) in [
        ("gzip", "gzip"),
        ("deflate", "deflate"),
        ("zstd", "zstd"),
        ("gzip;q=0.5, zstd;q=0.9", "zstd"),
        ("br;q=1.0, gzip;q=0.1", "gzip"),
    ] {
        let response = client.request("GET", &path).header("accept-encoding", accept).send();
        assert_eq!(response.header("content-encoding"), Some(expected), "{accept}");
        assert!(
            response.body.len() * 4 < plain.body.len(),
            "{accept}: {} bytes",
            response.body.len()
        );
        let varies = response.must_header("vary").to_ascii_lowercase();
        assert!(varies.contains("accept-encoding"), "{accept}: {varies}");
        assert_eq!(unpacked(&response), plain.body, "{accept}");
    }
    for accept in ["identity", "br", "gzip;q=0", ""] {
        let response = client.request("GET", &path).header("accept-encoding", accept).send();
        assert_eq!(response.header("content-encoding"), None, "{accept}");
    }
}

#[test]
fn small_responses_are_not_compressed() {
    let server = Server::start();
    let client = server.client();
    let small = client.request("GET", "/api/v1/metrics?prefix=nothing");
    let response = small.header("accept-encoding", "gzip").send();
    assert_eq!(response.header("content-encoding"), None);
    response.data(200);
}
