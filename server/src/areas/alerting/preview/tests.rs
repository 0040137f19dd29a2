//! Previews through their route.

use http::Method;
use serde_json::{Value, json};

use crate::areas::alerting::evaluation::evaluate;
use crate::areas::testing::TestServer;

const PATH: &str = "/api/v1/alert_rules/preview";
const MINUTE_MS: i64 = 60_000;

fn rule(change: &Value) -> Value {
    let mut rule = json!({
        "name": "CPU high",
        "query": {"metric": "cpu", "aggregation": "max"},
        "group_by": "tags.host",
        "condition": {"op": "gt", "threshold": 90},
        "window": "1m",
    });
    if let (Some(rule), Some(change)) = (rule.as_object_mut(), change.as_object()) {
        rule.extend(change.clone());
    }
    rule
}

fn sample(server: &TestServer, host: &str, value: f64) {
    let body = json!({"name": "cpu", "type": "gauge", "value": value, "tags": {"host": host}});
    server.post("/api/v1/metrics", &body).data(201);
}

/// Returns host, start and end of each alert.
fn periods(alerts: &Value) -> Vec<(String, String, Value)> {
    let period = |alert: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&alert["labels"]["host"]), text(&alert["fired_at"]), alert["resolved_at"].clone())
    };
    alerts.as_array().unwrap().iter().map(period).collect()
}

#[test]
fn a_preview_tells_what_an_evaluation_finds() {
    let server = TestServer::open();
    // Three hours of two hosts, evaluated every 15 s as it happens.
    let wait = json!({"for": "1m"});
    server.post("/api/v1/alert_rules", &rule(&wait)).data(201);
    let from = server.app().now();
    for step in 0..720 {
        if step % 4 == 0 {
            let minute = step / 4;
            let is_high = |from: i64, to: i64| (from..to).contains(&minute);
            sample(&server, "a", if is_high(10, 30) || is_high(100, 101) { 97.0 } else { 5.0 });
            sample(&server, "b", if is_high(15, 18) || is_high(170, 180) { 99.0 } else { 5.0 });
        }
        evaluate(server.app()).unwrap();
        server.pass(15_000);
    }
    let to = server.app().now();
    let body = json!({"rule": rule(&wait), "from": from.0.to_string(), "to": to.0.to_string()});
    let preview = server.post(PATH, &body).data(200);
    assert_eq!((&preview["step_seconds"], &preview["evaluations"]), (&json!(15), &json!(720)));
    let mut happened = server.get("/api/v1/alerts").data(200);
    happened.as_array_mut().unwrap().reverse();
    let found = periods(&preview["alerts"]);
    assert_eq!(found, periods(&happened));
    assert!(found.len() >= 3 && found.iter().any(|(_, _, end)| end.is_null()), "{found:?}");
}

#[test]
fn a_preview_sees_the_absence_of_groups_and_changes_nothing() {
    let server = TestServer::open();
    for host in ["a", "b"] {
        sample(&server, host, 1.0);
    }
    let from = server.app().now();
    server.pass(5 * MINUTE_MS);
    sample(&server, "b", 1.0);
    let body = json!({
        "rule": rule(&json!({"condition": {"op": "absent"}, "window": "2m"})),
        "from": from.0.to_string(),
    });
    let preview = server.post(PATH, &body).data(200);
    let hosts: Vec<String> = periods(&preview["alerts"]).into_iter().map(|(h, ..)| h).collect();
    assert_eq!(hosts, ["a", "b"]);
    assert_eq!(server.get("/api/v1/alerts").body["meta"]["total"], 0);
    assert_eq!(server.get("/api/v1/alert_rules").body["meta"]["total"], 0);
}

#[test]
fn long_ranges_have_longer_steps_and_many_alerts_end_a_preview() {
    let server = TestServer::open();
    let range = |days: i64| {
        let from = server.app().now().0 - days * 86_400_000;
        json!({"rule": rule(&json!({})), "from": from.to_string(), "to": "now"})
    };
    let preview = server.post(PATH, &range(31)).data(200);
    // 31 days in 2000 steps of 15 s each, rounded up.
    assert_eq!(preview["step_seconds"], 1_350);
    assert!(preview["evaluations"].as_u64().unwrap() <= 2_000, "{preview}");
    server.post(PATH, &range(32)).refused(422, "invalid_range", "to");
    let max = crate::areas::alerting::limits::PREVIEW_PERIODS_MAX;
    for hosts in (0..max + 50).collect::<Vec<_>>().chunks(500) {
        let metric = |host: &usize| json!({"name": "cpu", "type": "gauge", "value": 99, "tags": {"host": host.to_string()}});
        let metrics: Vec<Value> = hosts.iter().map(metric).collect();
        server.post("/api/v1/metrics/batch", &json!({"metrics": metrics}));
    }
    server.pass(1_000);
    let preview = server.post(PATH, &range(1)).data(200);
    assert!(preview["stopped_at"].is_string(), "{}", preview["stopped_at"]);
    assert!(preview["alerts"].as_array().unwrap().len() >= max);
}

#[test]
fn invalid_previews_are_refused_by_field() {
    let server = TestServer::open();
    let refused = |body: &Value, status, code: &str, field: &str| {
        server.call(Method::POST, PATH, &[], &body.to_string()).refused(status, code, field);
    };
    refused(&json!({}), 422, "missing_field", "rule");
    refused(&json!({"rule": {}}), 422, "missing_name", "rule.name");
    let wrong = rule(&json!({"query": {"metric": "cpu", "aggregation": "x"}}));
    refused(&json!({"rule": wrong}), 422, "invalid_query", "rule.query.aggregation");
    let wrong = rule(&json!({"window": "1s"}));
    refused(&json!({"rule": wrong}), 422, "invalid_field", "rule.window");
    let received = json!({"name": "n", "query": {"alert": "Down"}});
    refused(&json!({"rule": received}), 422, "invalid_field", "rule.query");
    refused(&json!({"rule": rule(&json!({})), "from": "soon"}), 422, "invalid_timestamp", "from");
    let turned = json!({"rule": rule(&json!({})), "from": "2026-01-02", "to": "2026-01-01"});
    refused(&turned, 422, "invalid_range", "from");
}
