//! Incidents through their routes. Now is Friday, 2026-01-02T03:04:05.678Z.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::TimestampMs;

use super::examples::incident;
use super::model::IncidentStatus;
use crate::areas::status::ids::{IncidentId, MonitorId, PageId};
use crate::areas::status::testing::{
    PAGES, check_if_match, id, id_of_page, monitor, page, patch, with,
};
use crate::areas::status::{documents, limits};
use crate::areas::testing::{NOW, TestServer};

const DAY_MS: i64 = 86_400_000;

fn body(change: &Value) -> Value {
    with(json!({"title": "Slow", "message": "We look."}), change)
}

fn titles(server: &TestServer, path: &str) -> Vec<Value> {
    let listed = server.get(path).whole(200);
    let incidents = listed["incidents"].as_array().unwrap();
    incidents.iter().map(|incident| incident["title"].clone()).collect()
}

#[test]
fn an_incident_is_opened_updated_resolved_and_deleted() {
    let server = TestServer::open();
    let shop = monitor(&server, "a");
    let path = page(&server, "shop", &[&shop]);
    let incidents = format!("{path}/incidents");
    let created = server.post(&incidents, &body(&json!({"monitors": [shop]}))).whole(201);
    let expected = json!({
        "id": created["id"], "page_id": id_of_page(&path).text(), "title": "Slow",
        "impact": "minor", "status": "investigating", "monitors": [shop],
        "updates": [
            {"at": "2026-01-02T03:04:05.678Z", "status": "investigating", "message": "We look."},
        ],
        "created_by": created["created_by"], "created_at": "2026-01-02T03:04:05.678Z",
        "updated_at": "2026-01-02T03:04:05.678Z", "resolved_at": null,
    });
    assert_eq!(created, expected);
    let incident = format!("{incidents}/{}", id(&created));
    assert!(incident.starts_with(&format!("{incidents}/inc_")), "{incident}");
    assert_eq!(server.get(&incident).whole(200), expected);
    server.pass(1_000);
    let change = json!({"title": "Down", "impact": "major", "monitors": null});
    let changed = patch(&server, &incident, &change).whole(200);
    let expected = with(
        expected,
        &json!({
            "title": "Down", "impact": "major", "monitors": [], "updated_at": "2026-01-02T03:04:06.678Z",
        }),
    );
    assert_eq!(changed, expected);
    let change = json!({"status": "resolved", "message": "Over.", "notify_subscribers": true});
    let resolved = patch(&server, &incident, &change).whole(200);
    assert_eq!(resolved["resolved_at"], "2026-01-02T03:04:06.678Z");
    let last = json!({"at": "2026-01-02T03:04:06.678Z", "status": "resolved", "message": "Over."});
    assert_eq!(resolved["updates"], json!([expected["updates"][0], last]));
    let reopened = json!({"status": "monitoring"});
    patch(&server, &incident, &reopened).refused(409, "invalid_state", "");
    let learned = patch(&server, &incident, &json!({"message": "Why: …"})).whole(200);
    assert_eq!(learned["updates"].as_array().map(Vec::len), Some(3));
    let deleted = json!({"id": created["id"], "deleted": true});
    assert_eq!(server.delete(&incident).whole(200), deleted);
    server.get(&incident).refused(404, "incident_not_found", "");
    server.delete(&incident).refused(404, "incident_not_found", "");
    patch(&server, &incident, &json!({})).refused(404, "incident_not_found", "");
}

#[test]
fn a_list_is_filtered_by_status() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    let incidents = format!("{path}/incidents");
    for (title, status) in [("a", "resolved"), ("b", "identified"), ("c", "monitoring")] {
        server.post(&incidents, &body(&json!({"title": title, "status": status}))).whole(201);
    }
    assert_eq!(titles(&server, &incidents), ["c", "b", "a"]);
    assert_eq!(titles(&server, &format!("{incidents}?status=open")), ["c", "b"]);
    assert_eq!(titles(&server, &format!("{incidents}?status=resolved")), ["a"]);
    assert_eq!(titles(&server, &format!("{incidents}?limit=1&offset=1")), ["b"]);
    let listed = server.get(&incidents).whole(200);
    assert_eq!(listed["incidents"][0]["updates"], Value::Null);
    server.get(&format!("{incidents}?status=down")).refused(400, "invalid_parameter", "status");
    let none = format!("{PAGES}/{}/incidents", PageId(1).text());
    server.get(&none).refused(404, "status_page_not_found", "");
}

