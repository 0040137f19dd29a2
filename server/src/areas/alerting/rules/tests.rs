//! Alert rules through their routes. Now is Friday, 2026-01-02T03:04:05.678Z.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};
use telltale_engine::Expect;

use super::condition::{Condition, Operator};
use super::model::{Rule, RuleQuery, RuleSettings};
use crate::app::App;
use crate::areas::alerting::documents::{self, StoredResource};
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::limits;
use crate::areas::alerting::notice::Severity;
use crate::areas::alerting::period::Period;
use crate::areas::saved_queries::SavedQuery;
use crate::areas::testing::{Answer, TestServer};

const PATH: &str = "/api/v1/alert_rules";
const CHANNELS: &str = "/api/v1/channels";
const POLICIES: &str = "/api/v1/escalation_policies";
const SCHEDULES: &str = "/api/v1/on_call_schedules";
const WINDOWS: &str = "/api/v1/maintenance_windows";

/// Returns the body of a rule about a metric, with a change.
fn rule(change: &Value) -> Value {
    let mut body = json!({
        "name": "n", "query": {"metric": "cpu"}, "condition": {"op": "gt", "threshold": 90}
    });
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    body
}

fn create(server: &TestServer, change: &Value) -> Value {
    server.post(PATH, &rule(change)).data(201)
}

fn path_of(folder: &str, resource: &Value) -> String {
    format!("{folder}/{}", resource["id"].as_str().unwrap())
}

fn patch(server: &TestServer, path: &str, body: &Value) -> Answer {
    server.call(Method::PATCH, path, &[], &body.to_string())
}

fn etag(server: &TestServer, path: &str) -> String {
    server.get(path).headers["etag"].to_str().unwrap().to_owned()
}

fn names(server: &TestServer, query: &str) -> Vec<String> {
    let listed = server.get(&format!("{PATH}{query}")).data(200);
    let name = |rule: &Value| rule["name"].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(name).collect()
}

fn channel(server: &TestServer) -> Value {
    let body = json!({
        "name": "c", "channel_type": "email", "config": {"recipients": ["ann@example.com"]}
    });
    server.post(CHANNELS, &body).data(201)
}

fn policy(server: &TestServer, channel: &Value) -> Value {
    let body = json!({"name": "p", "steps": [{"channel_id": channel["id"]}]});
    server.post(POLICIES, &body).data(201)
}

fn schedule(server: &TestServer) -> Value {
    let body = json!({
        "name": "s", "schedule_type": "weekly", "timezone": "UTC", "members": ["ann@x.example"],
        "weekly_schedule": {"friday": {"user": "ann@x.example"}},
    });
    server.post(SCHEDULES, &body).data(201)
}

fn window(server: &TestServer, rule_ids: &Value) -> Value {
    let body = json!({
        "name": "w", "starts_at": "2026-01-02T03:00:00Z", "ends_at": "2026-01-02T05:00:00Z",
        "rule_ids": rule_ids,
    });
    server.post(WINDOWS, &body).data(201)
}

