//! Received alerts through the API of Alertmanager.

use http::Method;
use serde_json::{Value, json};

use crate::areas::alerting::background::pass_time;
use crate::areas::alerting::evaluation::evaluate;
use crate::areas::alerting::limits;
use crate::areas::testing::TestServer;

const ALERTS: &str = "/api/v1/alerts";
const RECEIVED: &str = "/api/v2/alerts";
const RULES: &str = "/api/v1/alert_rules";
const MINUTE_MS: i64 = 60_000;

fn down(instance: &str) -> Value {
    json!({
        "labels": {"alertname": "Down", "instance": instance, "severity": "page"},
        "annotations": {"summary": format!("{instance} is down")},
        "startsAt": "2026-01-02T03:00:00Z",
        "generatorURL": "http://prometheus:9090/graph",
    })
}

#[track_caller]
fn send(server: &TestServer, alerts: &[Value]) {
    let sent = server.post(RECEIVED, &json!(alerts));
    assert_eq!(sent.status, 200, "{}", sent.body);
}

fn rule(server: &TestServer, query: &Value) -> String {
    let body = json!({"name": "Instances", "query": query, "severity": "critical"});
    server.post(RULES, &body).data(201)["id"].as_str().unwrap().to_owned()
}

fn time_passes(server: &TestServer, ms: i64) {
    server.pass(ms);
    pass_time(server.app()).unwrap();
}

/// Returns instance and rule of the alerts with a status, sorted.
fn alerts(server: &TestServer, status: &str) -> Vec<(String, Value)> {
    let listed = server.get(&format!("{ALERTS}?status={status}")).data(200);
    let shown = |alert: &Value| {
        let instance = alert["labels"]["instance"].as_str().unwrap().to_owned();
        (instance, alert["rule_id"].clone())
    };
    let mut alerts: Vec<(String, Value)> = listed.as_array().unwrap().iter().map(shown).collect();
    alerts.sort_by(|a, b| a.0.cmp(&b.0));
    alerts
}

#[test]
fn an_alert_fires_for_the_rules_that_match_it_until_its_sender_ends_it() {
    let server = TestServer::open();
    let id = rule(&server, &json!({"alert": "Down", "tags": {"severity": "page"}}));
    rule(&server, &json!({"alert": "Up*"}));
    send(&server, &[down("a"), down("b")]);
    let both = |instance: &str| (instance.to_owned(), json!(id));
    assert_eq!(alerts(&server, "firing"), [both("a"), both("b")]);
    let alert = server.get(ALERTS).data(200)[0].clone();
    for (field, value) in [
        ("rule_name", json!("Instances")),
        ("severity", json!("critical")),
        ("condition_text", json!("Down fires")),
        ("value", Value::Null),
        ("threshold", Value::Null),
        ("since", json!("2026-01-02T03:00:00.000Z")),
        ("fired_at", json!("2026-01-02T03:04:05.678Z")),
    ] {
        assert_eq!(alert[field], value, "{field}");
    }
    assert_eq!(alert["labels"]["alertname"], "Down");
    assert!(alert["summary"].as_str().unwrap().ends_with("is down"));
    // Sent again, as Prometheus does: nothing new.
    time_passes(&server, MINUTE_MS);
    send(&server, &[down("a"), down("b")]);
    evaluate(server.app()).unwrap();
    assert_eq!(alerts(&server, "firing").len(), 2);
    let mut ended = down("a");
    ended["endsAt"] = json!("2026-01-02T03:05:00Z");
    send(&server, &[ended]);
    evaluate(server.app()).unwrap();
    assert_eq!(
        (alerts(&server, "firing"), alerts(&server, "resolved")),
        (vec![both("b")], vec![both("a")])
    );
    assert_eq!(server.get(RECEIVED).body.as_array().unwrap().len(), 1);
}

#[test]
fn an_alert_that_is_not_repeated_ends() {
    let server = TestServer::open();
    rule(&server, &json!({"alert": "*"}));
    let mut long = down("b");
    long["endsAt"] = json!("2026-01-02T04:00:00Z");
    send(&server, &[down("a"), long]);
    time_passes(&server, limits::RECEIVED_RESOLVE_MS - 1);
    assert_eq!(alerts(&server, "firing").len(), 2);
    time_passes(&server, 1);
    assert_eq!(alerts(&server, "firing").len(), 1);
    assert_eq!(alerts(&server, "resolved")[0].0, "a");
    time_passes(&server, 60 * MINUTE_MS);
    assert_eq!(alerts(&server, "firing").len(), 0);
    assert_eq!(server.get(RECEIVED).body, json!([]));
}

