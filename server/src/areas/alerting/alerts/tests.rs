//! Alerts through their routes.

use http::Method;
use serde_json::{Value, json};

use crate::areas::alerting::background::pass_time;
use crate::areas::alerting::evaluation::evaluate;
use crate::areas::testing::TestServer;

const ALERTS: &str = "/api/v1/alerts";

/// Opens a server with an alert of a rule; returns the paths of both.
fn with_alert(rule: &Value) -> (TestServer, String, String) {
    let server = TestServer::open();
    let mut body = json!({
        "name": "CPU high",
        "query": {"metric": "cpu"},
        "condition": {"op": "gt", "threshold": 90},
        "severity": "critical",
        "services": ["shop"],
        "description": "See the manual.",
    });
    if let (Some(body), Some(rule)) = (body.as_object_mut(), rule.as_object()) {
        body.extend(rule.clone());
    }
    let rule = server.post("/api/v1/alert_rules", &body).data(201);
    server.post("/api/v1/metrics", &json!({"name": "cpu", "type": "gauge", "value": 97})).data(201);
    evaluate(server.app()).unwrap();
    let listed = server.get(ALERTS).data(200);
    let path = |folder: &str, id: &Value| format!("{folder}/{}", id.as_str().unwrap());
    let (alert, rule) = (path(ALERTS, &listed[0]["id"]), path("/api/v1/alert_rules", &rule["id"]));
    (server, alert, rule)
}

#[test]
fn an_alert_says_what_is_wrong_since_when_and_what_happened() {
    let (server, path, _) = with_alert(&json!({}));
    let alert = server.get(&path).data(200);
    let expected = [
        ("status", json!("firing")),
        ("rule_name", json!("CPU high")),
        ("severity", json!("critical")),
        ("condition_text", json!("cpu > 90 over 5m")),
        ("labels", json!({})),
        ("summary", json!("See the manual.")),
        ("value", json!(97)),
        ("threshold", json!(90)),
        ("services", json!(["shop"])),
        ("since", json!("2026-01-02T03:04:05.678Z")),
        ("muted", json!(false)),
        ("flapping", json!(false)),
        ("notifications", json!([])),
    ];
    for (field, value) in expected {
        assert_eq!(alert[field], value, "{field}");
    }
    assert_eq!(alert["history"][0]["event"], "fired");
    server.pass(1_000);
    let acknowledged = server.post(&format!("{path}/acknowledge"), &Value::Null).data(200);
    assert_eq!(acknowledged["status"], "acknowledged");
    assert_eq!(acknowledged["acknowledged_at"], "2026-01-02T03:04:06.678Z");
    server.pass(1_000);
    let again = server.post(&format!("{path}/acknowledge"), &Value::Null).data(200);
    assert_eq!(again, acknowledged, "nothing changes");
    let resolved = server.post(&format!("{path}/resolve"), &Value::Null).data(200);
    assert_eq!(
        (&resolved["status"], &resolved["resolved_at"]),
        (&json!("resolved"), &json!("2026-01-02T03:04:07.678Z"))
    );
    for change in ["acknowledge", "resolve"] {
        server.post(&format!("{path}/{change}"), &Value::Null).refused(409, "invalid_state", "");
    }
    let detail = server.get(&path).data(200);
    let events: Vec<&Value> =
        detail["history"].as_array().unwrap().iter().map(|event| &event["event"]).collect();
    assert_eq!(events, ["fired", "acknowledged", "resolved"]);
    // Its condition is still met, and it stays resolved.
    evaluate(server.app()).unwrap();
    assert_eq!(server.get(&format!("{ALERTS}?status=firing")).data(200), json!([]));
    server.get("/api/v1/alerts/alert_01M89EW6VA8BD28E7NMXRPV454").refused(
        404,
        "alert_not_found",
        "",
    );
}