#[test]
fn a_rule_is_created_changed_and_deleted() {
    let server = TestServer::open();
    let created = create(&server, &json!({}));
    let expected = json!({
        "id": created["id"], "name": "n", "description": null, "query": {"metric": "cpu"},
        "group_by": null, "condition": {"op": "gt", "threshold": 90}, "window": "5m",
        "for": "0m", "severity": "warning", "channel_ids": [], "escalation_policy_id": null,
        "on_call_schedule_id": null, "services": [], "enabled": true,
        "evaluation": {"error": null, "error_since": null},
        "created_by": created["created_by"], "created_at": "2026-01-02T03:04:05.678Z",
    });
    assert_eq!(created, expected);
    assert!(created["created_by"].is_string());
    let path = path_of(PATH, &created);
    assert!(path.starts_with(&format!("{PATH}/rule_")), "{path}");
    assert_eq!(server.get(&path).data(200), expected);

    let (channel, schedule) = (channel(&server), schedule(&server));
    let policy = policy(&server, &channel);
    let change = json!({
        "name": "o", "description": "d", "query": {"event": "order.*", "tags": {"env": "!dev"}},
        "group_by": "user_id", "condition": {"op": "absent"}, "window": "90m", "for": "24h",
        "severity": "critical", "channel_ids": [channel["id"]],
        "escalation_policy_id": policy["id"], "on_call_schedule_id": schedule["id"],
        "services": ["shop"], "enabled": false,
    });
    let changed = patch(&server, &path, &change).data(200);
    let mut expected = change;
    for field in ["id", "evaluation", "created_by", "created_at"] {
        expected[field] = created[field].clone();
    }
    expected["condition"]["threshold"] = Value::Null;
    assert_eq!(changed, expected);
    assert_eq!(patch(&server, &path, &json!({})).data(200), changed);

    // The values of a new rule.
    let cleared = json!({
        "name": "n", "description": null, "query": {"metric": "cpu"}, "group_by": null,
        "condition": {"op": "gt", "threshold": 90}, "window": null, "for": null, "severity": null,
        "channel_ids": null, "escalation_policy_id": null, "on_call_schedule_id": null,
        "services": null, "enabled": null,
    });
    assert_eq!(patch(&server, &path, &cleared).data(200), created);
    assert_eq!(server.delete(&path).data(200), json!({"id": created["id"], "deleted": true}));
    server.get(&path).refused(404, "rule_not_found", "");
    server.delete(&path).refused(404, "rule_not_found", "");
    patch(&server, &path, &json!({})).refused(404, "rule_not_found", "");
}

#[test]
fn received_alerts_have_one_condition_and_no_grouping() {
    let server = TestServer::open();
    let fires = json!({"op": "gt", "threshold": 0});
    let tags = json!({"severity": "page,critical"});
    for query in [json!({"alert": "HighLatency"}), json!({"alert": "High*", "tags": tags})] {
        for condition in [Value::Null, fires.clone()] {
            let made = create(&server, &json!({"query": query, "condition": condition}));
            assert_eq!((&made["query"], &made["condition"]), (&query, &fires));
            assert_eq!(made["group_by"], Value::Null);
        }
    }
    let listed = server.get(PATH).data(200);
    assert_eq!(listed[0]["condition_text"], "High* fires");
    let query = json!({"alert": "a"});
    for (change, code, field) in [
        (json!({"condition": {"op": "gt", "threshold": 1}}), "invalid_field", "condition"),
        (json!({"condition": {"op": "gte", "threshold": 0}}), "invalid_field", "condition"),
        (json!({"condition": {"op": "absent"}}), "invalid_field", "condition"),
        (json!({"condition": fires, "group_by": "tags.host"}), "invalid_field", "group_by"),
    ] {
        let mut body = rule(&change);
        body["query"] = query.clone();
        server.post(PATH, &body).refused(422, code, field);
    }
    // The condition of the metric does not fit.
    let path = path_of(PATH, &create(&server, &json!({})));
    let change = json!({"query": query});
    patch(&server, &path, &change).refused(422, "invalid_field", "condition");
    let change = json!({"query": query, "condition": null});
    assert_eq!(patch(&server, &path, &change).data(200)["condition"], fires);
    let change = json!({"query": {"metric": "cpu"}, "condition": null});
    patch(&server, &path, &change).refused(422, "missing_field", "condition");
}

#[test]
fn the_grouping_is_part_of_the_rule_or_of_its_query() {
    let server = TestServer::open();
    let host = json!({"metric": "cpu", "group_by": "tags.host"});
    let grouped = |change: &Value| create(&server, change)["group_by"].clone();
    assert_eq!(grouped(&json!({"group_by": "tags.a,tags.b"})), "tags.a,tags.b");
    assert_eq!(grouped(&json!({"query": host})), "tags.host");
    let both = create(&server, &json!({"query": host, "group_by": "tags.host"}));
    assert_eq!((&both["query"], &both["group_by"]), (&host, &json!("tags.host")));
    let differs = rule(&json!({"query": host, "group_by": "tags.env"}));
    server.post(PATH, &differs).refused(422, "invalid_field", "group_by");
    let path = path_of(PATH, &both);
    let ungrouped = json!({"query": {"metric": "cpu"}});
    assert_eq!(patch(&server, &path, &ungrouped).data(200)["group_by"], "tags.host");
    let change = json!({"query": {"metric": "cpu", "group_by": "tags.env"}});
    patch(&server, &path, &change).refused(422, "invalid_field", "group_by");
    let change = json!({"query": change["query"], "group_by": null});
    assert_eq!(patch(&server, &path, &change).data(200)["group_by"], "tags.env");
}

