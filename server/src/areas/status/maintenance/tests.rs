//! Scheduled maintenances through their routes. Now is Friday, 2026-01-02T03:04:05.678Z.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::{Collection, Expect, TimestampMs};

use super::examples::maintenance;
use super::{Maintenance, active, trim};
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::notices::Notice;
use crate::areas::status::testing::{
    PAGES, check_if_match, id, id_of_page, mailing, monitor, page, patch, with,
};
use crate::areas::status::{documents, limits};
use crate::areas::testing::{NOW, TestServer};

const HOUR_MS: i64 = 3_600_000;
const WINDOWS: &str = "/api/v1/maintenance_windows";

/// A page with one monitor, and the path of its maintenances.
struct Fixture {
    server: TestServer,
    page: String,
    path: String,
    monitor: String,
}

impl Fixture {
    fn new() -> Self {
        Self::on(TestServer::open())
    }

    /// Returns a page with a subscriber.
    fn mailing() -> Self {
        let fixture = Self::on(mailing(1_000));
        let subscribers = fixture.server.app().status().subscribers();
        subscribers.add_confirmed(id_of_page(&fixture.page), 1..2);
        fixture
    }

    fn on(server: TestServer) -> Self {
        let monitor = monitor(&server, "a");
        let page = page(&server, "shop", &[&monitor]);
        Self { server, path: format!("{page}/maintenance"), page, monitor }
    }

    fn path_of(&self, maintenance: &Value) -> String {
        format!("{}/{}", self.path, id(maintenance))
    }

    #[track_caller]
    fn change(&self, path: &str, change: &Value) -> Value {
        patch(&self.server, path, change).whole(200)
    }

    /// Returns the `ETag` of a maintenance, which contains its revision.
    fn etag(&self, path: &str) -> String {
        self.server.get(path).headers["etag"].to_str().unwrap().to_owned()
    }

    /// Returns the titles of the notices, oldest first, and deletes them.
    fn notices(&self) -> Vec<String> {
        let app = self.server.app();
        let mut changes = documents::begin(app);
        let mut all = changes.select::<Notice, _>(Some).unwrap();
        all.sort_by_key(|found| found.value.created_at);
        for found in &all {
            changes.delete::<Notice>(&found.value.key, found.revision);
        }
        changes.commit(None).unwrap();
        all.into_iter().map(|found| found.value.text.title).collect()
    }

    /// Returns the body of a maintenance from 04:00 to 05:00, with a change.
    fn body(&self, change: &Value) -> Value {
        let body = json!({
            "title": "Update", "monitors": [self.monitor],
            "starts_at": "2026-01-02T04:00:00Z", "ends_at": "2026-01-02T05:00:00Z",
        });
        with(body, change)
    }

    #[track_caller]
    fn create(&self, change: &Value) -> Value {
        self.server.post(&self.path, &self.body(change)).whole(201)
    }

