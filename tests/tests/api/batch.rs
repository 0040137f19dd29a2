//! Batches of samples: `POST /api/v1/metrics/batch`.

use serde_json::{Value, json};
use telltale_tests::{Server, covers, iso, same};

use crate::points::{BATCH_MAX, T0, definitions, gauge, pairs, query_metric, total};

const PATH: &str = "/api/v1/metrics/batch";

fn counters(n: usize) -> Vec<Value> {
    (0..n)
        .map(|i| json!({"name": "c", "type": "counter", "value": 1, "timestamp": iso(T0 + i as i64)}))
        .collect()
}

#[test]
fn all_valid_items_are_accepted() {
    covers!("POST /api/v1/metrics/batch", Happy);
    let server = Server::start();
    let client = server.client();
    let data = client.post(PATH, &json!({"metrics": counters(BATCH_MAX)})).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(500), &json!(0)), "{data}");
    assert_eq!(total(&client, "c", T0, T0 + 1_000), 500.0);
}

#[test]
fn an_empty_batch_is_accepted() {
    let server = Server::start();
    let data = server.client().post(PATH, &json!({"metrics": []})).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(0), &json!(0)), "{data}");
}

#[test]
fn valid_items_are_stored_and_invalid_ones_reported_by_index() {
    let server = Server::start();
    let client = server.client();
    let items = json!([
        gauge("a", T0, 1.0),
        {"type": "gauge", "value": 1},
        {"name": "a", "type": "rate", "value": 1},
        {"name": "a", "type": "gauge", "value": "1"},
        {"name": "a", "type": "gauge", "value": 1, "timestamp": "soon"},
        {"name": "a", "type": "gauge", "value": 1, "tags": {"k": null}},
        {"name": "a\u{1}", "type": "gauge", "value": 1},
        {"name": "a", "type": "counter", "value": 1},
        "a",
        null,
        [1],
        gauge("a", T0 + 60_000, 2.0),
    ]);
    let data = client.post(PATH, &json!({ "metrics": items })).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(2), &json!(10)), "{data}");
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
            (2, "invalid_type"),
            (3, "invalid_value"),
            (4, "invalid_timestamp"),
            (5, "invalid_tags"),
            (6, "invalid_name"),
            (7, "type_conflict"),
            (8, "invalid_value"),
            (9, "invalid_value"),
            (10, "invalid_value"),
        ]
    );
    let series = query_metric(&client, "a", T0, T0 + 120_000, "&interval=1m").data(200);
    assert_eq!(pairs(&series["series"]), [(0, 1.0), (60_000, 2.0)]);
}

#[test]
fn of_many_invalid_items_the_first_fifty_are_reported() {
    let server = Server::start();
    let items: Vec<Value> =
        (0..60).map(|_| json!({"name": "", "type": "gauge", "value": 1})).collect();
    let data = server.client().post(PATH, &json!({ "metrics": items })).data(200);
    assert_eq!((&data["accepted"], &data["rejected"]), (&json!(0), &json!(60)));
    let reported: Vec<&Value> =
        data["errors"].as_array().into_iter().flatten().map(|e| &e["index"]).collect();
    assert_eq!(reported.len(), 50);
    assert_eq!((reported[0], reported[49]), (&json!(0), &json!(49)));
}

#[test]
fn one_item_too_many_stores_nothing() {
    covers!("POST /api/v1/metrics/batch", Refusal);
    let server = Server::start();
    let client = server.client();
    let body = json!({"metrics": counters(BATCH_MAX + 1)});
    client.post(PATH, &body).refused(413, "batch_too_large");
    query_metric(&client, "c", T0, T0 + 1_000, "").refused(404, "metric_not_found");
}

#[test]
fn a_malformed_batch_stores_nothing() {
    let server = Server::start();
    let client = server.client();
    let good = json!({"metrics": counters(3)}).to_string();
    for bad in [
        good.trim_end_matches('}').to_owned(),
        good.replacen("\"value\":1", "\"value\":1}", 1),
        good.replacen("\"value\":1", "\"value\":01", 1),
        good.replacen("\"value\":1", "\"value\":NaN", 1),
        good.replacen("\"value\":1", "\"value\":Infinity", 1),
        format!("{good}{good}"),
        format!("{good},"),
        good.replacen('c', "\u{1}", 1),
    ] {
        assert_ne!(bad, good);
        client.post_text(PATH, &bad).refused(400, "invalid_json");
    }
    query_metric(&client, "c", T0, T0 + 1_000, "").refused(404, "metric_not_found");
}

#[test]
fn the_list_is_required() {
    let server = Server::start();
    let client = server.client();
    for body in [json!({}), json!({"metrics": null}), json!({"metric": []})] {
        client.post(PATH, &body).refused_for(422, "missing_field", "metrics");
    }
    for metrics in [json!({}), json!("x"), json!(1), json!(true)] {
        let response = client.post(PATH, &json!({ "metrics": metrics }));
        response.refused_for(400, "invalid_parameter", "metrics");
    }
    for body in ["[]", "1", "\"metrics\"", "null", ""] {
        client.post_text(PATH, body).refused(400, "invalid_json");
    }
}

#[test]
fn a_number_out_of_range_rejects_only_its_item() {
    let server = Server::start();
    let body = format!(
        "{{\"metrics\":[{},{{\"name\":\"a\",\"type\":\"gauge\",\"value\":1e999}}]}}",
        gauge("a", T0, 1.0)
    );
    let data = server.client().post_text(PATH, body).data(200);
    assert_eq!(data["accepted"], 1, "{data}");
    assert_eq!(data["errors"][0]["code"], "invalid_value", "{data}");
}

#[test]
fn one_batch_may_contain_all_types_and_many_metrics() {
    let server = Server::start();
    let client = server.client();
    let items: Vec<Value> = (0..BATCH_MAX)
        .map(|i| {
            let kind = ["gauge", "counter", "distribution", "set"][i % 4];
            let value = if kind == "set" { json!(format!("m{i}")) } else { json!(i) };
            json!({"name": format!("m.{kind}.{}", i % 20), "type": kind, "value": value,
                   "timestamp": iso(T0 + i as i64), "tags": {"i": i % 7, "even": i % 2 == 0}})
        })
        .collect();
    let data = client.post(PATH, &json!({ "metrics": items })).data(200);
    same(&json!([data["accepted"], data["rejected"]]), &json!([500, 0]));
    assert_eq!(definitions(&client).len(), 20);
}
