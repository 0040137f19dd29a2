//! The line protocol of InfluxDB: `POST /api/v1/influx/write`.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, DAY_MS, HOUR_MS, Response, Server, Setup, covers, same};

use crate::points::{T0, definitions, pairs, query_metric, send};

const PATH: &str = "/api/v1/influx/write";

fn write_to(client: &Client, path: &str, lines: impl AsRef<[u8]>) -> Response {
    client.request("POST", path).body(lines.as_ref()).send()
}

#[track_caller]
fn written(client: &Client, path: &str, lines: impl AsRef<[u8]>) {
    let response = write_to(client, path, lines);
    assert_eq!((response.status, response.body.len()), (204, 0), "{}", response.summary());
    assert!(response.header("x-request-id").is_some());
    assert_eq!(response.header("content-type"), None, "there is no body");
}

/// Returns the details of a refusal of lines.
#[track_caller]
fn partial(response: &Response) -> Value {
    response.refused(400, "invalid_parameter")["details"].clone()
}

/// Returns the samples of a metric within an hour of [`T0`], one per minute.
#[track_caller]
fn values(client: &Client, metric: &str, rest: &str) -> Vec<(i64, f64)> {
    let rest = format!("&interval=1m&aggregation=last{rest}");
    pairs(&query_metric(client, metric, T0, T0 + HOUR_MS, &rest).data(200)["series"])
}

#[track_caller]
fn points_of(client: &Client, metric: &str) -> u64 {
    let definition = client.get(&format!("/api/v1/metrics/{metric}")).data(200);
    definition["data_points"].as_u64().unwrap_or(0)
}

#[test]
fn lines_become_gauges() {
    covers!("POST /api/v1/influx/write", Happy);
    let server = Server::start();
    let client = server.client();
    let lines = format!(
        "# two hosts\ncpu,host=a,dc=eu usage=1.5,idle=98i,up=true {T0}000000\n\n\
         cpu,dc=eu,host=a usage=2.5 {}000000\r\ncpu,host=b usage=7 {T0}000000\n\
         load value=0.25 {T0}000000\nlog,host=a text=\"a \\\"b\\\"\nc\",lines=2u {T0}000000",
        T0 + 60_000
    );
    written(&client, PATH, lines);
    assert_eq!(values(&client, "cpu.usage", "&tags[host]=a"), [(0, 1.5), (60_000, 2.5)]);
    assert_eq!(values(&client, "cpu.usage", "&tags[host]=b"), [(0, 7.0)]);
    assert_eq!(values(&client, "cpu.idle", "&tags[dc]=eu"), [(0, 98.0)]);
    assert_eq!(values(&client, "cpu.up", ""), [(0, 1.0)]);
    assert_eq!(values(&client, "load", ""), [(0, 0.25)]);
    assert_eq!(values(&client, "log.lines", ""), [(0, 2.0)]);
    let all: Vec<Value> =
        definitions(&client).iter().map(|d| json!([d["name"], d["type"]])).collect();
    let names = ["cpu.idle", "cpu.up", "cpu.usage", "load", "log.lines"];
    assert_eq!(all, names.map(|name| json!([name, "gauge"])));
}

