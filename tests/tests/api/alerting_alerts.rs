//! Alerts over HTTP, from the sample to the receiver's message, across crashes.

use serde_json::{Value, json};
use telltale_tests::{Conversation, Server, Setup, converse, covers, eventually, now_ms};

use crate::keys::text;

const RULES: &str = "/api/v1/alert_rules";
const ALERTS: &str = "/api/v1/alerts";
const RECEIVER: &str = include_str!("alerting_receiver.py");

/// Starts a strict receiver of messages; returns its address too.
pub(crate) fn receiver() -> (Conversation, String) {
    let mut receiver = converse(&["aiosmtpd==1.4.6"], RECEIVER, []);
    let first: Value = serde_json::from_str(&receiver.exchange("")).unwrap_or_default();
    let port = first["port"].as_u64().unwrap_or_default();
    (receiver, format!("http://127.0.0.1:{port}"))
}

/// Returns the body of the next message of this type. A message that was sent right before a crash
/// is sent again, with the same id.
#[track_caller]
pub(crate) fn received(receiver: &mut Conversation, kind: &str) -> Value {
    let mut ids = Vec::new();
    loop {
        let request: Value = serde_json::from_str(&receiver.exchange("")).unwrap_or_default();
        assert_eq!(request["problems"], json!([]), "{request}");
        if request["json"]["type"] == kind {
            return request["json"].clone();
        }
        let id = &request["headers"]["webhook-id"];
        assert!(ids.is_empty() || ids.contains(id), "another message: {request}");
        ids.push(id.clone());
    }
}

/// Starts a server that evaluates its rules all the time.
pub(crate) fn start() -> Server {
    Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("alerting.evaluation_interval", "\"200ms\"")
        .start()
}

pub(crate) fn channel(server: &Server, url: &str) -> String {
    let config = json!({"webhook_url": url});
    let body = json!({"name": "hook", "channel_type": "webhook", "config": config});
    text(&server.client().post("/api/v1/channels", &body).data(201)["id"]).to_owned()
}

/// Creates a rule about the greatest value of `cpu` of each host.
pub(crate) fn rule(server: &Server, channels: &[&str]) -> String {
    let body = json!({
        "name": "CPU high",
        "query": {"metric": "cpu", "aggregation": "max"},
        "group_by": "tags.host",
        "condition": {"op": "gt", "threshold": 90},
        "severity": "critical",
        "channel_ids": channels,
    });
    text(&server.client().post(RULES, &body).data(201)["id"]).to_owned()
}

pub(crate) fn sample(server: &Server, host: &str, value: f64) {
    let body = json!({"name": "cpu", "type": "gauge", "value": value, "tags": {"host": host}});
    server.client().post("/api/v1/metrics", &body).data(201);
}

/// Waits for an alert of a host with this status.
#[track_caller]
pub(crate) fn alert(server: &Server, host: &str, status: &str) -> Value {
    eventually("the alert", || {
        let listed = server.client().get(&format!("{ALERTS}?status={status}")).expect(200);
        let mut all = listed["data"].as_array()?.iter();
        all.find(|alert| alert["labels"]["host"] == host).cloned()
    })
}

