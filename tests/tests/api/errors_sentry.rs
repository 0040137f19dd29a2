//! Requests of Sentry SDKs, byte by byte: keys, encodings, corruption, limits, and durable
//! acknowledgement.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, Setup, covers, eventually};

use crate::keys::{client_with, make, text};

const ID: &str = "9ec79c33ec9942ab8353589fcb2e04dc";

/// Creates a public key and returns its id.
#[track_caller]
pub(crate) fn public_key(client: &Client, limits: &Value) -> String {
    let body = json!({"name": "web", "user": "ops@example.com", "scopes": ["ingest"],
                      "limits": limits, "public_ingest": true});
    text(&client.post("/api/v1/keys", &body).data(201)["id"]).to_owned()
}

/// Returns the DSN of a public key.
pub(crate) fn dsn(server: &Server, key: &str) -> String {
    format!("http://{key}@{}/1", server.address())
}

/// Returns all errors, the last seen first.
#[track_caller]
pub(crate) fn all(client: &Client) -> Value {
    client.get("/api/v1/errors?limit=1000").data(200)
}

fn event(message: &str) -> String {
    json!({"message": message, "level": "error"}).to_string()
}

fn envelope(id: &str, message: &str) -> Vec<u8> {
    let event = event(message);
    let length = event.len();
    format!("{{\"event_id\":\"{id}\"}}\n{{\"type\":\"event\",\"length\":{length}}}\n{event}\n")
        .into()
}

fn auth(key: &str) -> String {
    format!("Sentry sentry_key={key}, sentry_version=7, sentry_client=test/1")
}

/// Sends an envelope with a key in the header.
#[track_caller]
fn send(client: &Client, key: &str, body: impl Into<Vec<u8>>) -> Response {
    let open = client.without_key();
    let request = open.request("POST", "/api/1/envelope/").header("x-sentry-auth", auth(key));
    request.header("content-type", "application/x-sentry-envelope").body(body).send()
}

#[test]
fn every_path_of_the_protocol_accepts_an_event() {
    covers!("POST /api/{project}/envelope/", Happy);
    covers!("POST /api/{project}/envelope", Happy);
    covers!("POST /api/{project}/store/", Happy);
    covers!("POST /api/{project}/store", Happy);
    let server = Server::start();
    let client = server.client();
    for path in ["/api/1/envelope/", "/api/2/envelope"] {
        let response = client.request("POST", path).body(envelope(ID, "m")).send().expect(200);
        assert_eq!(response, json!({ "id": ID }));
    }
    for path in ["/api/1/store/", "/api/1/store"] {
        let response = client.request("POST", path).body(event("m")).send().expect(200);
        assert_eq!(response["id"].as_str().map(str::len), Some(32), "{response}");
    }
    assert_eq!(all(&client)[0]["occurrences"], 4);
}

#[test]
fn every_path_of_the_protocol_refuses_invalid_bodies() {
    covers!("POST /api/{project}/envelope/", Refusal);
    covers!("POST /api/{project}/envelope", Refusal);
    covers!("POST /api/{project}/store/", Refusal);
    covers!("POST /api/{project}/store", Refusal);
    let server = Server::start();
    let client = server.client();
    for path in ["/api/1/envelope/", "/api/1/envelope", "/api/1/store/", "/api/1/store"] {
        client.request("POST", path).body("nonsense").send().refused(400, "invalid_json");
        client.request("POST", path).body("").send().refused(400, "invalid_json");
    }
    client.request("POST", "/api/one/envelope/").body("{}").send().refused(404, "not_found");
    let long = format!("/api/{}/envelope/", "9".repeat(30));
    client.request("POST", &long).body("{}").send().refused(404, "not_found");
}

