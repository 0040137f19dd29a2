//! What becomes of snapshots, baselines and images over time, without a browser.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use telltale_engine::{Collection, Expect, FileDigest, Options, TimestampMs};

use super::background::expire_before;
use super::capture::{Capture, CaptureError, ProxyCounts};
use super::compare::Picture;
use super::ids::SnapshotId;
use super::library::Library;
use super::settings::BrowserPath;
use super::{limits, snapshot};
use crate::areas::files::delete_unused;
use crate::areas::testing::{NOW, TestServer};
use crate::config::Config;
use crate::platform::settings::{ByteSize, SettingValue as _};

const SNAPSHOTS: &str = "/api/v1/snapshots";

/// Opens a server whose browser is never started: no job runs.
fn open(images_bytes_max: &str) -> TestServer {
    let mut config = Config::default();
    config.snapshots.browser = BrowserPath::from_text("/bin/sh").unwrap();
    config.snapshots.images_bytes_max = ByteSize::from_text(images_bytes_max).unwrap();
    TestServer::serving(Options::default(), &config, crate::areas::routes())
}

/// Creates a snapshot that waits for the browser, and returns its id.
#[track_caller]
fn create(server: &TestServer, body: &Value) -> SnapshotId {
    let headers = [("prefer", "respond-async"), ("content-type", "application/json")];
    let made = server.call(Method::POST, SNAPSHOTS, &headers, &body.to_string()).whole(202);
    assert_eq!(made["status"], "pending");
    SnapshotId::parse(made["id"].as_str().unwrap()).unwrap()
}

/// Creates a snapshot and captures an image of one pixel of a shade.
#[track_caller]
fn capture(server: &TestServer, shade: u8) -> SnapshotId {
    let id = create(server, &json!({"url": "https://shop.example.com/"}));
    assert!(snapshot::begin(server.app(), id).unwrap().is_some());
    snapshot::finish(server.app(), id, Ok(captured(shade))).unwrap();
    id
}

fn captured(shade: u8) -> Capture {
    Capture {
        png: png(shade),
        width: 1,
        height: 1,
        http_status: Some(200),
        url: "https://shop.example.com/".to_owned(),
        is_truncated: false,
        is_unstable: false,
        duration: Duration::from_millis(7),
        traffic: ProxyCounts::default(),
    }
}

fn png(shade: u8) -> Vec<u8> {
    Picture::from_rgba(1, 1, vec![shade, shade, shade, 255]).unwrap().to_png().unwrap()
}

fn is_stored(server: &TestServer, shade: u8) -> bool {
    let digest = FileDigest::of(&png(shade));
    server.app().engine().files().read(digest).unwrap().is_some()
}

fn path(id: SnapshotId) -> String {
    format!("{SNAPSHOTS}/{}", id.text())
}

#[test]
fn an_image_is_deleted_when_nothing_shows_it_any_more() {
    let server = open("1GiB");
    capture(&server, 0);
    let [one, same] = [(); 2].map(|()| capture(&server, 200));
    let compared = server.post(&format!("{}/compare", path(one)), &json!({})).whole(201);
    assert_eq!(compared["diff_pixels"], 1);
    server.delete(&path(one)).whole(200);
    server.delete(&path(same)).whole(200);
    delete_unused(server.app()).unwrap();
    assert!(is_stored(&server, 200), "the comparison shows it");
    let comparison = format!("/api/v1/comparisons/{}", compared["comparison_id"].as_str().unwrap());
    server.delete(&comparison).whole(200);
    delete_unused(server.app()).unwrap();
    assert!(!is_stored(&server, 200));
    assert!(is_stored(&server, 0), "it is a baseline");
}

#[test]
fn no_image_is_deleted_while_a_document_cannot_be_read() {
    let server = open("1GiB");
    capture(&server, 0);
    let id = capture(&server, 200);
    let engine = server.app().engine();
    let mut transaction = engine.documents().begin();
    let broken = json!({"url": 7});
    transaction.put(Collection("snapshots"), &id.text(), &broken, Expect::Any).unwrap();
    transaction.commit().unwrap();
    // As at a start.
    Library::open(engine).unwrap();
    server.app().snapshots().library().remove_snapshot(id);
    delete_unused(server.app()).unwrap();
    assert!(is_stored(&server, 200));
}

#[test]
fn old_snapshots_and_comparisons_expire_and_baselines_stay() {
    let server = open("1GiB");
    let first = capture(&server, 0);
    let made = server.post(&format!("{}/compare", path(first)), &json!({})).whole(201);
    let waiting = create(&server, &json!({"url": "https://shop.example.com/"}));
    server.pass(1);
    let young = capture(&server, 200);
    expire_before(server.app(), TimestampMs(NOW.0 + 1)).unwrap();
    server.get(&path(first)).refused(404, "snapshot_not_found", "");
    let comparison = format!("/api/v1/comparisons/{}", made["comparison_id"].as_str().unwrap());
    server.get(&comparison).refused(404, "comparison_not_found", "");
    server.get(&path(young)).whole(200);
    assert_eq!(server.get(&path(waiting)).whole(200)["status"], "pending");
    let found = server.post(&format!("{}/compare", path(young)), &json!({})).whole(201);
    assert_eq!(found["diff_pixels"], 1, "with the baseline");
}

