//! Status pages, their incidents and scheduled maintenances: creation, changes, deletion, refusals,
//! and what becomes of the uptime during a maintenance.

use serde_json::{Value, json};
use telltale_tests::{
    Client, HOUR_MS, Response, Server, Setup, covers, eventually, iso, now_ms, parse_iso,
};

use crate::alerting_alerts::{self, received, receiver};
use crate::keys::text;

const PATH: &str = "/api/v1/status-pages";

/// Creates a monitor that waits for reports, and returns its id.
#[track_caller]
fn monitor(client: &Client, name: &str) -> String {
    let body = json!({"name": name, "type": "heartbeat"});
    text(&client.post("/api/v1/monitors", &body).expect(201)["id"]).to_owned()
}

#[track_caller]
fn report(client: &Client, monitor: &str, status: &str) {
    let path = format!("/api/v1/monitors/{monitor}/heartbeat");
    client.post(&path, &json!({"status": status})).expect(200);
}

/// Creates a page with these monitors, and returns its path.
#[track_caller]
fn page(client: &Client, subdomain: &str, monitors: &[&str]) -> String {
    let body = json!({"name": "Shop", "subdomain": subdomain, "monitors": monitors});
    format!("{PATH}/{}", text(&client.post(PATH, &body).expect(201)["id"]))
}

fn send(client: &Client, method: &str, path: &str, body: &Value) -> Response {
    client.request(method, path).json(body).send()
}

/// Returns the body of a maintenance from an hour before now to an hour after it.
fn maintenance(monitors: &[&str]) -> Value {
    let [starts_at, ends_at] = [-HOUR_MS, HOUR_MS].map(|ms| iso(now_ms() + ms));
    json!({"title": "Update", "monitors": monitors, "starts_at": starts_at, "ends_at": ends_at})
}

#[test]
fn a_page_is_created_listed_read_changed_and_deleted() {
    covers!("POST /api/v1/status-pages", Happy);
    covers!("GET /api/v1/status-pages", Happy);
    covers!("GET /api/v1/status-pages/{id}", Happy);
    covers!("PUT /api/v1/status-pages/{id}", Happy);
    covers!("DELETE /api/v1/status-pages/{id}", Happy);
    let mut server = Setup::new().set("status.domain", "\"status.example.com\"").start();
    let client = server.client();
    let shop = monitor(&client, "Shop");
    let body = json!({"name": "Shop", "subdomain": "shop", "custom_domain": "Up.Example.com", "monitors": [shop]});
    let made = client.post(PATH, &body).expect(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("sp_") && id.len() == 3 + 26, "{id}");
    assert_eq!((&made["status"], &made["active_incidents"]), (&json!("operational"), &json!([])));
    assert_eq!(made["url"], "https://up.example.com");
    assert_eq!(made["branding"], json!({"logo_url": null, "primary_color": null}));
    assert!(text(&made["created_by"]).contains('@'), "{made}");
    let shown = json!({"id": shop, "name": "Shop", "display_name": null, "group": null, "status": "pending", "uptime_90d": null});
    assert_eq!(made["monitors"], json!([shown]));
    let listed = client.get(PATH).expect(200);
    let summary = json!({"id": id, "name": "Shop", "subdomain": "shop", "custom_domain": "up.example.com", "status": "operational", "monitors_count": 1});
    assert_eq!(listed, json!({"status_pages": [summary]}));

    let path = format!("{PATH}/{id}");
    let branding = json!({"logo_url": "https://example.com/logo.svg", "primary_color": "#4F46E5"});
    let change = json!({"name": "Stay", "branding": branding, "custom_domain": null});
    let changed = send(&client, "PUT", &path, &change).expect(200);
    assert_eq!((&changed["name"], &changed["branding"]), (&json!("Stay"), &branding));
    assert_eq!(changed["url"], "https://shop.status.example.com");
    server.kill9();
    server.restart();
    let client = server.client();
    let found = client.get(&path);
    assert_eq!(found.expect(200), changed);
    let etag = found.must_header("etag").to_owned();
    let put = || {
        let request = client.request("PUT", &path).header("if-match", &etag);
        request.json(&json!({"branding": {"logo_url": null}})).send()
    };
    let expected = json!({"logo_url": null, "primary_color": "#4F46E5"});
    assert_eq!(put().expect(200)["branding"], expected);
    put().refused(412, "precondition_failed");
    assert_eq!(client.delete(&path).expect(200), json!({"id": id, "deleted": true}));
    client.get(&path).refused(404, "status_page_not_found");
}

