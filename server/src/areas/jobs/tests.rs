//! The area through its routes, with a manual clock.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::TimestampMs;

use crate::areas::testing::{NOW, TestServer};

/// Checks the status of a response and returns its body.
#[track_caller]
fn ok(answer: crate::areas::testing::Answer, status: u16) -> Value {
    assert_eq!(answer.status.as_u16(), status, "{}", answer.body);
    answer.body
}

#[track_caller]
fn enqueue(house: &TestServer, more: &Value) -> Value {
    let mut body = json!({"class_name": "Mail"});
    for (key, value) in more.as_object().into_iter().flatten() {
        body[key] = value.clone();
    }
    ok(house.post("/api/v1/jobs", &body), 201)
}

#[track_caller]
fn register(house: &TestServer) -> String {
    let about = json!({"hostname": "web-1", "queues": ["default"]});
    let worker = ok(house.post("/api/v1/workers", &about), 201);
    format!("/api/v1/workers/{}", worker["id"].as_str().unwrap_or_default())
}

#[track_caller]
fn fetch(house: &TestServer, worker: &str) -> Vec<Value> {
    let fetched = ok(house.post(&format!("{worker}/fetch"), &json!({"limit": 10})), 200);
    fetched["jobs"].as_array().cloned().unwrap_or_default()
}

fn advance_clock(house: &TestServer, ms: i64) {
    let clock = house.app().clock();
    clock.set(TimestampMs(clock.now().0 + ms));
}

#[test]
fn a_lease_expires_exactly_on_time_and_can_be_extended() {
    let house = TestServer::open();
    let worker = register(&house);
    enqueue(&house, &json!({"timeout_seconds": 10}));
    let held = fetch(&house, &worker).remove(0);
    assert_eq!(held["expires_at"], "2026-01-02T03:04:15.678Z");
    let path = format!("/api/v1/jobs/{}", held["job_id"].as_str().unwrap_or_default());
    advance_clock(&house, 9_000);
    let token = held["reservation_token"].clone();
    let body = json!({"reservation_token": token, "seconds": 20});
    let kept = ok(house.post(&format!("{path}/extend"), &body), 200);
    assert_eq!(kept["expires_at"], "2026-01-02T03:04:34.678Z");
    advance_clock(&house, 19_999);
    assert_eq!(ok(house.get(&path), 200)["status"], "running");
    advance_clock(&house, 1);
    let view = ok(house.get(&path), 200);
    assert_eq!((&view["status"], &view["attempts"]), (&json!("ready"), &json!(1)));
    assert_eq!(view["failures"][0]["error_class"], "ReservationExpired");
    house.post(&format!("{path}/ack"), &body).refused(409, "reservation_lost", "");
    let heartbeat = ok(house.post(&format!("{worker}/heartbeat"), &json!({})), 200);
    assert_eq!(heartbeat, json!({"status": "active", "lost_jobs": [held["job_id"]]}));
    let heartbeat = ok(house.post(&format!("{worker}/heartbeat"), &json!({})), 200);
    assert_eq!(heartbeat["lost_jobs"], json!([]), "reported once");
}

#[test]
fn a_worker_is_removed_after_a_minute_without_heartbeat() {
    let house = TestServer::open();
    let worker = register(&house);
    enqueue(&house, &json!({}));
    let held = fetch(&house, &worker).remove(0);
    advance_clock(&house, 60_000);
    ok(house.post(&format!("{worker}/heartbeat"), &json!({})), 200);
    advance_clock(&house, 60_000);
    assert_eq!(ok(house.get(&worker), 200)["current_jobs"][0]["run_time_seconds"], 120);
    advance_clock(&house, 1);
    house.get(&worker).refused(404, "worker_not_found", "");
    let other = register(&house);
    let again = fetch(&house, &other).remove(0);
    assert_eq!((&again["job_id"], &again["attempt"]), (&held["job_id"], &json!(2)));
}

#[test]
fn a_queue_is_degraded_when_its_oldest_job_waits_for_more_than_five_minutes() {
    let house = TestServer::open();
    enqueue(&house, &json!({}));
    advance_clock(&house, 300_000);
    let view = ok(house.get("/api/v1/queues/default"), 200);
    assert_eq!((&view["status"], &view["latency_seconds"]), (&json!("healthy"), &json!(300)));
    advance_clock(&house, 500);
    let view = ok(house.get("/api/v1/queues/default"), 200);
    assert_eq!((&view["status"], &view["latency_seconds"]), (&json!("degraded"), &json!(300.5)));
}