#[test]
fn keys_are_accepted_wherever_sdks_put_them() {
    let server = Server::start();
    let client = server.client();
    let open = client.without_key();
    let public = public_key(&client, &json!({}));
    let secret = make(&client, json!(["ingest"]), json!({}));
    let (id, whole) = (text(&secret["id"]), text(&secret["key"]));
    let hidden = whole.rsplit('_').next().unwrap_or_default();
    let with_dsn = |dsn: &str| {
        let head = json!({ "dsn": dsn }).to_string();
        format!("{head}\n{{\"type\":\"event\"}}\n{}\n", event("m"))
    };
    let post = |path: &str, header: &str, body: String| {
        let mut request = open.request("POST", path);
        if !header.is_empty() {
            request = request.header("x-sentry-auth", header);
        }
        request.body(body).send().status
    };
    let (path, plain) = ("/api/1/envelope/", || with_dsn(""));
    let own = |key: &str| format!("http://{key}@localhost/1");
    for (path, header, body, status) in [
        (path.to_owned(), auth(&public), plain(), 200),
        (format!("{path}?sentry_version=7&sentry_key={public}"), String::new(), plain(), 200),
        (path.to_owned(), String::new(), with_dsn(&own(&public)), 200),
        (path.to_owned(), auth(&public), with_dsn(&own(&public)), 200),
        (path.to_owned(), format!("{}, sentry_secret={hidden}", auth(id)), plain(), 200),
        (path.to_owned(), String::new(), with_dsn(&own(&format!("{id}:{hidden}"))), 200),
        // A secret key needs its secret, and several given keys must agree.
        (path.to_owned(), auth(id), plain(), 401),
        (path.to_owned(), format!("{}, sentry_secret=x", auth(id)), plain(), 401),
        (path.to_owned(), auth(&public), with_dsn(&own(id)), 401),
        (format!("{path}?sentry_key={id}"), auth(&public), plain(), 401),
        (path.to_owned(), auth("nobody12345"), plain(), 401),
        (path.to_owned(), String::new(), plain(), 401),
        (path.to_owned(), String::new(), "nonsense".to_owned(), 401),
    ] {
        let reported = format!("{path} {header} {body}");
        assert_eq!(post(&path, &header, body), status, "{reported}");
    }
    assert_eq!(all(&client)[0]["occurrences"], 6);
    let reader = client_with(&client, json!(["read"]));
    reader.request("POST", path).body(plain()).send().refused(403, "forbidden");
    // A public key can send, and nothing else.
    client.with_key(&public).get("/api/v1/errors").refused(401, "unauthorized");
}

#[test]
fn a_key_in_the_body_is_a_key_like_any_other() {
    let server = Setup::new().set("log.level", "\"debug\"").start();
    let client = server.client();
    let open = client.without_key();
    let post = |key: &str| {
        let head = json!({"dsn": dsn(&server, key)});
        let body = format!("{head}\n{{\"type\":\"event\"}}\n{}\n", event("m"));
        let request = open.request("POST", "/api/1/envelope/").header("idempotency-key", "once");
        request.body(body).send()
    };
    // An unauthenticated client cannot use an idempotency key, and keys of different clients are
    // distinct.
    post("nobody12345").refused(401, "unauthorized");
    for _ in 0..2 {
        let key = public_key(&client, &json!({"single": 9}));
        let first = post(&key);
        assert_eq!(first.status, 200);
        assert_eq!(first.must_header("ratelimit-limit"), "9");
        assert_eq!(first.must_header("ratelimit-remaining"), "8");
        assert_eq!(first.header("idempotency-replayed"), None);
        let again = post(&key);
        assert_eq!(again.must_header("idempotency-replayed"), "true");
        assert_eq!(again.expect(200), first.expect(200));
        eventually("the key in the log", || {
            let is_logged = |line: &String| line.contains(&key) && line.contains("/envelope/");
            server.log().iter().any(is_logged).then_some(())
        });
    }
    assert_eq!(all(&client)[0]["occurrences"], 2);
}

fn packed(mut encoder: impl Write, body: &[u8]) {
    assert!(encoder.write_all(body).is_ok());
}

#[test]
fn bodies_are_accepted_in_every_encoding() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    let open = client.without_key();
    let body = envelope(ID, "m");
    let (mut gzip, mut zlib, mut deflate) = (Vec::new(), Vec::new(), Vec::new());
    packed(GzEncoder::new(&mut gzip, Compression::best()), &body);
    packed(ZlibEncoder::new(&mut zlib, Compression::best()), &body);
    packed(DeflateEncoder::new(&mut deflate, Compression::best()), &body);
    let Ok(zstd) = zstd::encode_all(body.as_slice(), 3) else { panic!("zstd packs") };
    let packings = [
        ("gzip", &gzip),
        ("x-gzip", &gzip),
        ("deflate", &zlib),
        ("deflate", &deflate),
        ("zstd", &zstd),
        ("identity", &body),
    ];
    for (project, (encoding, bytes)) in packings.iter().enumerate() {
        let path = format!("/api/{project}/envelope/");
        let request = open.request("POST", &path).header("x-sentry-auth", auth(&key));
        let request = request.header("content-encoding", encoding);
        assert_eq!(request.body(bytes.as_slice()).send().status, 200, "{encoding}");
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        let request = open.request("POST", &path).header("x-sentry-auth", auth(&key));
        let request = request.header("content-encoding", encoding);
        assert_eq!(request.body(half).send().status, 400, "half of {encoding}");
    }
    assert_eq!(all(&client)[0]["occurrences"], packings.len());
    let request = open.request("POST", "/api/1/envelope/").header("x-sentry-auth", auth(&key));
    let request = request.header("content-encoding", "compress");
    request.body(body.clone()).send().refused(415, "unsupported_media_type");
    // Brotli is accepted on the routes of the SDKs only.
    let request = client.request("POST", "/api/v1/errors").header("content-encoding", "br");
    request.body(body).send().refused(415, "unsupported_media_type");
}