#[test]
fn invalid_pages_are_refused() {
    covers!("POST /api/v1/status-pages", Refusal);
    covers!("GET /api/v1/status-pages", Refusal);
    covers!("GET /api/v1/status-pages/{id}", Refusal);
    covers!("PUT /api/v1/status-pages/{id}", Refusal);
    covers!("DELETE /api/v1/status-pages/{id}", Refusal);
    let server = Setup::new().set("status.domain", "\"status.example.com\"").start();
    let client = server.client();
    let path = page(&client, "shop", &[]);
    for (change, code, field) in [
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"name": "\n"}), "invalid_name", "name"),
        (json!({"subdomain": null}), "missing_field", "subdomain"),
        (json!({"subdomain": ""}), "invalid_field", "subdomain"),
        (json!({"subdomain": "www"}), "invalid_field", "subdomain"),
        (json!({"subdomain": "a.b"}), "invalid_field", "subdomain"),
        (json!({"custom_domain": "a.status.example.com"}), "invalid_field", "custom_domain"),
        (json!({"custom_domain": "192.0.2.1"}), "invalid_field", "custom_domain"),
        (
            json!({"branding": {"logo_url": "javascript:alert(1)"}}),
            "invalid_field",
            "branding.logo_url",
        ),
        (json!({"branding": {"primary_color": "red"}}), "invalid_field", "branding.primary_color"),
    ] {
        let mut body = json!({"name": "n", "subdomain": "s"});
        if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
            body.extend(change.clone());
        }
        client.post(PATH, &body).refused_for(422, code, field);
        send(&client, "PUT", &path, &change).refused_for(422, code, field);
    }
    let unknown = json!({"name": "n", "subdomain": "s", "monitors": ["mon_1"]});
    client.post(PATH, &unknown).refused_for(422, "invalid_field", "monitors[0]");
    let taken = json!({"name": "n", "subdomain": "shop"});
    client.post(PATH, &taken).refused_for(409, "conflict", "subdomain");
    client.get(&format!("{PATH}?limit=0")).refused_for(400, "invalid_parameter", "limit");
    let none = format!("{PATH}/sp_none");
    client.get(&none).refused(404, "status_page_not_found");
    client.delete(&none).refused(404, "status_page_not_found");
    send(&client, "PUT", &none, &json!({})).refused(404, "status_page_not_found");
}