#[test]
fn an_alert_reaches_its_channel_and_survives_a_crash() {
    covers!("GET /api/v1/alerts", Happy);
    covers!("GET /api/v1/alerts/{id}", Happy);
    covers!("POST /api/v1/alerts/{id}/acknowledge", Happy);
    covers!("POST /api/v1/alerts/{id}/resolve", Happy);
    let (mut receiver, address) = receiver();
    let mut server = start();
    let hook = channel(&server, &format!("{address}/webhook/a"));
    let rule = rule(&server, &[&hook]);
    sample(&server, "a", 97.0);
    let body = received(&mut receiver, "alert.firing");
    assert_eq!(body["data"]["rule"]["id"], rule.as_str());
    let fired = alert(&server, "a", "firing");
    assert_eq!(body["data"]["alerts"][0]["id"], fired["id"]);
    let path = format!("{ALERTS}/{}", text(&fired["id"]));

    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(alert(&server, "a", "firing")["id"], fired["id"], "the same alert");
    let acknowledged = client.post(&format!("{path}/acknowledge"), &json!({})).data(200);
    assert_eq!(acknowledged["status"], "acknowledged");
    server.kill9();
    server.restart();
    let client = server.client();
    received(&mut receiver, "alert.acknowledged");
    assert_eq!(client.get(&path).data(200)["status"], "acknowledged");
    let resolved = client.post(&format!("{path}/resolve"), &json!({})).data(200);
    assert_eq!(resolved["status"], "resolved");
    server.kill9();
    server.restart();
    let client = server.client();
    received(&mut receiver, "alert.resolved");
    let detail = eventually("the last message to be recorded", || {
        let detail = client.get(&path).data(200);
        let all = detail["notifications"].as_array()?;
        let is_delivered = |sent: &Value| sent["status"] == "delivered";
        (all.len() == 3 && all.iter().all(is_delivered)).then_some(detail.clone())
    });
    assert_eq!(detail["notifications"][0]["channel_name"], "hook");
    let counted = client.get(&format!("/api/v1/channels/{hook}")).data(200);
    // More than three if a message was sent right before a crash.
    assert!(counted["success_count"].as_u64().is_some_and(|count| count >= 3), "{counted}");
    assert_eq!(counted["failure_count"], 0);
    assert!(counted["last_used_at"].is_string());
}

#[test]
fn alerts_that_do_not_exist_or_have_ended_are_refused() {
    covers!("GET /api/v1/alerts", Refusal);
    covers!("GET /api/v1/alerts/{id}", Refusal);
    covers!("POST /api/v1/alerts/{id}/acknowledge", Refusal);
    covers!("POST /api/v1/alerts/{id}/resolve", Refusal);
    let server = start();
    let client = server.client();
    client.get(&format!("{ALERTS}?status=open")).refused(400, "invalid_parameter");
    for id in ["alert_01M89EW6VA8BD28E7NMXRPV454", "alert_1", "rule_1"] {
        client.get(&format!("{ALERTS}/{id}")).refused(404, "alert_not_found");
        for change in ["acknowledge", "resolve"] {
            let path = format!("{ALERTS}/{id}/{change}");
            client.post(&path, &json!({})).refused(404, "alert_not_found");
        }
    }
    rule(&server, &[]);
    sample(&server, "a", 97.0);
    let path = format!("{ALERTS}/{}", text(&alert(&server, "a", "firing")["id"]));
    client.post(&format!("{path}/resolve"), &json!({})).data(200);
    for change in ["acknowledge", "resolve"] {
        client.post(&format!("{path}/{change}"), &json!({})).refused(409, "invalid_state");
    }
}

#[test]
fn a_receiver_that_fails_delays_no_other_and_loses_no_order() {
    let (mut receiver, address) = receiver();
    let server = start();
    // Refuses connections.
    let dead = channel(&server, "http://127.0.0.1:9/x");
    let alive = channel(&server, &format!("{address}/webhook/b"));
    rule(&server, &[&dead, &alive]);
    for host in ["a", "b", "c"] {
        sample(&server, host, 97.0);
        let body = received(&mut receiver, "alert.firing");
        assert_eq!(body["data"]["alerts"][0]["labels"], json!({"host": host}), "{body}");
    }
    let path = format!("{ALERTS}/{}", text(&alert(&server, "a", "firing")["id"]));
    let failed = eventually("a failed attempt", || {
        let detail = server.client().get(&path).data(200);
        let mut all = detail["notifications"].as_array()?.iter();
        let failed = all.find(|sent| sent["channel_id"] == dead.as_str())?;
        (failed["attempts"] == 1).then_some(failed.clone())
    });
    assert_eq!(failed["status"], "queued", "it is tried again: {failed}");
    assert!(failed["error"].is_string());
    let counted = server.client().get(&format!("/api/v1/channels/{dead}")).data(200);
    assert_eq!(counted["success_count"], 0);
}