    #[track_caller]
    fn rule(&self) -> String {
        let body = json!({"name": "r", "query": {"alert": "a"}});
        self.server.post("/api/v1/alert_rules", &body).data(201)["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn window(&self, maintenance: &Value) -> Value {
        self.server.get(&window_path(maintenance)).data(200)
    }

    #[track_caller]
    fn count(&self, path: &str, list: &str) -> usize {
        self.server.get(&format!("{path}?limit=1000")).whole(200)[list].as_array().unwrap().len()
    }

    fn active(&self) -> Vec<(String, i64, i64)> {
        let app = self.server.app();
        let active = active(app, app.now()).unwrap();
        active.into_iter().map(|(id, (from, to))| (id.text(), from.0, to.0)).collect()
    }
}

/// Returns what a list has of a maintenance.
fn listed_as(maintenance: &Value) -> Value {
    let mut listed = maintenance.clone();
    listed.as_object_mut().unwrap().remove("mute_rule_ids");
    listed
}

fn window_path(maintenance: &Value) -> String {
    format!("{WINDOWS}/{}", maintenance["window_id"].as_str().unwrap())
}

#[test]
fn a_maintenance_is_scheduled_changed_and_deleted() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let created = fixture.create(&json!({"description": "d\ne", "notify_subscribers": true}));
    let expected = json!({
        "id": created["id"], "page_id": id_of_page(&fixture.page).text(), "title": "Update",
        "description": "d\ne", "monitors": [fixture.monitor], "status": "scheduled",
        "starts_at": "2026-01-02T04:00:00.000Z", "ends_at": "2026-01-02T05:00:00.000Z",
        "notify_subscribers": true, "mute_alerts": false, "mute_rule_ids": null, "window_id": null,
        "created_by": created["created_by"], "created_at": "2026-01-02T03:04:05.678Z",
    });
    assert_eq!(created, expected);
    let path = format!("{}/{}", fixture.path, id(&created));
    assert!(path.starts_with(&format!("{}/maint_", fixture.path)), "{path}");
    assert_eq!(server.get(&path).whole(200), expected);
    let change = json!({
        "title": "Move", "description": null, "notify_subscribers": null,
        "starts_at": "2026-01-02T03:30:00Z",
    });
    let changed = patch(server, &path, &change).whole(200);
    let expected = with(
        expected,
        &json!({
            "title": "Move", "description": null, "notify_subscribers": false,
            "starts_at": "2026-01-02T03:30:00.000Z",
        }),
    );
    assert_eq!(changed, expected);
    assert_eq!(fixture.active(), []);
    server.pass(HOUR_MS / 2);
    assert_eq!(server.get(&path).whole(200)["status"], "in_progress");
    let (from, to) = (NOW.0 - 245_678 + HOUR_MS / 2, NOW.0 - 245_678 + 2 * HOUR_MS);
    assert_eq!(fixture.active(), [(fixture.monitor.clone(), from, to)]);
    server.pass(2 * HOUR_MS);
    assert_eq!(server.get(&path).whole(200)["status"], "completed");
    assert_eq!(fixture.active(), []);
    let late = json!({"ends_at": "2026-01-03T05:00:00Z"});
    patch(server, &path, &late).refused(409, "invalid_state", "");
    let other = json!({"starts_at": "2026-01-02T08:00Z", "ends_at": "2026-01-02T09:00Z"});
    let other = fixture.create(&other);
    let listed = server.get(&fixture.path).whole(200);
    assert_eq!(
        listed["maintenances"],
        json!([listed_as(&other), listed_as(&server.get(&path).whole(200))])
    );
    let paged = server.get(&format!("{}?limit=1&offset=1", fixture.path)).whole(200);
    assert_eq!(paged["maintenances"][0]["id"], created["id"]);
    let deleted = json!({"id": created["id"], "deleted": true});
    assert_eq!(server.delete(&path).whole(200), deleted);
    server.get(&path).refused(404, "maintenance_not_found", "");
    server.delete(&path).refused(404, "maintenance_not_found", "");
    patch(server, &path, &json!({})).refused(404, "maintenance_not_found", "");
}

