//! Event ingest: `POST /api/v1/events` and `POST /api/v1/events/batch`.

use serde_json::{Value, json};
use telltale_tests::{
    Client, DAY_MS, HOUR_MS, Response, Server, Setup, covers, iso, now_ms, parse_iso, same,
};

use crate::events::{event, list, names, send, stored, yesterday};
use crate::keys::client_with;
use crate::points::BATCH_MAX;

const ONE: &str = "/api/v1/events";
const MANY: &str = "/api/v1/events/batch";

#[test]
fn an_event_is_stored_and_returned() {
    covers!("POST /api/v1/events", Happy);
    let server = Server::start();
    let client = server.client();
    let input = json!({
        "name": "order.paid", "timestamp": iso(yesterday()), "user_id": "ann", "value": 49.5,
        "properties": {"b": 1, "a": {"c": [null, "é\"\\\n", -2.5]}}, "tags": {"region": "eu", "app": ""}
    });
    let data = client.post(ONE, &input).data(201);
    let id = data["id"].as_str().unwrap_or_default();
    assert!(id.strip_prefix("evt_").is_some_and(|ulid| ulid.len() == 26), "{data}");
    let reported = json!({
        "id": id, "name": "order.paid", "timestamp": iso(yesterday()), "user_id": "ann", "value": 49.5
    });
    same(&data, &reported);
    let mut expected = input;
    expected["id"] = json!(id);
    same(&list(&client, "").data(200), &json!([expected]));
}

#[test]
fn only_the_name_is_required() {
    let server = Server::start();
    let client = server.client();
    for input in [
        json!({"name": "a"}),
        json!({"name": "a", "timestamp": null, "user_id": null, "value": null, "properties": null, "tags": null}),
        json!({"name": "a", "nobody": {"knows": 1}}),
    ] {
        let before = now_ms();
        let data = client.post(ONE, &input).data(201);
        let time = parse_iso(data["timestamp"].as_str().unwrap_or_default());
        assert!((before..=now_ms()).contains(&time), "{data} at {}", iso(before));
        assert_eq!((&data["user_id"], &data["value"]), (&Value::Null, &Value::Null));
    }
    for event in list(&client, "").data(200).as_array().into_iter().flatten() {
        assert_eq!((&event["user_id"], &event["value"]), (&Value::Null, &Value::Null), "{event}");
        assert_eq!((&event["properties"], &event["tags"]), (&json!({}), &json!({})), "{event}");
    }
}

#[test]
fn a_user_may_be_a_number() {
    let server = Server::start();
    let client = server.client();
    for (sent, reported) in [
        ("42", "42"),
        ("-1", "-1"),
        ("12345678901234567890", "12345678901234567890"),
        ("1.50", "1.5"),
        ("\"042\"", "042"),
    ] {
        let body = format!("{{\"name\":\"a\",\"user_id\":{sent}}}");
        assert_eq!(client.post_text(ONE, body).data(201)["user_id"], reported, "{sent}");
        assert_eq!(names(&list(&client, &format!("user_id={reported}"))), ["a"]);
    }
}

#[test]
fn properties_are_returned_as_sent() {
    let server = Server::start();
    let client = server.client();
    let sent = r#"{"z":1,"a":[],"n":{"deep":[{"x":"\u00e9\u0001"}]},"t":true,"none":null,"f":0.1,"big":1e300,"i":-9007199254740993}"#;
    client.post_text(ONE, format!("{{\"name\":\"a\",\"properties\": {sent} }}")).data(201);
    let response = list(&client, "");
    let text = response.text();
    let expected = r#""properties":{"z":1,"a":[],"n":{"deep":[{"x":"é\u0001"}]},"t":true,"none":null,"f":0.1,"big":1e300,"i":-9007199254740993}"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn of_properties_with_the_same_key_the_last_is_stored() {
    let server = Server::start();
    let client = server.client();
    let sent = r#"{"n":1,"o":{"x":1,"x":"last"},"n":7}"#;
    client.post_text(ONE, format!("{{\"name\":\"a\",\"properties\":{sent}}}")).data(201);
    let stored = r#""properties":{"o":{"x":"last"},"n":7}"#;
    for _ in ["in memory", "in a block"] {
        let response = list(&client, "");
        assert!(response.text().contains(stored), "{}", response.summary());
        let stats = client.get("/api/v1/events/stats?field=n").data(200);
        assert_eq!((stats["count"].as_u64(), stats["sum"].as_f64()), (Some(1), Some(7.0)));
        client.post("/api/v1/admin/seal", &json!({})).data(200);
    }
}

