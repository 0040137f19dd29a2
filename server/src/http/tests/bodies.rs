//! Bodies: form, size, encoding and pace; encodings of responses.

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
use telltale_engine::{Memory, MemoryOwner};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::bench::{Answer, Bench, HERE};
use crate::http::Settings;
use crate::platform::settings::{Auto, ByteSize};

async fn all(mut reader: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut out = Vec::new();
    reader.read_to_end(&mut out).await.unwrap();
    out
}

async fn encoded(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    match encoding.to_ascii_lowercase().as_str() {
        "gzip" => all(GzipEncoder::new(bytes)).await,
        "deflate" => all(ZlibEncoder::new(bytes)).await,
        "zstd" => all(ZstdEncoder::new(bytes)).await,
        _ => bytes.to_vec(),
    }
}

async fn decoded(encoding: &str, bytes: &[u8]) -> Vec<u8> {
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
        let body = encoded(encoding, b"{\"a\":[1,2,3]}").await;
        let answer = bench.send("POST /t/body", &[("content-encoding", encoding)], body).await;
        assert_eq!(answer.ok(), json!({ "a": [1, 2, 3] }), "{encoding}");
    }
}

#[tokio::test]
async fn all_members_of_a_compressed_body_are_decoded_and_trailing_data_is_refused() {
    let bench = Bench::new();
    for encoding in ["gzip", "zstd"] {
        let mut body = encoded(encoding, b"{\"a\":[1,").await;
        body.extend(encoded(encoding, b"2,3]}").await);
        let headers = [("content-encoding", encoding)];
        let answer = bench.send("POST /t/body", &headers, body.clone()).await;
        assert_eq!(answer.ok(), json!({ "a": [1, 2, 3] }), "{encoding}");
        body.extend_from_slice(b"and more");
        bench.send("POST /t/body", &headers, body).await.refused(400, "invalid_json");
    }
    let mut body = encoded("deflate", b"{\"a\":1}").await;
    body.extend(encoded("deflate", b" ").await);
    let answer = bench.send("POST /t/body", &[("content-encoding", "deflate")], body).await;
    answer.refused(400, "invalid_json");
}

#[tokio::test]
async fn corrupt_compression_is_refused() {
    let bench = Bench::new();
    for encoding in ["gzip", "deflate", "zstd"] {
        let mut body = encoded(encoding, b"{\"a\":[1,2,3]}").await;
        body.truncate(body.len() / 2);
        for body in [body, b"{}".to_vec(), vec![0; 100]] {
            let answer = bench.send("POST /t/body", &[("content-encoding", encoding)], body).await;
            answer.refused(400, "invalid_json");
        }
    }
}

fn snappy(bytes: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(bytes).unwrap()
}

#[tokio::test]
async fn a_route_may_accept_an_additional_encoding() {
    let bench = Bench::new();
    let send = async |headers: &[(&str, &str)], body: Vec<u8>| {
        bench.send("POST /t/snappy", headers, body).await
    };
    let text = b"spam spam spam spam";
    let expected = json!({ "bytes": 19, "text": "spam spam spam spam" });
    // Without a named encoding the body is Snappy; otherwise it has the encoding that is named.
    assert_eq!(send(&[], snappy(text)).await.ok(), expected);
    for encoding in ["snappy", "Snappy"] {
        assert_eq!(send(&[("content-encoding", encoding)], snappy(text)).await.ok(), expected);
    }
    for encoding in ["gzip", "deflate", "zstd", "identity"] {
        let body = encoded(encoding, text).await;
        assert_eq!(send(&[("content-encoding", encoding)], body).await.ok(), expected);
    }
    for encoding in ["br", "snappy, gzip", "x-snappy"] {
        let answer = send(&[("content-encoding", encoding)], snappy(text)).await;
        answer.refused(415, "unsupported_media_type");
    }
    let answer = bench.send("POST /t/body", &[("content-encoding", "snappy")], snappy(b"{}")).await;
    answer.refused(415, "unsupported_media_type");
}

/// Limits bodies to 4 MiB each and to this many bytes in total.
fn small_bulk(in_flight: u64) -> Bench {
    Bench::with(Settings::changed(|s| {
        s.bodies.bulk = ByteSize::at_least_one(4 << 20);
        s.bodies.in_flight = Auto::Set(ByteSize::at_least_one(in_flight));
    }))
}