#[test]
fn an_envelope_truncated_anywhere_is_accepted_or_refused() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    let whole = envelope(ID, "cut");
    for cut in 0..whole.len() {
        let response = send(&client, &key, whole.get(..cut).unwrap_or_default());
        // Without the final line feed it is complete.
        let expected = cut == whole.len() - 1;
        assert!(matches!(response.status, 200 | 400), "cut at {cut}: {}", response.summary());
        assert_eq!(all(&client) != json!([]), expected, "cut at {cut}");
    }
    assert_eq!(send(&client, &key, whole).expect(200), json!({ "id": ID }));
    assert_eq!(all(&client)[0]["occurrences"], 1, "the same id is one occurrence");
}

#[test]
fn a_decompression_bomb_is_refused_and_the_next_event_is_accepted() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    let mut bomb = Vec::new();
    packed(GzEncoder::new(&mut bomb, Compression::best()), &vec![b'a'; 256 << 20]);
    let open = client.without_key();
    for encoding in ["gzip", "deflate"] {
        let mut bytes = bomb.clone();
        if encoding == "deflate" {
            bytes.clear();
            packed(ZlibEncoder::new(&mut bytes, Compression::best()), &vec![b'a'; 256 << 20]);
        }
        let request = open.request("POST", "/api/1/envelope/").header("x-sentry-auth", auth(&key));
        let request = request.header("content-encoding", encoding);
        request.body(bytes).send().refused(413, "payload_too_large");
    }
    let large = envelope(ID, &"x".repeat(2 << 20));
    send(&client, &key, large).refused(413, "payload_too_large");
    assert_eq!(send(&client, &key, envelope(ID, "m")).status, 200);
}

#[test]
fn of_hostile_events_the_valid_fields_are_stored() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let strange = [
        r#"{"message":"\u0000\u202e<script>alert(1)</script>","tags":{"\u0000":"x"}}"#.to_owned(),
        r#"{"message":{"formatted":["x"]},"exception":{"values":{"a":1}},"user":7,"tags":"x"}"#.to_owned(),
        format!(r#"{{"message":"deep","extra":{deep},"contexts":{{"a":{deep}}}}}"#),
        r#"{"message":"numbers","extra":{"a":1e999,"b":-1e-999,"c":123456789012345678901234567890}}"#.to_owned(),
        r#"{"message":"half \ud800 a character"}"#.to_owned(),
        r#"{"message":"twice","message":"twice"}"#.to_owned(),
        "{\"message\":\"no \\u00e9 utf8 \"}".to_owned(),
        "[]".to_owned(),
        "7".to_owned(),
    ];
    for event in &strange {
        let response = send(&client, &key, format!("{{}}\n{{\"type\":\"event\"}}\n{event}\n"));
        assert_eq!(response.status, 200, "{event}: {}", response.summary());
    }
    let Value::Array(errors) = all(&client) else { panic!("a list") };
    for error in &errors {
        let path = format!("/api/v1/errors/{}", text(&error["id"]));
        client.get(&path).data(200);
        client.get(&format!("{path}/events")).data(200);
    }
    assert!(errors.len() >= 6, "{errors:?}");
}

#[test]
fn an_acknowledged_event_is_durable() {
    let mut server = Setup::new().start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    for round in 1..=3_u64 {
        let id = format!("{round:032x}");
        assert_eq!(send(&server.client(), &key, envelope(&id, "kept")).status, 200);
        server.kill9();
        server.restart();
        let client = server.client();
        assert_eq!(all(&client)[0]["occurrences"], round);
        // Repeated because the response was lost: same response, not counted again.
        assert_eq!(send(&client, &key, envelope(&id, "kept")).expect(200), json!({ "id": id }));
        assert_eq!(all(&client)[0]["occurrences"], round);
    }
    server.terminate();
    server.restart();
    assert_eq!(all(&server.client())[0]["occurrences"], 3);
}

#[test]
fn above_the_quota_sdks_get_a_retry_time() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({"single": 2}));
    for _ in 0..2 {
        assert_eq!(send(&client, &key, envelope(ID, "m")).status, 200);
    }
    let in_body = json!({"dsn": dsn(&server, &key)});
    let in_body = format!("{in_body}\n{{\"type\":\"event\"}}\n{}\n", event("m"));
    let open = client.without_key();
    let refused = [
        send(&client, &key, envelope(ID, "m")),
        open.request("POST", "/api/1/envelope/").body(in_body).send(),
    ];
    for response in refused {
        response.refused(429, "rate_limited");
        let seconds = response.must_header("retry-after");
        assert_eq!(response.must_header("x-sentry-rate-limits"), format!("{seconds}::key"));
        assert_eq!(response.must_header("access-control-allow-origin"), "*");
    }
}

