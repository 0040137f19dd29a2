//! Helpers for samples: built as JSON, sent, and queried.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, iso};

/// 2024-03-05T00:00:00Z, a midnight in UTC, in milliseconds: the start of most test data.
pub(crate) const T0: i64 = 1_709_596_800_000;

/// The maximum number of items in a batch.
pub(crate) const BATCH_MAX: usize = 500;

/// Returns a metric input.
pub(crate) fn point(
    name: &str,
    kind: &str,
    ms: i64,
    value: impl Into<Value>,
    tags: Value,
) -> Value {
    json!({
        "name": name, "type": kind, "value": value.into(), "timestamp": iso(ms), "tags": tags
    })
}

/// Returns a gauge sample without tags.
pub(crate) fn gauge(name: &str, ms: i64, value: f64) -> Value {
    point(name, "gauge", ms, value, json!({}))
}

/// Sends all of them in batches of the maximum size, and checks that all are accepted.
#[track_caller]
pub(crate) fn send(client: &Client, points: &[Value]) {
    for part in points.chunks(BATCH_MAX) {
        let data = client.post("/api/v1/metrics/batch", &json!({ "metrics": part })).data(200);
        assert_eq!(data["accepted"], part.len(), "{data}");
        assert_eq!(data["rejected"], 0, "{data}");
    }
}

/// Queries a metric between two times; `rest` is further parameters, each with its `&`.
#[track_caller]
pub(crate) fn query_metric(
    client: &Client,
    name: &str,
    from: i64,
    to: i64,
    rest: &str,
) -> Response {
    let (from, to) = (iso(from), iso(to));
    client.get(&format!("/api/v1/metrics/{}/query?from={from}&to={to}{rest}", encoded(name)))
}

/// Returns the series of a response as pairs of the milliseconds since [`T0`] and the value.
#[track_caller]
pub(crate) fn pairs(series: &Value) -> Vec<(i64, f64)> {
    let Some(items) = series.as_array() else { panic!("{series} is not a series") };
    let pair = |item: &Value| {
        let time = telltale_tests::parse_iso(item["timestamp"].as_str().unwrap_or_default());
        (time - T0, item["value"].as_f64().unwrap_or(f64::NAN))
    };
    items.iter().map(pair).collect()
}

/// Returns the sum of a metric over all buckets.
#[track_caller]
pub(crate) fn total(client: &Client, name: &str, from: i64, to: i64) -> f64 {
    let response = query_metric(client, name, from, to, "&aggregation=sum&interval=1d");
    pairs(&response.data(200)["series"]).iter().map(|(_, value)| value).sum()
}

/// Returns the definitions that tests created, sorted by name: the server also writes metrics about
/// itself.
#[track_caller]
pub(crate) fn definitions(client: &Client) -> Vec<Value> {
    let listed = client.get("/api/v1/metrics?limit=1000").data(200);
    let own = |definition: &&Value| {
        !definition["name"].as_str().unwrap_or_default().starts_with("telltale.")
    };
    listed.as_array().into_iter().flatten().filter(own).cloned().collect()
}

/// Returns a name as one path segment: everything but letters and digits is percent-encoded.
pub(crate) fn encoded(name: &str) -> String {
    let mut path = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}
