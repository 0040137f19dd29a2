//! Metrics and events together: `POST /api/v1/telemetry/batch`.

use serde_json::{Value, json};
use telltale_tests::{Server, covers, iso, same};

use crate::events::{event, names, stored, yesterday};
use crate::points::{T0, gauge, query_metric, total};

const PATH: &str = "/api/v1/telemetry/batch";

fn increment(value: i64) -> Value {
    json!({"name": "c", "type": "counter", "value": value, "timestamp": iso(T0)})
}

#[test]
fn both_lists_of_a_combined_batch_are_stored() {
    covers!("POST /api/v1/telemetry/batch", Happy);
    let server = Server::start();
    let client = server.client();
    let body = json!({
        "metrics": [increment(4), "x"],
        "events": [event("a", yesterday(), json!({})), {"name": "b", "tags": {"k": 1}}, {"name": "c"}]
    });
    let data = client.post(PATH, &body).data(200);
    let counts = |half: &Value| (half["accepted"].clone(), half["rejected"].clone());
    assert_eq!(counts(&data["events"]), (json!(2), json!(1)), "{data}");
    assert_eq!(counts(&data["metrics"]), (json!(1), json!(1)), "{data}");
    for (half, index, code) in [("events", 1, "invalid_tags"), ("metrics", 1, "invalid_value")] {
        let error = &data[half]["errors"][0];
        assert_eq!((&error["index"], &error["code"]), (&json!(index), &json!(code)), "{data}");
    }
    assert_eq!(total(&client, "c", T0, T0 + 1_000), 4.0);
    assert_eq!(names(&client.get("/api/v1/events")), ["c", "a"]);
}

#[test]
fn a_response_counts_both_lists() {
    let server = Server::start();
    let body = json!({"metrics": [gauge("a", T0, 1.0)], "events": [{"name": "a"}, {"name": "a"}]});
    let expected = json!({"events": {"accepted": 2, "rejected": 0}, "metrics": {"accepted": 1, "rejected": 0}});
    same(&server.client().post(PATH, &body).data(200), &expected);
}

#[test]
fn either_list_may_be_absent() {
    let server = Server::start();
    for (body, events, metrics) in [
        (json!({"metrics": [gauge("a", T0, 1.0)]}), 0, 1),
        (json!({"events": [{"name": "a"}]}), 1, 0),
        (json!({"events": [], "metrics": null}), 0, 0),
        (json!({}), 0, 0),
    ] {
        let data = server.client().post(PATH, &body).data(200);
        let expected = json!({
            "events": {"accepted": events, "rejected": 0}, "metrics": {"accepted": metrics, "rejected": 0}
        });
        same(&data, &expected);
    }
}

#[test]
fn one_item_too_many_stores_nothing() {
    covers!("POST /api/v1/telemetry/batch", Refusal);
    let server = Server::start();
    let client = server.client();
    let metrics: Vec<Value> = (0..250).map(|i| gauge("a", T0 + i, 1.0)).collect();
    let events = vec![json!({"name": "a"}); 251];
    client
        .post(PATH, &json!({ "metrics": metrics, "events": events }))
        .refused(413, "batch_too_large");
    client.post(PATH, &json!({"events": 1})).refused_for(400, "invalid_parameter", "events");
    let halves = json!({"metrics": {}, "events": [{"name": "a"}]});
    client.post(PATH, &halves).refused_for(400, "invalid_parameter", "metrics");
    for body in ["[]", "{", "null", "{\"events\":[],\"events\":[]}"] {
        client.post_text(PATH, body).refused(400, "invalid_json");
    }
    query_metric(&client, "a", T0, T0 + 1_000, "").refused(404, "metric_not_found");
    assert_eq!(stored(&client), 0);
    client
        .post(PATH, &json!({ "metrics": metrics, "events": vec![json!({"name": "a"}); 250] }))
        .data(200);
    assert_eq!(stored(&client), 250);
}

#[test]
fn a_repeated_combined_batch_is_stored_once() {
    let mut server = Server::start();
    let body = json!({"metrics": [increment(2)], "events": [{"name": "a"}]});
    let send = |server: &Server| {
        let client = server.client();
        let request = client.request("POST", PATH).header("idempotency-key", "k");
        request.json(&body).send()
    };
    let first = send(&server);
    first.data(200);
    for _ in 0..2 {
        let again = send(&server);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!((again.status, &again.body), (first.status, &first.body));
        let client = server.client();
        assert_eq!((total(&client, "c", T0, T0 + 1), stored(&client)), (2.0, 1));
        server.kill9();
        server.restart();
    }
}

#[test]
fn a_kill_keeps_both_lists_or_neither() {
    let mut server = Server::start();
    let (mut acknowledged, mut kept) = (0, 0);
    for round in 0..6 {
        let client = server.client();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let body = json!({
                    "metrics": [increment(1)], "events": [event("a", yesterday(), json!({"value": 1}))]
                });
                let mut actual = 0_u64;
                while let Ok(response) = client.request("POST", PATH).json(&body).try_send() {
                    assert_eq!(response.status, 200, "{}", response.summary());
                    actual += 1;
                }
                actual
            });
            telltale_tests::eventually("some batches", || {
                (stored(&client) > kept + 5).then_some(())
            });
            server.kill9();
            acknowledged += sender.join().unwrap_or_default();
        });
        server.restart();
        let client = server.client();
        kept = stored(&client);
        assert!(kept >= acknowledged, "round {round}: {kept} of {acknowledged}");
        assert!(kept <= acknowledged + 1, "round {round}: {kept} after {acknowledged}");
        assert_eq!(total(&client, "c", T0, T0 + 1), kept as f64, "round {round}: halves differ");
        acknowledged = kept;
    }
}