/// Checks that neither a new rule nor a changed one can be so.
#[track_caller]
fn refused(server: &TestServer, path: &str, change: &Value, code: &str, field: &str) {
    for answer in [server.post(PATH, &rule(change)), patch(server, path, change)] {
        let error = &answer.body["error"];
        assert_eq!(
            (&error["code"], &error["details"]["field"]),
            (&json!(code), &json!(field)),
            "{change}"
        );
        answer.refused(422, code, field);
    }
}

#[test]
fn invalid_queries_are_refused() {
    let server = TestServer::open();
    let path = path_of(PATH, &create(&server, &json!({})));
    let tags: BTreeMap<String, String> =
        (0..33).map(|i| (format!("k{i}"), "v".to_owned())).collect();
    for (query, code, field) in [
        (Value::Null, "missing_field", "query"),
        (json!("cpu"), "invalid_query", "query"),
        (json!([]), "invalid_query", "query"),
        (json!([null, null, "a"]), "invalid_query", "query"),
        (json!({}), "invalid_query", "query"),
        (json!({"metric": "a", "event": "b"}), "invalid_query", "query"),
        (json!({"metric": "a", "alert": "b"}), "invalid_query", "query"),
        (json!({"event": "a", "alert": "b"}), "invalid_query", "query"),
        (json!({"metrik": "a"}), "invalid_query", "query.metrik"),
        (json!({"metric": 1}), "invalid_query", "query.metric"),
        (json!({"metric": ""}), "invalid_query", "query.metric"),
        (json!({"metric": "a".repeat(501)}), "invalid_query", "query.metric"),
        (json!({"event": "a", "aggregation": "p90"}), "invalid_query", "query.aggregation"),
        (json!({"event": "a", "group_by": "host"}), "invalid_query", "query.group_by"),
        (json!({"metric": "a", "tags": {"k": "a*,b"}}), "invalid_query", "query.tags.k"),
        (json!({"alert": ""}), "invalid_query", "query.alert"),
        (json!({"alert": "a*b"}), "invalid_query", "query.alert"),
        (json!({"alert": "a".repeat(501)}), "invalid_query", "query.alert"),
        (json!({"alert": 1}), "invalid_query", "query.alert"),
        (json!({"alert": "a", "group_by": "tags.b"}), "invalid_query", "query.group_by"),
        (json!({"alert": "a", "tags": {"k": "a*,b"}}), "invalid_query", "query.tags.k"),
        (json!({"alert": "a", "tags": {"": "a"}}), "invalid_query", "query.tags"),
        (json!({"alert": "a", "tags": tags}), "invalid_query", "query.tags"),
    ] {
        refused(&server, &path, &json!({"query": query}), code, field);
    }
}