#[test]
fn invalid_maintenances_are_refused() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let created = fixture.create(&json!({}));
    let path = format!("{}/{}", fixture.path, id(&created));
    let elsewhere = monitor(server, "b");
    for (change, code, field) in [
        (json!({"title": null}), "missing_field", "title"),
        (json!({"title": "a\tb"}), "invalid_field", "title"),
        (json!({"description": ""}), "invalid_field", "description"),
        (json!({"description": "x".repeat(2_001)}), "invalid_field", "description"),
        (json!({"title": ""}), "invalid_field", "title"),
        (json!({"monitors": null}), "missing_field", "monitors"),
        (json!({"monitors": []}), "invalid_field", "monitors"),
        (json!({"monitors": [elsewhere]}), "invalid_field", "monitors[0]"),
        (json!({"monitors": [fixture.monitor, "mon_1"]}), "invalid_field", "monitors[1]"),
        (json!({"starts_at": null}), "missing_field", "starts_at"),
        (json!({"starts_at": "2026-01-02"}), "invalid_timestamp", "starts_at"),
        (json!({"starts_at": "2026-01-02T05:00:00Z"}), "invalid_field", "ends_at"),
        (json!({"ends_at": null}), "missing_field", "ends_at"),
        (json!({"ends_at": "soon"}), "invalid_timestamp", "ends_at"),
        (json!({"ends_at": "2026-02-01T04:00:00.001Z"}), "invalid_field", "ends_at"),
        (
            json!({"starts_at": "2026-01-01T00:00Z", "ends_at": "2026-01-02T03:04:05.678Z"}),
            "invalid_field",
            "ends_at",
        ),
        (json!({"mute_rule_ids": ["rule_1"]}), "invalid_field", "mute_rule_ids"),
        (json!({"mute_alerts": true, "mute_rule_ids": []}), "invalid_field", "mute_rule_ids"),
        (
            json!({"mute_alerts": true, "mute_rule_ids": ["rule_1"]}),
            "invalid_field",
            "mute_rule_ids[0]",
        ),
        (
            json!({"mute_alerts": true, "mute_rule_ids": ["rule_01J0000000000000000000000A"]}),
            "invalid_field",
            "mute_rule_ids[0]",
        ),
    ] {
        server.post(&fixture.path, &fixture.body(&change)).refused(422, code, field);
        patch(server, &path, &change).refused(422, code, field);
    }
    assert_eq!(server.get(&path).whole(200), created);
    assert_eq!(fixture.count(&fixture.path, "maintenances"), 1);
    assert_eq!(fixture.count(WINDOWS, "data"), 0);
    // A maintenance is one of its own page only.
    let other = page(server, "other", &[]);
    let moved = format!("{other}/maintenance/{}", id(&created));
    server.get(&moved).refused(404, "maintenance_not_found", "");
    server.delete(&moved).refused(404, "maintenance_not_found", "");
    patch(server, &moved, &json!({})).refused(404, "maintenance_not_found", "");
    let none = format!("{PAGES}/{}/maintenance", PageId(1).text());
    let one = format!("{none}/{}", id(&created));
    for answer in [
        server.get(&none),
        server.post(&none, &fixture.body(&json!({}))),
        server.get(&one),
        server.delete(&one),
        patch(server, &one, &json!({})),
    ] {
        answer.refused(404, "status_page_not_found", "");
    }
}

#[test]
fn a_maintenance_that_mutes_alerts_has_a_window() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let rule = fixture.rule();
    let created = fixture.create(&json!({"mute_alerts": true, "mute_rule_ids": [rule]}));
    assert_eq!(
        (&created["mute_alerts"], &created["mute_rule_ids"]),
        (&json!(true), &json!([rule]))
    );
    let window = fixture.window(&created);
    assert_eq!((&window["name"], &window["rule_ids"]), (&json!("Update"), &json!([rule])));
    assert_eq!(
        (&window["starts_at"], &window["ends_at"]),
        (&created["starts_at"], &created["ends_at"])
    );
    assert_eq!((&window["created_by"], &window["active"]), (&created["created_by"], &json!(true)));
    // It follows the maintenance.
    let path = format!("{}/{}", fixture.path, id(&created));
    let change = json!({"title": "Move", "ends_at": "2026-01-02T06:00:00Z", "mute_rule_ids": null});
    let changed = patch(server, &path, &change).whole(200);
    assert_eq!(changed["window_id"], created["window_id"]);
    let window = fixture.window(&changed);
    assert_eq!((&window["name"], &window["rule_ids"]), (&json!("Move"), &Value::Null));
    assert_eq!(window["ends_at"], "2026-01-02T06:00:00.000Z");
    let off = patch(server, &path, &json!({"mute_alerts": false})).whole(200);
    assert_eq!((&off["mute_alerts"], &off["window_id"]), (&json!(false), &Value::Null));
    server.get(&window_path(&created)).refused(404, "maintenance_window_not_found", "");
    let on = patch(server, &path, &json!({"mute_alerts": true})).whole(200);
    assert_eq!(fixture.window(&on)["rule_ids"], Value::Null);
    server.delete(&path).whole(200);
    assert_eq!(fixture.count(WINDOWS, "data"), 0);
}

