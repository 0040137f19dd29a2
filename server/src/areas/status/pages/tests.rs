//! Status pages through their routes. Now is Friday, 2026-01-02T03:04:05.678Z.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::Options;

use super::model::{Branding, Page};
use super::subdomain::Subdomain;
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::testing::{
    PAGES, check_if_match, id, id_of_page, monitor, page, report, with,
};
use crate::areas::status::{documents, limits};
use crate::areas::testing::{Answer, NOW, TestServer};
use crate::config::Config;
use crate::platform::settings::SettingValue;

fn put(server: &TestServer, path: &str, body: &Value) -> Answer {
    server.call(Method::PUT, path, &[], &body.to_string())
}

fn status(server: &TestServer, path: &str) -> Value {
    server.get(path).whole(200)["status"].clone()
}

#[test]
fn a_page_is_created_changed_and_deleted() {
    let server = TestServer::open();
    let [shop, api] = ["Shop", "API"].map(|name| monitor(&server, name));
    report(&server, &shop, "up");
    let body = json!({"name": "Status", "subdomain": "shop", "monitors": [shop, api]});
    let created = server.post(PAGES, &body).whole(201);
    let expected = json!({
        "id": created["id"], "name": "Status", "subdomain": "shop", "custom_domain": null,
        "url": "/status/shop", "status": "operational",
        "monitors": [
            {"id": shop, "name": "Shop", "display_name": null, "group": null, "status": "up",
             "uptime_90d": null},
            {"id": api, "name": "API", "display_name": null, "group": null, "status": "pending",
             "uptime_90d": null},
        ],
        "active_incidents": [], "branding": {"logo_url": null, "primary_color": null},
        "created_by": created["created_by"], "created_at": "2026-01-02T03:04:05.678Z",
    });
    assert_eq!(created, expected);
    let path = format!("{PAGES}/{}", id(&created));
    assert!(path.starts_with(&format!("{PAGES}/sp_")), "{path}");
    assert_eq!(server.get(&path).whole(200), expected);
    page(&server, "other", &[]);
    let listed = server.get(PAGES).whole(200);
    let names = |listed: &Value| {
        let pages = listed["status_pages"].as_array().unwrap();
        pages.iter().map(|page| page["subdomain"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&listed), ["other", "shop"]);
    let summary = json!({
        "id": created["id"], "name": "Status", "subdomain": "shop", "custom_domain": null,
        "status": "operational", "monitors_count": 2,
    });
    assert_eq!(listed["status_pages"][1], summary);
    assert_eq!(names(&server.get(&format!("{PAGES}?limit=1&offset=1")).whole(200)), ["shop"]);
    assert_eq!(names(&server.get(&format!("{PAGES}?offset=2")).whole(200)), [""; 0]);
    let renamed = put(&server, &path, &json!({"name": "Up?"})).whole(200);
    assert_eq!(renamed, with(expected, &json!({"name": "Up?"})));
    assert_eq!(server.get(&path).whole(200), renamed);
    let deleted = json!({"id": created["id"], "deleted": true});
    assert_eq!(server.delete(&path).whole(200), deleted);
    server.get(&path).refused(404, "status_page_not_found", "");
    server.delete(&path).refused(404, "status_page_not_found", "");
    put(&server, &path, &json!({})).refused(404, "status_page_not_found", "");
    server.get(&format!("{PAGES}/sp_1")).refused(404, "status_page_not_found", "");
}

#[test]
fn invalid_pages_are_refused() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    let (known, unknown) = (monitor(&server, "a"), MonitorId(1).text());
    for (change, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"name": ""}), "missing_name", "name"),
        (json!({"name": "x".repeat(201)}), "invalid_name", "name"),
        (json!({"subdomain": null}), "missing_field", "subdomain"),
        (json!({"subdomain": "Shop"}), "invalid_field", "subdomain"),
        (json!({"subdomain": "www"}), "invalid_field", "subdomain"),
        (json!({"subdomain": "a".repeat(64)}), "invalid_field", "subdomain"),
        (json!({"custom_domain": ""}), "invalid_field", "custom_domain"),
        (json!({"custom_domain": "127.0.0.1"}), "invalid_field", "custom_domain"),
        (json!({"branding": {"logo_url": "javascript:a"}}), "invalid_field", "branding.logo_url"),
        (json!({"branding": {"logo_url": ""}}), "invalid_field", "branding.logo_url"),
        (json!({"branding": {"primary_color": "red"}}), "invalid_field", "branding.primary_color"),
    ] {
        let body = with(json!({"name": "n", "subdomain": "s"}), &change);
        server.post(PAGES, &body).refused(422, code, field);
        put(&server, &path, &change).refused(422, code, field);
    }
    for (monitors, field) in [
        (json!([known, unknown]), "monitors[1]"),
        (json!([known, "shop"]), "monitors[1]"),
        (json!([known, known]), "monitors[1]"),
        (json!(vec![known.clone(); 201]), "monitors"),
    ] {
        let body = json!({"name": "n", "subdomain": "s", "monitors": monitors});
        server.post(PAGES, &body).refused(422, "invalid_field", field);
    }
    for body in [json!({"monitors": [known]}), json!({"branding": {"color": "#000000"}})] {
        assert_eq!(put(&server, &path, &body).status.as_u16(), 400);
    }
    server.get(&format!("{PAGES}?limit=0")).refused(400, "invalid_parameter", "limit");
    let subdomains = server.get(PAGES).whole(200)["status_pages"].as_array().map(Vec::len);
    assert_eq!(subdomains, Some(1));
}