#[test]
fn invalid_incidents_are_refused() {
    let server = TestServer::open();
    let [shop, elsewhere] = ["a", "b"].map(|name| monitor(&server, name));
    let path = page(&server, "shop", &[&shop]);
    let incidents = format!("{path}/incidents");
    let created = server.post(&incidents, &body(&json!({}))).whole(201);
    let incident = format!("{incidents}/{}", id(&created));
    let long = "x".repeat(limits::INCIDENT_MESSAGE_CHARS_MAX + 1);
    for (change, code, field) in [
        (json!({"title": null}), "missing_field", "title"),
        (json!({"title": ""}), "invalid_field", "title"),
        (json!({"title": "x".repeat(201)}), "invalid_field", "title"),
        (json!({"impact": "none"}), "invalid_field", "impact"),
        (json!({"status": "open"}), "invalid_field", "status"),
        (json!({"monitors": [elsewhere]}), "invalid_field", "monitors[0]"),
        (json!({"monitors": [shop, MonitorId(1).text()]}), "invalid_field", "monitors[1]"),
        (json!({"monitors": [shop, shop]}), "invalid_field", "monitors[1]"),
        (json!({"message": long}), "invalid_field", "message"),
        (json!({"message": " \n"}), "invalid_field", "message"),
        (json!({"message": "a\u{0}"}), "invalid_field", "message"),
    ] {
        server.post(&incidents, &body(&change)).refused(422, code, field);
        patch(&server, &incident, &change).refused(422, code, field);
    }
    server.post(&incidents, &json!({"title": "t"})).refused(422, "missing_field", "message");
    assert_eq!(server.get(&incident).whole(200), created);
    assert_eq!(patch(&server, &incident, &json!({"page_id": "sp_1"})).status.as_u16(), 400);
    // An incident is one of its own page only.
    let other = page(&server, "other", &[]);
    let moved = format!("{other}/incidents/{}", id(&created));
    server.get(&moved).refused(404, "incident_not_found", "");
    server.delete(&moved).refused(404, "incident_not_found", "");
    patch(&server, &moved, &json!({"title": "t"})).refused(404, "incident_not_found", "");
    let none = format!("{PAGES}/{}/incidents/{}", PageId(1).text(), id(&created));
    for answer in [
        server.get(&none),
        server.delete(&none),
        patch(&server, &none, &json!({})),
        server.post(&format!("{PAGES}/sp_1/incidents"), &body(&json!({}))),
    ] {
        answer.refused(404, "status_page_not_found", "");
    }
}

#[test]
fn the_open_incidents_of_a_page_are_limited() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    let incidents = format!("{path}/incidents");
    let mut last = String::new();
    for _ in 0..limits::PAGE_OPEN_INCIDENTS_MAX {
        last = id(&server.post(&incidents, &body(&json!({}))).whole(201));
    }
    server.post(&incidents, &body(&json!({}))).refused(409, "conflict", "");
    // One that is over, and one of another page, are no problem.
    server.post(&incidents, &body(&json!({"status": "resolved"}))).whole(201);
    let other = page(&server, "other", &[]);
    server.post(&format!("{other}/incidents"), &body(&json!({}))).whole(201);
    patch(&server, &format!("{incidents}/{last}"), &json!({"status": "resolved"})).whole(200);
    server.post(&incidents, &body(&json!({}))).whole(201);
    server.post(&incidents, &body(&json!({}))).refused(409, "conflict", "");
}

#[test]
fn the_number_of_incidents_is_limited() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    let mut changes = documents::begin(server.app());
    for i in 1..limits::INCIDENTS_MAX {
        let mut incident = incident(i as u128, id_of_page(&path), NOW);
        (incident.status, incident.resolved_at) = (IncidentStatus::Resolved, Some(NOW));
        changes.insert(&incident).unwrap();
    }
    changes.commit(None).unwrap();
    let incidents = format!("{path}/incidents");
    let last = server.post(&incidents, &body(&json!({"title": "last"}))).whole(201);
    server.post(&incidents, &body(&json!({}))).refused(409, "conflict", "");
    assert_eq!(titles(&server, &format!("{incidents}?limit=1")), ["last"]);
    // A page is deleted with all of its incidents.
    server.delete(&path).whole(200);
    let path = page(&server, "shop", &[]);
    server.post(&format!("{path}/incidents"), &body(&json!({}))).whole(201);
    let lost = documents::get::<super::Incident>(server.app().engine(), &id(&last));
    assert!(lost.is_err(), "{lost:?}");
}

#[test]
fn incidents_that_the_page_does_not_show_are_kept_without_updates() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    let mut changes = documents::begin(server.app());
    let ago = |days: i64| TimestampMs(NOW.0 - days * DAY_MS);
    for (i, resolved_at) in [(1, None), (2, Some(ago(14))), (3, Some(ago(15)))] {
        let mut incident = incident(i, id_of_page(&path), ago(20));
        if resolved_at.is_some() {
            (incident.status, incident.resolved_at) = (IncidentStatus::Resolved, resolved_at);
        }
        changes.insert(&incident).unwrap();
    }
    changes.commit(None).unwrap();
    let shown = || {
        let directory = server.app().status().pages(server.app()).unwrap();
        let entry = directory.page(id_of_page(&path)).unwrap();
        let of = |incident: &super::Incident| (incident.id.0, incident.updates.len());
        let all: Vec<_> = entry.incidents().iter().map(|incident| of(incident)).collect();
        let shown: Vec<_> =
            entry.shown_incidents(server.app().now()).map(|incident| of(incident)).collect();
        (all, shown)
    };
    assert_eq!(shown(), (vec![(3, 0), (2, 1), (1, 1)], vec![(2, 1), (1, 1)]));
    server.pass(DAY_MS);
    assert_eq!(shown().1, [(1, 1)], "what is shown follows the time");
    page(&server, "other", &[]);
    assert_eq!(shown(), (vec![(3, 0), (2, 0), (1, 1)], vec![(1, 1)]));
    server.pass(-DAY_MS);
    page(&server, "another", &[]);
    assert_eq!(shown().1, [(2, 1), (1, 1)], "the clock was set back");
    let whole = server.get(&format!("{path}/incidents/{}", IncidentId(3).text())).whole(200);
    assert_eq!(whole["updates"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_change_is_refused_unless_if_match_fits() {
    let server = TestServer::open();
    let path = format!("{}/incidents", page(&server, "shop", &[]));
    let incident = format!("{path}/{}", id(&server.post(&path, &body(&json!({}))).whole(201)));
    check_if_match(&server, &Method::PATCH, &incident, &json!({"title": "o"}));
}