#[test]
fn what_is_muted_is_what_the_window_says() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let [one, other] = [fixture.rule(), fixture.rule()];
    let created = fixture.create(&json!({"mute_alerts": true, "mute_rule_ids": [one, other]}));
    let path = fixture.path_of(&created);
    server.delete(&format!("/api/v1/alert_rules/{one}")).data(200);
    let found = server.get(&path).whole(200);
    assert_eq!(found, with(created.clone(), &json!({"mute_rule_ids": [other]})));
    // What users change in the window stays until the maintenance is asked to change it.
    let change = json!({"recurring": true, "recurrence_rule": "FREQ=DAILY", "active": false});
    patch(server, &window_path(&created), &change).data(200);
    let renamed = fixture.change(&path, &json!({"title": "Move"}));
    assert_eq!((&renamed["mute_alerts"], &renamed["mute_rule_ids"]), (&json!(false), &Value::Null));
    assert_eq!(renamed["window_id"], created["window_id"]);
    let window = fixture.window(&renamed);
    assert_eq!((&window["name"], &window["active"]), (&json!("Move"), &json!(false)));
    assert_eq!(window["recurring"], true);
    let moved = fixture.change(&path, &json!({"ends_at": "2026-01-02T06:00:00Z"}));
    let window = fixture.window(&moved);
    assert_eq!((&window["recurring"], &window["active"]), (&json!(false), &json!(false)));
    assert_eq!(window["ends_at"], "2026-01-02T06:00:00.000Z");
    let named = json!({"mute_rule_ids": [other]});
    patch(server, &path, &named).refused(422, "invalid_field", "mute_rule_ids");
    let again = fixture.change(&path, &json!({"mute_alerts": true}));
    assert_eq!((&again["mute_alerts"], &again["mute_rule_ids"]), (&json!(true), &json!([other])));
    assert_eq!(fixture.window(&again)["active"], true);
    server.delete(&format!("/api/v1/alert_rules/{other}")).data(200);
    assert_eq!(server.get(&path).whole(200)["mute_rule_ids"], json!([]));
    let listed = server.get(&fixture.path).whole(200);
    assert_eq!(listed["maintenances"], json!([listed_as(&again)]));
}

#[test]
fn a_window_that_was_deleted_is_made_again_only_on_request() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let [one, other] = [fixture.rule(), fixture.rule()];
    let created = fixture.create(&json!({"mute_alerts": true, "mute_rule_ids": [one, other]}));
    let path = fixture.path_of(&created);
    server.delete(&window_path(&created)).data(200);
    server.delete(&format!("/api/v1/alert_rules/{one}")).data(200);
    let off = json!({"mute_alerts": false, "mute_rule_ids": null, "window_id": null});
    let expected = with(created.clone(), &off);
    assert_eq!(server.get(&path).whole(200), expected);
    let listed = server.get(&fixture.path).whole(200);
    assert_eq!(listed["maintenances"], json!([listed_as(&expected)]));
    let renamed = fixture.change(&path, &json!({"title": "Move"}));
    assert_eq!(renamed, with(expected, &json!({"title": "Move"})));
    let etag = fixture.etag(&path);
    assert_eq!(fixture.change(&path, &json!({"mute_alerts": false})), renamed);
    assert_eq!(fixture.etag(&path), etag);
    assert_eq!(fixture.count(WINDOWS, "data"), 0);
    let named = json!({"mute_rule_ids": [other]});
    patch(server, &path, &named).refused(422, "invalid_field", "mute_rule_ids");
    let again = fixture.change(&path, &with(named, &json!({"mute_alerts": true})));
    assert_ne!(again["window_id"], created["window_id"]);
    let window = fixture.window(&again);
    assert_eq!((&window["name"], &window["rule_ids"]), (&json!("Move"), &json!([other])));
    server.delete(&window_path(&again)).data(200);
    server.delete(&path).whole(200);
}