#[test]
fn an_alert_that_no_rule_matches_is_recorded_until_one_does() {
    let server = TestServer::open();
    send(&server, &[down("a")]);
    assert_eq!(alerts(&server, "firing"), [("a".to_owned(), Value::Null)]);
    let alert = server.get(ALERTS).data(200)[0].clone();
    assert_eq!((&alert["rule_name"], &alert["severity"]), (&json!("Down"), &json!("critical")));
    let id = rule(&server, &json!({"alert": "Down"}));
    evaluate(server.app()).unwrap();
    assert_eq!(alerts(&server, "firing"), [("a".to_owned(), json!(id))]);
    assert_eq!(alerts(&server, "resolved"), [("a".to_owned(), Value::Null)]);
    server.delete(&format!("{RULES}/{id}")).data(200);
    time_passes(&server, 1_000);
    evaluate(server.app()).unwrap();
    assert_eq!(alerts(&server, "firing"), [("a".to_owned(), Value::Null)]);
}

#[test]
fn a_rule_waits_for_received_alerts_too() {
    let server = TestServer::open();
    let body = json!({"name": "n", "query": {"alert": "Down"}, "for": "1m"});
    server.post(RULES, &body).data(201);
    send(&server, &[down("a")]);
    time_passes(&server, MINUTE_MS - 1);
    evaluate(server.app()).unwrap();
    assert_eq!(alerts(&server, "firing").len(), 0);
    time_passes(&server, 1);
    evaluate(server.app()).unwrap();
    assert_eq!(alerts(&server, "firing").len(), 1);
}

#[test]
fn a_change_of_the_clock_ends_no_alert() {
    let server = TestServer::open();
    rule(&server, &json!({"alert": "*"}));
    send(&server, &[down("a")]);
    let hour = 60 * MINUTE_MS;
    let now = telltale_engine::TimestampMs(server.app().now().0 + hour);
    server.app().clock().jump(now);
    pass_time(server.app()).unwrap();
    assert_eq!(alerts(&server, "firing").len(), 1);
    time_passes(&server, limits::RECEIVED_RESOLVE_MS);
    assert_eq!(alerts(&server, "firing").len(), 0);
}

#[test]
fn alerts_are_listed_as_alertmanager_does() {
    let server = TestServer::open();
    let config = json!({"recipients": ["ann@example.com"]});
    let channel = json!({"name": "on call", "channel_type": "email", "config": config});
    let channel = server.post("/api/v1/channels", &channel).data(201)["id"].clone();
    let body = json!({"name": "n", "query": {"alert": "Down"}, "channel_ids": [channel]});
    let rule = server.post(RULES, &body).data(201)["id"].clone();
    send(&server, &[down("a"), down("b")]);
    let listed = server.get(RECEIVED).body;
    let alert = &listed[0];
    assert_eq!(alert["receivers"], json!([{"name": "on call"}]));
    assert_eq!(alert["status"]["state"], "active");
    assert_eq!(alert["generatorURL"], "http://prometheus:9090/graph");
    assert_eq!(alert["startsAt"], "2026-01-02T03:00:00.000Z");
    let count = |query: &str| {
        server.get(&format!("{RECEIVED}?{query}")).body.as_array().map_or(usize::MAX, Vec::len)
    };
    assert_eq!(count("filter=instance%3D%22a%22"), 1);
    assert_eq!(count("filter=instance%3D~%22a%7Cb%22&active=false"), 0);
    assert_eq!(count("receiver=on.*"), 2);
    let window = json!({
        "name": "Update",
        "starts_at": "2026-01-02T03:00:00Z",
        "ends_at": "2026-01-02T05:00:00Z",
        "rule_ids": [rule],
    });
    server.post("/api/v1/maintenance_windows", &window).data(201);
    assert_eq!(server.get(RECEIVED).body[0]["status"]["state"], "suppressed");
    assert_eq!(count("active=false"), 2);
    server.get(&format!("{RECEIVED}?filter=%3D")).refused(400, "invalid_parameter", "");
    let status = server.get("/api/v2/status").body;
    assert!(status["versionInfo"]["version"].is_string() && status["uptime"].is_string());
}

