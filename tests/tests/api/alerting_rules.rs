//! Alert rules over HTTP, and what refers to them or what they refer to.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, covers};

use crate::keys::text;

const PATH: &str = "/api/v1/alert_rules";
const WINDOWS: &str = "/api/v1/maintenance_windows";
/// The rules of a new server, which are disabled.
const FIRST: usize = 4;

/// Returns the body of a rule about a metric, with a change.
fn rule(change: &Value) -> Value {
    let query = json!({"metric": "cpu.usage", "aggregation": "avg"});
    let condition = json!({"op": "gt", "threshold": 90});
    let mut body = json!({"name": "CPU high", "query": query, "condition": condition});
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    body
}

fn path_of(folder: &str, resource: &Value) -> String {
    format!("{folder}/{}", text(&resource["id"]))
}

fn patch(client: &Client, path: &str, body: &Value) -> Response {
    client.request("PATCH", path).json(body).send()
}

#[test]
fn a_rule_is_created_listed_read_changed_and_deleted() {
    covers!("POST /api/v1/alert_rules", Happy);
    covers!("GET /api/v1/alert_rules", Happy);
    covers!("GET /api/v1/alert_rules/{id}", Happy);
    covers!("PATCH /api/v1/alert_rules/{id}", Happy);
    covers!("DELETE /api/v1/alert_rules/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let change = json!({"group_by": "tags.host", "window": "90s", "severity": "critical"});
    let made = client.post(PATH, &rule(&change)).data(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("rule_") && id.len() == 5 + 26, "{id}");
    assert!(text(&made["created_by"]).contains('@'), "{made}");
    assert_eq!(made["condition"], json!({"op": "gt", "threshold": 90}));
    assert_eq!((&made["window"], &made["for"]), (&json!("90s"), &json!("0m")));
    let received = json!({"alert": "High*", "tags": {"severity": "page"}});
    let body = json!({"name": "From Prometheus", "query": received, "enabled": false});
    let other = client.post(PATH, &body).data(201);
    assert_eq!(other["query"], received);
    server.kill9();
    server.restart();
    let client = server.client();
    let path = path_of(PATH, &made);
    assert_eq!(client.get(&path).data(200), made);
    assert_eq!(client.get(&path_of(PATH, &other)).data(200), other);
    let listed = client.get(PATH).expect(200);
    assert_eq!(listed["meta"], json!({"total": 2 + FIRST, "limit": 100, "offset": 0}));
    let shown = |i: usize| (&listed["data"][i]["id"], &listed["data"][i]["condition_text"]);
    assert_eq!(shown(0), (&other["id"], &json!("High* fires")));
    assert_eq!(shown(1), (&made["id"], &json!("avg of cpu.usage > 90 over 90s")));
    for filter in ["enabled=true", "severity=critical&enabled=true"] {
        let found = client.get(&format!("{PATH}?{filter}")).expect(200);
        let (total, first) = (&found["meta"]["total"], &found["data"][0]["id"]);
        assert_eq!((total, first), (&json!(1), &made["id"]), "{filter}");
    }

    let etag = client.get(&path).must_header("etag").to_owned();
    let change = json!({"condition": {"op": "absent"}, "severity": null, "group_by": null});
    let changing = || client.request("PATCH", &path).header("if-match", &etag).json(&change).send();
    let changed = changing().data(200);
    assert_eq!(changed["condition"], json!({"op": "absent", "threshold": null}));
    assert_eq!((&changed["severity"], &changed["group_by"]), (&json!("warning"), &Value::Null));
    assert_eq!(changed["name"], "CPU high");
    changing().refused(412, "precondition_failed");
    assert_eq!(client.delete(&path).data(200), json!({"id": id, "deleted": true}));
    client.get(&path).refused(404, "rule_not_found");
}

#[test]
fn invalid_rules_are_refused() {
    covers!("POST /api/v1/alert_rules", Refusal);
    covers!("GET /api/v1/alert_rules", Refusal);
    covers!("GET /api/v1/alert_rules/{id}", Refusal);
    covers!("PATCH /api/v1/alert_rules/{id}", Refusal);
    covers!("DELETE /api/v1/alert_rules/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = path_of(PATH, &client.post(PATH, &rule(&json!({}))).data(201));
    for (change, code, field) in [
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"name": "a\nb"}), "invalid_name", "name"),
        (json!({"query": null}), "missing_field", "query"),
        (json!({"query": {}}), "invalid_query", "query"),
        (json!({"query": {"metric": "a", "alert": "b"}}), "invalid_query", "query"),
        (json!({"query": {"alert": "a*b"}}), "invalid_query", "query.alert"),
        (json!({"query": {"event": "e", "interval": "2w"}}), "invalid_query", "query.interval"),
        (json!({"query": {"alert": "a"}}), "invalid_field", "condition"),
        (json!({"group_by": "host"}), "invalid_field", "group_by"),
        (json!({"condition": null}), "missing_field", "condition"),
        (json!({"condition": {"op": "gt"}}), "missing_field", "condition.threshold"),
        (json!({"window": "1s"}), "invalid_field", "window"),
        (json!({"for": "2d"}), "invalid_field", "for"),
        (json!({"severity": "high"}), "invalid_field", "severity"),
        (json!({"channel_ids": ["chan_x"]}), "invalid_field", "channel_ids[0]"),
        (json!({"escalation_policy_id": "esc_x"}), "invalid_field", "escalation_policy_id"),
        (json!({"on_call_schedule_id": "sched_x"}), "invalid_field", "on_call_schedule_id"),
        (json!({"services": [""]}), "invalid_field", "services[0]"),
    ] {
        client.post(PATH, &rule(&change)).refused_for(422, code, field);
        patch(&client, &path, &change).refused_for(422, code, field);
    }
    client.post(PATH, &rule(&json!({"frequency": "1m"}))).refused(400, "invalid_parameter");
    client.get(&format!("{PATH}?severity=high")).refused_for(400, "invalid_parameter", "severity");
    let none = format!("{PATH}/rule_none");
    client.get(&none).refused(404, "rule_not_found");
    client.delete(&none).refused(404, "rule_not_found");
    patch(&client, &none, &json!({})).refused(404, "rule_not_found");
}