#[test]
fn a_maintenance_in_progress_is_ended_now() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let created = fixture.create(&json!({"mute_alerts": true}));
    let path = fixture.path_of(&created);
    let past = json!({"ends_at": "2026-01-02T04:10:00Z"});
    server.pass(2 * HOUR_MS / 3);
    let early = json!({"ends_at": "2026-01-02T03:30:00Z"});
    patch(server, &path, &early).refused(422, "invalid_field", "ends_at");
    // 04:04:05.678, after the start.
    server.pass(HOUR_MS / 3);
    let too_early = json!({"ends_at": created["starts_at"]});
    patch(server, &path, &too_early).refused(422, "invalid_field", "ends_at");
    server.pass(HOUR_MS / 2);
    let ended = fixture.change(&path, &past);
    let off = json!({
        "status": "completed", "ends_at": "2026-01-02T04:34:05.678Z", "mute_alerts": false,
        "window_id": null,
    });
    assert_eq!(ended, with(created.clone(), &off));
    assert_eq!(server.get(&path).whole(200), ended);
    assert_eq!(fixture.active(), []);
    server.get(&window_path(&created)).refused(404, "maintenance_window_not_found", "");
    patch(server, &path, &past).refused(409, "invalid_state", "");
}

#[test]
fn subscribers_are_notified_of_what_they_see() {
    let fixture = Fixture::mailing();
    let created = fixture.create(&json!({}));
    let path = fixture.path_of(&created);
    fixture.change(&path, &json!({"title": "Plan"}));
    assert!(fixture.notices().is_empty());
    let announced = fixture.change(&path, &json!({"notify_subscribers": true}));
    assert_eq!(fixture.notices(), ["Planned maintenance: Plan"]);
    let etag = fixture.etag(&path);
    for change in [json!({}), json!({"title": "Plan", "mute_alerts": false})] {
        assert_eq!(fixture.change(&path, &change), announced);
        assert_eq!(fixture.etag(&path), etag, "{change}");
    }
    // What is muted is nothing to them, but a change.
    let revision = |etag: &str| etag.split('.').next().map(str::to_owned);
    fixture.change(&path, &json!({"mute_alerts": true}));
    let muting = fixture.etag(&path);
    assert_ne!(revision(&muting), revision(&etag));
    fixture.change(&path, &json!({"mute_rule_ids": [fixture.rule()]}));
    assert_ne!(revision(&fixture.etag(&path)), revision(&muting));
    assert!(fixture.notices().is_empty());
    fixture.change(&path, &json!({"title": "Move"}));
    assert_eq!(fixture.notices(), ["Changed maintenance: Move"]);
    fixture.server.pass(3 * HOUR_MS / 2);
    fixture.change(&path, &json!({"ends_at": "2026-01-02T04:10:00Z"}));
    assert_eq!(fixture.notices(), ["Maintenance is completed: Move"]);
    fixture.server.delete(&path).whole(200);
    assert!(fixture.notices().is_empty());
}