#[test]
fn a_put_changes_only_the_fields_that_are_sent() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    let logo = "https://example.com/logo.png";
    let both = json!({"branding": {"logo_url": logo, "primary_color": "#4F46E5"}});
    let changed = put(&server, &path, &both).whole(200);
    assert_eq!(changed["branding"], both["branding"]);
    let all = json!({"name": "b", "subdomain": "b", "custom_domain": "Up.Example.com"});
    let changed = put(&server, &path, &all).whole(200);
    assert_eq!(
        [&changed["name"], &changed["subdomain"], &changed["custom_domain"], &changed["url"]],
        ["b", "b", "up.example.com", "https://up.example.com"]
    );
    assert_eq!(changed["branding"], both["branding"]);
    assert_eq!(put(&server, &path, &json!({})).whole(200), changed);
    let color = json!({"branding": {"primary_color": null}});
    let expected = json!({"logo_url": logo, "primary_color": null});
    assert_eq!(put(&server, &path, &color).whole(200)["branding"], expected);
    let cleared = json!({"branding": null, "custom_domain": null});
    let changed = put(&server, &path, &cleared).whole(200);
    assert_eq!(changed["branding"], json!({"logo_url": null, "primary_color": null}));
    assert_eq!((&changed["custom_domain"], &changed["url"]), (&Value::Null, &json!("/status/b")));
}

#[test]
fn addresses_are_unique() {
    let server = TestServer::open();
    let body = json!({"name": "n", "subdomain": "shop", "custom_domain": "up.example.com"});
    let first = format!("{PAGES}/{}", id(&server.post(PAGES, &body).whole(201)));
    server.post(PAGES, &body).refused(409, "conflict", "subdomain");
    let other = json!({"name": "n", "subdomain": "b", "custom_domain": "UP.example.com"});
    server.post(PAGES, &other).refused(409, "conflict", "custom_domain");
    let second = page(&server, "b", &[]);
    let taken = json!({"subdomain": "shop"});
    put(&server, &second, &taken).refused(409, "conflict", "subdomain");
    let taken = json!({"custom_domain": "up.example.com"});
    put(&server, &second, &taken).refused(409, "conflict", "custom_domain");
    // Its own addresses are no obstacle, and those of before are free.
    put(&server, &first, &json!({"subdomain": "shop", "custom_domain": "up.example.com"}))
        .whole(200);
    put(&server, &first, &json!({"subdomain": "c", "custom_domain": null})).whole(200);
    put(&server, &second, &json!({"subdomain": "shop", "custom_domain": "up.example.com"}))
        .whole(200);
    server.delete(&second).whole(200);
    server.post(PAGES, &body).whole(201);
}

