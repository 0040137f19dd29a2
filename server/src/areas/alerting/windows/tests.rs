//! Maintenance windows through their routes. Now is Friday, 2026-01-02T03:04:05.678Z.

use http::Method;
use serde_json::{Value, json};

use crate::areas::alerting::limits;
use crate::areas::testing::{Answer, TestServer};

const PATH: &str = "/api/v1/maintenance_windows";
const HOUR_MS: i64 = 3_600_000;
const RULE: &str = "rule_01J0000000000000000000000A";

/// Returns the body of a window of two hours that begins in the current hour, with a change.
fn window(change: &Value) -> Value {
    let mut body = json!({
        "name": "n", "starts_at": "2026-01-02T03:00:00Z", "ends_at": "2026-01-02T05:00:00Z"
    });
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    body
}

/// Creates a rule and returns its id.
fn rule_id(house: &TestServer) -> String {
    let body = json!({"name": "r", "query": {"alert": "a"}});
    house.post("/api/v1/alert_rules", &body).data(201)["id"].as_str().unwrap().to_owned()
}

fn create(house: &TestServer, change: &Value) -> Value {
    house.post(PATH, &window(change)).data(201)
}

fn path_of(window: &Value) -> String {
    format!("{PATH}/{}", window["id"].as_str().unwrap())
}

fn patch(house: &TestServer, path: &str, body: &Value) -> Answer {
    house.call(Method::PATCH, path, &[], &body.to_string())
}

fn names(house: &TestServer, query: &str) -> Vec<String> {
    let listed = house.get(&format!("{PATH}{query}")).data(200);
    let name = |window: &Value| window["name"].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_window_is_created_changed_and_deleted() {
    let house = TestServer::open();
    let created = create(&house, &json!({"description": "d", "services": ["shop"]}));
    let expected = json!({
        "id": created["id"], "name": "n", "description": "d",
        "starts_at": "2026-01-02T03:00:00.000Z", "ends_at": "2026-01-02T05:00:00.000Z",
        "timezone": "UTC", "active": true, "recurring": false, "recurrence_rule": null,
        "rule_ids": null, "services": ["shop"], "created_by": created["created_by"],
        "currently_active": true, "next_starts_at": null,
        "created_at": "2026-01-02T03:04:05.678Z",
    });
    assert_eq!(created, expected);
    let path = path_of(&created);
    assert!(path.starts_with(&format!("{PATH}/mw_")), "{path}");
    assert_eq!(house.get(&path).data(200), expected);
    let muted = rule_id(&house);
    let change = json!({
        "name": "o", "description": null, "active": false, "rule_ids": [muted], "services": null
    });
    let changed = patch(&house, &path, &change).data(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("o"), &Value::Null));
    assert_eq!((&changed["rule_ids"], &changed["services"]), (&json!([muted]), &json!([])));
    assert_eq!(changed["currently_active"], false);
    assert_eq!(patch(&house, &path, &json!({"rule_ids": null})).data(200)["rule_ids"], Value::Null);
    assert_eq!(house.delete(&path).data(200), json!({"id": created["id"], "deleted": true}));
    house.get(&path).refused(404, "maintenance_window_not_found", "");
    house.delete(&path).refused(404, "maintenance_window_not_found", "");
    patch(&house, &path, &json!({})).refused(404, "maintenance_window_not_found", "");
}

#[test]
fn a_list_is_filtered_by_the_switch_and_by_now() {
    let house = TestServer::open();
    create(&house, &json!({"name": "now"}));
    create(&house, &json!({"name": "off", "active": false}));
    create(
        &house,
        &json!({"name": "past", "starts_at": "2026-01-01T00:00:00Z", "ends_at": "2026-01-02T03:04:05.678Z"}),
    );
    assert_eq!(names(&house, ""), ["past", "off", "now"]);
    assert_eq!(names(&house, "?active=false"), ["off"]);
    assert_eq!(names(&house, "?active=true"), ["past", "now"]);
    assert_eq!(names(&house, "?current=true"), ["now"]);
    assert_eq!(names(&house, "?current=false"), ["past", "off"]);
    assert_eq!(names(&house, "?limit=1&offset=1"), ["off"]);
    house.get(&format!("{PATH}?current=1")).refused(400, "invalid_parameter", "current");
    house.pass(2 * HOUR_MS);
    assert_eq!(names(&house, "?current=true"), Vec::<String>::new());
}

#[test]
fn a_recurring_window_follows_the_wall_clock() {
    let house = TestServer::open();
    // 22:00 to 23:00 in New York.
    let created = create(
        &house,
        &json!({
            "starts_at": "2026-01-01T03:00:00Z", "ends_at": "2026-01-01T04:00:00Z",
            "timezone": "America/New_York", "recurring": true, "recurrence_rule": "FREQ=DAILY"
        }),
    );
    assert_eq!(created["currently_active"], true);
    assert_eq!(created["next_starts_at"], "2026-01-03T03:00:00.000Z");
    house.pass(HOUR_MS);
    let path = path_of(&created);
    assert_eq!(house.get(&path).data(200)["currently_active"], false);
    // Clocks are turned forward on 8 March.
    house.pass(70 * 24 * HOUR_MS);
    assert_eq!(house.get(&path).data(200)["next_starts_at"], "2026-03-14T02:00:00.000Z");
    let off = patch(&house, &path, &json!({"active": false})).data(200);
    assert_eq!(off["next_starts_at"], Value::Null);
    let once = patch(&house, &path, &json!({"recurring": false})).data(200);
    assert_eq!((&once["recurring"], &once["recurrence_rule"]), (&json!(false), &Value::Null));
}

