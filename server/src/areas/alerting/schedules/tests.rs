//! On-call schedules through their routes. Now is Friday, 2026-01-02T03:04:05.678Z.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::TimestampMs;

use super::model::{Days, Plan, Schedule, ScheduleOverride, ScheduleSettings};
use super::rotation::Member;
use super::shifts::Override;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::limits;
use crate::areas::testing::{Answer, TestServer};
use crate::platform::calendar::Zone;

const PATH: &str = "/api/v1/on_call_schedules";
const DAY_MS: i64 = 86_400_000;

fn with(mut body: Value, change: &Value) -> Value {
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    body
}

/// Returns the body of a schedule with Ann on Friday and Bob on Saturday.
fn weekly(change: &Value) -> Value {
    let body = json!({
        "name": "n", "schedule_type": "weekly", "timezone": "UTC",
        "members": ["ann@x.example", "bob@x.example"],
        "weekly_schedule": {
            "friday": {"user": "ann@x.example"}, "saturday": {"user": "bob@x.example"}
        },
    });
    with(body, change)
}

/// Returns the body of a schedule that hands off every day at 12:00 in Berlin, Ann first.
fn custom(change: &Value) -> Value {
    let body = json!({
        "name": "c", "schedule_type": "custom", "timezone": "Europe/Berlin",
        "members": ["ann@x.example", "bob@x.example"],
        "rotation_type": "daily", "rotation_start": "2026-01-01T11:00:00Z",
    });
    with(body, change)
}

fn create(house: &TestServer, body: &Value) -> Value {
    house.post(PATH, body).data(201)
}

fn path_of(schedule: &Value) -> String {
    format!("{PATH}/{}", schedule["id"].as_str().unwrap())
}

fn patch(house: &TestServer, path: &str, body: &Value) -> Answer {
    house.call(Method::PATCH, path, &[], &body.to_string())
}