#[test]
fn subscribers_are_notified_of_a_start_only_once() {
    let fixture = Fixture::mailing();
    let app = fixture.server.app();
    let notices = || {
        super::record_due(app, &mut std::collections::BTreeSet::new(), app.now()).unwrap();
        fixture.notices()
    };
    let begun = json!({"notify_subscribers": true, "starts_at": "2026-01-02T03:00:00Z"});
    let created = fixture.create(&begun);
    assert_eq!(notices(), ["Maintenance has begun: Update"]);
    fixture.server.delete(&fixture.path_of(&created)).whole(200);
    assert_eq!(notices(), ["Maintenance is completed: Update"]);
    let planned = fixture.create(&json!({"notify_subscribers": true}));
    fixture.server.delete(&fixture.path_of(&planned)).whole(200);
    let both = notices();
    assert!(both.contains(&"Planned maintenance: Update".to_owned()), "{both:?}");
    assert!(both.contains(&"Cancelled maintenance: Update".to_owned()), "{both:?}");
    // One that is moved to begin now.
    let path = fixture.path_of(&fixture.create(&json!({"notify_subscribers": true})));
    assert_eq!(notices(), ["Planned maintenance: Update"]);
    fixture.change(&path, &json!({"title": "Now", "starts_at": "2026-01-02T03:00:00Z"}));
    assert_eq!(notices(), ["Maintenance has begun: Now"]);
}

#[test]
fn the_windows_of_completed_maintenances_are_deleted() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let app = server.app();
    let created = fixture.create(&json!({"mute_alerts": true}));
    let path = fixture.path_of(&created);
    let later = json!({"mute_alerts": true, "ends_at": "2026-01-02T08:00:00Z"});
    let open = fixture.create(&later);
    // A clock that is wrong deletes nothing.
    app.clock().jump(TimestampMs(NOW.0 + 100 * 24 * HOUR_MS));
    trim(app).unwrap();
    app.clock().jump(NOW);
    assert_eq!(fixture.count(WINDOWS, "data"), 2);
    server.pass(2 * HOUR_MS);
    let off = json!({"status": "completed", "mute_alerts": false, "window_id": null});
    let completed = with(created.clone(), &off);
    assert_eq!(server.get(&path).whole(200), completed);
    trim(app).unwrap();
    assert_eq!(server.get(&path).whole(200), completed);
    server.get(&window_path(&created)).refused(404, "maintenance_window_not_found", "");
    fixture.window(&open);
    let generation = app.status().documents().generation();
    trim(app).unwrap();
    assert_eq!(app.status().documents().generation(), generation, "there is nothing left to do");
    // The maintenance itself is deleted in time.
    server.pass(limits::MAINTENANCE_KEPT_MS);
    trim(app).unwrap();
    server.get(&path).refused(404, "maintenance_not_found", "");
    let left = server.get(&fixture.path_of(&open)).whole(200);
    assert_eq!((&left["status"], &left["mute_alerts"]), (&json!("completed"), &json!(false)));
    assert_eq!(fixture.count(WINDOWS, "data"), 0);
}

#[test]
fn a_window_that_cannot_be_read_keeps_nothing_from_being_deleted() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let app = server.app();
    let muting = json!({"mute_alerts": true});
    let [damaged, other] = [(); 2].map(|()| fixture.create(&muting));
    let window = damaged["window_id"].as_str().unwrap();
    let mut transaction = app.engine().documents().begin();
    let unreadable = json!({"of": "another"});
    transaction.put(Collection("maintenance_windows"), window, &unreadable, Expect::Any).unwrap();
    transaction.commit().unwrap();
    server.pass(2 * HOUR_MS);
    trim(app).unwrap();
    server.get(&window_path(&other)).refused(404, "maintenance_window_not_found", "");
    server.get(&window_path(&damaged)).refused(404, "maintenance_window_not_found", "");
    server.delete(&fixture.path_of(&damaged)).whole(200);
}

#[test]
fn a_maintenance_whose_window_is_refused_is_not_stored() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    let window = json!({
        "name": "w", "starts_at": "2026-01-02T04:00:00Z", "ends_at": "2026-01-02T05:00:00Z",
    });
    // The limit of alerting.
    while server.post(WINDOWS, &window).status.as_u16() == 201 {}
    let body = fixture.body(&json!({"mute_alerts": true}));
    server.post(&fixture.path, &body).refused(409, "conflict", "");
    assert_eq!(fixture.count(&fixture.path, "maintenances"), 0);
    let created = fixture.create(&json!({}));
    let path = format!("{}/{}", fixture.path, id(&created));
    patch(server, &path, &json!({"mute_alerts": true})).refused(409, "conflict", "");
    assert_eq!(server.get(&path).whole(200), created);
}