#[test]
fn monitors_are_added_to_a_page_and_taken_off() {
    covers!("POST /api/v1/status-pages/{id}/monitors", Happy);
    covers!("POST /api/v1/status-pages/{id}/monitors", Refusal);
    covers!("DELETE /api/v1/status-pages/{id}/monitors/{monitor_id}", Happy);
    covers!("DELETE /api/v1/status-pages/{id}/monitors/{monitor_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let [shop, api] = ["Shop", "API"].map(|name| monitor(&client, name));
    report(&client, &api, "down");
    let path = page(&client, "shop", &[&shop]);
    let monitors = format!("{path}/monitors");
    let body = json!({"monitor_id": api, "display_name": "Checkout", "group": "Web"});
    let added = client.post(&monitors, &body).expect(200);
    let last = &added["monitors"][1];
    assert_eq!((&last["id"], &last["name"]), (&json!(api), &json!("API")));
    assert_eq!((&last["display_name"], &last["group"]), (&json!("Checkout"), &json!("Web")));
    assert_eq!((&last["status"], &added["status"]), (&json!("down"), &json!("major_outage")));
    client.post(&monitors, &body).refused_for(409, "conflict", "monitor_id");
    client.post(&monitors, &json!({})).refused_for(422, "missing_field", "monitor_id");
    let unknown = json!({"monitor_id": "mon_1"});
    client.post(&monitors, &unknown).refused_for(422, "invalid_field", "monitor_id");
    client.post(&format!("{PATH}/sp_1/monitors"), &body).refused(404, "status_page_not_found");
    let off = client.delete(&format!("{monitors}/{api}")).expect(200);
    assert_eq!(
        (off["monitors"].as_array().map(Vec::len), &off["status"]),
        (Some(1), &json!("operational"))
    );
    client.delete(&format!("{monitors}/{api}")).refused(404, "monitor_not_found");
    let deleted = client.delete(&format!("/api/v1/monitors/{shop}")).expect(200);
    assert_eq!(deleted["removed_from"], json!([path.trim_start_matches(PATH).trim_matches('/')]));
    assert_eq!(client.get(&path).expect(200)["monitors"], json!([]));
}

#[test]
fn an_incident_is_opened_updated_and_resolved() {
    covers!("POST /api/v1/status-pages/{id}/incidents", Happy);
    covers!("GET /api/v1/status-pages/{id}/incidents", Happy);
    covers!("GET /api/v1/status-pages/{id}/incidents/{incident_id}", Happy);
    covers!("PATCH /api/v1/status-pages/{id}/incidents/{incident_id}", Happy);
    covers!("DELETE /api/v1/status-pages/{id}/incidents/{incident_id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let shop = monitor(&client, "Shop");
    let path = page(&client, "shop", &[&shop]);
    let incidents = format!("{path}/incidents");
    let body = json!({"title": "Slow", "impact": "major", "message": "We look.", "monitors": [shop], "notify_subscribers": true});
    let made = client.post(&incidents, &body).expect(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("inc_") && id.len() == 4 + 26, "{id}");
    assert_eq!((&made["status"], &made["resolved_at"]), (&json!("investigating"), &Value::Null));
    assert_eq!(made["updates"][0]["message"], "We look.");
    let shown = client.get(&path).expect(200);
    assert_eq!(
        (&shown["status"], &shown["active_incidents"]),
        (&json!("partial_outage"), &json!([made]))
    );
    let incident = format!("{incidents}/{id}");
    let found = json!({"status": "identified"});
    let updated = send(&client, "PATCH", &incident, &found).expect(200);
    assert_eq!(
        (&updated["updates"][1]["message"], &updated["title"]),
        (&Value::Null, &json!("Slow"))
    );
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&incident).expect(200), updated);
    let open = client.get(&format!("{incidents}?status=open")).expect(200);
    assert_eq!(open["incidents"][0]["id"], id);
    let over = json!({"status": "resolved", "message": "Over."});
    let resolved = send(&client, "PATCH", &incident, &over).expect(200);
    assert!(resolved["resolved_at"].is_string(), "{resolved}");
    assert_eq!(client.get(&path).expect(200)["status"], "operational");
    let open = client.get(&format!("{incidents}?status=open")).expect(200);
    assert_eq!(open, json!({"incidents": []}));
    assert_eq!(client.delete(&incident).expect(200), json!({"id": id, "deleted": true}));
    client.get(&incident).refused(404, "incident_not_found");
}

