//! Invalid, compressed, too large and wrongly typed bodies.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, Response, Server, Setup};

use crate::points::{T0, gauge, total};

const ONE: &str = "/api/v1/metrics";
const MANY: &str = "/api/v1/metrics/batch";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap_or_default()
}

fn post_as(client: &Client, path: &str, encoding: &str, body: Vec<u8>) -> Response {
    let request = client.request("POST", path).header("content-type", "application/json");
    request.header("content-encoding", encoding).body(body).send()
}

fn batch(n: i64) -> Vec<u8> {
    let items: Vec<Value> = (0..n)
        .map(|i| json!({"name": "c", "type": "counter", "value": 1, "timestamp": telltale_tests::iso(T0 + i)}))
        .collect();
    json!({ "metrics": items }).to_string().into_bytes()
}

#[test]
fn compressed_bodies_are_accepted() {
    let server = Server::start();
    let client = server.client();
    let body = batch(100);
    for (encoding, bytes) in [
        ("gzip", gzip(&body)),
        ("zstd", zstd(&body)),
        ("deflate", zlib(&body)),
        ("identity", body.clone()),
        ("GZIP", gzip(&body)),
    ] {
        let data = post_as(&client, MANY, encoding, bytes).data(200);
        assert_eq!(data["accepted"], 100, "{encoding}");
    }
    assert_eq!(total(&client, "c", T0, T0 + 1_000), 500.0);
}

#[test]
fn invalid_compression_is_an_invalid_body() {
    let server = Server::start();
    let client = server.client();
    let body = batch(100);
    for (encoding, whole) in
        [("gzip", gzip(&body)), ("zstd", zstd(&body)), ("deflate", zlib(&body))]
    {
        let (half, _) = whole.split_at(whole.len() / 2);
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 0x55;
        for bytes in [half.to_vec(), flipped, body.clone(), vec![0; 100], b"x".to_vec()] {
            post_as(&client, MANY, encoding, bytes).refused(400, "invalid_json");
        }
        let mut trailing = whole;
        trailing.extend_from_slice(b"trailing garbage");
        let response = post_as(&client, MANY, encoding, trailing);
        assert!(matches!(response.status, 200 | 400), "{encoding}: {}", response.summary());
    }
    // Some old clients send `deflate` without the zlib wrapper; it is decoded or refused, never
    // decoded wrongly.
    let response = post_as(&client, MANY, "deflate", raw_deflate(&body));
    assert!(matches!(response.status, 200 | 400), "{}", response.summary());
}

#[test]
fn unsupported_encodings_and_media_types_are_refused() {
    let server = Server::start();
    let client = server.client();
    for encoding in ["br", "compress", "x", "gzip, br", "snappy"] {
        post_as(&client, MANY, encoding, batch(1)).refused(415, "unsupported_media_type");
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
        "text/json",
        "multipart/form-data; boundary=x",
        "json",
        "application/jsonp",
    ] {
        let request = client.request("POST", ONE).header("content-type", kind);
        let response = request.body(gauge("a", T0, 1.0).to_string()).send();
        response.refused(415, "unsupported_media_type");
    }
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        let request = client.request("POST", ONE).header("content-type", kind);
        request.body(gauge("a", T0, 1.0).to_string()).send().data(201);
    }
}

#[test]
fn a_body_over_its_limit_is_refused() {
    let server = Server::start();
    let client = server.client();
    let padded = |bytes: usize| {
        let mut body = gauge("a", T0, 1.0).to_string();
        body.push_str(&" ".repeat(bytes - body.len()));
        body
    };
    client.post_text(ONE, padded(1 << 20)).data(201);
    client.post_text(ONE, padded((1 << 20) + 1)).refused(413, "payload_too_large");
    let padded_batch = |bytes: usize| {
        let mut body = String::from("{\"metrics\":[]}");
        body.push_str(&" ".repeat(bytes - body.len()));
        body
    };
    client.post_text(MANY, padded_batch(8 << 20)).data(200);
    client.post_text(MANY, padded_batch((8 << 20) + 1)).refused(413, "payload_too_large");
}

