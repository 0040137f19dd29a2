//! On-call schedules: creation, changes, overrides, shifts, the calendar, refusals.

use serde_json::{Value, json};
use telltale_tests::{Client, Response, Server, Setup, covers};

use crate::keys::text;

const PATH: &str = "/api/v1/on_call_schedules";
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns the body of a schedule with Ann on all days.
fn weekly() -> Value {
    let mut body = json!({
        "name": "Shop", "schedule_type": "weekly", "timezone": "Europe/Berlin",
        "members": ["ann@example.com", "bob@example.com"], "weekly_schedule": {},
    });
    for day in DAYS {
        body["weekly_schedule"][day] = json!({"user": "ann@example.com"});
    }
    body
}

fn custom() -> Value {
    json!({
        "name": "Night", "schedule_type": "custom", "timezone": "America/New_York",
        "members": ["ann@example.com", "bob@example.com"],
        "rotation_type": "weekly", "rotation_start": "2020-01-06T14:00:00Z",
    })
}

fn with(mut body: Value, change: &Value) -> Value {
    if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
        body.extend(change.clone());
    }
    body
}

/// Creates a schedule and returns its path.
#[track_caller]
fn make(client: &Client, body: &Value) -> String {
    format!("{PATH}/{}", text(&client.post(PATH, body).data(201)["id"]))
}

fn patch(client: &Client, path: &str, body: &Value) -> Response {
    client.request("PATCH", path).json(body).send()
}

#[test]
fn a_schedule_is_created_listed_read_changed_and_deleted() {
    covers!("POST /api/v1/on_call_schedules", Happy);
    covers!("GET /api/v1/on_call_schedules", Happy);
    covers!("GET /api/v1/on_call_schedules/{id}", Happy);
    covers!("GET /api/v1/on_call_schedules/{id}/current", Happy);
    covers!("PATCH /api/v1/on_call_schedules/{id}", Happy);
    covers!("DELETE /api/v1/on_call_schedules/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let made = client.post(PATH, &weekly()).data(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("sched_") && id.len() == 6 + 26, "{id}");
    assert_eq!((&made["enabled"], &made["overrides"]), (&json!(true), &json!([])));
    assert_eq!(made["current_on_call"], "ann@example.com");
    assert!(made["current_shift_start"].is_string() && made["current_shift_end"].is_string());
    let path = format!("{PATH}/{id}");
    let current = client.get(&format!("{path}/current")).expect(200);
    let expected = json!({
        "on_call": "ann@example.com", "shift_start": made["current_shift_start"],
        "shift_end": made["current_shift_end"],
    });
    assert_eq!(current, expected);
    make(&client, &with(custom(), &json!({"enabled": false})));
    let enabled = client.get(&format!("{PATH}?enabled=true")).expect(200);
    assert_eq!(enabled["meta"]["total"], 1);
    for field in
        ["id", "name", "schedule_type", "timezone", "enabled", "current_on_call", "created_at"]
    {
        assert_eq!(enabled["data"][0][field], made[field], "{field}");
    }

    let change =
        json!({"weekly_schedule": {"monday": null, "sunday": {"user": "bob@example.com"}}});
    let changed = patch(&client, &path, &change).data(200);
    let week = &changed["weekly_schedule"];
    assert_eq!(
        (&week["monday"], &week["sunday"]["user"]),
        (&Value::Null, &json!("bob@example.com"))
    );
    assert_eq!(week["tuesday"]["user"], "ann@example.com", "what is not named stays");
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&path).data(200)["weekly_schedule"], *week);
    let deleted = json!({"id": id, "deleted": true, "removed_from": []});
    assert_eq!(client.delete(&path).data(200), deleted);
    client.get(&path).refused(404, "schedule_not_found");
}

