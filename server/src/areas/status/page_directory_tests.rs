//! Tests of the pages in memory, and of what is rendered of them.

use std::sync::Arc;

use serde_json::json;
use telltale_engine::Expect;

use super::documents::StoredResource as _;
use super::incidents::Incident;
use super::limits;
use super::pages::Page;
use super::testing::{id, id_of_page, monitor, page, patch, report};
use crate::areas::testing::TestServer;

/// Returns the version of a page.
fn version(server: &TestServer, path: &str) -> u64 {
    let directory = server.app().status().pages(server.app()).unwrap();
    directory.page(id_of_page(path)).unwrap().version
}

#[test]
fn only_a_change_of_a_page_or_of_what_belongs_to_it_makes_another_version() {
    let server = TestServer::open();
    let api = monitor(&server, "API");
    let (shop, bolt) = (page(&server, "shop", &[&api]), page(&server, "bolt", &[&api]));
    let before = [version(&server, &shop), version(&server, &bolt)];
    monitor(&server, "Other");
    patch(&server, &format!("/api/v1/monitors/{api}"), &json!({"retries": 3})).whole(200);
    report(&server, &api, "up");
    assert_eq!([version(&server, &shop), version(&server, &bolt)], before);
    let incident = json!({"title": "Slow", "message": "Why?", "monitors": [api]});
    let incident = server.post(&format!("{shop}/incidents"), &incident).whole(201);
    assert_ne!(version(&server, &shop), before[0]);
    assert_eq!(version(&server, &bolt), before[1]);
    let before = version(&server, &shop);
    let path = format!("{shop}/incidents/{}", id(&incident));
    patch(&server, &path, &json!({"message": "The disk"})).whole(200);
    assert_ne!(version(&server, &shop), before);
}

#[test]
fn a_page_shows_fifty_resolved_incidents_and_all_open_ones() {
    let server = TestServer::open();
    let shop = page(&server, "shop", &[]);
    let open = json!({"title": "Open", "message": "?"});
    server.post(&format!("{shop}/incidents"), &open).whole(201);
    for i in 0..limits::PAGE_RESOLVED_INCIDENTS_MAX + 5 {
        let body = json!({"title": format!("Resolved {i}"), "message": "!", "status": "resolved"});
        server.post(&format!("{shop}/incidents"), &body).whole(201);
    }
    let directory = server.app().status().pages(server.app()).unwrap();
    let entry = directory.page(id_of_page(&shop)).unwrap();
    let shown: Vec<&Arc<Incident>> = entry.shown_incidents(server.app().now()).collect();
    assert_eq!(shown.len(), limits::PAGE_RESOLVED_INCIDENTS_MAX + 1);
    assert_eq!(shown[0].title, format!("Resolved {}", limits::PAGE_RESOLVED_INCIDENTS_MAX + 4));
    assert_eq!(shown.last().unwrap().title, "Open");
}

#[test]
fn a_page_is_bounded_whatever_its_incidents_say() {
    let server = TestServer::open();
    let shop = page(&server, "shop", &[]);
    // Characters that take six bytes each in HTML.
    let long = "\"".repeat(limits::INCIDENT_MESSAGE_CHARS_MAX);
    for i in 0..40 {
        let body = json!({"title": format!("Incident {i}"), "message": long});
        let incident = server.post(&format!("{shop}/incidents"), &body).whole(201);
        let path = format!("{shop}/incidents/{}", id(&incident));
        for _ in 0..10 {
            patch(&server, &path, &json!({"message": long})).whole(200);
        }
    }
    let bytes = super::render_page(server.app(), "shop").unwrap();
    let most = 6 * (limits::PAGE_MESSAGE_BYTES_MAX + 40 * limits::INCIDENT_MESSAGE_CHARS_MAX);
    assert!(bytes < most + (100 << 10), "{bytes}");
}

#[test]
fn messages_beyond_the_limit_in_memory_are_those_of_older_incidents() {
    let server = TestServer::open();
    let shop = page(&server, "shop", &[]);
    let longest = "\u{1f642}".repeat(limits::INCIDENT_MESSAGE_CHARS_MAX);
    let fitting = limits::INCIDENT_BYTES_IN_MEMORY_MAX / longest.len();
    for i in 0..fitting + 3 {
        let title = format!("Incident {i}");
        let body = json!({"title": title, "message": longest, "status": "resolved"});
        server.post(&format!("{shop}/incidents"), &body).whole(201);
    }
    let directory = server.app().status().pages(server.app()).unwrap();
    let entry = directory.page(id_of_page(&shop)).unwrap();
    let with = entry.incidents().iter().filter(|one| !one.updates.is_empty()).count();
    assert_eq!(with, fitting);
    assert!(entry.incidents()[0].message_bytes() > 0, "the newest");
    assert_eq!(entry.incidents().last().unwrap().message_bytes(), 0, "the oldest");
    // Those without are not read again for every change.
    patch_page(&server, &shop);
    let again = server.app().status().pages(server.app()).unwrap();
    let again = again.page(id_of_page(&shop)).unwrap();
    let same = |(one, other): (&Arc<Incident>, &Arc<Incident>)| Arc::ptr_eq(one, other);
    assert!(entry.incidents().iter().zip(again.incidents()).all(same));
}

fn patch_page(server: &TestServer, path: &str) {
    let body = json!({"name": "Renamed"}).to_string();
    server.call(http::Method::PUT, path, &[], &body).whole(200);
}

#[test]
fn a_page_that_cannot_be_read_can_be_deleted() {
    let server = TestServer::open();
    let shop = page(&server, "shop", &[]);
    server.post(&format!("{shop}/incidents"), &json!({"title": "a", "message": "b"})).whole(201);
    let engine = server.app().engine();
    let mut damaged = engine.documents().begin();
    let id = id_of_page(&shop).text();
    damaged.put(Page::COLLECTION, &id, &json!({"name": 7}), Expect::Any).unwrap();
    damaged.commit().unwrap();
    // As if the process had begun with it.
    page(&server, "other", &[]);
    assert!(!server.get(&shop).status.is_success());
    server.delete(&shop).whole(200);
    server.delete(&shop).refused(404, "status_page_not_found", "");
    let directory = server.app().status().pages(server.app()).unwrap();
    assert_eq!(directory.pages().count(), 1);
}