#[test]
fn invalid_rules_are_refused() {
    let server = TestServer::open();
    let created = create(&server, &json!({}));
    let path = path_of(PATH, &created);
    let many = vec!["s"; limits::SERVICES_MAX + 1];
    let channels: Vec<String> =
        (0..=limits::RULE_CHANNELS_MAX).map(|i| format!("chan_{i}")).collect();
    let condition = |condition: Value| json!({"condition": condition});
    for (change, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"name": " "}), "invalid_name", "name"),
        (json!({"description": "x".repeat(2_001)}), "invalid_field", "description"),
        (json!({"group_by": "host"}), "invalid_field", "group_by"),
        (json!({"group_by": "user_id"}), "invalid_field", "group_by"),
        (json!({"group_by": "x".repeat(501)}), "invalid_field", "group_by"),
        (condition(Value::Null), "missing_field", "condition"),
        (condition(json!({"threshold": 1})), "missing_field", "condition.op"),
        (condition(json!({"op": ">", "threshold": 1})), "invalid_field", "condition.op"),
        (condition(json!({"op": "gt"})), "missing_field", "condition.threshold"),
        (
            condition(json!({"op": "absent", "threshold": 0})),
            "invalid_field",
            "condition.threshold",
        ),
        (json!({"window": "9s"}), "invalid_field", "window"),
        (json!({"window": "8d"}), "invalid_field", "window"),
        (json!({"window": "5"}), "invalid_field", "window"),
        (json!({"for": "25h"}), "invalid_field", "for"),
        (json!({"for": ""}), "invalid_field", "for"),
        (json!({"severity": "fatal"}), "invalid_field", "severity"),
        (json!({"channel_ids": ["chan_a"]}), "invalid_field", "channel_ids[0]"),
        (json!({"channel_ids": ["chan_a", "chan_a"]}), "invalid_field", "channel_ids[1]"),
        (json!({"channel_ids": channels}), "invalid_field", "channel_ids"),
        (json!({"escalation_policy_id": "esc_a"}), "invalid_field", "escalation_policy_id"),
        (json!({"on_call_schedule_id": "sched_a"}), "invalid_field", "on_call_schedule_id"),
        (json!({"services": ["a", ""]}), "invalid_field", "services[1]"),
        (json!({"services": ["x".repeat(201)]}), "invalid_field", "services[0]"),
        (json!({"services": many}), "invalid_field", "services"),
    ] {
        refused(&server, &path, &change, code, field);
    }
    for change in [
        json!({"seconds": 1}),
        json!({"id": created["id"]}),
        json!({"condition": {"op": "gt", "threshold": "1"}}),
        json!({"condition": {"op": "gt", "treshold": 1}}),
        json!({"enabled": 1}),
    ] {
        let refused = server.post(PATH, &rule(&change));
        assert_eq!(refused.body["error"]["code"], "invalid_parameter", "{change}");
        let refused = patch(&server, &path, &change);
        assert_eq!(refused.body["error"]["code"], "invalid_parameter", "{change}");
    }
    assert_eq!(names(&server, ""), ["n"]);
    assert_eq!(server.get(&path).data(200), created);
}

#[test]
fn the_ends_of_ranges_are_accepted() {
    let server = TestServer::open();
    for change in [
        json!({"window": "10s", "for": "0s"}),
        json!({"window": "7d", "for": "1d"}),
        json!({"window": "168h", "for": "86400s"}),
        json!({"condition": {"op": "ne", "threshold": -1e300}}),
        json!({"query": {"alert": "*"}, "condition": null}),
        json!({"query": {"event": "*"}}),
    ] {
        let made = create(&server, &change);
        let Some(change) = change.as_object() else { panic!("{change}") };
        for (field, sent) in change.iter().filter(|(_, sent)| !sent.is_null()) {
            assert_eq!(&made[field], sent);
        }
    }
}

#[test]
fn the_text_of_a_rule_is_limited_as_a_whole() {
    let server = TestServer::open();
    let path = path_of(PATH, &create(&server, &json!({})));
    let services = |bytes: usize| {
        let mut services = vec!["s".repeat(128); bytes / 128];
        services.extend((!bytes.is_multiple_of(128)).then(|| "s".repeat(bytes % 128)));
        json!({"services": services})
    };
    let most = limits::RULE_TEXT_BYTES_MAX - "n".len() - "cpu".len();
    patch(&server, &path, &services(most)).data(200);
    patch(&server, &path, &services(most + 1)).refused(422, "invalid_field", "services");
    patch(&server, &path, &json!({"name": "nn"})).refused(422, "invalid_field", "services");
    let tags: BTreeMap<String, String> =
        (0..20).map(|i| (format!("k{i}"), "v".repeat(450))).collect();
    let long = rule(&json!({"query": {"metric": "cpu", "tags": tags}}));
    server.post(PATH, &long).refused(422, "invalid_field", "query");
}