#[test]
fn a_body_without_a_length_is_counted_while_it_arrives() {
    let server = Server::start();
    let mut wire = server.wire();
    wire.send(format!(
        "POST {ONE} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN_KEY}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    ));
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(1 << 16));
    for _ in 0..64 {
        wire.send(&chunk);
    }
    match wire.response() {
        Some(response) => drop(response.refused(413, "payload_too_large")),
        None => panic!("the server hung up without saying why"),
    }
}

#[test]
fn decompression_stops_at_the_limit() {
    let server = Server::start();
    let client = server.client();
    // 64 MiB of spaces in a few kilobytes, and the same compressed twice.
    let spaces = vec![b' '; 64 << 20];
    for (encoding, bomb) in
        [("gzip", gzip(&spaces)), ("zstd", zstd(&spaces)), ("deflate", zlib(&spaces))]
    {
        assert!(bomb.len() < 100 << 10);
        post_as(&client, ONE, encoding, bomb.clone()).refused(413, "payload_too_large");
        post_as(&client, MANY, encoding, bomb.clone()).refused(413, "payload_too_large");
        let response = post_as(&client, ONE, &format!("{encoding}, gzip"), gzip(&bomb));
        assert!((400..500).contains(&response.status), "{}", response.summary());
    }
    client.post(ONE, &gauge("a", T0, 1.0)).data(201);
}

#[test]
fn compressed_bodies_are_accepted_with_little_memory() {
    let server = Setup::new().set("memory.limit", "\"256MiB\"").start();
    let client = server.client();
    for bytes in [2 << 20, 8 << 20] {
        let body = format!("a v=1 {T0}\n").repeat(bytes / 22);
        for (encoding, packed) in
            [("gzip", gzip(body.as_bytes())), ("deflate", zlib(body.as_bytes()))]
        {
            let request = client.request("POST", "/api/v1/influx/write?precision=ms");
            let response = request.header("content-encoding", encoding).body(packed).send();
            assert_eq!(response.status, 204, "{encoding}: {}", response.summary());
        }
    }
}

#[test]
fn a_body_above_the_memory_limit_is_too_large() {
    let server = Setup::new().set("bodies.in_flight", "\"1MiB\"").start();
    let client = server.client();
    let body = b"a v=1\n".repeat(400_000);
    for (encoding, bytes) in
        [("identity", body.clone()), ("gzip", gzip(&body)), ("deflate", zlib(&body))]
    {
        let request = client.request("POST", "/api/v1/influx/write");
        let response = request.header("content-encoding", encoding).body(bytes).send();
        response.refused(413, "payload_too_large");
    }
}

#[test]
fn limits_of_bodies_can_be_changed() {
    let setup = Setup::new().set("bodies.json", "\"200B\"").set("bodies.batch", "\"1KiB\"");
    let server = setup.start();
    let client = server.client();
    client.post(ONE, &gauge("a", T0, 1.0)).data(201);
    client.post(ONE, &gauge(&"a".repeat(150), T0, 1.0)).refused(413, "payload_too_large");
    client.post_text(MANY, batch(2)).data(200);
    client.post_text(MANY, batch(20)).refused(413, "payload_too_large");
}

#[test]
fn a_body_cut_at_any_byte_is_refused_and_stores_nothing() {
    let server = Server::start();
    let client = server.client();
    let item = json!({
        "name": "a", "type": "gauge", "value": -1.5e3, "timestamp": "2024-03-05T00:00:00Z",
        "tags": {"k": "\u{e9}\"\\", "n": 1, "b": false}
    });
    let one = item.to_string().into_bytes();
    let many = json!({"metrics": [item, item]}).to_string().into_bytes();
    for (path, whole) in [(ONE, one), (MANY, many)] {
        for end in 0..whole.len() {
            client.post_text(path, &whole[..end]).refused(400, "invalid_json");
        }
    }
    client.get("/api/v1/metrics/a").refused(404, "metric_not_found");
}

#[test]
fn a_body_that_is_not_a_json_object_is_refused() {
    let server = Server::start();
    let client = server.client();
    for body in [
        "",
        " ",
        "null",
        "true",
        "1",
        "\"x\"",
        "[]",
        "[{}]",
        "{",
        "}",
        "{]",
        "{}{}",
        "{},",
        "{} x",
        "\u{feff}{}",
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": 1,}",
        "{\"a\" 1}",
        "{\"a\": .5}",
        "{\"a\": 1.}",
        "{\"a\": 01}",
        "{\"a\": +1}",
        "{\"a\": 0x1}",
        "{\"a\": NaN}",
        "{\"a\": -Infinity}",
        "{\"a\": undefined}",
        "{\"a\": tru}",
        "{\"a\": \"\n\"}",
        "{\"a\": \"\\x\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"\\ud800\"}",
        "/* */ {}",
        "{} // x",
    ] {
        for path in [ONE, MANY] {
            client.post_text(path, body).refused(400, "invalid_json");
        }
    }
}

#[test]
fn invalid_utf8_is_refused() {
    let server = Server::start();
    let client = server.client();
    for bad in
        [&b"\xff"[..], b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"]
    {
        for (before, after) in [
            (&b"{\"name\":\"a"[..], &b"\",\"type\":\"gauge\",\"value\":1}"[..]),
            (b"{\"name\":\"a\",\"type\":\"gauge\",\"value\":1,\"x", b"\":1}"),
            (b"{\"name\":\"a\",\"type\":\"gauge\",\"value\":1}", b""),
        ] {
            client.post_text(ONE, [before, bad, after].concat()).refused(400, "invalid_json");
        }
    }
}

#[test]
fn nesting_depth_is_limited() {
    let server = Server::start();
    let client = server.client();
    for depth in [200, 5_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for path in [ONE, MANY] {
                let body = format!(
                    "{{\"name\":\"a\",\"type\":\"gauge\",\"value\":1,\"metrics\":[],\"x\":{deep}}}"
                );
                client.post_text(path, body).refused(400, "invalid_json");
                client.post_text(path, open.repeat(depth)).refused(400, "invalid_json");
            }
        }
    }
    let shallow = format!("{}1{}", "[".repeat(50), "]".repeat(50));
    let body = format!("{{\"name\":\"a\",\"type\":\"gauge\",\"value\":1,\"x\":{shallow}}}");
    client.post_text(ONE, body).data(201);
}

#[test]
fn a_duplicate_key_is_refused() {
    let server = Server::start();
    let client = server.client();
    for (twice, code) in [
        ("\"name\":\"a\",\"name\":\"b\",\"type\":\"gauge\",\"value\":1", "invalid_name"),
        ("\"name\":\"a\",\"type\":\"gauge\",\"type\":\"gauge\",\"value\":1", "invalid_type"),
        ("\"name\":\"a\",\"type\":\"gauge\",\"value\":1,\"value\":2", "invalid_value"),
        (
            "\"name\":\"a\",\"type\":\"gauge\",\"value\":1,\"tags\":{\"k\":\"1\",\"k\":\"2\"}",
            "invalid_tags",
        ),
    ] {
        let item = format!("{{{twice}}}");
        client.post_text(ONE, &item).refused(422, code);
        let data = client.post_text(MANY, format!("{{\"metrics\":[{item}]}}")).data(200);
        assert_eq!(data["errors"][0]["code"], code, "{data}");
    }
    client.post_text(MANY, "{\"metrics\":[],\"metrics\":[]}").refused(400, "invalid_json");
    client.get("/api/v1/metrics/a").refused(404, "metric_not_found");
}

#[test]
fn an_unexpected_body_is_ignored() {
    let server = Server::start();
    let client = server.client();
    let response =
        client.request("GET", ONE).header("content-type", "text/plain").body("}{").send();
    assert_eq!(response.status, 200, "{}", response.summary());
}