#[test]
fn overrides_replace_the_person_on_call() {
    covers!("POST /api/v1/on_call_schedules/{id}/overrides", Happy);
    covers!("DELETE /api/v1/on_call_schedules/{id}/overrides/{override_id}", Happy);
    covers!("GET /api/v1/on_call_schedules/{id}/shifts", Happy);
    covers!("GET /api/v1/on_call_schedules/{id}/calendar.ics", Happy);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, &weekly());
    let body = json!({
        "user": "eve@example.com", "starts_at": "2020-01-01T00:00:00Z",
        "ends_at": "2100-01-01T00:00:00Z",
    });
    let added = client.post(&format!("{path}/overrides"), &body).data(201);
    assert!(text(&added["id"]).starts_with("ovr_") && added["created_at"].is_string(), "{added}");
    assert_eq!(client.get(&path).data(200)["overrides"], json!([added]));
    let shifts = client.get(&format!("{path}/shifts")).data(200);
    let expected = json!([{
        "user": "eve@example.com", "starts_at": added["starts_at"], "ends_at": added["ends_at"],
        "source": "override",
    }]);
    assert_eq!(shifts, expected);
    let one = format!("{path}/overrides/{}", text(&added["id"]));
    assert_eq!(client.delete(&one).data(200), json!({"id": added["id"], "deleted": true}));
    let winter = "from=2026-01-05T00:00:00Z&to=2026-01-05T23:00:00Z";
    let shifts = client.get(&format!("{path}/shifts?{winter}")).data(200);
    let expected = json!([{
        "user": "ann@example.com", "starts_at": "2026-01-04T23:00:00.000Z",
        "ends_at": "2026-01-05T23:00:00.000Z", "source": "weekly",
    }]);
    assert_eq!(shifts, expected);
    let calendar = client.get(&format!("{path}/calendar.ics"));
    assert_eq!(calendar.status, 200, "{}", calendar.summary());
    assert!(calendar.must_header("content-type").starts_with("text/calendar"));
    assert!(calendar.text().starts_with("BEGIN:VCALENDAR\r\n"), "{}", calendar.text());
    let events = calendar.text().matches("SUMMARY:On call: ann@example.com\r\n").count();
    assert!((90..=92).contains(&events), "{events}");
}

#[test]
fn invalid_schedules_are_refused() {
    covers!("POST /api/v1/on_call_schedules", Refusal);
    covers!("GET /api/v1/on_call_schedules", Refusal);
    covers!("PATCH /api/v1/on_call_schedules/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    for (body, change, code, field) in [
        (weekly(), json!({"name": null}), "missing_name", "name"),
        (weekly(), json!({"schedule_type": null}), "missing_field", "schedule_type"),
        (weekly(), json!({"schedule_type": "yearly"}), "invalid_field", "schedule_type"),
        (weekly(), json!({"timezone": "Berlin"}), "invalid_field", "timezone"),
        (weekly(), json!({"members": []}), "invalid_field", "members"),
        (weekly(), json!({"members": ["ann"]}), "invalid_field", "members[0]"),
        (weekly(), json!({"members": ["a@b", "a@b"]}), "invalid_field", "members[1]"),
        (weekly(), json!({"weekly_schedule": null}), "missing_field", "weekly_schedule"),
        (
            weekly(),
            json!({"weekly_schedule": {"monday": {"user": "eve@example.com"}}}),
            "invalid_field",
            "weekly_schedule.monday.user",
        ),
        (weekly(), json!({"rotation_type": "daily"}), "invalid_field", "rotation_type"),
        (custom(), json!({"weekly_schedule": {}}), "invalid_field", "weekly_schedule"),
        (custom(), json!({"rotation_type": null}), "missing_field", "rotation_type"),
        (custom(), json!({"rotation_start": null}), "missing_field", "rotation_start"),
    ] {
        client.post(PATH, &with(body, &change)).refused_for(422, code, field);
    }
    let path = make(&client, &weekly());
    for (change, code, field) in [
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"schedule_type": "custom"}), "invalid_field", "schedule_type"),
        (json!({"members": ["bob@example.com"]}), "invalid_field", "weekly_schedule.monday.user"),
        (json!({"rotation_type": "daily"}), "invalid_field", "rotation_type"),
    ] {
        patch(&client, &path, &change).refused_for(422, code, field);
    }
    client.get(&format!("{PATH}?enabled=1")).refused_for(400, "invalid_parameter", "enabled");
}