#[test]
fn a_list_is_filtered_by_the_switch_and_the_severity() {
    let server = TestServer::open();
    let change = json!({"name": "a", "query": {"metric": "cpu", "aggregation": "max"}});
    let first = create(&server, &change);
    create(&server, &json!({"name": "b", "enabled": false, "severity": "critical"}));
    create(&server, &json!({"name": "c", "severity": "critical", "group_by": "tags.host"}));
    assert_eq!(names(&server, ""), ["c", "b", "a"]);
    assert_eq!(names(&server, "?enabled=true"), ["c", "a"]);
    assert_eq!(names(&server, "?enabled=false"), ["b"]);
    assert_eq!(names(&server, "?severity=critical"), ["c", "b"]);
    assert_eq!(names(&server, "?severity=critical&enabled=true"), ["c"]);
    assert_eq!(names(&server, "?severity=info"), Vec::<String>::new());
    assert_eq!(names(&server, "?limit=1&offset=1"), ["b"]);
    server.get(&format!("{PATH}?enabled=1")).refused(400, "invalid_parameter", "enabled");
    server.get(&format!("{PATH}?severity=x")).refused(400, "invalid_parameter", "severity");
    let listed = server.get(PATH);
    assert_eq!(listed.body["meta"]["total"], 3);
    let summary = json!({
        "id": first["id"], "name": "a", "severity": "warning", "enabled": true, "group_by": null,
        "condition_text": "max of cpu > 90 over 5m", "created_at": first["created_at"],
    });
    assert_eq!(listed.body["data"][2], summary);
    assert_eq!(listed.body["data"][0]["group_by"], "tags.host");
}

#[test]
fn a_change_is_refused_unless_if_match_fits() {
    let server = TestServer::open();
    let path = path_of(PATH, &create(&server, &json!({})));
    let etag = etag(&server, &path);
    let change = || {
        let body = json!({"name": "o"}).to_string();
        server.call(Method::PATCH, &path, &[("if-match", &etag)], &body)
    };
    change().data(200);
    change().refused(412, "precondition_failed", "");
    let delete = server.call(Method::DELETE, &path, &[("if-match", &etag)], "");
    delete.refused(412, "precondition_failed", "");
}

#[test]
fn deleted_channels_policies_and_schedules_leave_the_rules() {
    let server = TestServer::open();
    let (kept, gone, schedule) = (channel(&server), channel(&server), schedule(&server));
    let policy = policy(&server, &gone);
    let both = create(
        &server,
        &json!({
            "channel_ids": [gone["id"], kept["id"]], "escalation_policy_id": policy["id"],
            "on_call_schedule_id": schedule["id"],
        }),
    );
    let alone = create(&server, &json!({"channel_ids": [gone["id"]]}));
    let other = create(&server, &json!({"channel_ids": [kept["id"]]}));
    let other_etag = etag(&server, &path_of(PATH, &other));
    let removed = |folder, target: &Value, from: &[&Value]| {
        let expected = json!({"id": target["id"], "deleted": true, "removed_from": from});
        assert_eq!(server.delete(&path_of(folder, target)).data(200), expected);
    };
    let left = |rule: &Value| server.get(&path_of(PATH, rule)).data(200);
    removed(CHANNELS, &gone, &[&policy["id"], &alone["id"], &both["id"]]);
    assert_eq!(left(&both)["channel_ids"], json!([kept["id"]]));
    assert_eq!(left(&alone)["channel_ids"], json!([]));
    assert_eq!(left(&both)["escalation_policy_id"], policy["id"]);
    removed(POLICIES, &policy, &[&both["id"]]);
    assert_eq!(left(&both)["escalation_policy_id"], Value::Null);
    assert_eq!(left(&both)["on_call_schedule_id"], schedule["id"]);
    removed(SCHEDULES, &schedule, &[&both["id"]]);
    assert_eq!(left(&both)["on_call_schedule_id"], Value::Null);
    assert_eq!(left(&both)["channel_ids"], json!([kept["id"]]));
    assert_eq!(etag(&server, &path_of(PATH, &other)), other_etag, "the rule is not written");
}