#[test]
fn alerts_of_one_evaluation_share_a_message() {
    let (mut receiver, address) = receiver();
    let server = Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("alerting.evaluation_interval", "\"2s\"")
        .start();
    let hook = channel(&server, &format!("{address}/webhook/c"));
    rule(&server, &[&hook]);
    let host = |i: i32| json!({"name": "cpu", "type": "gauge", "value": 97, "tags": {"host": i.to_string()}});
    let metrics: Vec<Value> = (0..50).map(host).collect();
    server.client().post("/api/v1/metrics/batch", &json!({"metrics": metrics})).expect(200);
    let body = received(&mut receiver, "alert.firing");
    assert_eq!(body["data"]["total"], 50, "{body}");
    assert_eq!(body["data"]["alerts"].as_array().map(Vec::len), Some(10));
}

#[test]
fn alerts_of_prometheus_reach_the_channel_and_survive_a_crash() {
    covers!("POST /api/v2/alerts", Happy);
    covers!("POST /api/v2/alerts", Refusal);
    covers!("GET /api/v2/alerts", Happy);
    covers!("GET /api/v2/alerts", Refusal);
    covers!("GET /api/v2/status", Happy);
    let (mut receiver, address) = receiver();
    let mut server = start();
    let client = server.client();
    let hook = channel(&server, &format!("{address}/webhook/d"));
    let query = json!({"alert": "Instance*", "tags": {"severity": "page"}});
    let rule = json!({"name": "Instances", "query": query, "channel_ids": [hook]});
    client.post(RULES, &rule).data(201);
    let labels = json!({"alertname": "InstanceDown", "instance": "a", "severity": "page"});
    let alert = json!({"labels": labels, "annotations": {"summary": "a is down"}});
    assert_eq!(client.post("/api/v2/alerts", &json!([alert])).status, 200);
    let body = received(&mut receiver, "alert.firing");
    assert_eq!(body["data"]["alerts"][0]["labels"], labels, "{body}");
    assert_eq!(body["data"]["alerts"][0]["summary"], "a is down");
    server.kill9();
    server.restart();
    let client = server.client();
    let listed = client.get("/api/v2/alerts?filter=instance%3D%22a%22").expect(200);
    assert_eq!(listed[0]["labels"], labels);
    let mut ended = json!({"labels": labels});
    ended["endsAt"] = listed[0]["startsAt"].clone();
    assert_eq!(client.post("/api/v2/alerts", &json!([ended])).status, 200);
    received(&mut receiver, "alert.resolved");
    assert_eq!(client.get("/api/v2/alerts").expect(200), json!([]));
    let status = client.get("/api/v2/status").expect(200);
    assert!(status["versionInfo"]["version"].is_string(), "{status}");
    covers!("GET /api/v2/status", Refusal);
    client.without_key().get("/api/v2/status").refused(401, "unauthorized");
    client.post("/api/v2/alerts", &json!([{"labels": {}}])).refused(400, "invalid_parameter");
    client.get("/api/v2/alerts?active=perhaps").refused(400, "invalid_parameter");
}

#[test]
fn a_preview_finds_what_would_have_fired() {
    covers!("POST /api/v1/alert_rules/preview", Happy);
    covers!("POST /api/v1/alert_rules/preview", Refusal);
    let server = start();
    sample(&server, "a", 97.0);
    let condition = json!({"op": "gt", "threshold": 90});
    let query = json!({"metric": "cpu", "group_by": "tags.host"});
    let rule = json!({"name": "CPU high", "query": query, "condition": condition});
    let client = server.client();
    let preview = eventually("the sample to be in the past", || {
        let body = json!({"rule": rule, "from": (now_ms() - 60_000).to_string()});
        let preview = client.post("/api/v1/alert_rules/preview", &body).data(200);
        preview["alerts"][0].is_object().then_some(preview)
    });
    assert_eq!(preview["alerts"][0]["labels"], json!({"host": "a"}));
    let wrong = json!({"rule": {"name": "n", "query": {"alert": "x"}}});
    client.post("/api/v1/alert_rules/preview", &wrong).refused(422, "invalid_field");
}