#[tokio::test]
async fn corrupt_snappy_is_refused_and_a_bomb_is_too_large() {
    let bench = small_bulk(5 << 20);
    let send = async |body: Vec<u8>| {
        bench.send("POST /t/snappy", &[("content-encoding", "snappy")], body).await
    };
    let good = snappy(&[7; 1_000]);
    for bad in [&good[..good.len() - 1], &good[1..], b"\xff", b"spam", b"\x00\x00"] {
        send(bad.to_vec()).await.refused(400, "invalid_parameter");
    }
    send(Vec::new()).await.refused(400, "invalid_parameter");
    assert_eq!(send(snappy(b"")).await.ok()["bytes"], 0);
    for bytes in [4 << 20, 3 << 20] {
        assert_eq!(send(snappy(&vec![0; bytes])).await.ok()["bytes"], bytes);
    }
    // One byte over the limit; a length that no body has; and a length longer than the data.
    send(snappy(&vec![0; (4 << 20) + 1])).await.refused(413, "payload_too_large");
    send(b"\xff\xff\xff\xff\x0f\x00".to_vec()).await.refused(413, "payload_too_large");
    send(b"\xff\xff\xff\x01\x00".to_vec()).await.refused(400, "invalid_parameter");
    assert_eq!(bench.server.admission.body_bytes(), 0);
}

#[tokio::test]
async fn decoded_bytes_count_as_received() {
    let settings =
        Settings::changed(|s| s.bodies.in_flight = Auto::Set(ByteSize::at_least_one(3 << 20)));
    let bench = Bench::with(settings);
    let other = bench.server.admission.enter().unwrap();
    other.add(1 << 20).unwrap();
    let plain = vec![0; 2 << 20];
    let send = async |encoding: &str, body: Vec<u8>| {
        bench.send("POST /t/snappy", &[("content-encoding", encoding)], body).await
    };
    send("snappy", snappy(&plain)).await.refused(503, "overloaded");
    send("deflate", encoded("deflate", &plain).await).await.refused(503, "overloaded");
    drop(other);
    assert_eq!(send("snappy", snappy(&plain)).await.ok()["bytes"], plain.len());
    assert_eq!(bench.server.admission.body_bytes(), 0);
}

#[tokio::test]
async fn decoded_bytes_take_only_their_size() {
    let bench = small_bulk(4 << 20);
    let send = async |bytes: usize| {
        let body = encoded("deflate", &vec![0; bytes]).await;
        bench.send("POST /t/snappy", &[("content-encoding", "deflate")], body).await
    };
    assert_eq!(send(3 << 20).await.ok()["bytes"], 3 << 20);
    // In addition to the encoded bytes, these never fit.
    send(4 << 20).await.refused(413, "payload_too_large");
    assert_eq!(bench.server.admission.body_bytes(), 0);
}

#[tokio::test]
async fn unsupported_encodings_and_content_types_are_refused() {
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
    let settings = Settings::changed(|s| {
        s.bodies.json = ByteSize::at_least_one(1_000);
        s.bodies.batch = ByteSize::at_least_one(2_000);
    });
    let bench = Bench::with(settings);
    let padded = |n: usize| format!("{{}}{}", " ".repeat(n - 2));
    bench.post("/t/body", padded(1_000)).await.ok();
    bench.post("/t/body", padded(1_001)).await.refused(413, "payload_too_large");
    bench.post("/t/batch", padded(2_000)).await.ok();
    bench.post("/t/batch", padded(2_001)).await.refused(413, "payload_too_large");
    for encoding in ["gzip", "deflate", "zstd"] {
        let bomb = encoded(encoding, &vec![b' '; 10 << 20]).await;
        let answer = bench.send("POST /t/batch", &[("content-encoding", encoding)], bomb).await;
        answer.refused(413, "payload_too_large");
    }
}

/// A body that yields its chunks one by one and then never ends.
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
async fn a_body_that_stalls_times_out() {
    let bench = Bench::new();
    let request = http::Request::post("/t/body")
        .header("authorization", format!("Bearer {}", bench.key))
        .body(Stalling(vec!["{", "\"a\""]))
        .unwrap();
    let answer = Answer::of(bench.server.handle(HERE, request).await).await;
    answer.refused(408, "request_timeout");
}

