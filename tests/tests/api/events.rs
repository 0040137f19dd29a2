//! Helpers for events: built as JSON, sent, and queried.

use std::sync::OnceLock;

use serde_json::{Value, json};
use telltale_tests::{Client, DAY_MS, Response, iso, now_ms};

use crate::points::BATCH_MAX;

/// Returns the midnight in UTC before the last one, in milliseconds: the start of a complete day
/// within the retention. Constant while the tests run.
pub(crate) fn yesterday() -> i64 {
    static FIRST: OnceLock<i64> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let now = now_ms();
        now - now.rem_euclid(DAY_MS) - DAY_MS
    })
}

/// Returns an event input with a name, a time and further fields.
pub(crate) fn event(name: &str, ms: i64, rest: Value) -> Value {
    let mut input = json!({"name": name, "timestamp": iso(ms)});
    if let (Some(fields), Value::Object(rest)) = (input.as_object_mut(), rest) {
        fields.extend(rest);
    }
    input
}

/// Sends all of them in batches of the maximum size, and checks that all are accepted.
#[track_caller]
pub(crate) fn send(client: &Client, events: &[Value]) {
    for part in events.chunks(BATCH_MAX) {
        let data = client.post("/api/v1/events/batch", &json!({ "events": part })).data(200);
        assert_eq!(
            (&data["accepted"], &data["rejected"]),
            (&json!(part.len()), &json!(0)),
            "{data}"
        );
    }
}

/// Requests a page of the list.
#[track_caller]
pub(crate) fn list(client: &Client, query: &str) -> Response {
    client.get(&format!("/api/v1/events?{query}"))
}

/// Returns the names of a page in order.
#[track_caller]
pub(crate) fn names(response: &Response) -> Vec<String> {
    let data = response.data(200);
    let Some(events) = data.as_array() else { panic!("{data} is no list") };
    events.iter().map(|event| event["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the total number of events.
#[track_caller]
pub(crate) fn stored(client: &Client) -> u64 {
    let response = list(client, "limit=1").expect(200);
    response["meta"]["total"].as_u64().unwrap_or(u64::MAX)
}