#[test]
fn invalid_windows_are_refused() {
    let house = TestServer::open();
    let many = vec!["s"; limits::SERVICES_MAX + 1];
    for (change, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"name": " "}), "invalid_name", "name"),
        (json!({"starts_at": null}), "missing_field", "starts_at"),
        (json!({"ends_at": null}), "missing_field", "ends_at"),
        (json!({"starts_at": "2026-01-02"}), "invalid_timestamp", "starts_at"),
        (json!({"ends_at": "1969-12-31T23:59:59Z"}), "invalid_timestamp", "ends_at"),
        (json!({"ends_at": "2026-01-02T03:00:00Z"}), "invalid_field", "ends_at"),
        (json!({"timezone": "Mars/Base"}), "invalid_field", "timezone"),
        (json!({"recurring": true}), "invalid_field", "recurrence_rule"),
        (json!({"recurrence_rule": "FREQ=DAILY"}), "invalid_field", "recurrence_rule"),
        (rule("FREQ=HOURLY"), "invalid_field", "recurrence_rule"),
        (rule(""), "invalid_field", "recurrence_rule"),
        (json!({"rule_ids": []}), "invalid_field", "rule_ids"),
        (json!({"rule_ids": ["rule_1"]}), "invalid_field", "rule_ids[0]"),
        (json!({"rule_ids": [RULE.to_lowercase()]}), "invalid_field", "rule_ids[0]"),
        (json!({"rule_ids": [RULE, RULE]}), "invalid_field", "rule_ids[1]"),
        (json!({"rule_ids": [RULE]}), "invalid_field", "rule_ids[0]"),
        (json!({"services": ["a", ""]}), "invalid_field", "services[1]"),
        (json!({"services": ["x".repeat(201)]}), "invalid_field", "services[0]"),
        (json!({"services": many}), "invalid_field", "services"),
    ] {
        let answer = house.post(PATH, &window(&change));
        assert_eq!(answer.body["error"]["code"], code, "{change}: {}", answer.body);
        answer.refused(422, code, field);
    }
    let long = json!({
        "ends_at": "2028-01-01T00:00:00Z", "recurring": true, "recurrence_rule": "FREQ=YEARLY"
    });
    house.post(PATH, &window(&long)).refused(422, "invalid_field", "ends_at");
    assert_eq!(names(&house, ""), Vec::<String>::new());
}

fn rule(text: &str) -> Value {
    json!({"recurring": true, "recurrence_rule": text})
}

#[test]
fn the_number_of_rules_is_limited() {
    let house = TestServer::open();
    let max = limits::MAINTENANCE_RULES_MAX;
    let ids: Vec<String> = (0..=max).map(|_| rule_id(&house)).collect();
    let most = create(&house, &json!({"rule_ids": ids[1..]}));
    assert_eq!(most["rule_ids"].as_array().unwrap().len(), max);
    let more = window(&json!({"rule_ids": ids}));
    house.post(PATH, &more).refused(422, "invalid_field", "rule_ids");
}

#[test]
fn the_result_of_a_change_is_validated() {
    let house = TestServer::open();
    let created = create(&house, &json!({}));
    let path = path_of(&created);
    for (change, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"starts_at": null}), "missing_field", "starts_at"),
        (json!({"ends_at": "2026-01-02T02:00:00Z"}), "invalid_field", "ends_at"),
        (json!({"starts_at": "2026-01-02T05:00:00Z"}), "invalid_field", "ends_at"),
        (json!({"recurring": true}), "invalid_field", "recurrence_rule"),
        (json!({"recurrence_rule": "FREQ=DAILY"}), "invalid_field", "recurrence_rule"),
        (rule("FREQ"), "invalid_field", "recurrence_rule"),
        (json!({"rule_ids": []}), "invalid_field", "rule_ids"),
        (json!({"timezone": "x"}), "invalid_field", "timezone"),
    ] {
        let answer = patch(&house, &path, &change);
        assert_eq!(answer.body["error"]["code"], code, "{change}: {}", answer.body);
        answer.refused(422, code, field);
    }
    assert_eq!(house.get(&path).data(200), created);
    let recurring = patch(&house, &path, &rule("FREQ=WEEKLY;BYDAY=SU")).data(200);
    assert_eq!(recurring["next_starts_at"], "2026-01-04T03:00:00.000Z");
    assert_eq!(recurring["currently_active"], false, "the first occurrence is on a Sunday");
    let cleared = json!({"recurrence_rule": null});
    patch(&house, &path, &cleared).refused(422, "invalid_field", "recurrence_rule");
}

#[test]
fn a_change_is_refused_unless_if_match_fits() {
    let house = TestServer::open();
    let path = path_of(&create(&house, &json!({})));
    let etag = house.get(&path).headers["etag"].to_str().unwrap().to_owned();
    let change = |etag: &str| {
        house.call(Method::PATCH, &path, &[("if-match", etag)], &json!({"name": "o"}).to_string())
    };
    change(&etag).data(200);
    change(&etag).refused(412, "precondition_failed", "");
    let delete = house.call(Method::DELETE, &path, &[("if-match", &etag)], "");
    delete.refused(412, "precondition_failed", "");
}