/// A body that yields one byte every five seconds.
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
async fn a_slow_body_times_out() {
    let bench = Bench::new();
    let drip = Dripping(Box::pin(tokio::time::interval(Duration::from_secs(5))));
    let request = http::Request::post("/t/body")
        .header("authorization", format!("Bearer {}", bench.key))
        .body(drip)
        .unwrap();
    Answer::of(bench.server.handle(HERE, request).await).await.refused(408, "request_timeout");
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_that_uses_the_memory_reserve_times_out_sooner() {
    let memory = Memory::new(64 << 20);
    let bench = Bench::with(Settings::changed(|s| s.memory = memory.clone()));
    let send = || {
        let drip = Dripping(Box::pin(tokio::time::interval(Duration::from_secs(5))));
        let request = http::Request::post("/t/drain")
            .header("authorization", format!("Bearer {}", bench.key))
            .body(drip)
            .unwrap();
        tokio::time::timeout(Duration::from_secs(4), bench.server.handle(HERE, request))
    };
    assert!(send().await.is_err(), "there is memory");
    memory.hold(MemoryOwner::Jobs, 64 << 20);
    let answer = send().await.expect("the reserve is for others as well");
    Answer::of(answer).await.refused(408, "request_timeout");
    memory.take_from_reserve(MemoryOwner::Bodies, 4 << 20).expect("all of the reserve is there");
    bench.post("/t/drain", "{}").await.ok();
    bench.post("/t/body", "{}").await.refused(503, "overloaded");
}

#[tokio::test]
async fn a_response_is_sent_uncompressed_if_memory_is_full() {
    let memory = Memory::new(8_000);
    let bench = Bench::with(Settings::changed(|s| s.memory = memory.clone()));
    let gzip = [("accept-encoding", "gzip")];
    let encoded = bench.send("GET /t/large", &gzip, "").await;
    let held_by_it = memory.held_by(MemoryOwner::Answers);
    assert_eq!(held_by_it, encoded.body.len() as u64, "the uncompressed bytes are released");
    let held = memory.take(MemoryOwner::Bodies, 1_990 - held_by_it).unwrap();
    let plain = bench.send("GET /t/large", &gzip, "").await;
    assert_eq!((plain.header("content-encoding"), plain.body.len()), (None, 5_002));
    assert_eq!(plain.header("content-length"), Some("5002"));
    drop((plain, held, encoded));
    assert_eq!(memory.held(), 0);
}

#[tokio::test]
async fn large_responses_are_compressed_as_requested_and_small_ones_never() {
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
        assert_eq!(decoded(encoding, &answer.body).await, plain.body);
        let small = bench.send("GET /t/tagged", &[("accept-encoding", accept)], "").await;
        assert_eq!(small.header("content-encoding"), None);
    }
}

/// Covers the OpenAPI document and the page that renders it.
#[tokio::test]
async fn static_responses_are_compressed_once() {
    let memory = Memory::new(1 << 20);
    let bench = Bench::with(Settings::changed(|s| s.memory = memory.clone()));
    // Static bodies do not count in the memory account.
    let full = memory.take(MemoryOwner::Bodies, 1 << 20).unwrap();
    for path in ["/api/v1/openapi.json", "/docs", "/docs/page.css", "/docs/page.js"] {
        let get = format!("GET {path}");
        let plain = bench.send(&get, &[], "").await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{path}");
        for encoding in ["gzip", "deflate", "zstd"] {
            let accept = [("accept-encoding", encoding)];
            let first = bench.send(&get, &accept, "").await;
            assert_eq!(first.header("content-encoding"), Some(encoding), "{path}");
            let length = first.body.len().to_string();
            assert_eq!(first.header("content-length"), Some(length.as_str()), "{path}");
            assert_eq!(decoded(encoding, &first.body).await, plain.body, "{path} {encoding}");
            let again = bench.send(&get, &accept, "").await;
            assert_eq!(again.body, first.body, "{path} {encoding}");
        }
    }
    assert_eq!(memory.held(), full.bytes());
    assert_eq!(bench.server.compressor.static_bodies(), 4 * 3, "each once");
}