#[test]
fn alerts_are_listed_by_status_severity_and_rule_page_by_page() {
    let (server, _, rule) = with_alert(&json!({"group_by": "tags.host"}));
    for host in ["a", "b", "c"] {
        let body = json!({"name": "cpu", "type": "gauge", "value": 97, "tags": {"host": host}});
        server.post("/api/v1/metrics", &body).data(201);
        server.pass(1);
        evaluate(server.app()).unwrap();
    }
    let list = |query: &str| {
        let listed = server.get(&format!("{ALERTS}?{query}")).body;
        let hosts = listed["data"].as_array().unwrap().iter();
        let hosts: Vec<&str> =
            hosts.map(|alert| alert["labels"]["host"].as_str().unwrap()).collect();
        (hosts.join(" "), listed["meta"]["total"].as_u64().unwrap())
    };
    assert_eq!(list(""), ("c b a ".to_owned(), 4));
    let second = server.get(&format!("{ALERTS}?limit=1&offset=1")).data(200);
    let path = format!("{ALERTS}/{}", second[0]["id"].as_str().unwrap());
    server.post(&format!("{path}/resolve"), &Value::Null).data(200);
    let third = server.get(&format!("{ALERTS}?limit=1&offset=2")).data(200);
    let path = format!("{ALERTS}/{}", third[0]["id"].as_str().unwrap());
    server.post(&format!("{path}/acknowledge"), &Value::Null).data(200);
    let id = rule.rsplit('/').next().unwrap();
    for (query, hosts, total) in [
        ("status=firing".to_owned(), "c ", 2),
        ("status=acknowledged".to_owned(), "a", 1),
        ("status=resolved".to_owned(), "b", 1),
        ("severity=critical&limit=2&offset=1".to_owned(), "b a", 4),
        ("severity=info".to_owned(), "", 0),
        (format!("rule_id={id}&status=firing&limit=1"), "c", 2),
        ("rule_id=rule_1".to_owned(), "", 0),
        ("offset=9".to_owned(), "", 4),
    ] {
        assert_eq!(list(&query), (hosts.to_owned(), total), "{query}");
    }
    server.get(&format!("{ALERTS}?status=open")).refused(400, "invalid_parameter", "status");
    server.get(&format!("{ALERTS}?severity=high")).refused(400, "invalid_parameter", "severity");
}

#[test]
fn the_alerts_of_a_rule_end_with_it() {
    for end in ["disabled", "deleted"] {
        let (server, path, rule) = with_alert(&json!({}));
        pass_time(server.app()).unwrap();
        assert_eq!(server.get(&path).data(200)["status"], "firing");
        if end == "deleted" {
            server.delete(&rule).data(200);
        } else {
            let change = json!({"enabled": false}).to_string();
            server.call(Method::PATCH, &rule, &[], &change).data(200);
        }
        pass_time(server.app()).unwrap();
        let alert = server.get(&path).data(200);
        assert_eq!((&alert["status"], &alert["resolved_by"]), (&json!("resolved"), &Value::Null));
        assert_eq!(alert["rule_name"], "CPU high", "{end}");
    }
}

#[test]
fn an_alert_in_a_maintenance_window_is_muted_until_its_end() {
    let (server, path, _) = with_alert(&json!({}));
    let window = json!({
        "name": "Update",
        "starts_at": "2026-01-02T03:04:00Z",
        "ends_at": "2026-01-02T03:05:00Z",
    });
    let window = server.post("/api/v1/maintenance_windows", &window).data(201);
    pass_time(server.app()).unwrap();
    let alert = server.get(&path).data(200);
    assert_eq!((&alert["muted"], &alert["muted_by"]), (&json!(true), &window["id"]));
    server.pass(60_000);
    pass_time(server.app()).unwrap();
    let alert = server.get(&path).data(200);
    assert_eq!((&alert["muted"], &alert["muted_by"]), (&json!(false), &Value::Null));
    assert_eq!(alert["escalation"]["started_at"], "2026-01-02T03:05:05.678Z");
}
