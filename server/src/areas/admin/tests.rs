//! The area through its routes.

use serde_json::json;
use telltale_engine::{Engine, Options, TimestampMs};

use crate::areas::testing::House;

fn story() -> House {
    let house = House::open();
    for value in 0..10 {
        let input =
            json!({"name": "hits", "type": "counter", "value": value, "tags": {"n": value}});
        house.post("/api/v1/metrics", &input).data(201);
    }
    house
}

#[test]
fn what_was_sealed_and_merged_is_told_and_still_there() {
    let house = story();
    let before = house.get("/api/v1/metrics/hits/query").data(200);
    let sealed = house.post("/api/v1/admin/seal", &json!({})).data(200);
    assert_eq!(sealed["points"], 10, "{sealed}");
    let merged = house.post("/api/v1/admin/merge", &json!({})).data(200);
    assert!(merged["windows"].is_u64() && merged["bytes_written"].is_u64(), "{merged}");
    assert_eq!(house.get("/api/v1/metrics/hits/query").data(200), before);
}

#[test]
fn a_sound_store_is_told_to_be_sound() {
    let house = story();
    house.post("/api/v1/admin/seal", &json!({})).data(200);
    let checked = house.post("/api/v1/admin/verify", &json!({})).data(200);
    assert_eq!((&checked["ok"], &checked["damaged"]), (&json!(true), &json!([])));
    assert!(checked["blocks"].as_u64() > Some(0), "{checked}");
}

#[test]
fn a_backup_is_a_copy_that_opens() {
    let house = story();
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
fn a_clock_that_is_ahead_for_a_moment_is_told_and_forgets_no_request() {
    let house = House::open();
    let input = json!({"name": "hits", "type": "counter", "value": 1});
    house.post_once("/api/v1/metrics", "key-1", &input).data(201);
    let sealed_as_well = |sealed: bool| {
        let now = house.app().now();
        house.app().clock().jump(TimestampMs(now.0 + 40 * 86_400_000));
        let told = house.get("/readyz");
        assert_eq!(told.status.as_u16(), 200);
        let notice = told.body["notices"][0].as_str().unwrap_or_default();
        assert!(notice.contains("3456000 s ahead"), "{notice}");
        assert_eq!(house.app().engine().expire().unwrap().receipts, 0);
        let again = house.post_once("/api/v1/metrics", "key-1", &input);
        assert!(again.headers.contains_key("idempotency-replayed"), "sealed: {sealed}");
        // A request of that moment is known afterwards too.
        let of_then = format!("key-{sealed}");
        house.post_once("/api/v1/metrics", &of_then, &input).data(201);
        house.app().clock().jump(now);
        assert_eq!(house.get("/readyz").body, json!({"status": "ok"}));
        let again = house.post_once("/api/v1/metrics", &of_then, &input);
        assert!(again.headers.contains_key("idempotency-replayed"), "sealed: {sealed}");
    };
    sealed_as_well(false);
    house.post("/api/v1/admin/seal", &json!({})).data(200);
    sealed_as_well(true);
}
