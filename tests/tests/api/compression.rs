//! Answers are compressed when the client asks.

use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::Value;
use telltale_tests::{Answer, MINUTE_MS, Server, iso};

use crate::points::{T0, gauge, send};

fn unpacked(answer: &Answer) -> Vec<u8> {
    let mut body = Vec::new();
    let bytes = answer.body.as_slice();
    let done = match answer.header("content-encoding") {
        Some("gzip") => GzDecoder::new(bytes).read_to_end(&mut body).is_ok(),
        Some("deflate") => ZlibDecoder::new(bytes).read_to_end(&mut body).is_ok(),
        Some("zstd") => zstd::decode_all(bytes).map(|all| body = all).is_ok(),
        other => panic!("{other:?} is not an encoding"),
    };
    assert!(done, "{}", answer.summary());
    body
}

#[test]
fn large_answers_are_compressed_as_the_client_asks() {
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
        let answer = client.request("GET", &path).header("accept-encoding", accept).send();
        assert_eq!(answer.header("content-encoding"), Some(expected), "{accept}");
        assert!(answer.body.len() * 4 < plain.body.len(), "{accept}: {} bytes", answer.body.len());
        let varies = answer.must_header("vary").to_ascii_lowercase();
        assert!(varies.contains("accept-encoding"), "{accept}: {varies}");
        assert_eq!(unpacked(&answer), plain.body, "{accept}");
    }
    for accept in ["identity", "br", "gzip;q=0", ""] {
        let answer = client.request("GET", &path).header("accept-encoding", accept).send();
        assert_eq!(answer.header("content-encoding"), None, "{accept}");
    }
}

#[test]
fn small_answers_are_not_worth_it() {
    let server = Server::start();
    let client = server.client();
    let small = client.request("GET", "/api/v1/metrics?prefix=nothing");
    let answer = small.header("accept-encoding", "gzip").send();
    assert_eq!(answer.header("content-encoding"), None);
    answer.data(200);
}