#[test]
fn finished_jobs_are_removed_after_their_retention() {
    let house = TestServer::open();
    let worker = register(&house);
    enqueue(&house, &json!({}));
    let held = fetch(&house, &worker).remove(0);
    let path = format!("/api/v1/jobs/{}", held["job_id"].as_str().unwrap_or_default());
    let body = json!({"reservation_token": held["reservation_token"]});
    ok(house.post(&format!("{path}/ack"), &body), 200);
    advance_clock(&house, 3_600_000);
    ok(house.post(&format!("{path}/ack"), &body), 200);
    assert_eq!(ok(house.get(&path), 200)["finished_at"], "2026-01-02T03:04:05.678Z");
    advance_clock(&house, 1);
    house.get(&path).refused(404, "job_not_found", "");
    house.post(&format!("{path}/ack"), &body).refused(404, "job_not_found", "");
}

#[test]
fn expired_dead_jobs_are_trimmed() {
    let house = TestServer::open();
    let worker = register(&house);
    enqueue(&house, &json!({"max_attempts": 1}));
    let held = fetch(&house, &worker).remove(0);
    let path = format!("/api/v1/jobs/{}/fail", held["job_id"].as_str().unwrap_or_default());
    let body = json!({"reservation_token": held["reservation_token"], "error_class": "Boom"});
    assert_eq!(ok(house.post(&path, &body), 200)["status"], "dead");
    let trim = || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(super::trim_dead(house.app().jobs())).unwrap();
        ok(house.get("/api/v1/dead-jobs"), 200)["total"].clone()
    };
    advance_clock(&house, 180 * 86_400_000);
    assert_eq!(trim(), 1);
    advance_clock(&house, 1);
    assert_eq!(trim(), 0);
}

#[test]
fn an_unused_queue_is_removed_after_a_day() {
    let house = TestServer::open();
    let day_ms = 86_400_000;
    enqueue(&house, &json!({"queue": "old", "run_at": "2026-02-01T00:00:00Z"}));
    advance_clock(&house, day_ms + 1);
    ok(house.get("/api/v1/queues/old"), 200);
    ok(house.delete("/api/v1/queues/old/jobs?confirm=true"), 200);
    ok(house.get("/api/v1/queues/old"), 200);
    advance_clock(&house, day_ms - 1);
    ok(house.get("/api/v1/queues/old"), 200);
    advance_clock(&house, 1);
    house.get("/api/v1/queues/old").refused(404, "queue_not_found", "");
    enqueue(&house, &json!({"queue": "old"}));
    assert_eq!(ok(house.get("/api/v1/queues/old"), 200)["size"], 1);
}

#[test]
fn a_repeated_enqueue_gets_the_same_response_and_adds_no_jobs() {
    let house = TestServer::open();
    let body = json!({"class_name": "Mail"});
    let first = ok(house.post_once("/api/v1/jobs", "key", &body), 201);
    let again = house.post_once("/api/v1/jobs", "key", &body);
    assert_eq!(again.headers["idempotency-replayed"], "true");
    assert_eq!(ok(again, 201), first);
    assert_eq!(ok(house.get("/api/v1/queues/default"), 200)["size"], 1);
    let batch = json!({"jobs": [body, {}]});
    let first = ok(house.post_once("/api/v1/jobs/batch", "key", &batch), 201);
    assert_eq!(ok(house.post_once("/api/v1/jobs/batch", "key", &batch), 201), first);
    assert_eq!(ok(house.get("/api/v1/queues/default"), 200)["size"], 2);
}

#[test]
fn a_purge_can_be_confirmed_in_the_query_string() {
    let house = TestServer::open();
    enqueue(&house, &json!({"run_at": "2027-01-01T00:00:00Z"}));
    let path = "/api/v1/queues/default/jobs";
    house.delete(path).refused(422, "missing_field", "confirm");
    house.delete(&format!("{path}?confirm=maybe")).refused(400, "invalid_parameter", "confirm");
    let purged = ok(house.call(Method::DELETE, &format!("{path}?confirm=true"), &[], ""), 200);
    assert_eq!(purged["jobs_deleted"], 1);
    assert_eq!(house.app().now(), NOW);
}