#[test]
fn invalid_overrides_and_ranges_are_refused() {
    covers!("POST /api/v1/on_call_schedules/{id}/overrides", Refusal);
    covers!("GET /api/v1/on_call_schedules/{id}/shifts", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, &custom());
    let overrides = format!("{path}/overrides");
    let (early, late) = ("2099-01-01T00:00:00Z", "2099-01-02T00:00:00Z");
    for (body, code, field) in [
        (json!({"starts_at": early, "ends_at": late}), "missing_field", "user"),
        (json!({"user": "eve", "starts_at": early, "ends_at": late}), "invalid_field", "user"),
        (json!({"user": "e@x", "ends_at": late}), "missing_field", "starts_at"),
        (json!({"user": "e@x", "starts_at": late, "ends_at": early}), "invalid_field", "ends_at"),
    ] {
        client.post(&overrides, &body).refused_for(422, code, field);
    }
    for (query, code, field) in [
        ("from=2026-01-01T00:00:00Z&to=2027-01-03T00:00:00Z", "invalid_range", "to"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "invalid_range", "from"),
        ("from=soon", "invalid_timestamp", "from"),
    ] {
        client.get(&format!("{path}/shifts?{query}")).refused_for(422, code, field);
    }
}

#[test]
fn unknown_schedules_are_refused() {
    covers!("GET /api/v1/on_call_schedules/{id}", Refusal);
    covers!("GET /api/v1/on_call_schedules/{id}/current", Refusal);
    covers!("GET /api/v1/on_call_schedules/{id}/calendar.ics", Refusal);
    covers!("DELETE /api/v1/on_call_schedules/{id}", Refusal);
    covers!("DELETE /api/v1/on_call_schedules/{id}/overrides/{override_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let none = format!("{PATH}/sched_none");
    for part in ["", "/current", "/shifts", "/calendar.ics"] {
        client.get(&format!("{none}{part}")).refused(404, "schedule_not_found");
    }
    client.delete(&none).refused(404, "schedule_not_found");
    patch(&client, &none, &json!({})).refused(404, "schedule_not_found");
    let body = json!({
        "user": "e@x", "starts_at": "2099-01-01T00:00:00Z", "ends_at": "2099-01-02T00:00:00Z"
    });
    client.post(&format!("{none}/overrides"), &body).refused(404, "schedule_not_found");
    client.delete(&format!("{none}/overrides/ovr_none")).refused(404, "schedule_not_found");
    let path = make(&client, &custom());
    client.delete(&format!("{path}/overrides/ovr_none")).refused(404, "override_not_found");
}

#[test]
fn a_calendar_can_be_read_by_its_link_without_a_key() {
    covers!("POST /api/v1/on_call_schedules/{id}/calendar_link", Happy);
    covers!("POST /api/v1/on_call_schedules/{id}/calendar_link", Refusal);
    covers!("DELETE /api/v1/on_call_schedules/{id}/calendar_link", Happy);
    covers!("DELETE /api/v1/on_call_schedules/{id}/calendar_link", Refusal);
    covers!("GET /api/v1/on_call_schedules/{id}/shared_calendar.ics", Happy);
    covers!("GET /api/v1/on_call_schedules/{id}/shared_calendar.ics", Refusal);
    let mut server = Setup::new().set("server.public_url", "\"https://t.example/\"").start();
    let client = server.client();
    let body = json!({
        "name": "s",
        "schedule_type": "custom",
        "timezone": "UTC",
        "rotation_type": "weekly",
        "rotation_start": "2026-01-01T00:00:00Z",
        "members": ["ann@example.com"],
    });
    let made = client.post("/api/v1/on_call_schedules", &body).data(201);
    let path = format!("/api/v1/on_call_schedules/{}", text(&made["id"]));
    let link = client.post(&format!("{path}/calendar_link"), &json!({})).data(201);
    let shared = text(&link["path"]).to_owned();
    assert_eq!(link["url"], format!("https://t.example{shared}"));
    server.kill9();
    server.restart();
    let nobody = server.client().without_key();
    let calendar = nobody.get(&shared);
    assert_eq!(calendar.must_header("content-type"), "text/calendar; charset=utf-8");
    assert!(calendar.text().starts_with("BEGIN:VCALENDAR"), "{}", calendar.text());
    nobody.get(&format!("{path}/calendar.ics")).refused(401, "unauthorized");
    nobody.get(&format!("{path}/shared_calendar.ics?token=x")).refused(404, "schedule_not_found");
    nobody.post(&format!("{path}/calendar_link"), &json!({})).refused(401, "unauthorized");
    server.client().delete(&format!("{path}/calendar_link")).expect(200);
    nobody.get(&shared).refused(404, "schedule_not_found");
    let unknown = "/api/v1/on_call_schedules/sched_1/calendar_link";
    server.client().post(unknown, &json!({})).refused(404, "schedule_not_found");
    server.client().delete(unknown).refused(404, "schedule_not_found");
}
