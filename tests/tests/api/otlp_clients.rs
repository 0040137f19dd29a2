//! The OpenTelemetry SDK, as its users run it, with only the endpoint and the key changed.

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Client, HOUR_MS, Server, converse, now_ms};

use crate::points::{encoded, pairs, query_metric};

const SCRIPT: &str = include_str!("otlp_clients.py");
const PACKAGES: [&str; 2] =
    ["opentelemetry-sdk==1.45.2", "opentelemetry-exporter-otlp-proto-http==1.45.2"];

/// Returns the values of a metric by day: the test may run over midnight.
#[track_caller]
fn days(client: &Client, metric: &str, aggregation: &str) -> Vec<f64> {
    let now = now_ms();
    let rest = format!("&interval=1d&aggregation={aggregation}");
    let response = query_metric(client, metric, now - HOUR_MS, now + HOUR_MS, &rest).data(200);
    pairs(&response["series"]).into_iter().map(|(_, value)| value).collect()
}

#[track_caller]
fn sum(client: &Client, metric: &str) -> f64 {
    days(client, metric, "sum").iter().sum()
}

#[track_caller]
fn last(client: &Client, metric: &str) -> Option<f64> {
    days(client, metric, "last").last().copied()
}

#[track_caller]
fn kind(client: &Client, metric: &str) -> String {
    let definition = client.get(&format!("/api/v1/metrics/{}", encoded(metric))).data(200);
    definition["type"].as_str().unwrap_or_default().to_owned()
}

/// Checks the stored values of 1, 2, 4 and then 8, 16, which do not depend on the temporality.
#[track_caller]
fn check_distribution(client: &Client, metric: &str) {
    assert_eq!(kind(client, metric), "distribution");
    assert_eq!(days(client, metric, "count").iter().sum::<f64>(), 5.0, "{metric}");
    assert_eq!(sum(client, metric), 31.0, "{metric}");
}

#[test]
fn the_opentelemetry_sdk_exports_metrics() {
    let mut server = Server::start();
    let mut agent = converse(&PACKAGES, SCRIPT, [ADMIN_KEY]);
    for step in ["first", "second", "last"] {
        if step == "second" {
            server.restart();
        }
        assert_eq!(agent.exchange(&format!("{} {step}", server.address())), "done", "{step}");
    }
    let client = server.client();
    for name in ["delta", "cumulative"] {
        let metric = |instrument: &str| format!("{name}.{instrument}");
        assert_eq!(kind(&client, &metric("counter")), "counter");
        assert_eq!(sum(&client, &metric("counter")), 31.0, "{name}: nothing twice, nothing lost");
        assert_eq!(kind(&client, &metric("gauge")), "gauge");
        assert_eq!(last(&client, &metric("gauge")), Some(16.5));
        check_distribution(&client, &metric("histogram"));
        check_distribution(&client, &metric("exponential"));
    }
    assert_eq!(kind(&client, "delta.up_down"), "counter");
    assert_eq!(sum(&client, "delta.up_down"), 29.0);
    assert_eq!(kind(&client, "cumulative.up_down"), "gauge");
    assert_eq!(last(&client, "cumulative.up_down"), Some(29.0));
    let tags = client.get("/api/v1/metrics/cumulative.counter/tags").data(200);
    let keys: Vec<&str> =
        tags.as_array().into_iter().flatten().filter_map(|tag| tag["key"].as_str()).collect();
    // The SDK assigns each instance an id of its own.
    assert_eq!(keys, ["code", "host.name", "route", "service.instance.id", "service.name"]);
    // The same in JSON, whose streams started before this server: only the increase between two
    // requests counts.
    assert_eq!(last(&client, "json.cumulative.up_down"), Some(29.0 + 32.0));
    assert_eq!(sum(&client, "json.cumulative.counter"), 32.0);
    for instrument in ["histogram", "exponential"] {
        let metric = format!("json.cumulative.{instrument}");
        assert_eq!(kind(&client, &metric), "distribution");
        assert_eq!(days(&client, &metric, "count").iter().sum::<f64>(), 1.0, "{metric}");
    }
    let values = client.get("/api/v1/metrics/json.cumulative.counter/tags/code/values").data(200);
    assert_eq!(values[0]["value"], json!("200"));
}