#[test]
fn unsupported_items_are_reported_and_not_counted() {
    let server = Server::start();
    let client = server.client();
    let key = public_key(&client, &json!({"single": 2}));
    let items = ["transaction", "session", "check_in", "profile", "client_report"];
    let items: String =
        items.iter().map(|kind| format!("{{\"type\":\"{kind}\"}}\n{{}}\n")).collect();
    for _ in 0..10 {
        let response = send(&client, &key, format!("{{\"event_id\":\"{ID}\"}}\n{items}"));
        assert_eq!(response.expect(200), json!({ "id": ID }));
    }
    assert_eq!(all(&client), json!([]));
    for left in ["1", "0"] {
        let beside = format!("{{}}\n{items}{{\"type\":\"event\"}}\n{}\n", event("m"));
        let response = send(&client, &key, beside);
        assert_eq!((response.status, response.must_header("ratelimit-remaining")), (200, left));
        let limits = response.must_header("x-sentry-rate-limits");
        let parts: Vec<&str> = limits.split(':').collect();
        let [seconds, categories, scope, _reason] = parts.as_slice() else { panic!("{limits}") };
        assert!(seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0), "{limits}");
        assert_eq!(*scope, "organization");
        let categories: Vec<&str> = categories.split(';').collect();
        for named in ["transaction", "session", "monitor", "span", "attachment", "replay"] {
            assert!(categories.contains(&named), "{named} in {limits}");
        }
        assert!(!categories.iter().any(|it| ["", "error", "default"].contains(it)), "{limits}");
    }
    send(&client, &key, envelope(ID, "m")).refused(429, "rate_limited");
    // A corrupt item counts like an event.
    let other = public_key(&client, &json!({"single": 1}));
    send(&client, &other, "nonsense").refused(400, "invalid_json");
    send(&client, &other, envelope(ID, "m")).refused(429, "rate_limited");
}

#[test]
fn a_large_attachment_does_not_affect_the_event_beside_it() {
    // The limit for all bodies together is much smaller than the attachment.
    let server = Setup::new().set("bodies.in_flight", "\"8MiB\"").start();
    let client = server.client();
    let key = public_key(&client, &json!({}));
    let attachment = vec![b'x'; 40 << 20];
    let with_attachment = |message: &str, length: usize| {
        let event = event(message);
        let mut body =
            format!("{{}}\n{{\"type\":\"attachment\",\"length\":{length}}}\n").into_bytes();
        body.extend_from_slice(&attachment);
        let of_event = event.len();
        body.extend(
            format!("\n{{\"type\":\"event\",\"length\":{of_event}}}\n{event}\n").into_bytes(),
        );
        body
    };
    let plain = with_attachment("plain", attachment.len());
    assert_eq!(send(&client, &key, plain.as_slice()).status, 200);
    let (mut gzip, mut zlib) = (Vec::new(), Vec::new());
    packed(GzEncoder::new(&mut gzip, Compression::fast()), &plain);
    packed(ZlibEncoder::new(&mut zlib, Compression::fast()), &plain);
    let open = client.without_key();
    for (encoding, bytes) in [("gzip", gzip), ("deflate", zlib)] {
        let request = open.request("POST", "/api/1/envelope/").header("x-sentry-auth", auth(&key));
        let response = request.header("content-encoding", encoding).body(bytes).send();
        assert_eq!(response.status, 200, "{encoding}: {}", response.summary());
    }
    assert_eq!(all(&client)[0]["occurrences"], 3);
    // An item whose length is wrong makes the envelope invalid.
    for length in [attachment.len() - 1, attachment.len() + 1] {
        let damaged = with_attachment("damaged", length);
        send(&client, &key, damaged).refused(400, "invalid_json");
    }
    assert_eq!(all(&client).as_array().map(Vec::len), Some(1));
}

#[test]
fn browsers_may_send_requests() {
    let server = Server::start();
    let open = server.client().without_key();
    for path in ["/api/1/envelope/", "/api/1/store"] {
        let response =
            open.request("OPTIONS", path).header("origin", "https://shop.example").send();
        assert_eq!(response.status, 204);
        assert_eq!(response.must_header("access-control-allow-origin"), "*");
        assert!(response.must_header("access-control-allow-methods").contains("POST"));
        assert!(response.must_header("access-control-allow-headers").contains("X-Sentry-Auth"));
        assert_eq!(response.must_header("access-control-max-age"), "3600");
    }
    let refused = open.request("POST", "/api/1/envelope/").body("{}").send();
    refused.refused(401, "unauthorized");
    assert_eq!(refused.must_header("access-control-allow-origin"), "*");
}