#[test]
fn invalid_incidents_are_refused() {
    covers!("POST /api/v1/status-pages/{id}/incidents", Refusal);
    covers!("GET /api/v1/status-pages/{id}/incidents", Refusal);
    covers!("GET /api/v1/status-pages/{id}/incidents/{incident_id}", Refusal);
    covers!("PATCH /api/v1/status-pages/{id}/incidents/{incident_id}", Refusal);
    covers!("DELETE /api/v1/status-pages/{id}/incidents/{incident_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let elsewhere = monitor(&client, "Elsewhere");
    let path = page(&client, "shop", &[]);
    let incidents = format!("{path}/incidents");
    let body = json!({"title": "t", "message": "m", "status": "resolved"});
    let incident =
        format!("{incidents}/{}", text(&client.post(&incidents, &body).expect(201)["id"]));
    for (field, value, code) in [
        ("title", json!(null), "missing_field"),
        ("title", json!(""), "invalid_field"),
        ("impact", json!("huge"), "invalid_field"),
        ("status", json!("over"), "invalid_field"),
        ("message", json!(" "), "invalid_field"),
        ("message", json!("x".repeat(5_001)), "invalid_field"),
    ] {
        let mut body = json!({"title": "t", "message": "m"});
        body[field] = value.clone();
        client.post(&incidents, &body).refused_for(422, code, field);
        send(&client, "PATCH", &incident, &json!({field: value})).refused_for(422, code, field);
    }
    let body = json!({"title": "t", "message": "m", "monitors": [elsewhere]});
    client.post(&incidents, &body).refused_for(422, "invalid_field", "monitors[0]");
    client.post(&incidents, &json!({"title": "t"})).refused_for(422, "missing_field", "message");
    let reopened = json!({"status": "investigating"});
    send(&client, "PATCH", &incident, &reopened).refused(409, "invalid_state");
    // There is nothing that subscribers could be told.
    let silent = json!({"title": "u", "notify_subscribers": true});
    send(&client, "PATCH", &incident, &silent).refused_for(
        422,
        "invalid_field",
        "notify_subscribers",
    );
    let by_status = format!("{incidents}?status=down");
    client.get(&by_status).refused_for(400, "invalid_parameter", "status");
    client.get(&format!("{PATH}/sp_1/incidents")).refused(404, "status_page_not_found");
    let none = format!("{incidents}/inc_none");
    client.get(&none).refused(404, "incident_not_found");
    client.delete(&none).refused(404, "incident_not_found");
    send(&client, "PATCH", &none, &json!({})).refused(404, "incident_not_found");
}

#[test]
fn a_maintenance_is_scheduled_changed_and_deleted() {
    covers!("POST /api/v1/status-pages/{id}/maintenance", Happy);
    covers!("GET /api/v1/status-pages/{id}/maintenance", Happy);
    covers!("GET /api/v1/status-pages/{id}/maintenance/{maintenance_id}", Happy);
    covers!("PATCH /api/v1/status-pages/{id}/maintenance/{maintenance_id}", Happy);
    covers!("DELETE /api/v1/status-pages/{id}/maintenance/{maintenance_id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let shop = monitor(&client, "Shop");
    let path = page(&client, "shop", &[&shop]);
    let maintenances = format!("{path}/maintenance");
    let mut body = maintenance(&[&shop]);
    (body["mute_alerts"], body["notify_subscribers"]) = (json!(true), json!(true));
    let made = client.post(&maintenances, &body).expect(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("maint_") && id.len() == 6 + 26, "{id}");
    assert_eq!((&made["status"], &made["mute_rule_ids"]), (&json!("in_progress"), &Value::Null));
    let window = format!("/api/v1/maintenance_windows/{}", text(&made["window_id"]));
    assert_eq!(client.get(&window).data(200)["currently_active"], true);
    assert_eq!(client.get(&path).expect(200)["status"], "under_maintenance");
    let maintenance = format!("{maintenances}/{id}");
    let later = json!({"title": "Move", "starts_at": iso(now_ms() + HOUR_MS / 2)});
    let changed = send(&client, "PATCH", &maintenance, &later).expect(200);
    assert_eq!((&changed["title"], &changed["status"]), (&json!("Move"), &json!("scheduled")));
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&maintenance).expect(200), changed);
    let mut listed = changed;
    if let Some(listed) = listed.as_object_mut() {
        listed.remove("mute_rule_ids");
    }
    assert_eq!(client.get(&maintenances).expect(200), json!({"maintenances": [listed]}));
    let muted = client.get(&window).data(200);
    assert_eq!((&muted["name"], &muted["currently_active"]), (&json!("Move"), &json!(false)));
    assert_eq!(client.delete(&maintenance).expect(200), json!({"id": id, "deleted": true}));
    client.get(&maintenance).refused(404, "maintenance_not_found");
    client.get(&window).refused(404, "maintenance_window_not_found");
}

