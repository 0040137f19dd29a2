//! Single samples: `POST /api/v1/metrics`.

use serde_json::{Value, json};
use telltale_tests::{Client, DAY_MS, Server, Setup, covers, iso, now_ms, parse_iso, same};

use crate::points::{T0, definitions, pairs, query_metric};

const PATH: &str = "/api/v1/metrics";

#[test]
fn a_point_of_each_type_is_stored_and_returned() {
    covers!("POST /api/v1/metrics", Happy);
    let server = Server::start();
    let client = server.client();
    for (kind, value) in [
        ("gauge", json!(21.5)),
        ("counter", json!(-3)),
        ("distribution", json!(0.001)),
        ("set", json!("alice")),
    ] {
        let input = json!({
            "name": format!("a.{kind}"), "type": kind, "value": value,
            "timestamp": "2024-03-05T10:00:00Z", "tags": {"host": "a"}
        });
        let expected = json!({
            "name": format!("a.{kind}"), "type": kind, "value": value,
            "timestamp": "2024-03-05T10:00:00.000Z"
        });
        same(&client.post(PATH, &input).data(201), &expected);
    }
}

#[test]
fn a_point_without_a_timestamp_gets_the_receive_time() {
    let server = Server::start();
    for input in [
        json!({"name": "a", "type": "gauge", "value": 1}),
        json!({"name": "a", "type": "gauge", "value": 1, "timestamp": null, "tags": null}),
    ] {
        let before = now_ms();
        let data = server.client().post(PATH, &input).data(201);
        let time = parse_iso(data["timestamp"].as_str().unwrap_or_default());
        assert!((before..=now_ms()).contains(&time), "{data} at {}", iso(before));
    }
}

#[test]
fn timestamps_are_parsed_in_all_forms_and_returned_in_one() {
    let server = Server::start();
    for (sent, reported) in [
        ("2024-03-05T10:20:30Z", "2024-03-05T10:20:30.000Z"),
        ("2024-03-05T10:20:30.678Z", "2024-03-05T10:20:30.678Z"),
        ("2024-03-05T10:20:30.678912345Z", "2024-03-05T10:20:30.678Z"),
        ("2024-03-05T10:20:30", "2024-03-05T10:20:30.000Z"),
        ("2024-03-05T10:20Z", "2024-03-05T10:20:00.000Z"),
        ("2024-03-05T10:20", "2024-03-05T10:20:00.000Z"),
        ("2024-03-05T10:20:30+02:00", "2024-03-05T08:20:30.000Z"),
        ("2024-03-05T10:20:30.5-05:30", "2024-03-05T15:50:30.500Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"),
    ] {
        let input = json!({"name": "a", "type": "gauge", "value": 1, "timestamp": sent});
        let data = server.client().post(PATH, &input).data(201);
        assert_eq!(data["timestamp"], reported, "{sent}");
    }
}

#[test]
fn tag_values_are_stored_as_strings() {
    let server = Server::start();
    let client = server.client();
    let tags = json!({"text": "x", "number": 8080, "fraction": 1.5, "yes": true, "empty": ""});
    let input =
        json!({"name": "a", "type": "gauge", "value": 1, "timestamp": iso(T0), "tags": tags});
    client.post(PATH, &input).data(201);
    for (key, value) in
        [("text", "x"), ("number", "8080"), ("fraction", "1.5"), ("yes", "true"), ("empty", "")]
    {
        let response = query_metric(&client, "a", T0, T0 + 1, &format!("&group_by=tags.{key}"));
        let data = response.data(200);
        assert!(data["groups"].get(value).is_some(), "{key}: {data}");
    }
}

#[test]
fn unknown_fields_are_ignored() {
    let server = Server::start();
    let input = json!({
        "name": "a", "type": "gauge", "value": 1, "unit": "seconds", "": null, "host": {"a": [1, {}]}
    });
    server.client().post(PATH, &input).data(201);
}

