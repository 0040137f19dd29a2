//! Metrics as NDJSON: `POST /api/v1/import`.

use std::fmt::Write as _;

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, Setup, covers, iso, same};

use crate::points::{T0, definitions, gauge, point, total};

const PATH: &str = "/api/v1/import";

fn import(client: &Client, body: impl AsRef<[u8]>) -> Response {
    let request = client.request("POST", PATH).header("content-type", "application/x-ndjson");
    request.body(body.as_ref()).send()
}

#[test]
fn every_line_is_a_metric() {
    covers!("POST /api/v1/import", Happy);
    let server = Server::start();
    let client = server.client();
    let lines = [
        gauge("a", T0, 1.5),
        point("b", "counter", T0, 2, json!({"k": 1})),
        point("c", "distribution", T0, 3, json!({})),
        point("d", "set", T0, "é", json!({})),
    ];
    let body = lines.map(|line| line.to_string()).join("\r\n") + "\n\n  \n";
    same(&import(&client, &body).data(200), &json!({"accepted": 4, "rejected": 0}));
    let kinds: Vec<Value> = definitions(&client).iter().map(|d| d["type"].clone()).collect();
    assert_eq!(kinds, ["gauge", "counter", "distribution", "set"]);
    same(&import(&client, "").data(200), &json!({"accepted": 0, "rejected": 0}));
}

#[test]
fn invalid_lines_are_reported_and_the_others_stored() {
    let server = Server::start();
    let client = server.client();
    let good = point("hits", "counter", T0, 1, json!({})).to_string();
    let bad = [
        "",
        "not json",
        "{\"name\": \"hits\"",
        "[]",
        "1",
        "{}",
        r#"{"name": "hits", "type": "gauge", "value": 1}"#,
        r#"{"name": "hits", "type": "counter", "value": "1"}"#,
        r#"{"name": "hits", "type": "counter", "value": 1e999}"#,
        r#"{"name": "hits", "type": "counter", "value": 1, "timestamp": "soon"}"#,
        r#"{"name": "hits", "type": "counter", "value": 1, "tags": []}"#,
        r#"{"name": "hits", "type": "counter", "value": 1} {}"#,
    ];
    let body: String = bad.iter().map(|line| format!("{good}\n{line}\n")).collect();
    let data = import(&client, body.as_bytes()).data(200);
    same(&json!([data["accepted"], data["rejected"]]), &json!([12, 11]));
    let reported: Vec<Value> = data["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| json!([error["index"], error["line"], error["code"]]))
        .collect();
    let codes = [
        "invalid_json",
        "invalid_json",
        "invalid_json",
        "invalid_json",
        "missing_name",
        "type_conflict",
        "invalid_value",
        "invalid_value",
        "invalid_timestamp",
        "invalid_tags",
        "invalid_json",
    ];
    // The empty line is not an item, so line numbers are greater than item numbers after it.
    let expected: Vec<Value> =
        codes.iter().zip(1..).map(|(code, n)| json!([2 * n, 2 * n + 2, code])).collect();
    assert_eq!(reported, expected);
    assert_eq!(total(&client, "hits", T0, T0 + 1_000), 12.0);
    let odd = [b"\xff\n{\"name\": \"\xff\"}\n", good.as_bytes()].concat();
    same(&import(&client, odd).data(200)["rejected"], &json!(2));
    let many = import(&client, "x\n".repeat(60)).data(200);
    assert_eq!(
        (&many["rejected"], many["errors"].as_array().map(Vec::len)),
        (&json!(60), Some(50))
    );
}

#[test]
fn a_body_may_have_any_number_of_lines_and_be_repeated() {
    let server = Server::start();
    let client = server.client();
    let mut body = String::new();
    for i in 0..50_000_i64 {
        let (time, host) = (iso(T0 + i), i % 100);
        let line = format!(
            r#"{{"name":"hits","type":"counter","value":1,"timestamp":"{time}","tags":{{"host":{host}}}}}"#
        );
        assert!(writeln!(body, "{line}").is_ok());
    }
    for _ in 0..2 {
        let request = client.request("POST", PATH).header("idempotency-key", "k");
        let data = request.body(body.clone()).send().data(200);
        same(&data, &json!({"accepted": 50_000, "rejected": 0}));
    }
    assert_eq!(total(&client, "hits", T0, T0 + 100_000), 50_000.0);
}

#[test]
fn bodies_and_lines_have_limits() {
    covers!("POST /api/v1/import", Refusal);
    let server = Setup::new().set("bodies.bulk", "\"3MiB\"").start();
    let client = server.client();
    let padded = |bytes: usize| {
        let mut line = gauge("a", T0, 1.0).to_string();
        line.push_str(&" ".repeat(bytes - line.len()));
        line
    };
    same(&import(&client, padded(1 << 20)).data(200)["accepted"], &json!(1));
    let body = format!("{}\n{}\n", padded((1 << 20) + 1), gauge("b", T0, 1.0));
    let data = import(&client, body).data(200);
    same(&json!([data["accepted"], data["rejected"]]), &json!([1, 1]));
    assert_eq!(data["errors"][0]["code"], "invalid_parameter");
    import(&client, "\n".repeat((3 << 20) + 1)).refused(413, "payload_too_large");
}