#[test]
fn invalid_maintenances_are_refused() {
    covers!("POST /api/v1/status-pages/{id}/maintenance", Refusal);
    covers!("GET /api/v1/status-pages/{id}/maintenance", Refusal);
    covers!("GET /api/v1/status-pages/{id}/maintenance/{maintenance_id}", Refusal);
    covers!("PATCH /api/v1/status-pages/{id}/maintenance/{maintenance_id}", Refusal);
    covers!("DELETE /api/v1/status-pages/{id}/maintenance/{maintenance_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let [shop, elsewhere] = ["Shop", "Elsewhere"].map(|name| monitor(&client, name));
    let path = page(&client, "shop", &[&shop]);
    let maintenances = format!("{path}/maintenance");
    let made = client.post(&maintenances, &maintenance(&[&shop])).expect(201);
    let one = format!("{maintenances}/{}", text(&made["id"]));
    for (change, code, field) in [
        (json!({"title": null}), "missing_field", "title"),
        (json!({"title": ""}), "invalid_field", "title"),
        (json!({"monitors": null}), "missing_field", "monitors"),
        (json!({"monitors": []}), "invalid_field", "monitors"),
        (json!({"monitors": [elsewhere]}), "invalid_field", "monitors[0]"),
        (json!({"starts_at": "tomorrow"}), "invalid_timestamp", "starts_at"),
        (json!({"ends_at": iso(now_ms() - 2 * HOUR_MS)}), "invalid_field", "ends_at"),
        (json!({"ends_at": iso(now_ms() + 24 * 30 * HOUR_MS)}), "invalid_field", "ends_at"),
        (json!({"mute_alerts": true, "mute_rule_ids": []}), "invalid_field", "mute_rule_ids"),
    ] {
        let mut body = maintenance(&[&shop]);
        if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
            body.extend(change.clone());
        }
        client.post(&maintenances, &body).refused_for(422, code, field);
        send(&client, "PATCH", &one, &change).refused_for(422, code, field);
    }
    assert_eq!(client.get(&one).expect(200), made);
    let mut past = maintenance(&[&shop]);
    past["ends_at"] = json!(iso(now_ms() - 1));
    client.post(&maintenances, &past).refused_for(422, "invalid_field", "ends_at");
    client.get(&format!("{maintenances}?limit=0")).refused_for(400, "invalid_parameter", "limit");
    let none = format!("{maintenances}/maint_none");
    client.get(&none).refused(404, "maintenance_not_found");
    client.delete(&none).refused(404, "maintenance_not_found");
    send(&client, "PATCH", &none, &json!({})).refused(404, "maintenance_not_found");
}

#[test]
fn the_uptime_does_not_count_during_a_maintenance() {
    let server = Server::start();
    let client = server.client();
    let shop = monitor(&client, "Shop");
    let path = page(&client, "shop", &[&shop]);
    report(&client, &shop, "down");
    let made = client.post(&format!("{path}/maintenance"), &maintenance(&[&shop])).expect(201);
    let uptime = format!("/api/v1/monitors/{shop}/uptime");
    let seconds = |field: &str| {
        let days = client.get(&uptime).expect(200)["days"].clone();
        let days = days.as_array().into_iter().flatten();
        days.filter_map(|day| day[field].as_f64()).sum::<f64>()
    };
    eventually("time of the maintenance", || (seconds("maintenance_seconds") > 0.5).then_some(()));
    let before = seconds("down_seconds");
    eventually("more of it", || (seconds("maintenance_seconds") > 2.0).then_some(()));
    assert!(seconds("down_seconds") <= before, "the time counts as down");
    client.delete(&format!("{path}/maintenance/{}", text(&made["id"]))).expect(200);
    eventually("the end of it", || (seconds("down_seconds") > before).then_some(()));
}