#[test]
fn a_deleted_rule_leaves_the_windows_which_never_mute_all_rules_then() {
    let server = TestServer::open();
    let (first, last) = (create(&server, &json!({})), create(&server, &json!({})));
    let some = window(&server, &json!([first["id"], last["id"]]));
    let all = window(&server, &Value::Null);
    let muted =
        |window: &Value| server.get(&path_of(WINDOWS, window)).data(200)["rule_ids"].clone();
    server.delete(&path_of(PATH, &first)).data(200);
    assert_eq!((muted(&some), muted(&all)), (json!([last["id"]]), Value::Null));
    server.delete(&path_of(PATH, &last)).data(200);
    assert_eq!((muted(&some), muted(&all)), (json!([]), Value::Null));
    let path = path_of(WINDOWS, &some);
    let changed = patch(&server, &path, &json!({"name": "o"})).data(200);
    assert_eq!((&changed["name"], &changed["rule_ids"]), (&json!("o"), &json!([])));
    patch(&server, &path, &json!({"rule_ids": []})).refused(422, "invalid_field", "rule_ids");
}

#[test]
fn a_window_mutes_existing_rules_only() {
    let server = TestServer::open();
    let made = create(&server, &json!({}));
    let unknown = "rule_01J0000000000000000000000A";
    let ids = json!({"rule_ids": [made["id"], unknown]});
    let path = path_of(WINDOWS, &window(&server, &json!([made["id"]])));
    patch(&server, &path, &ids).refused(422, "invalid_field", "rule_ids[1]");
    let body = json!({
        "name": "w", "starts_at": "2026-01-02T03:00:00Z", "ends_at": "2026-01-02T05:00:00Z",
        "rule_ids": [unknown],
    });
    server.post(WINDOWS, &body).refused(422, "invalid_field", "rule_ids[0]");
}

fn settings() -> RuleSettings {
    RuleSettings {
        name: "CPU high".to_owned(),
        description: Some("The CPU of a host of the shop is busy".to_owned()),
        query: RuleQuery::Saved(SavedQuery {
            metric: Some("cpu.usage".to_owned()),
            aggregation: Some("avg".to_owned()),
            tags: Some([("env".to_owned(), "production".to_owned())].into()),
            ..SavedQuery::default()
        }),
        group_by: Some("tags.host".to_owned()),
        condition: Condition::Compares { operator: Operator::Gte, threshold: 0.1 },
        window: Period::minutes(5),
        hold: Period::parse("30s").unwrap(),
        severity: Severity::Critical,
        channel_ids: vec!["chan_01J0000000000000000000000A".to_owned().into()],
        escalation_policy_id: Some("esc_01J0000000000000000000000A".to_owned().into()),
        on_call_schedule_id: None,
        services: vec!["shop".to_owned()],
        enabled: true,
    }
}

fn new_rule(app: &App) -> Rule {
    Rule {
        id: app.new_id(RuleId::PREFIX).into(),
        settings: settings(),
        created_by: "ann@example.com".to_owned(),
        created_at: app.now(),
    }
}

#[test]
fn a_rule_is_stored_as_documented() {
    let server = TestServer::open();
    let mut rule = new_rule(server.app());
    let stored = json!({
        "name": "CPU high", "description": "The CPU of a host of the shop is busy",
        "query": {"metric": "cpu.usage", "aggregation": "avg", "tags": {"env": "production"}},
        "group_by": "tags.host", "condition": {"op": "gte", "threshold": 0.1}, "window": "5m",
        "for": "30s", "severity": "critical", "channel_ids": ["chan_01J0000000000000000000000A"],
        "escalation_policy_id": "esc_01J0000000000000000000000A", "services": ["shop"],
        "enabled": true, "created_by": "ann@example.com", "created_at_ms": 1_767_323_045_678_i64,
    });
    assert_eq!(serde_json::to_value(rule.to_stored()).unwrap(), stored);
    let read = |stored: &Value| {
        let stored = serde_json::from_value(stored.clone()).map_err(|error| error.to_string())?;
        Ok::<_, String>(Rule::from_stored(rule.id.as_str().to_owned(), stored))
    };
    assert_eq!(read(&stored), Ok(rule.clone()));
    for (field, value) in [
        ("condition", json!({"op": "like", "threshold": 1})),
        ("condition", json!({"op": "gt"})),
        ("severity", json!("fatal")),
        ("window", json!("5")),
        ("query", json!({"alert": "a"})),
    ] {
        let mut damaged = stored.clone();
        damaged[field] = value;
        assert!(read(&damaged).is_err(), "{damaged}");
    }
    let mut received = stored;
    received["query"] = json!({"alert": "a", "tags": {}});
    received["condition"] = json!({"op": "absent"});
    let found = read(&received).unwrap();
    rule.settings = found.settings;
    assert!(matches!(rule.settings.query, RuleQuery::Received(_)));
    assert_eq!(serde_json::to_value(rule.to_stored()).unwrap(), received);
}