fn current(house: &TestServer, path: &str) -> Value {
    let answer = house.get(&format!("{path}/current"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

#[track_caller]
fn refused(answer: Answer, sent: &Value, code: &str, field: &str) {
    assert_eq!(answer.body["error"]["code"], code, "{sent}: {}", answer.body);
    answer.refused(422, code, field);
}

#[test]
fn a_schedule_is_created_changed_and_deleted() {
    let house = TestServer::open();
    let created = create(&house, &weekly(&json!({})));
    let expected = json!({
        "id": created["id"], "name": "n", "schedule_type": "weekly", "timezone": "UTC",
        "enabled": true, "members": ["ann@x.example", "bob@x.example"],
        "weekly_schedule": {
            "monday": null, "tuesday": null, "wednesday": null, "thursday": null,
            "friday": {"user": "ann@x.example"}, "saturday": {"user": "bob@x.example"},
            "sunday": null,
        },
        "rotation_type": null, "rotation_start": null, "current_on_call": "ann@x.example",
        "current_shift_start": "2026-01-02T00:00:00.000Z",
        "current_shift_end": "2026-01-03T00:00:00.000Z",
        "overrides": [], "created_at": "2026-01-02T03:04:05.678Z",
    });
    assert_eq!(created, expected);
    let path = path_of(&created);
    assert!(path.starts_with(&format!("{PATH}/sched_")), "{path}");
    assert_eq!(house.get(&path).data(200), expected);
    let change = json!({"name": "o", "weekly_schedule": {"friday": null, "sunday": {"user": "bob@x.example"}}});
    let changed = patch(&house, &path, &change).data(200);
    let week = &changed["weekly_schedule"];
    assert_eq!((&changed["name"], &week["friday"]), (&json!("o"), &Value::Null));
    for day in ["saturday", "sunday"] {
        assert_eq!(week[day], json!({"user": "bob@x.example"}), "{day}");
    }
    assert_eq!(changed["current_on_call"], Value::Null);
    let listed = house.get(PATH).data(200);
    let summary = json!([{
        "id": created["id"], "name": "o", "schedule_type": "weekly", "timezone": "UTC",
        "enabled": true, "current_on_call": null, "created_at": "2026-01-02T03:04:05.678Z",
    }]);
    assert_eq!(listed, summary);
    let deleted = json!({"id": created["id"], "deleted": true, "removed_from": []});
    assert_eq!(house.delete(&path).data(200), deleted);
    for gone in [path.clone(), format!("{path}/current"), format!("{path}/shifts")] {
        house.get(&gone).refused(404, "schedule_not_found", "");
    }
}

#[test]
fn a_custom_schedule_steps_through_its_members() {
    let house = TestServer::open();
    let created = create(&house, &custom(&json!({})));
    assert_eq!(created["weekly_schedule"], Value::Null);
    assert_eq!(created["rotation_type"], "daily");
    assert_eq!(created["rotation_start"], "2026-01-01T11:00:00.000Z");
    let path = path_of(&created);
    let shift = |user: &str, start: &str, end: &str| json!({"on_call": user, "shift_start": start, "shift_end": end});
    let ann = shift("ann@x.example", "2026-01-01T11:00:00.000Z", "2026-01-02T11:00:00.000Z");
    assert_eq!(current(&house, &path), ann);
    house.pass(DAY_MS);
    let bob = shift("bob@x.example", "2026-01-02T11:00:00.000Z", "2026-01-03T11:00:00.000Z");
    assert_eq!(current(&house, &path), bob);
    let change = json!({"rotation_type": "weekly", "rotation_start": "2026-02-01T00:00:00Z"});
    patch(&house, &path, &change).data(200);
    let before = json!({
        "on_call": null, "shift_start": null, "shift_end": "2026-02-01T00:00:00.000Z"
    });
    assert_eq!(current(&house, &path), before);
}

#[test]
fn nobody_is_on_call_while_a_schedule_is_not_enabled() {
    let house = TestServer::open();
    let created = create(&house, &weekly(&json!({"enabled": false})));
    let path = path_of(&created);
    assert_eq!(created["current_on_call"], Value::Null);
    let nobody = json!({"on_call": null, "shift_start": null, "shift_end": null});
    assert_eq!(current(&house, &path), nobody);
    assert_eq!(house.get(&format!("{path}/shifts")).data(200), json!([]));
    create(&house, &custom(&json!({})));
    for (query, name) in [("true", "c"), ("false", "n")] {
        let listed = house.get(&format!("{PATH}?enabled={query}")).data(200);
        assert_eq!((listed.as_array().unwrap().len(), &listed[0]["name"]), (1, &json!(name)));
    }
    house.get(&format!("{PATH}?enabled=x")).refused(400, "invalid_parameter", "enabled");
    let enabled = patch(&house, &path, &json!({"enabled": null})).data(200);
    assert_eq!(enabled["current_on_call"], "ann@x.example");
    let empty = weekly(&json!({"weekly_schedule": {}}));
    assert_eq!(current(&house, &path_of(&create(&house, &empty))), nobody, "a gap without an end");
}

#[test]
fn invalid_schedules_are_refused() {
    let house = TestServer::open();
    let many: Vec<String> = (0..=limits::SCHEDULE_MEMBERS_MAX).map(|i| format!("a{i}@x")).collect();
    let stranger = json!({"weekly_schedule": {"monday": {"user": "eve@x.example"}}});
    for (body, code, field) in [
        (weekly(&json!({"name": null})), "missing_name", "name"),
        (weekly(&json!({"schedule_type": null})), "missing_field", "schedule_type"),
        (weekly(&json!({"schedule_type": "monthly"})), "invalid_field", "schedule_type"),
        (weekly(&json!({"timezone": null})), "missing_field", "timezone"),
        (weekly(&json!({"timezone": "+02:00"})), "invalid_field", "timezone"),
        (weekly(&json!({"members": null})), "missing_field", "members"),
        (weekly(&json!({"members": []})), "invalid_field", "members"),
        (weekly(&json!({"members": many})), "invalid_field", "members"),
        (weekly(&json!({"members": ["ann"]})), "invalid_field", "members[0]"),
        (weekly(&json!({"members": ["a b@x"]})), "invalid_field", "members[0]"),
        (weekly(&json!({"members": ["a@x", "A@x"]})), "invalid_field", "members[1]"),
        (weekly(&json!({"weekly_schedule": null})), "missing_field", "weekly_schedule"),
        (weekly(&stranger), "invalid_field", "weekly_schedule.monday.user"),
        (
            weekly(&json!({"weekly_schedule": {"monday": {}}})),
            "missing_field",
            "weekly_schedule.monday.user",
        ),
        (weekly(&json!({"rotation_type": "daily"})), "invalid_field", "rotation_type"),
        (
            weekly(&json!({"rotation_start": "2026-01-01T00:00:00Z"})),
            "invalid_field",
            "rotation_start",
        ),
        (custom(&json!({"weekly_schedule": {}})), "invalid_field", "weekly_schedule"),
        (custom(&json!({"rotation_type": null})), "missing_field", "rotation_type"),
        (custom(&json!({"rotation_type": "hourly"})), "invalid_field", "rotation_type"),
        (custom(&json!({"rotation_start": null})), "missing_field", "rotation_start"),
        (custom(&json!({"rotation_start": "soon"})), "invalid_timestamp", "rotation_start"),
    ] {
        refused(house.post(PATH, &body), &body, code, field);
    }
    let body = weekly(&json!({"weekly_schedule": {"funday": {"user": "ann@x.example"}}}));
    assert_eq!(house.post(PATH, &body).status, 400);
}

#[test]
fn the_result_of_a_change_is_validated() {
    let house = TestServer::open();
    let week = create(&house, &weekly(&json!({})));
    let turns = create(&house, &custom(&json!({})));
    let eve = json!({"monday": {"user": "eve@x.example"}});
    for (schedule, change, code, field) in [
        (&week, json!({"name": ""}), "missing_name", "name"),
        (&week, json!({"schedule_type": "custom"}), "invalid_field", "schedule_type"),
        (&week, json!({"timezone": null}), "missing_field", "timezone"),
        (&week, json!({"members": null}), "missing_field", "members"),
        (
            &week,
            json!({"members": ["ann@x.example"]}),
            "invalid_field",
            "weekly_schedule.saturday.user",
        ),
        (&week, json!({"weekly_schedule": eve}), "invalid_field", "weekly_schedule.monday.user"),
        (&week, json!({"rotation_type": "daily"}), "invalid_field", "rotation_type"),
        (&turns, json!({"weekly_schedule": {}}), "invalid_field", "weekly_schedule"),
        (&turns, json!({"rotation_type": "x"}), "invalid_field", "rotation_type"),
    ] {
        refused(patch(&house, &path_of(schedule), &change), &change, code, field);
    }
    assert_eq!(house.get(&path_of(&week)).data(200), week);
    let change = json!({"schedule_type": "weekly", "rotation_type": null, "members": ["ann@x.example"], "weekly_schedule": {"saturday": null}});
    let changed = patch(&house, &path_of(&week), &change).data(200);
    assert_eq!(changed["members"], json!(["ann@x.example"]));
}

#[test]
fn an_override_wins_until_it_is_removed() {
    let house = TestServer::open();
    let path = path_of(&create(&house, &weekly(&json!({}))));
    let entry = |start: &str, end: &str| json!({"user": "eve@y.example", "starts_at": start, "ends_at": end});
    let overrides = format!("{path}/overrides");
    let added = house.post(&overrides, &entry("2026-01-02T02:00:00Z", "2026-01-02T06:00:00Z"));
    let added = added.data(201);
    let expected = json!({
        "id": added["id"], "user": "eve@y.example", "starts_at": "2026-01-02T02:00:00.000Z",
        "ends_at": "2026-01-02T06:00:00.000Z", "created_at": "2026-01-02T03:04:05.678Z",
    });
    assert_eq!(added, expected);
    assert!(added["id"].as_str().unwrap().starts_with("ovr_"), "{added}");
    let schedule = house.get(&path).data(200);
    assert_eq!(schedule["overrides"], json!([expected]));
    assert_eq!(schedule["current_on_call"], "eve@y.example");
    let shifts = house.get(&format!("{path}/shifts?to=2026-01-03T12:00:00Z")).data(200);
    let at = |time: &str| format!("2026-01-{time}:00:00.000Z");
    let shift = |user: &str, start: &str, end: &str, source: &str| json!({"user": user, "starts_at": at(start), "ends_at": at(end), "source": source});
    let planned = json!([
        shift("eve@y.example", "02T02", "02T06", "override"),
        shift("ann@x.example", "02T06", "03T00", "weekly"),
        shift("bob@x.example", "03T00", "04T00", "weekly"),
    ]);
    assert_eq!(shifts, planned);
    let one = format!("{overrides}/{}", added["id"].as_str().unwrap());
    assert_eq!(house.delete(&one).data(200), json!({"id": added["id"], "deleted": true}));
    assert_eq!(current(&house, &path)["on_call"], "ann@x.example");
    house.delete(&one).refused(404, "override_not_found", "");
    for (body, code, field) in [
        (json!({}), "missing_field", "user"),
        (json!({"user": "eve"}), "invalid_field", "user"),
        (json!({"user": "e@y", "starts_at": "x"}), "invalid_timestamp", "starts_at"),
        (entry("2026-01-02T02:00:00Z", "2026-01-02T02:00:00Z"), "invalid_field", "ends_at"),
        (entry("2025-11-02T02:00:00Z", "2025-12-02T02:00:00Z"), "invalid_field", "ends_at"),
    ] {
        refused(house.post(&overrides, &body), &body, code, field);
    }
}

#[test]
fn an_override_that_ended_long_ago_is_dropped_by_the_next_write() {
    let house = TestServer::open();
    let path = path_of(&create(&house, &weekly(&json!({}))));
    let overrides = format!("{path}/overrides");
    let entry = |start: &str, end: &str| json!({"user": "e@y", "starts_at": start, "ends_at": end});
    let old = entry("2026-01-02T02:00:00Z", "2026-01-02T03:04:05.678Z");
    let old = house.post(&overrides, &old).data(201);
    house.pass(limits::SCHEDULE_OVERRIDE_KEPT_MS - 1);
    assert_eq!(patch(&house, &path, &json!({})).data(200)["overrides"], json!([old]));
    house.pass(1);
    let later = entry("2026-02-10T00:00:00Z", "2026-02-11T00:00:00Z");
    let later = house.post(&overrides, &later).data(201);
    assert_eq!(house.get(&path).data(200)["overrides"], json!([later]));
}

#[test]
fn the_number_of_overrides_is_limited() {
    let entry = |i: usize| ScheduleOverride {
        id: format!("ovr_{i}").into(),
        entry: Override {
            user: Member("e@y".to_owned()),
            starts_at: TimestampMs(0),
            ends_at: TimestampMs(1),
        },
        created_at: TimestampMs(0),
    };
    let mut schedule = Schedule {
        id: "sched_1".to_owned().into(),
        settings: ScheduleSettings {
            name: "n".to_owned(),
            timezone: Zone::UTC,
            enabled: true,
            members: Vec::new(),
            plan: Plan::Weekly(Days::default()),
        },
        overrides: (1..limits::SCHEDULE_OVERRIDES_MAX).map(entry).collect(),
        calendar_token: None,
        created_at: TimestampMs(0),
    };
    schedule.add(entry(0)).unwrap();
    assert!(matches!(schedule.add(entry(0)), Err(AlertingError::TooMany { .. })));
    assert_eq!(schedule.overrides.len(), limits::SCHEDULE_OVERRIDES_MAX);
}

#[test]
fn a_range_of_shifts_is_limited() {
    let house = TestServer::open();
    let path = path_of(&create(&house, &custom(&json!({}))));
    let count = |query: &str| {
        let shifts = house.get(&format!("{path}/shifts{query}")).data(200);
        shifts.as_array().unwrap().len()
    };
    assert_eq!(count(""), 8, "seven days, and the rest of a turn");
    assert_eq!(count("?from=2026-01-01T11:00:00Z&to=2026-01-01T11:00:00.001Z"), 1);
    assert_eq!(count("?from=2026-02-01T11:00:00Z&to=2027-02-02T11:00:00Z"), 366);
    for (query, code, field) in [
        ("from=2026-02-01T11:00:00Z&to=2027-02-02T11:00:00.001Z", "invalid_range", "to"),
        ("from=2026-01-01T11:00:00Z&to=2026-01-01T11:00:00Z", "invalid_range", "from"),
        ("to=2026-01-01", "invalid_range", "from"),
        ("from=soon", "invalid_timestamp", "from"),
    ] {
        house.get(&format!("{path}/shifts?{query}")).refused(422, code, field);
    }
}

#[test]
fn a_calendar_has_the_shifts_of_ninety_days() {
    let house = TestServer::open();
    let path = path_of(&create(&house, &custom(&json!({}))));
    let answer = house.get(&format!("{path}/calendar.ics"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/calendar; charset=utf-8");
    house.get(&format!("{PATH}/sched_x/calendar.ics")).refused(404, "schedule_not_found", "");
}

#[test]
fn a_change_is_refused_unless_if_match_fits() {
    let house = TestServer::open();
    let path = path_of(&create(&house, &weekly(&json!({}))));
    let etag = house.get(&path).headers["etag"].to_str().unwrap().to_owned();
    let entry = json!({
        "user": "e@y", "starts_at": "2026-01-02T02:00:00Z", "ends_at": "2026-01-02T06:00:00Z"
    });
    let overrides = format!("{path}/overrides");
    let add = |etag: &str| {
        house.call(Method::POST, &overrides, &[("if-match", etag)], &entry.to_string())
    };
    let id = add(&etag).data(201)["id"].as_str().unwrap().to_owned();
    add(&etag).refused(412, "precondition_failed", "");
    for (method, path) in [
        (Method::PATCH, path.clone()),
        (Method::DELETE, path),
        (Method::DELETE, format!("{overrides}/{id}")),
    ] {
        let body = if method == Method::PATCH { "{}" } else { "" };
        let answer = house.call(method, &path, &[("if-match", &etag)], body);
        answer.refused(412, "precondition_failed", "");
    }
}

#[test]
fn a_calendar_link_is_for_whoever_knows_it_until_there_is_another() {
    let server = TestServer::open();
    let body = json!({
        "name": "s",
        "schedule_type": "custom",
        "timezone": "UTC",
        "rotation_type": "daily",
        "rotation_start": "2026-01-01T00:00:00Z",
        "members": ["ann@example.com", "bob@example.com"],
    });
    let made = server.post("/api/v1/on_call_schedules", &body).data(201);
    let path = format!("/api/v1/on_call_schedules/{}", made["id"].as_str().unwrap());
    let link = || {
        let link = server.post(&format!("{path}/calendar_link"), &Value::Null).data(201);
        assert_eq!(link["url"], Value::Null, "there is no server.public_url");
        link["path"].as_str().unwrap().to_owned()
    };
    let first = link();
    assert_eq!(server.get(&first).status, 200);
    let second = link();
    server.get(&first).refused(404, "schedule_not_found", "");
    assert_eq!(server.get(&second).status, 200);
    server.get(&format!("{path}/shared_calendar.ics?token=")).refused(
        404,
        "schedule_not_found",
        "",
    );
    server.delete(&format!("{path}/calendar_link")).data(200);
    server.get(&second).refused(404, "schedule_not_found", "");
}