#[test]
fn a_maintenance_mutes_alerts_until_it_is_ended() {
    let (mut receiver, address) = receiver();
    let server = alerting_alerts::start();
    let client = server.client();
    let hook = alerting_alerts::channel(&server, &format!("{address}/webhook/m"));
    let rule = alerting_alerts::rule(&server, &[&hook]);
    let shop = monitor(&client, "Shop");
    let path = page(&client, "shop", &[&shop]);
    let mut body = maintenance(&[&shop]);
    (body["mute_alerts"], body["mute_rule_ids"]) = (json!(true), json!([rule]));
    let made = client.post(&format!("{path}/maintenance"), &body).expect(201);
    let maintenance = format!("{path}/maintenance/{}", text(&made["id"]));
    alerting_alerts::sample(&server, "a", 97.0);
    let fired = alerting_alerts::alert(&server, "a", "firing");
    let alert = format!("/api/v1/alerts/{}", text(&fired["id"]));
    let muted = eventually("the alert to be muted", || {
        let alert = client.get(&alert).data(200);
        (alert["muted"] == true).then_some(alert)
    });
    assert_eq!((&muted["muted_by"], &muted["notifications"]), (&made["window_id"], &json!([])));
    // An end in the past ends it now, and the alert is notified.
    let end = json!({"ends_at": iso(now_ms() - HOUR_MS / 2)});
    let ended = send(&client, "PATCH", &maintenance, &end).expect(200);
    assert_eq!((&ended["status"], &ended["mute_alerts"]), (&json!("completed"), &json!(false)));
    let message = received(&mut receiver, "alert.firing");
    assert_eq!(message["data"]["alerts"][0]["id"], fired["id"], "{message}");
    let notified = client.get(&alert).data(200);
    assert_eq!((&notified["muted"], &notified["muted_by"]), (&json!(false), &Value::Null));
    let first = parse_iso(text(&notified["notifications"][0]["created_at"]));
    let ends_at = parse_iso(text(&ended["ends_at"]));
    assert!(first >= ends_at && ends_at > now_ms() - HOUR_MS / 2, "{notified} {ended}");
    let window = format!("/api/v1/maintenance_windows/{}", text(&made["window_id"]));
    client.get(&window).refused(404, "maintenance_window_not_found");
    send(&client, "PATCH", &maintenance, &end).refused(409, "invalid_state");
}

#[test]
fn what_a_maintenance_mutes_is_what_its_window_says() {
    let server = alerting_alerts::start();
    let client = server.client();
    let rules = [(); 2].map(|()| alerting_alerts::rule(&server, &[]));
    let shop = monitor(&client, "Shop");
    let path = page(&client, "shop", &[&shop]);
    let mut body = maintenance(&[&shop]);
    (body["mute_alerts"], body["mute_rule_ids"]) = (json!(true), json!(rules));
    let made = client.post(&format!("{path}/maintenance"), &body).expect(201);
    let one = format!("{path}/maintenance/{}", text(&made["id"]));
    client.delete(&format!("/api/v1/alert_rules/{}", rules[0])).data(200);
    assert_eq!(client.get(&one).expect(200)["mute_rule_ids"], json!([rules[1]]));
    let window = format!("/api/v1/maintenance_windows/{}", text(&made["window_id"]));
    client.delete(&window).data(200);
    let renamed = send(&client, "PATCH", &one, &json!({"title": "Move"})).expect(200);
    assert_eq!((&renamed["mute_alerts"], &renamed["window_id"]), (&json!(false), &Value::Null));
    assert_eq!(client.get("/api/v1/maintenance_windows").data(200), json!([]));
    let on = json!({"mute_alerts": true, "mute_rule_ids": [rules[1]]});
    let again = send(&client, "PATCH", &one, &on).expect(200);
    assert_eq!(
        (&again["mute_alerts"], &again["mute_rule_ids"]),
        (&json!(true), &json!([rules[1]]))
    );
    let window = format!("/api/v1/maintenance_windows/{}", text(&again["window_id"]));
    assert_eq!(client.get(&window).data(200)["name"], "Move");
}
