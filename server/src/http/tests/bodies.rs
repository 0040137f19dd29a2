//! Bodies: their form, size, encoding and pace; and the encoding of answers.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_compression::tokio::bufread::{
    GzipDecoder, GzipEncoder, ZlibDecoder, ZlibEncoder, ZstdDecoder, ZstdEncoder,
};
use bytes::Bytes;
use http_body::Frame;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::bench::{Answer, Bench};
use crate::http::{Origin, Settings};

async fn all(mut reader: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut out = Vec::new();
    reader.read_to_end(&mut out).await.unwrap();
    out
}

async fn packed(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    match encoding.to_ascii_lowercase().as_str() {
        "gzip" => all(GzipEncoder::new(bytes)).await,
        "deflate" => all(ZlibEncoder::new(bytes)).await,
        "zstd" => all(ZstdEncoder::new(bytes)).await,
        _ => bytes.to_vec(),
    }
}

async fn unpacked(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    match encoding {
        "gzip" => all(GzipDecoder::new(bytes)).await,
        "deflate" => all(ZlibDecoder::new(bytes)).await,
        "zstd" => all(ZstdDecoder::new(bytes)).await,
        _ => bytes.to_vec(),
    }
}

#[tokio::test]
async fn compressed_bodies_are_read() {
    let bench = Bench::new();
    for encoding in ["gzip", "deflate", "zstd", "identity", "GZIP"] {
        let body = packed(encoding, b"{\"a\":[1,2,3]}").await;
        let answer = bench.send("POST /t/body", &[("content-encoding", encoding)], body).await;
        assert_eq!(answer.ok(), json!({ "a": [1, 2, 3] }), "{encoding}");
    }
}

#[tokio::test]
async fn broken_compression_is_a_broken_body() {
    let bench = Bench::new();
    for encoding in ["gzip", "deflate", "zstd"] {
        let mut body = packed(encoding, b"{\"a\":[1,2,3]}").await;
        body.truncate(body.len() / 2);
        for body in [body, b"{}".to_vec(), vec![0; 100]] {
            let answer = bench.send("POST /t/body", &[("content-encoding", encoding)], body).await;
            answer.refused(400, "invalid_json");
        }
    }
}

#[tokio::test]
async fn encodings_and_types_that_nobody_reads_are_refused() {
    let bench = Bench::new();
    for encoding in ["br", "gzip, gzip", "x", ""] {
        let answer = bench.send("POST /t/body", &[("content-encoding", encoding)], "{}").await;
        answer.refused(415, "unsupported_media_type");
    }
    for media in ["text/plain", "application/x-protobuf"] {
        bench
            .send("POST /t/body", &[("content-type", media)], "{}")
            .await
            .refused(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn a_body_over_its_limit_is_refused_before_and_after_decompression() {
    let settings =
        Settings { body_json_bytes_max: 1_000, body_batch_bytes_max: 2_000, ..Settings::default() };
    let bench = Bench::with(settings);
    let padded = |n: usize| format!("{{}}{}", " ".repeat(n - 2));
    bench.post("/t/body", padded(1_000)).await.ok();
    bench.post("/t/body", padded(1_001)).await.refused(413, "payload_too_large");
    bench.post("/t/batch", padded(2_000)).await.ok();
    bench.post("/t/batch", padded(2_001)).await.refused(413, "payload_too_large");
    for encoding in ["gzip", "deflate", "zstd"] {
        let bomb = packed(encoding, &vec![b' '; 10 << 20]).await;
        let answer = bench.send("POST /t/batch", &[("content-encoding", encoding)], bomb).await;
        answer.refused(413, "payload_too_large");
    }
}

/// A body that gives its chunks one by one and then never ends.
struct Stalling(Vec<&'static str>);

impl http_body::Body for Stalling {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.0.is_empty() {
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(self.0.remove(0).as_bytes())))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_is_not_waited_for() {
    let bench = Bench::new();
    let request = http::Request::post("/t/body")
        .header("authorization", format!("Bearer {}", bench.key))
        .body(Stalling(vec!["{", "\"a\""]))
        .unwrap();
    let answer = Answer::of(bench.server.handle(Origin::Network, request).await).await;
    answer.refused(408, "request_timeout");
    assert_eq!(answer.header("connection"), Some("close"));
}

/// A body of one byte every five seconds.
struct Dripping(Pin<Box<tokio::time::Interval>>);

impl http_body::Body for Dripping {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b" ")))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_drips_is_not_waited_for_long() {
    let bench = Bench::new();
    let drip = Dripping(Box::pin(tokio::time::interval(Duration::from_secs(5))));
    let request = http::Request::post("/t/body")
        .header("authorization", format!("Bearer {}", bench.key))
        .body(drip)
        .unwrap();
    Answer::of(bench.server.handle(Origin::Network, request).await)
        .await
        .refused(408, "request_timeout");
}

#[tokio::test]
async fn large_answers_are_compressed_as_asked_and_small_ones_never() {
    let bench = Bench::new();
    let plain = bench.get("/t/large").await;
    assert_eq!(plain.header("content-encoding"), None);
    for (accept, encoding) in [
        ("gzip", "gzip"),
        ("deflate", "deflate"),
        ("zstd", "zstd"),
        ("gzip;q=0.5, zstd;q=0.9, br", "zstd"),
    ] {
        let answer = bench.send("GET /t/large", &[("accept-encoding", accept)], "").await;
        assert_eq!(answer.header("content-encoding"), Some(encoding));
        assert!(answer.body.len() * 4 < plain.body.len());
        assert_eq!(unpacked(encoding, &answer.body).await, plain.body);
        let small = bench.send("GET /t/tagged", &[("accept-encoding", accept)], "").await;
        assert_eq!(small.header("content-encoding"), None);
    }
}