#[test]
fn clients_of_version_2_use_their_own_path() {
    covers!("POST /api/v1/influx/api/v2/write", Happy);
    covers!("POST /api/v1/influx/api/v2/write", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = "/api/v1/influx/api/v2/write?bucket=b&org=o";
    written(&client, path, format!("a value=1 {T0}000000"));
    written(&client, &format!("{path}&precision=s"), format!("a value=2 {}", T0 / 1_000 + 60));
    assert_eq!(values(&client, "a", ""), [(0, 1.0), (60_000, 2.0)]);
    for unit in ["n", "u", "m", "h", "S", "fortnights"] {
        let response = write_to(&client, &format!("{path}&precision={unit}"), "a value=1");
        response.refused_for(400, "invalid_parameter", "precision");
    }
}

#[test]
fn clients_can_check_availability() {
    covers!("GET /api/v1/influx/ping", Happy);
    covers!("GET /api/v1/influx/health", Happy);
    let server = Server::start();
    let client = server.client().without_key();
    let path = "/api/v1/influx/ping";
    for response in [client.get(path), client.request("HEAD", path).send()] {
        assert_eq!((response.status, response.body.len()), (204, 0), "{}", response.summary());
        assert!(response.must_header("x-influxdb-version").starts_with("telltale-"));
        assert_eq!(response.header("content-length"), None, "204 has no length");
    }
    let health = client.get("/api/v1/influx/health").expect(200);
    assert_eq!((&health["status"], &health["name"]), (&json!("pass"), &json!("telltale")));
}

#[test]
fn timestamps_are_in_the_given_unit() {
    covers!("POST /api/v1/influx/write", Refusal);
    let server = Server::start();
    let client = server.client();
    let hour = T0 - T0 % HOUR_MS;
    for (unit, time) in [
        ("n", format!("{hour}999999")),
        ("ns", format!("{hour}000000")),
        ("u", format!("{hour}999")),
        ("us", format!("{hour}000")),
        ("ms", hour.to_string()),
        ("s", (hour / 1_000).to_string()),
        ("m", (hour / 60_000).to_string()),
        ("h", (hour / HOUR_MS).to_string()),
    ] {
        written(
            &client,
            &format!("{PATH}?db=d&precision={unit}"),
            format!("{unit} value=1 {time}"),
        );
        assert_eq!(values(&client, unit, ""), [(0, 1.0)], "{unit}");
    }
    for unit in ["x", "N", "Ms", "1", "ns,ms"] {
        let response = write_to(&client, &format!("{PATH}?precision={unit}"), "a value=1");
        response.refused_for(400, "invalid_parameter", "precision");
    }
    let before = telltale_tests::now_ms();
    written(&client, PATH, "now value=1");
    let definition = client.get("/api/v1/metrics/now").data(200);
    let at = telltale_tests::parse_iso(definition["last_seen"].as_str().unwrap_or_default());
    assert!((before..=telltale_tests::now_ms()).contains(&at), "{definition}");
}

#[test]
fn valid_lines_are_stored_and_invalid_ones_reported_by_number() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[crate::points::point("cpu.hits", "counter", T0, 1, json!({}))]);
    let bad: [(&[u8], &str); 22] = [
        (b"cpu,host=a", "missing_field"),
        (b",host=a value=1", "missing_name"),
        (b"cpu, value=1", "invalid_tags"),
        (b"cpu,host= value=1", "invalid_tags"),
        (b"cpu,=a value=1", "invalid_tags"),
        (b"cpu,a=1,a=2 value=1", "invalid_tags"),
        (b"cpu,host=a=b value=1", "invalid_tags"),
        (b"cpu value", "invalid_field"),
        (b"cpu =1", "invalid_field"),
        (b"cpu value=1,", "invalid_field"),
        (b"cpu value=", "invalid_field"),
        (b"cpu value=NaN", "invalid_value"),
        (b"cpu value=-inf", "invalid_value"),
        (b"cpu value=1e999", "invalid_value"),
        (b"cpu value=9223372036854775808i", "invalid_value"),
        (b"cpu value=yes", "invalid_value"),
        (b"cpu value=1 1.5", "invalid_timestamp"),
        (b"cpu value=1 -1", "invalid_timestamp"),
        (b"cpu value=1 9223372036854775807", "invalid_timestamp"),
        (b"cpu hits=1,value=2", "type_conflict"),
        (b"c\x07pu value=1", "invalid_name"),
        (b"cpu,host=\xff value=1", "invalid_parameter"),
    ];
    let mut body = Vec::new();
    for ((line, _), n) in bad.iter().zip(T0..) {
        body.extend_from_slice(format!("good value=1 {n}000000\n").as_bytes());
        body.extend_from_slice(line);
        body.push(b'\n');
    }
    body.extend_from_slice(b"cpu text=\"never closed\n");
    body.extend_from_slice(format!("last value=1 {T0}000000").as_bytes());
    let details = partial(&write_to(&client, PATH, &body));
    let reported: Vec<Value> = details["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| {
            assert!(error["message"].as_str().is_some_and(|m| !m.is_empty()), "{error}");
            json!([error["line"], error["code"]])
        })
        .collect();
    let mut expected: Vec<Value> =
        bad.iter().zip(1..).map(|((_, code), n)| json!([2 * n, code])).collect();
    expected.push(json!([45, "invalid_value"]));
    assert_eq!(reported, expected);
    assert_eq!((&details["accepted"], &details["rejected"]), (&json!(23), &json!(23)));
    assert_eq!(points_of(&client, "good"), 22);
    assert_eq!(values(&client, "last", ""), [(0, 1.0)]);
    let names: Vec<Value> = definitions(&client).iter().map(|d| d["name"].clone()).collect();
    assert_eq!(names, ["cpu.hits", "good", "last"], "nothing of a bad line is taken");
}