#[test]
fn pages_have_addresses_in_the_domain_of_the_server() {
    let mut config = Config::default();
    config.status.domain = SettingValue::from_text("status.example.com").unwrap();
    config.server.public_url = SettingValue::from_text("https://tt.example.com:8443").unwrap();
    let routes = crate::areas::routes();
    let server = TestServer::serving(Options::default(), &config, routes);
    let path = page(&server, "shop", &[]);
    assert_eq!(server.get(&path).whole(200)["url"], "https://shop.status.example.com");
    for domain in ["status.example.com", "a.status.example.com", "TT.example.com"] {
        let body = json!({"custom_domain": domain});
        put(&server, &path, &body).refused(422, "invalid_field", "custom_domain");
    }
    let directory = server.app().status().pages(server.app()).unwrap();
    assert_eq!(directory.page_at_subdomain("shop").unwrap().page.id, id_of_page(&path));
    assert!(directory.page_at_domain("shop.status.example.com").is_none());
}

#[test]
fn monitors_are_added_and_taken_off() {
    let server = TestServer::open();
    let [one, other] = ["a", "b"].map(|name| monitor(&server, name));
    let path = page(&server, "shop", &[&one]);
    let monitors = format!("{path}/monitors");
    let body = json!({"monitor_id": other, "display_name": "Checkout", "group": "Web"});
    let added = server.post(&monitors, &body).whole(200);
    let expected = json!({
        "id": other, "name": "b", "display_name": "Checkout", "group": "Web",
        "status": "pending", "uptime_90d": null,
    });
    assert_eq!(added["monitors"][1], expected);
    assert_eq!(server.get(&path).whole(200), added);
    server.post(&monitors, &body).refused(409, "conflict", "monitor_id");
    for (change, code, field) in [
        (json!({"monitor_id": null}), "missing_field", "monitor_id"),
        (json!({"monitor_id": "mon_1"}), "invalid_field", "monitor_id"),
        (json!({"monitor_id": MonitorId(1).text()}), "invalid_field", "monitor_id"),
        (json!({"display_name": ""}), "invalid_field", "display_name"),
        (json!({"display_name": "a\nb"}), "invalid_field", "display_name"),
        (json!({"group": "x".repeat(101)}), "invalid_field", "group"),
    ] {
        server.post(&monitors, &with(body.clone(), &change)).refused(422, code, field);
    }
    let incident = json!({"title": "t", "message": "m", "monitors": [other, one]});
    let incident = server.post(&format!("{path}/incidents"), &incident).whole(201);
    let maintenance = json!({
        "title": "t", "monitors": [one], "starts_at": "2026-01-03T00:00Z",
        "ends_at": "2026-01-03T01:00Z",
    });
    let maintenance = server.post(&format!("{path}/maintenance"), &maintenance).whole(201);
    let off = server.delete(&format!("{monitors}/{one}")).whole(200);
    assert_eq!(off["monitors"], json!([expected]));
    assert_eq!(off["active_incidents"][0]["monitors"], json!([other]));
    let maintenance = format!("{path}/maintenance/{}", id(&maintenance));
    assert_eq!(server.get(&maintenance).whole(200)["monitors"], json!([]));
    server.delete(&format!("{monitors}/{one}")).refused(404, "monitor_not_found", "");
    server.delete(&format!("{monitors}/mon_1")).refused(404, "monitor_not_found", "");
    let none = format!("{PAGES}/{}/monitors", PageId(1).text());
    server.post(&none, &body).refused(404, "status_page_not_found", "");
    server.delete(&format!("{none}/{one}")).refused(404, "status_page_not_found", "");
    // A deleted monitor is on no page and in no incident.
    let deleted = server.delete(&format!("/api/v1/monitors/{other}")).whole(200);
    assert_eq!(deleted["removed_from"], json!([id_of_page(&path).text()]));
    assert_eq!(server.get(&path).whole(200)["monitors"], json!([]));
    let incident = format!("{path}/incidents/{}", id(&incident));
    assert_eq!(server.get(&incident).whole(200)["monitors"], json!([]));
}