#[test]
fn a_page_is_deleted_with_its_maintenances_and_their_windows() {
    let fixture = Fixture::new();
    let server = &fixture.server;
    fixture.create(&json!({"mute_alerts": true}));
    fixture.create(&json!({}));
    let elsewhere = page(server, "other", &[&fixture.monitor]);
    let kept = fixture.body(&json!({"mute_alerts": true}));
    let kept = server.post(&format!("{elsewhere}/maintenance"), &kept).whole(201);
    server.delete(&fixture.page).whole(200);
    assert_eq!(fixture.count(WINDOWS, "data"), 1);
    fixture.window(&kept);
    let directory = server.app().status().pages(server.app()).unwrap();
    assert_eq!(directory.maintenances().count(), 1);
}

#[test]
fn maintenances_that_are_not_completed_are_limited() {
    let fixture = Fixture::new();
    let app = fixture.server.app();
    let mut changes = documents::begin(app);
    let page_id = id_of_page(&fixture.page);
    let (starts_at, ends_at) = (TimestampMs(NOW.0 - 1), TimestampMs(NOW.0 + HOUR_MS));
    for i in 1..limits::MAINTENANCES_OPEN_MAX {
        let one = maintenance(i as u128, starts_at, ends_at);
        changes.insert(&Maintenance { page_id, ..one }).unwrap();
    }
    changes.commit(None).unwrap();
    fixture.create(&json!({"title": "last"}));
    let refused = fixture.server.post(&fixture.path, &fixture.body(&json!({})));
    refused.refused(409, "conflict", "");
    assert_eq!(fixture.active(), [(MonitorId(1).text(), starts_at.0, ends_at.0)]);
    fixture.server.pass(HOUR_MS);
    fixture.create(&json!({"ends_at": "2026-01-02T10:00Z"}));
}

#[test]
fn old_maintenances_make_space_for_new_ones() {
    let fixture = Fixture::new();
    let app = fixture.server.app();
    let mut changes = documents::begin(app);
    let page_id = id_of_page(&fixture.page);
    let kept_ms = limits::MAINTENANCE_KEPT_MS;
    // The first two ended 90 days ago or before, the others within the last hour.
    for i in 1..=limits::MAINTENANCES_MAX as i64 {
        let ago = if i <= 2 { kept_ms + i - 1 } else { HOUR_MS - i };
        let ends_at = TimestampMs(NOW.0 - ago);
        let one = maintenance(i as u128, TimestampMs(ends_at.0 - 1), ends_at);
        changes.insert(&Maintenance { page_id, ..one }).unwrap();
    }
    changes.commit(None).unwrap();
    let oldest = || {
        let directory = app.status().pages(app).unwrap();
        let maintenances = directory.page(page_id).unwrap().maintenances();
        (maintenances.len(), maintenances[0].id.0)
    };
    assert_eq!(oldest(), (limits::MAINTENANCES_MAX, 2));
    fixture.create(&json!({"mute_alerts": true}));
    assert_eq!(oldest(), (limits::MAINTENANCES_MAX - 1, 3), "those of 90 days ago are deleted");
    fixture.create(&json!({}));
    assert_eq!(oldest(), (limits::MAINTENANCES_MAX, 3));
    fixture.create(&json!({}));
    assert_eq!(oldest(), (limits::MAINTENANCES_MAX, 4), "the one that ended first is deleted");
}

#[test]
fn a_change_is_refused_unless_if_match_fits() {
    let fixture = Fixture::new();
    let path = format!("{}/{}", fixture.path, id(&fixture.create(&json!({}))));
    check_if_match(&fixture.server, &Method::PATCH, &path, &json!({"title": "o"}));
}