#[test]
fn a_partial_write_reports_what_was_rejected() {
    let server = Server::start();
    let client = server.client();
    let mut lines: Vec<String> =
        (0..500).map(|i| format!("a,n={i} value={i} {T0}000000")).collect();
    for at in [6, 100, 499] {
        lines[at] = "a value=1,s=\"x\" yesterday".to_owned();
    }
    let error = write_to(&client, PATH, lines.join("\n")).refused(400, "invalid_parameter");
    let message =
        "partial write: 3 of 500 lines rejected; line 7: the timestamp must be an integer";
    assert!(error["message"].as_str().is_some_and(|m| m.starts_with(message)), "{error}");
    assert_eq!(points_of(&client, "a"), 497);
    // String fields alone are not an error, and are reported together with one.
    let mixed = format!("b s=\"x\",value=1 {T0}000000\nb t=\"y\"\nb value=");
    let details = partial(&write_to(&client, PATH, mixed));
    same(&details["skipped"], &json!({"string_fields": 2}));
    same(&json!([details["accepted"], details["rejected"]]), &json!([2, 1]));
    written(&client, PATH, "c s=\"x\",t=\"y\"");
    client.get("/api/v1/metrics/c.s").refused(404, "metric_not_found");
    // Of many bad lines the first fifty are reported.
    let details = partial(&write_to(&client, PATH, "x\n".repeat(60)));
    assert_eq!((&details["accepted"], &details["rejected"]), (&json!(0), &json!(60)));
    let lines: Vec<u64> = details["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|e| e["line"].as_u64())
        .collect();
    assert_eq!(lines, (1..=50).collect::<Vec<u64>>());
}

#[test]
fn messages_are_short_for_any_input() {
    let server = Server::start();
    let long = "k".repeat(500_000);
    let response = write_to(&server.client(), PATH, format!("cpu {long}=x\ncpu,{long}=1 value=1"));
    assert!(response.body.len() < 2_000, "{} bytes", response.body.len());
    assert_eq!(partial(&response)["rejected"], 2);
}

#[test]
fn an_empty_body_stores_nothing() {
    let server = Server::start();
    let client = server.client();
    for body in ["", "\n", "# nothing\n", "\r\n\r\n"] {
        written(&client, PATH, body);
    }
    assert_eq!(definitions(&client).len(), 0);
}

#[test]
fn bodies_may_be_compressed_and_of_any_media_type() {
    let server = Server::start();
    let client = server.client();
    let lines = |from: i64| -> String {
        (from..from + 1_000)
            .map(|i| format!("a,n={} value={i} {}000000\n", i % 10, T0 + i))
            .collect()
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    assert!(gzip.write_all(lines(0).as_bytes()).is_ok());
    assert!(zlib.write_all(lines(1_000).as_bytes()).is_ok());
    for (i, (encoding, kind, body)) in [
        ("gzip", "text/plain; charset=utf-8", gzip.finish().unwrap_or_default()),
        ("deflate", "application/octet-stream", zlib.finish().unwrap_or_default()),
        (
            "zstd",
            "application/json",
            zstd::encode_all(lines(2_000).as_bytes(), 1).unwrap_or_default(),
        ),
        ("identity", "x", lines(3_000).into_bytes()),
    ]
    .into_iter()
    .enumerate()
    {
        let path = format!("{PATH}?round={i}");
        let request = client.request("POST", &path).header("content-encoding", encoding);
        let response = request.header("content-type", kind).body(body).send();
        assert_eq!(response.status, 204, "{encoding}: {}", response.summary());
    }
    assert_eq!(points_of(&client, "a"), 4_000);
    let request = client.request("POST", PATH).header("content-encoding", "snappy");
    request.body(lines(0)).send().refused(415, "unsupported_media_type");
}

#[test]
fn a_body_may_have_a_hundred_thousand_lines() {
    let server = Server::start();
    let client = server.client();
    let mut lines = String::new();
    for i in 0..100_000_i64 {
        let (host, time) = (i % 1_000, T0 + i / 1_000 * 10_000);
        assert!(
            writeln!(lines, "cpu,host=h{host},dc=eu usage={}.5,n={i}i {time}", i % 100).is_ok()
        );
    }
    written(&client, &format!("{PATH}?precision=ms"), &lines);
    assert_eq!(points_of(&client, "cpu.usage"), 100_000);
    let response = query_metric(
        &client,
        "cpu.n",
        T0,
        T0 + DAY_MS,
        "&interval=1d&aggregation=max&tags[host]=h7",
    );
    assert_eq!(pairs(&response.data(200)["series"]), [(0, 99_007.0)]);
}

#[test]
fn a_body_above_the_write_limit_is_several_writes() {
    let server = Server::start();
    let client = server.client();
    let points = (1 << 20) + 1_000_i64;
    let mut lines = String::new();
    for i in 0..points {
        assert!(writeln!(lines, "m value={} {}", i % 10, T0 + i).is_ok());
    }
    lines.push_str("m value=");
    let once = |body: &str| {
        let request = client.request("POST", "/api/v1/influx/write?precision=ms");
        request.header("idempotency-key", "large").body(body).send()
    };
    let first = once(&lines);
    let details = partial(&first);
    same(&json!([details["accepted"], details["rejected"]]), &json!([points, 1]));
    assert_eq!(points_of(&client, "m"), points as u64);
    // The response of a partial write is as final as any other.
    let again = once(&lines);
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    once("m value=1").refused(409, "conflict");
}

#[test]
fn a_repeated_write_has_one_receive_time() {
    let server = Server::start();
    let client = server.client();
    for _ in 0..3 {
        let request = client.request("POST", PATH).header("idempotency-key", "k");
        assert_eq!(request.body("a value=1").send().status, 204);
    }
    assert_eq!(points_of(&client, "a"), 1);
}

#[test]
fn bodies_and_lines_have_limits() {
    let server = Setup::new().set("bodies.bulk", "\"3MiB\"").start();
    let client = server.client();
    let comment = format!("#{}\n", "x".repeat((3 << 20) - 2));
    written(&client, PATH, &comment);
    write_to(&client, PATH, format!("{comment}\n")).refused(413, "payload_too_large");
    let line = |bytes: usize| format!("a,k=v s=\"{}\"\nb value=1 {T0}000000\n", "x".repeat(bytes));
    written(&client, PATH, line(1_000_000));
    let details = partial(&write_to(&client, PATH, line((1 << 20) + 1)));
    assert_eq!((&details["accepted"], &details["errors"][0]["line"]), (&json!(1), &json!(1)));
    assert_eq!(details["errors"][0]["code"], "invalid_parameter");
}

#[test]
fn keys_are_accepted_in_the_forms_that_agents_send() {
    let server = Server::start();
    let client = server.client();
    // "agent" and the admin key, in base64.
    let basic = "Basic YWdlbnQ6dHRfdGVzdGFkbWluXzAxMjM0NTY3ODlhYmNkZWZnaGlqQUJDREVGR0hJSjAxMjM0NTY3ODlhYmM=";
    let keyless = client.without_key();
    let with = |header: &str| {
        let request = keyless.request("POST", PATH).header("authorization", header);
        request.body("a value=1").send()
    };
    for header in [
        &format!("Token {ADMIN_KEY}"),
        &format!("token {ADMIN_KEY}"),
        &format!("Bearer {ADMIN_KEY}"),
        basic,
        &basic.replace("Basic", "basic"),
    ] {
        assert_eq!(with(header).status, 204, "{header}");
    }
    for header in ["Token", "Token x", "Basic YWdlbnQ6eA==", "Basic YWdlbnQ=", "Basic !", ADMIN_KEY]
    {
        with(header).refused(401, "unauthorized");
    }
    // A key in the URL would appear in logs.
    let path = format!("{PATH}?u=agent&p={ADMIN_KEY}");
    write_to(&keyless, &path, "a value=1").refused(401, "unauthorized");
    assert!(server.log().iter().all(|line| !line.contains("0123456789abcdefghij")));
}

#[test]
fn acknowledged_lines_survive_a_kill() {
    let mut server = Server::start();
    let client = server.client();
    for part in 0..20 {
        let lines: String = (0..500)
            .map(|i| format!("kept,host=h{i} value={part} {}\n", T0 + part * 1_000))
            .collect();
        written(&client, &format!("{PATH}?precision=ms"), lines);
    }
    server.kill9();
    server.restart();
    assert_eq!(points_of(&server.client(), "kept"), 10_000);
    written(&server.client(), PATH, format!("kept,host=h1 value=9 {T0}000000"));
    let definition =
        server.client().get("/api/v1/metrics/kept/tags/host/values?limit=1000").data(200);
    assert_eq!(definition.as_array().map(Vec::len), Some(500), "no series was made twice");
}