#[test]
fn an_unreadable_rule_hides_no_other() {
    let server = TestServer::open();
    create(&server, &json!({}));
    let mut writes = server.app().engine().documents().begin();
    let id = "rule_01J0000000000000000000000A";
    writes.put(Rule::COLLECTION, id, &json!({"name": "x"}), Expect::Absent).unwrap();
    writes.commit().unwrap();
    assert_eq!(names(&server, ""), ["n"]);
    let directory = server.app().alerting().directory(server.app()).unwrap();
    assert_eq!(directory.rules.len(), 1);
}

#[test]
fn a_rule_takes_little_memory() {
    let server = TestServer::open();
    let rule = new_rule(server.app());
    let bytes = size_of::<Rule>() + serde_json::to_vec(&rule.to_stored()).unwrap().len();
    assert!(bytes <= 2_048, "{bytes}");
}

#[test]
fn the_rules_are_counted_once() {
    let server = TestServer::open();
    let app = server.app();
    create(&server, &json!({}));
    // A document that bypasses the lock, which the server never does, shows whether all documents
    // are visited again.
    let mut writes = app.engine().documents().begin();
    let rule = new_rule(app);
    writes.put(Rule::COLLECTION, rule.id.as_str(), &rule.to_stored(), Expect::Absent).unwrap();
    writes.commit().unwrap();
    let count = || documents::begin(app).count::<Rule>().unwrap();
    assert_eq!(count(), 1);
    // A change that fails is counted anew.
    let mut conflicting = documents::begin(app);
    conflicting.insert(&rule).unwrap();
    assert!(conflicting.commit(None).is_err(), "there is such a rule");
    assert_eq!(count(), 2);
}

#[test]
fn the_number_of_rules_is_limited() {
    let server = TestServer::open();
    let app = server.app();
    let first = create(&server, &json!({}));
    let mut changes = documents::begin(app);
    for _ in 2..limits::RULES_MAX {
        changes.insert(&new_rule(app)).unwrap();
    }
    changes.commit(None).unwrap();

    // A change that is not committed does not count.
    let mut dropped = documents::begin(app);
    dropped.insert(&new_rule(app)).unwrap();
    assert!(dropped.insert(&new_rule(app)).is_err(), "the limit includes the change itself");
    drop(dropped);
    let last = create(&server, &json!({}));
    server.post(PATH, &rule(&json!({}))).refused(409, "conflict", "");
    server.delete(&path_of(PATH, &first)).data(200);
    create(&server, &json!({}));
    server.post(PATH, &rule(&json!({}))).refused(409, "conflict", "");
    let listed = server.get(&format!("{PATH}?limit=1")).body;
    assert_eq!(listed["meta"]["total"], limits::RULES_MAX);
    assert!(listed["data"][0]["id"].as_str() > last["id"].as_str());
}

#[test]
fn the_generation_grows_with_every_change_of_a_document() {
    let server = TestServer::open();
    let generation = || server.app().alerting().documents().generation();
    assert_eq!(generation(), 0);
    let made = create(&server, &json!({}));
    assert_eq!(generation(), 1);
    let path = path_of(PATH, &made);
    patch(&server, &path, &json!({"severity": "x"})).refused(422, "invalid_field", "severity");
    let unknown = json!({"channel_ids": ["chan_a"]});
    patch(&server, &path, &unknown).refused(422, "invalid_field", "channel_ids[0]");
    assert_eq!(generation(), 1, "nothing was written");
    patch(&server, &path, &json!({"enabled": false})).data(200);
    let channel = channel(&server);
    assert_eq!(generation(), 3);
    server.delete(&path_of(CHANNELS, &channel)).data(200);
    window(&server, &Value::Null);
    server.delete(&path).data(200);
    assert_eq!(generation(), 6);
}