#[test]
fn an_invalid_event_is_refused_and_the_field_named() {
    covers!("POST /api/v1/events", Refusal);
    let server = Server::start();
    let client = server.client();
    let late = iso(now_ms() + DAY_MS + HOUR_MS);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64));
    let deep: Value = serde_json::from_str(&deep).unwrap_or_default();
    let many: Value =
        (0..33).map(|i| (format!("k{i}"), json!("v"))).collect::<serde_json::Map<_, _>>().into();
    for (fields, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"name": 7}), "invalid_name", "name"),
        (json!({"name": "  "}), "invalid_name", "name"),
        (json!({"name": "a\u{7}"}), "invalid_name", "name"),
        (json!({"name": "a".repeat(201)}), "invalid_name", "name"),
        (json!({"timestamp": "yesterday"}), "invalid_timestamp", "timestamp"),
        (json!({"timestamp": "2026-01-02"}), "invalid_timestamp", "timestamp"),
        (json!({"timestamp": 1_767_323_045}), "invalid_timestamp", "timestamp"),
        (json!({"timestamp": "1969-12-31T23:59:59Z"}), "invalid_timestamp", "timestamp"),
        (json!({"timestamp": late}), "invalid_timestamp", "timestamp"),
        (json!({"value": "1"}), "invalid_value", "value"),
        (json!({"value": true}), "invalid_value", "value"),
        (json!({"user_id": ""}), "invalid_field", "user_id"),
        (json!({"user_id": {}}), "invalid_field", "user_id"),
        (json!({"user_id": "u".repeat(201)}), "invalid_field", "user_id"),
        (json!({"properties": []}), "invalid_field", "properties"),
        (json!({"properties": "{}"}), "invalid_field", "properties"),
        (json!({"properties": {"a": "x".repeat(64 << 10)}}), "invalid_field", "properties"),
        (json!({ "properties": deep }), "invalid_field", "properties"),
        (json!({"tags": ["a"]}), "invalid_tags", "tags"),
        (json!({"tags": {"k": 1}}), "invalid_tags", "tags"),
        (json!({"tags": {"k": true}}), "invalid_tags", "tags"),
        (json!({"tags": {"k": null}}), "invalid_tags", "tags"),
        (json!({"tags": {"": "v"}}), "invalid_tags", "tags"),
        (json!({"tags": {"k": "v".repeat(501)}}), "invalid_tags", "tags"),
        (json!({ "tags": many }), "invalid_tags", "tags"),
    ] {
        let mut input = json!({"name": "a"});
        if let (Some(input), Value::Object(fields)) = (input.as_object_mut(), fields) {
            input.extend(fields);
        }
        client.post(ONE, &input).refused_for(422, code, field);
    }
    for (body, code, field) in [
        ("{\"name\":\"a\",\"value\":1e999}", "invalid_value", "value"),
        ("{\"name\":\"a\",\"properties\":{\"x\":1e999}}", "invalid_field", "properties"),
        ("{\"name\":\"a\",\"user_id\":1e999}", "invalid_field", "user_id"),
        ("{\"name\":\"a\",\"tags\":{\"k\":\"1\",\"k\":\"2\"}}", "invalid_tags", "tags"),
        ("{\"name\":\"a\",\"value\":1,\"value\":1}", "invalid_value", "value"),
    ] {
        client.post_text(ONE, body).refused_for(422, code, field);
    }
    let absurd = format!(
        "{{\"name\":\"a\",\"properties\":{}1{}}}",
        "{\"a\":".repeat(9_999),
        "}".repeat(9_999)
    );
    for body in ["[]", "null", "{", "", &absurd] {
        client.post_text(ONE, body).refused(400, "invalid_json");
    }
    client
        .post(ONE, &json!({"name": "a", "x": "y".repeat(1 << 20)}))
        .refused(413, "payload_too_large");
}

#[test]
fn a_full_batch_is_accepted() {
    covers!("POST /api/v1/events/batch", Happy);
    let server = Server::start();
    let client = server.client();
    let events: Vec<Value> =
        (0..BATCH_MAX as i64).map(|i| event("e", yesterday() + i, json!({}))).collect();
    send(&client, &events);
    assert_eq!(stored(&client), 500);
    let none = client.post(MANY, &json!({"events": []})).data(200);
    assert_eq!(none, json!({"accepted": 0, "rejected": 0}));
}

#[test]
fn valid_items_are_stored_and_invalid_ones_reported_by_index() {
    let server = Server::start();
    let client = server.client();
    let body = json!({"events": [
        {"name": "a"}, {"value": 1}, 7, {"name": "b", "tags": {"k": 1}}, null, {"name": "b", "value": "1"},
        {"name": "b", "timestamp": "soon"}, {"name": "b", "properties": 1}, {"name": "b\n"}, {"name": "c"}
    ]});
    let data = client.post(MANY, &body).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(2), &json!(8)), "{data}");
    let reported: Vec<(u64, &str)> = data["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|e| {
            assert!(e["message"].as_str().is_some_and(|m| !m.is_empty()), "{e}");
            (e["index"].as_u64().unwrap_or(u64::MAX), e["code"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        reported,
        [
            (1, "missing_name"),
            (2, "invalid_value"),
            (3, "invalid_tags"),
            (4, "invalid_value"),
            (5, "invalid_value"),
            (6, "invalid_timestamp"),
            (7, "invalid_field"),
            (8, "invalid_name"),
        ]
    );
    let mut kept = names(&list(&client, ""));
    kept.sort();
    assert_eq!(kept, ["a", "c"]);
}

#[test]
fn of_many_invalid_items_the_first_fifty_are_reported() {
    let server = Server::start();
    let data = server.client().post(MANY, &json!({"events": vec![json!({}); 60]})).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(0), &json!(60)));
    let reported: Vec<&Value> =
        data["errors"].as_array().into_iter().flatten().map(|e| &e["index"]).collect();
    assert_eq!((reported.len(), reported[0], reported[49]), (50, &json!(0), &json!(49)));
}

