//! Events for the other tests: how they are written as JSON, sent, and asked for.

use std::sync::OnceLock;

use serde_json::{Value, json};
use telltale_tests::{Answer, Client, DAY_MS, iso, now_ms};

use crate::points::BATCH_MAX;

/// The midnight in UTC before the last one, in milliseconds: a whole day that is over, and so young
/// that events of it are kept. The same for as long as the tests run.
pub(crate) fn yesterday() -> i64 {
    static FIRST: OnceLock<i64> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let now = now_ms();
        now - now.rem_euclid(DAY_MS) - DAY_MS
    })
}

/// An event input of a name and a time, with further fields.
pub(crate) fn event(name: &str, ms: i64, rest: Value) -> Value {
    let mut input = json!({"name": name, "timestamp": iso(ms)});
    if let (Some(fields), Value::Object(rest)) = (input.as_object_mut(), rest) {
        fields.extend(rest);
    }
    input
}

/// Sends all of them, in batches as large as they may be, and sees every one accepted.
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

/// Asks for a page of the list.
#[track_caller]
pub(crate) fn list(client: &Client, query: &str) -> Answer {
    client.get(&format!("/api/v1/events?{query}"))
}

/// The names of a page, in its order.
#[track_caller]
pub(crate) fn names(answer: &Answer) -> Vec<String> {
    let data = answer.data(200);
    let Some(events) = data.as_array() else { panic!("{data} is no list") };
    events.iter().map(|event| event["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// How many events there are in all.
#[track_caller]
pub(crate) fn stored(client: &Client) -> u64 {
    let answer = list(client, "limit=1").expect(200);
    answer["meta"]["total"].as_u64().unwrap_or(u64::MAX)
}