#[test]
fn the_baselines_before_the_current_one_are_limited() {
    let server = open("1GiB");
    for shade in 0..=20 {
        let id = capture(&server, shade);
        server.post(&format!("{}/baseline", path(id)), &json!({})).whole(201);
        server.delete(&path(id)).whole(200);
    }
    let baselines = server.get("/api/v1/baselines").whole(200)["baselines"].clone();
    assert_eq!(baselines.as_array().map(Vec::len), Some(limits::BASELINES_KEPT));
    assert_eq!(baselines[0]["current"], true);
    delete_unused(server.app()).unwrap();
    assert!(!is_stored(&server, 0) && is_stored(&server, 20));
}

#[test]
fn a_capture_that_is_always_interrupted_fails_and_its_secrets_are_gone() {
    let server = open("1GiB");
    let body = json!({"url": "https://shop.example.com/", "headers": {"X-Token": "s3cret"}});
    let id = create(&server, &body);
    let document = || {
        let found =
            server.app().engine().documents().get::<Value>(Collection("snapshots"), &id.text());
        found.unwrap().unwrap().value
    };
    assert!(document()["secrets"].as_str().unwrap().starts_with("sealed:"));
    assert!(!document().to_string().contains("s3cret"));
    for _ in 0..limits::CAPTURE_ATTEMPTS_MAX {
        assert!(snapshot::begin(server.app(), id).unwrap().is_some());
    }
    assert!(snapshot::begin(server.app(), id).unwrap().is_none());
    let failed = server.get(&path(id)).whole(200);
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("interrupted"))
    );
    assert_eq!(document()["secrets"], Value::Null);
    // What comes late changes nothing.
    snapshot::finish(server.app(), id, Ok(captured(200))).unwrap();
    assert_eq!(server.get(&path(id)).whole(200)["status"], "failed");
}

#[test]
fn a_snapshot_is_captured_by_one_job_at_a_time() {
    let server = open("1GiB");
    let state = server.app().snapshots();
    let id = create(&server, &json!({"url": "https://shop.example.com/"}));
    let first = state.begin_capture(id).unwrap();
    assert!(state.begin_capture(id).is_none());
    assert!(state.is_captured_now(id), "the first one goes on");
    drop(first);
    assert!(state.begin_capture(id).is_some());
}

#[test]
fn a_failed_capture_says_why() {
    let server = open("1GiB");
    let id = create(&server, &json!({"url": "https://shop.example.com/"}));
    snapshot::begin(server.app(), id).unwrap();
    let error =
        CaptureError::BlockedUrl { url: "http://a/".into(), reason: "it is private".into() };
    snapshot::finish(server.app(), id, Err(error)).unwrap();
    let failed = server.get(&path(id)).whole(200);
    let error =
        json!({"code": "blocked_url", "message": "http://a/ must not be fetched: it is private"});
    assert_eq!(failed["error"], error);
}

#[test]
fn images_have_a_limit_in_all() {
    let server = open("100");
    let first = capture(&server, 0);
    let second = capture(&server, 200);
    for path in [SNAPSHOTS.to_owned(), format!("{}/compare", path(first))] {
        let body = match path == SNAPSHOTS {
            true => json!({"url": "https://shop.example.com/"}),
            false => json!({}),
        };
        server.post(&path, &body).refused(409, "conflict", "");
    }
    server.delete(&path(second)).whole(200);
    delete_unused(server.app()).unwrap();
    create(&server, &json!({"url": "https://shop.example.com/"}));
}

#[test]
fn a_capture_does_not_begin_when_images_take_all_space() {
    let server = open("100");
    let [first, second] =
        [(); 2].map(|()| create(&server, &json!({"url": "https://shop.example.com/"})));
    for shade in [0, 200] {
        let file = server.app().engine().files().put(&[png(shade), vec![0; 50]].concat());
        file.unwrap().keep();
    }
    assert!(snapshot::begin(server.app(), first).unwrap().is_none());
    let failed = server.get(&path(first)).whole(200);
    assert_eq!(failed["error"]["code"], "images_full", "{failed}");
    assert_eq!(server.get(&path(second)).whole(200)["status"], "pending");
}

#[test]
fn baselines_stay_in_their_order_when_the_clock_was_ahead() {
    let server = open("1GiB");
    let id = capture(&server, 0);
    server.post(&format!("{}/baseline", path(id)), &json!({})).whole(201);
    let library = Library::open(server.app().engine()).unwrap();
    let last = server.get("/api/v1/baselines").whole(200)["baselines"][0]["id"].clone();
    let number = super::ids::BaselineId::parse(last.as_str().unwrap()).unwrap().0;
    assert_eq!(library.greatest_id(), number, "new ids are greater than all that are stored");
}

#[test]
fn snapshots_that_wait_have_a_limit() {
    let server = open("1GiB");
    let body = json!({"url": "https://shop.example.com/"});
    let first = create(&server, &body);
    for _ in 1..limits::WAITING_SNAPSHOTS_MAX {
        create(&server, &body);
    }
    server.post(SNAPSHOTS, &body).refused(409, "conflict", "");
    server.delete(&path(first)).whole(200);
    create(&server, &body);
}