#[test]
fn the_monitors_of_a_page_are_limited() {
    let server = TestServer::open();
    let max = limits::PAGE_MONITORS_MAX;
    let monitors: Vec<String> = (0..=max).map(|i| monitor(&server, &i.to_string())).collect();
    let (last, first) = monitors.split_last().unwrap();
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let path = page(&server, "shop", &first);
    let more = json!({"monitor_id": last});
    server.post(&format!("{path}/monitors"), &more).refused(409, "conflict", "");
    server.delete(&format!("{path}/monitors/{}", first[0])).whole(200);
    let added = server.post(&format!("{path}/monitors"), &more).whole(200);
    assert_eq!(added["monitors"].as_array().map(Vec::len), Some(max));
}

#[test]
fn the_number_of_pages_is_limited() {
    let server = TestServer::open();
    let mut changes = documents::begin(server.app());
    for i in 1..limits::PAGES_MAX {
        let page = Page {
            id: PageId(i as u128),
            name: "n".to_owned(),
            subdomain: Subdomain::parse(&format!("s{i}")).unwrap(),
            custom_domain: None,
            branding: Branding::default(),
            components: Vec::new(),
            created_by: "anna".to_owned(),
            created_at: NOW,
        };
        changes.insert(&page).unwrap();
    }
    changes.commit(None).unwrap();
    let last = page(&server, "last", &[]);
    let body = json!({"name": "n", "subdomain": "more"});
    server.post(PAGES, &body).refused(409, "conflict", "");
    server.delete(&last).whole(200);
    server.post(PAGES, &body).whole(201);
    assert!(server.app().status().memory_bytes() > 100_000);
}

#[test]
fn the_status_of_a_page_follows_its_monitors_incidents_and_maintenances() {
    let server = TestServer::open();
    let [one, other] = ["a", "b"].map(|name| monitor(&server, name));
    let path = page(&server, "shop", &[&one, &other]);
    assert_eq!(status(&server, &path), "operational");
    report(&server, &one, "down");
    assert_eq!(status(&server, &path), "major_outage", "the other one is unknown");
    report(&server, &other, "up");
    assert_eq!(status(&server, &path), "partial_outage");
    assert_eq!(server.get(PAGES).whole(200)["status_pages"][0]["status"], "partial_outage");
    let maintenance = json!({
        "title": "t", "monitors": [one], "starts_at": "2026-01-02T03:00Z",
        "ends_at": "2026-01-02T04:00Z",
    });
    server.post(&format!("{path}/maintenance"), &maintenance).whole(201);
    let found = server.get(&path).whole(200);
    assert_eq!(found["status"], "under_maintenance");
    let statuses = [0, 1].map(|i| found["monitors"][i]["status"].clone());
    assert_eq!(statuses, ["under_maintenance", "up"]);
    // The maintenances of another page change nothing here.
    let elsewhere = page(&server, "b", &[&one, &other]);
    assert_eq!(status(&server, &elsewhere), "partial_outage");
    let incident = json!({"title": "t", "message": "m", "impact": "critical"});
    let incident = server.post(&format!("{path}/incidents"), &incident).whole(201);
    let found = server.get(&path).whole(200);
    assert_eq!(
        (&found["status"], &found["active_incidents"]),
        (&json!("major_outage"), &json!([incident]))
    );
    let incident = format!("{path}/incidents/{}", id(&incident));
    server
        .call(Method::PATCH, &incident, &[], r#"{"status": "resolved", "message": "over"}"#)
        .whole(200);
    let found = server.get(&path).whole(200);
    assert_eq!(
        (&found["status"], &found["active_incidents"]),
        (&json!("under_maintenance"), &json!([]))
    );
    server.pass(3_600_000);
    assert_eq!(status(&server, &path), "partial_outage");
}

#[test]
fn a_change_is_refused_unless_if_match_fits() {
    let server = TestServer::open();
    let path = page(&server, "shop", &[]);
    check_if_match(&server, &Method::PUT, &path, &json!({"name": "o"}));
    let one = monitor(&server, "a");
    let path = page(&server, "shop", &[&one]);
    let stale = server.get(&path).headers["etag"].to_str().unwrap().to_owned();
    put(&server, &path, &json!({"name": "o"})).whole(200);
    let monitor = format!("{path}/monitors/{one}");
    let off = server.call(Method::DELETE, &monitor, &[("if-match", &stale)], "");
    off.refused(412, "precondition_failed", "");
}