#[test]
fn an_invalid_batch_stores_nothing() {
    covers!("POST /api/v1/events/batch", Refusal);
    let server = Server::start();
    let client = server.client();
    let long = json!({"events": vec![json!({"name": "a"}); BATCH_MAX + 1]});
    client.post(MANY, &long).refused(413, "batch_too_large");
    for body in [json!({}), json!({"events": null}), json!({"event": []})] {
        client.post(MANY, &body).refused_for(422, "missing_field", "events");
    }
    for events in [json!({}), json!("x"), json!(1), json!(true)] {
        let response = client.post(MANY, &json!({ "events": events }));
        response.refused_for(400, "invalid_parameter", "events");
    }
    let good =
        json!({"events": [{"name": "a"}, {"name": "b", "properties": {"k": "v"}}]}).to_string();
    for end in 0..good.len() {
        client.post_text(MANY, &good.as_bytes()[..end]).refused(400, "invalid_json");
    }
    client.post_text(MANY, "{\"events\":[],\"events\":[]}").refused(400, "invalid_json");
    assert_eq!(stored(&client), 0);
}

#[test]
fn events_need_the_scope_of_their_verb() {
    let server = Server::start();
    let client = server.client();
    let (sender, reader) =
        (client_with(&client, json!(["ingest"])), client_with(&client, json!(["read"])));
    sender.post(ONE, &json!({"name": "a"})).data(201);
    for path in [ONE, "/api/v1/events/count", "/api/v1/events/stats"] {
        sender.get(path).refused(403, "forbidden");
        assert_eq!(reader.get(path).status, 200, "{path}");
    }
    for path in [ONE, MANY, "/api/v1/telemetry/batch"] {
        reader.post(path, &json!({"name": "a", "events": []})).refused(403, "forbidden");
    }
}

#[test]
fn requests_count_against_the_limits_of_the_contract() {
    let server = Setup::as_shipped().start();
    let client = server.client();
    let batch = json!({"events": []});
    for (response, limit) in [
        (client.post(ONE, &json!({"name": "a"})), "1000"),
        (client.post(MANY, &batch), "10"),
        (client.post("/api/v1/telemetry/batch", &batch), "10"),
        (client.get(ONE), "60"),
        (client.get("/api/v1/events/count"), "60"),
        (client.get("/api/v1/events/stats"), "60"),
    ] {
        assert!((200..300).contains(&response.status), "{}", response.summary());
        assert_eq!(response.must_header("ratelimit-limit"), limit, "{}", response.summary());
    }
    // All batch routes share one limit: two of ten requests are used.
    for _ in 0..8 {
        client.post(MANY, &batch).data(200);
    }
    client.post("/api/v1/telemetry/batch", &batch).refused(429, "rate_limited");
}

fn post_once(client: &Client, path: &str, key: &str, body: &Value) -> Response {
    client.request("POST", path).header("idempotency-key", key).json(body).send()
}

#[test]
fn a_repeated_request_stores_nothing_twice() {
    let mut server = Server::start();
    let client = server.client();
    let one = json!({"name": "a"});
    let many = json!({"events": [one, one]});
    let (first, second) =
        (post_once(&client, ONE, "k", &one), post_once(&client, MANY, "k", &many));
    for _ in 0..2 {
        let client = server.client();
        for (path, body, before) in [(ONE, &one, &first), (MANY, &many, &second)] {
            let again = post_once(&client, path, "k", body);
            assert_eq!(again.header("idempotency-replayed"), Some("true"));
            assert_eq!((again.status, &again.body), (before.status, &before.body));
            post_once(&client, path, "k", &json!({"name": "b", "events": []}))
                .refused(409, "conflict");
        }
        assert_eq!(stored(&client), 3);
        server.kill9();
        server.restart();
    }
}

#[test]
fn acknowledged_events_survive_a_kill() {
    let mut server = Server::start();
    let mut sent = Vec::new();
    for round in 0..4_i64 {
        let client = server.client();
        for i in 0..5 {
            let ms = yesterday() + round * 1_000 + i;
            let input = event(
                "kept",
                ms,
                json!({"user_id": format!("u{i}"), "properties": {"round": round}}),
            );
            let id = client.post(ONE, &input).data(201)["id"].clone();
            sent.insert(0, json!({
                "id": id, "name": "kept", "timestamp": iso(ms), "user_id": format!("u{i}"), "value": null,
                "properties": {"round": round}, "tags": {}
            }));
        }
        if round == 2 {
            assert_eq!(client.post("/api/v1/admin/seal", &json!({})).status, 200);
        }
        server.kill9();
        server.restart();
        let kept = list(&server.client(), "").expect(200);
        assert_eq!(kept["meta"]["total"], sent.len());
        same(&kept["data"], &Value::from(sent.clone()));
    }
}