#[test]
fn names_and_tags_are_limited() {
    let server = Server::start();
    let client = server.client();
    let with = |name: String, tags: Value| {
        client.post(PATH, &json!({"name": name, "type": "gauge", "value": 1, "tags": tags}))
    };
    let many = |n: usize| (0..n).map(|i| (format!("k{i}"), Value::from("v"))).collect::<Value>();

    for blank in [" ", "   ", "\u{a0}\u{3000}"] {
        with(blank.to_owned(), json!({})).refused_for(422, "invalid_name", "name");
    }
    // Limits count characters, not bytes.
    for character in ["a", "é", "漢", "🦀"] {
        with(character.repeat(200), json!({})).data(201);
        with(character.repeat(201), json!({})).refused_for(422, "invalid_name", "name");
        with("a".into(), json!({ (character.repeat(100)): character.repeat(500) })).data(201);
    }
    with("a".into(), many(32)).data(201);
    for tags in [
        many(33),
        json!({ ("k".repeat(101)): "v" }),
        json!({ "k": "v".repeat(501) }),
        json!({ "": "v" }),
        json!({ "k\n": "v" }),
    ] {
        let error = with("a".into(), tags.clone()).refused(422, "invalid_tags");
        assert!(
            error["details"]["field"].as_str().is_some_and(|f| f.starts_with("tags")),
            "{error}"
        );
    }
}

#[test]
fn every_finite_number_is_a_value() {
    let server = Server::start();
    let client = server.client();
    for (at, number) in [
        "0",
        "-0",
        "-0.0",
        "1e308",
        "-1.7976931348623157e308",
        "5e-324",
        "1e-400",
        "0.1",
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "1E+2",
        "0.30000000000000004",
    ]
    .into_iter()
    .enumerate()
    {
        let ms = T0 + 60_000 * i64::try_from(at).unwrap_or(0);
        let body = format!(
            "{{\"name\":\"n\",\"type\":\"gauge\",\"value\":{number},\"timestamp\":\"{}\"}}",
            iso(ms)
        );
        client.post_text(PATH, body).data(201);
        let data = query_metric(&client, "n", ms, ms + 1, "&interval=1m").data(200);
        let expected: f64 = number.parse().unwrap_or(f64::NAN);
        assert_eq!(pairs(&data["series"]), [(ms - T0, expected)], "{number}");
    }
}

#[test]
fn an_invalid_field_is_refused_with_its_own_code() {
    covers!("POST /api/v1/metrics", Refusal);
    let server = Server::start();
    let client = server.client();
    let refused = |change: Value, code: &str, field: &str| {
        let mut input = json!({"name": "a", "type": "gauge", "value": 1, "timestamp": iso(T0)});
        if let (Some(input), Some(change)) = (input.as_object_mut(), change.as_object()) {
            input.extend(change.clone());
        }
        client.post(PATH, &input).refused_for(422, code, field);
    };
    let others = [json!(true), json!(1), json!(1.5), json!([]), json!({}), json!(["gauge"])];
    for wrong in &others {
        refused(json!({"name": wrong}), "invalid_name", "name");
        refused(json!({"type": wrong}), "invalid_type", "type");
        refused(json!({"timestamp": wrong}), "invalid_timestamp", "timestamp");
        refused(json!({"type": "set", "value": wrong}), "invalid_value", "value");
    }
    for wrong in [json!(null), json!("")] {
        refused(json!({"name": wrong}), "missing_name", "name");
    }
    for wrong in [json!("a\u{0}b"), json!("a\nb"), json!("\u{7f}"), json!("\u{85}")] {
        refused(json!({"name": wrong}), "invalid_name", "name");
    }
    for wrong in [json!("Gauge"), json!("histogram"), json!(""), json!("gauge ")] {
        refused(json!({"type": wrong}), "invalid_type", "type");
    }
    for wrong in [json!("1"), json!(""), json!(true), json!([1]), json!({}), json!(null)] {
        refused(json!({"value": wrong}), "invalid_value", "value");
        refused(json!({"type": "counter", "value": wrong}), "invalid_value", "value");
        refused(json!({"type": "distribution", "value": wrong}), "invalid_value", "value");
    }
    for wrong in [json!(""), json!("x".repeat(501)), json!(null)] {
        refused(json!({"type": "set", "value": wrong}), "invalid_value", "value");
    }
    for wrong in [
        "",
        "now",
        "yesterday",
        "2024-03-05",
        "2024-03-05T",
        "2024-02-30T00:00:00Z",
        "2024-03-05T25:00:00Z",
        "1709596800",
        "1969-12-31T23:59:59.999Z",
        "2024-03-05T10:20:30+25:00",
        "20240305T102030Z",
        "+12024-03-05T00:00:00Z",
    ] {
        refused(json!({"timestamp": wrong}), "invalid_timestamp", "timestamp");
    }
    refused(
        json!({"timestamp": iso(now_ms() + DAY_MS + 60_000)}),
        "invalid_timestamp",
        "timestamp",
    );
    for wrong in [json!(true), json!(1), json!("a=b"), json!([]), json!(["a"])] {
        refused(json!({"tags": wrong}), "invalid_tags", "tags");
    }
    // None of these requests stored anything.
    assert_eq!(definitions(&client), Vec::<Value>::new());
}