#[test]
fn deleted_resources_leave_the_rules_that_use_them() {
    covers!("DELETE /api/v1/channels/{id}", Happy);
    covers!("DELETE /api/v1/escalation_policies/{id}", Happy);
    covers!("DELETE /api/v1/on_call_schedules/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let config = json!({"webhook_url": "https://hooks.example.com/a"});
    let body = json!({"name": "Chat", "channel_type": "webhook", "config": config});
    let channel = client.post("/api/v1/channels", &body).data(201);
    let body = json!({"name": "Shop", "steps": [{"channel_id": channel["id"]}]});
    let policy = client.post("/api/v1/escalation_policies", &body).data(201);
    let body = json!({
        "name": "Shop", "schedule_type": "custom", "timezone": "UTC", "members": ["ann@example.com"],
        "rotation_type": "daily", "rotation_start": "2026-01-05T08:00:00Z",
    });
    let schedule = client.post("/api/v1/on_call_schedules", &body).data(201);
    let change = json!({
        "channel_ids": [channel["id"]], "escalation_policy_id": policy["id"],
        "on_call_schedule_id": schedule["id"],
    });
    let made = client.post(PATH, &rule(&change)).data(201);
    let removed = |folder, target: &Value, from: Value| {
        let expected = json!({"id": target["id"], "deleted": true, "removed_from": from});
        assert_eq!(client.delete(&path_of(folder, target)).data(200), expected);
    };
    removed("/api/v1/channels", &channel, json!([policy["id"], made["id"]]));
    removed("/api/v1/escalation_policies", &policy, json!([made["id"]]));
    removed("/api/v1/on_call_schedules", &schedule, json!([made["id"]]));
    server.kill9();
    server.restart();
    let left = server.client().get(&path_of(PATH, &made)).data(200);
    assert_eq!(left["channel_ids"], json!([]));
    assert_eq!(left["escalation_policy_id"], Value::Null);
    assert_eq!(left["on_call_schedule_id"], Value::Null);
}

#[test]
fn a_window_whose_rules_were_deleted_mutes_none() {
    let mut server = Server::start();
    let client = server.client();
    let made = client.post(PATH, &rule(&json!({}))).data(201);
    let mut body = json!({
        "name": "Move", "starts_at": "2020-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z",
        "rule_ids": ["rule_01J0000000000000000000000A"],
    });
    client.post(WINDOWS, &body).refused_for(422, "invalid_field", "rule_ids[0]");
    body["rule_ids"] = json!([made["id"]]);
    let window = client.post(WINDOWS, &body).data(201);
    assert_eq!(window["rule_ids"], json!([made["id"]]));
    client.delete(&path_of(PATH, &made)).data(200);
    server.restart();
    let client = server.client();
    let path = path_of(WINDOWS, &window);
    assert_eq!(client.get(&path).data(200)["rule_ids"], json!([]));
    assert_eq!(patch(&client, &path, &json!({"name": "Stay"})).data(200)["rule_ids"], json!([]));
}
