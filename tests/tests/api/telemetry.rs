//! Metrics and events together: `POST /api/v1/telemetry/batch`.

use serde_json::{Value, json};
use telltale_tests::{Server, covers, iso, same};

use crate::points::{T0, ask, gauge, total};

const PATH: &str = "/api/v1/telemetry/batch";

#[test]
fn the_metrics_of_a_combined_batch_are_stored() {
    covers!("POST /api/v1/telemetry/batch", Happy);
    let server = Server::start();
    let client = server.client();
    let count = json!({"name": "c", "type": "counter", "value": 4, "timestamp": iso(T0)});
    let data = client.post(PATH, &json!({"metrics": [count, "x"], "events": []})).data(200);
    assert_eq!(data["metrics"]["accepted"], 1, "{data}");
    assert_eq!(data["metrics"]["rejected"], 1, "{data}");
    assert_eq!((&data["events"]["accepted"], &data["events"]["rejected"]), (&json!(0), &json!(0)));
    assert_eq!(total(&client, "c", T0, T0 + 1_000), 4.0);
}

#[test]
fn an_answer_counts_both_lists() {
    let server = Server::start();
    let body = json!({"metrics": [gauge("a", T0, 1.0)], "events": []});
    let expected = json!({"events": {"accepted": 0, "rejected": 0}, "metrics": {"accepted": 1, "rejected": 0}});
    same(&server.client().post(PATH, &body).data(200), &expected);
}

#[test]
fn either_list_may_be_absent() {
    let server = Server::start();
    for body in [json!({"metrics": [gauge("a", T0, 1.0)]}), json!({"events": []}), json!({})] {
        let data = server.client().post(PATH, &body).data(200);
        assert_eq!(data["events"]["accepted"], 0, "{data}");
        assert_eq!(data["metrics"]["rejected"], 0, "{data}");
    }
}

#[test]
fn one_item_too_many_stores_nothing() {
    covers!("POST /api/v1/telemetry/batch", Refusal);
    let server = Server::start();
    let client = server.client();
    let metrics: Vec<Value> = (0..501).map(|i| gauge("a", T0 + i, 1.0)).collect();
    client.post(PATH, &json!({ "metrics": metrics })).refused(413, "batch_too_large");
    ask(&client, "a", T0, T0 + 1_000, "").refused(404, "metric_not_found");
    for body in ["[]", "{", "null"] {
        client.post_text(PATH, body).refused(400, "invalid_json");
    }
}