#[test]
fn a_missing_field_is_refused_with_its_own_code() {
    let server = Server::start();
    let client = server.client();
    let without = |body: Value, code: &str, field: &str| {
        client.post(PATH, &body).refused_for(422, code, field);
    };
    without(json!({"type": "gauge", "value": 1}), "missing_name", "name");
    without(json!({"name": "a", "type": "gauge"}), "invalid_value", "value");
    without(json!({}), "missing_name", "name");
    without(json!({"name": "a", "value": 1}), "invalid_type", "type");
}

#[test]
fn a_number_out_of_range_is_refused() {
    let server = Server::start();
    for number in ["1e309", "-1e999", "1e99999999999"] {
        let body = format!("{{\"name\":\"n\",\"type\":\"gauge\",\"value\":{number}}}");
        server.client().post_text(PATH, body).refused_for(422, "invalid_value", "value");
    }
}

#[test]
fn timestamps_up_to_a_day_in_the_future_are_accepted() {
    let server = Server::start();
    let near = iso(now_ms() + DAY_MS - 60_000);
    let input = json!({"name": "a", "type": "gauge", "value": 1, "timestamp": near});
    assert_eq!(server.client().post(PATH, &input).data(201)["timestamp"], near);
}

#[test]
fn a_metric_keeps_the_type_of_its_first_point() {
    let server = Server::start();
    let client = server.client();
    let send = |kind: &str, value: Value| {
        client.post(PATH, &json!({"name": "a", "type": kind, "value": value}))
    };
    send("gauge", json!(1)).data(201);
    send("counter", json!(1)).refused_for(422, "type_conflict", "type");
    send("set", json!("x")).refused_for(422, "type_conflict", "type");
    send("gauge", json!(2)).data(201);
}

#[test]
fn series_are_limited_per_metric_and_in_total() {
    let setup =
        Setup::new().set("metrics.series_per_metric", "3").set("metrics.series_total", "400");
    let server = setup.start();
    let client = server.client();
    let send = |name: &str, host: usize| series(&client, name, host);
    for host in 0..3 {
        assert_eq!(send("a", host).status, 201);
    }
    send("a", 3).refused(422, "cardinality_limit");
    // Existing series accept samples, and other metrics do until the total limit is reached.
    assert_eq!(send("a", 0).status, 201);
    assert_eq!(send("b", 0).status, 201);
    let refused =
        (0..420).map(|i| send(&format!("m{i}"), 0)).find(|response| response.status != 201);
    match refused {
        Some(response) => drop(response.refused(422, "cardinality_limit")),
        None => panic!("420 further series fit under a limit of 400"),
    }
    assert_eq!(send("a", 0).status, 201);
}

fn series(client: &Client, name: &str, host: usize) -> telltale_tests::Response {
    let tags = json!({"host": format!("h{host}")});
    client.post(PATH, &json!({"name": name, "type": "gauge", "value": 1, "tags": tags}))
}
