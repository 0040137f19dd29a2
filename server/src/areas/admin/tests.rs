//! Tests of the area through its routes.

use serde_json::json;
use telltale_engine::{Engine, Options, TimestampMs};

use crate::areas::testing::TestServer;

fn sample_server() -> TestServer {
    let house = TestServer::open();
    for value in 0..10 {
        let input =
            json!({"name": "hits", "type": "counter", "value": value, "tags": {"n": value}});
        house.post("/api/v1/metrics", &input).data(201);
    }
    house
}

#[test]
fn seal_and_merge_report_their_work_and_keep_the_data() {
    let house = sample_server();
    let before = house.get("/api/v1/metrics/hits/query").data(200);
    let sealed = house.post("/api/v1/admin/seal", &json!({})).data(200);
    assert_eq!(sealed["points"], 10, "{sealed}");
    let merged = house.post("/api/v1/admin/merge", &json!({})).data(200);
    assert!(merged["windows"].is_u64() && merged["bytes_written"].is_u64(), "{merged}");
    assert_eq!(house.get("/api/v1/metrics/hits/query").data(200), before);
}

#[test]
fn verification_of_intact_data_reports_ok() {
    let house = sample_server();
    house.post("/api/v1/admin/seal", &json!({})).data(200);
    let checked = house.post("/api/v1/admin/verify", &json!({})).data(200);
    assert_eq!((&checked["ok"], &checked["damaged"]), (&json!(true), &json!([])));
    assert!(checked["blocks"].as_u64() > Some(0), "{checked}");
}

#[test]
fn a_backup_can_be_restored_and_opened() {
    let house = sample_server();
    let (target, restored) = (house.dir.path().join("copy"), house.dir.path().join("restored"));
    let done = house.post("/api/v1/admin/backup", &json!({"target": target})).data(200);
    assert_eq!(done["target"], json!(target));
    Engine::restore(&target, &restored).unwrap();
    let copy = Engine::open(&restored, Options::default()).unwrap();
    assert_eq!(copy.metric("hits").unwrap().map(|metric| metric.data_points), Some(10));

    let again = house.post("/api/v1/admin/backup", &json!({"target": target}));
    again.refused(409, "conflict", "target");
    let relative = house.post("/api/v1/admin/backup", &json!({"target": "copy"}));
    relative.refused(422, "invalid_field", "target");
    house.post("/api/v1/admin/backup", &json!({})).refused(422, "missing_field", "target");
}

#[test]
fn a_clock_that_is_temporarily_ahead_is_reported_and_keeps_receipts() {
    let house = TestServer::open();
    let input = json!({"name": "hits", "type": "counter", "value": 1});
    house.post_once("/api/v1/metrics", "key-1", &input).data(201);
    let check = |sealed: bool| {
        let now = house.app().now();
        house.app().clock().jump(TimestampMs(now.0 + 40 * 86_400_000));
        let ready = house.get("/readyz");
        assert_eq!(ready.status.as_u16(), 200);
        let notice = ready.body["notices"][0].as_str().unwrap_or_default();
        assert!(notice.contains("3456000 s ahead"), "{notice}");
        assert_eq!(house.app().engine().expire().unwrap().receipts, 0);
        let again = house.post_once("/api/v1/metrics", "key-1", &input);
        assert!(again.headers.contains_key("idempotency-replayed"), "sealed: {sealed}");
        // A request made while the clock was ahead is also recognised afterwards.
        let key = format!("key-{sealed}");
        house.post_once("/api/v1/metrics", &key, &input).data(201);
        house.app().clock().jump(now);
        assert_eq!(house.get("/readyz").body, json!({"status": "ok"}));
        let again = house.post_once("/api/v1/metrics", &key, &input);
        assert!(again.headers.contains_key("idempotency-replayed"), "sealed: {sealed}");
    };
    check(false);
    house.post("/api/v1/admin/seal", &json!({})).data(200);
    check(true);
}