#[test]
fn valid_alerts_are_kept_beside_invalid_ones_and_space_is_limited() {
    let server = TestServer::open();
    let body = json!([down("a"), {"labels": {}}]).to_string();
    server.call(Method::POST, RECEIVED, &[], &body).refused(400, "invalid_parameter", "");
    assert_eq!(alerts(&server, "firing").len(), 1);
    server.call(Method::POST, RECEIVED, &[], "{}").refused(400, "invalid_json", "");
    // Annotations that fill the memory for received alerts.
    let large = "x".repeat(30_000);
    let mut sent = 0;
    let refused = loop {
        let alert = |i: usize| json!({"labels": {"n": (sent + i).to_string()}, "annotations": {"a": large}});
        let alerts: Vec<Value> = (0..100).map(alert).collect();
        let answer = server.post(RECEIVED, &json!(alerts));
        sent += 100;
        if answer.status != 200 {
            break answer;
        }
        assert!(sent < 2 * limits::RECEIVED_ALERTS_MAX);
    };
    refused.refused(503, "overloaded", "");
    let held = server.app().alerting().received().memory_bytes();
    assert!(
        held <= limits::RECEIVED_BYTES_MAX as u64 && held > limits::RECEIVED_BYTES_MAX as u64 / 2,
        "{held}"
    );
    // What is known can be sent again, and ended.
    send(&server, &[down("a")]);
    let mut ended = json!({"labels": {"n": "0"}});
    ended["endsAt"] = json!("2026-01-02T03:04:00Z");
    send(&server, &[ended]);
}

#[test]
fn the_last_of_several_states_in_a_request_counts() {
    let server = TestServer::open();
    rule(&server, &json!({"alert": "*"}));
    send(&server, &[down("a")]);
    let mut ended = down("a");
    ended["endsAt"] = json!("2026-01-02T03:04:00Z");
    send(&server, &[ended.clone(), down("a")]);
    assert_eq!((alerts(&server, "firing").len(), alerts(&server, "resolved").len()), (1, 0));
    send(&server, &[down("a"), ended]);
    assert_eq!((alerts(&server, "firing").len(), alerts(&server, "resolved").len()), (0, 1));
}

#[test]
fn an_alert_whose_text_grows_without_space_goes_on() {
    let server = TestServer::open();
    let known = |text: &str| json!({"labels": {"n": "known"}, "annotations": {"a": text}});
    send(&server, &[known("short")]);
    let large = "x".repeat(30_000);
    let is_full = (0..20).any(|request| {
        let alert = |i: u32| {
            let labels = json!({"n": (100 * request + i).to_string()});
            json!({"labels": labels, "annotations": {"a": large}})
        };
        let alerts: Vec<Value> = (0..100).map(alert).collect();
        server.post(RECEIVED, &json!(alerts)).status == 503
    });
    assert!(is_full);
    let shown = || server.get(&format!("{RECEIVED}?filter=n%3D%22known%22")).body[0].clone();
    time_passes(&server, limits::RECEIVED_RESOLVE_MS - 1_000);
    send(&server, &[known(&"x".repeat(32_000))]);
    assert_eq!(shown()["annotations"]["a"], "short", "it goes on with its old text");
    time_passes(&server, 2_000);
    assert_eq!(shown()["annotations"]["a"], "short", "those that were not repeated have ended");
}

#[test]
fn received_alerts_leave_space_for_others() {
    let server = TestServer::open();
    rule(&server, &json!({"alert": "*"}));
    let most = limits::RULE_ALERTS_MAX;
    let many: Vec<Value> = (0..most + 2).map(|i| down(&i.to_string())).collect();
    send(&server, &many);
    evaluate(server.app()).unwrap();
    let listed = server.get(&format!("{ALERTS}?status=firing&limit=1")).body;
    assert_eq!(listed["meta"]["total"], most);
    let rules = server.get(RULES).data(200)[0]["id"].as_str().unwrap().to_owned();
    let error = server.get(&format!("{RULES}/{rules}")).data(200)["evaluation"]["error"].clone();
    assert!(error.as_str().is_some_and(|text| text.starts_with("2 more groups")), "{error}");
}

#[test]
fn labels_of_many_bytes_are_refused() {
    let server = TestServer::open();
    let labels = |count: usize| {
        let pairs = (0..count).map(|i| (format!("l{i}"), json!("\u{1f600}".repeat(1_000))));
        json!([{"labels": pairs.collect::<serde_json::Map<_, _>>()}])
    };
    assert_eq!(server.post(RECEIVED, &labels(4)).status, 200);
    server.post(RECEIVED, &labels(5)).refused(400, "invalid_parameter", "");
}
