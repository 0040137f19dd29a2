//! Workers: registered, heartbeats, fetches, quieted and stopped; lost when they send no
//! heartbeats.

use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, Stopwatch, covers, eventually};

use crate::jobs::{JOBS, about, enqueue, fetch, fetch_one, register};
use crate::jobs_waiting::waiting_fetches;
use crate::keys::text;

const WORKERS: &str = "/api/v1/workers";

fn beat(client: &Client, worker: &str, body: &Value) -> Value {
    client.post(&format!("{worker}/heartbeat"), body).expect(200)
}

#[test]
fn a_worker_is_registered_listed_and_deregistered() {
    covers!("POST /api/v1/workers", Happy);
    covers!("POST /api/v1/workers", Refusal);
    covers!("GET /api/v1/workers", Happy);
    covers!("GET /api/v1/workers/{id}", Happy);
    covers!("GET /api/v1/workers/{id}", Refusal);
    covers!("POST /api/v1/workers/{id}/heartbeat", Happy);
    covers!("POST /api/v1/workers/{id}/heartbeat", Refusal);
    covers!("DELETE /api/v1/workers/{id}", Happy);
    covers!("DELETE /api/v1/workers/{id}", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let input = json!({"hostname": "web-1", "pid": 7, "queues": ["a", "b"], "concurrency": 4});
    let made = client.post(WORKERS, &input).expect(201);
    assert_eq!((&made["heartbeat_seconds"], &made["lease_seconds"]), (&json!(15), &json!(1800)));
    let worker = format!("{WORKERS}/{}", text(&made["id"]));
    assert!(text(&made["id"]).starts_with("worker_"), "{made}");
    let vitals = json!({"busy_threads": 3, "memory_mb": 120.5, "cpu_percent": 12.5});
    assert_eq!(beat(&client, &worker, &vitals), json!({"status": "active", "lost_jobs": []}));
    enqueue(&client, &json!({"class_name": "Mail", "queue": "a"}));
    let job = fetch_one(&client, &worker);
    server.restart();
    let client = server.client();
    let shown = client.get(&worker).expect(200);
    for (field, value) in input.as_object().unwrap().iter().chain(vitals.as_object().unwrap()) {
        assert_eq!(&shown[field], value, "{field} in {shown}");
    }
    let current = &shown["current_jobs"][0];
    assert_eq!((&current["job_id"], &current["class_name"]), (&job["job_id"], &json!("Mail")));
    assert!(
        current["run_time_seconds"].as_f64().is_some_and(|s| s >= 0.0)
            && current["started_at"].is_string()
    );
    about(&client, &job, "ack", &json!({})).expect(200);
    let listed = client.get(WORKERS).expect(200);
    let mine =
        listed["workers"].as_array().unwrap().iter().find(|w| w["id"] == made["id"]).unwrap();
    assert_eq!((&mine["processed_count"], &mine["failed_count"]), (&json!(1), &json!(0)));
    let summary = &listed["summary"];
    let count = |field: &str| summary[field].as_u64().unwrap();
    assert_eq!(count("total_threads"), count("busy_threads") + count("idle_threads"));
    assert_eq!(count("total_workers"), listed["workers"].as_array().unwrap().len() as u64);

    assert_eq!(client.delete(&worker).expect(200), json!({"id": made["id"], "deleted": true}));
    for path in [worker.as_str(), &format!("{WORKERS}/nobody")] {
        client.get(path).refused(404, "worker_not_found");
        client.delete(path).refused(404, "worker_not_found");
        client.post(&format!("{path}/heartbeat"), &json!({})).refused(404, "worker_not_found");
    }
    for (body, code, field) in [
        (json!({"queues": ["a"]}), "missing_field", "hostname"),
        (json!({"hostname": "h"}), "missing_field", "queues"),
        (json!({"hostname": "h", "queues": []}), "invalid_field", "queues"),
        (json!({"hostname": "h", "queues": ["a", "a"]}), "invalid_field", "queues"),
        (json!({"hostname": "h", "queues": ["a b"]}), "invalid_field", "queues"),
        (
            json!({"hostname": "h", "queues": ["a"], "concurrency": 0}),
            "invalid_field",
            "concurrency",
        ),
        (json!({"hostname": "h".repeat(256), "queues": ["a"]}), "invalid_field", "hostname"),
    ] {
        client.post(WORKERS, &body).refused_for(422, code, field);
    }
}

#[test]
fn invalid_reports_of_workers_are_refused() {
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    for (vitals, field) in [
        (json!({"memory_mb": -1}), "memory_mb"),
        (json!({"memory_mb": 1e308}), "memory_mb"),
        (json!({"cpu_percent": -0.5}), "cpu_percent"),
        (json!({"cpu_percent": 1_000_000_001}), "cpu_percent"),
    ] {
        let path = format!("{worker}/heartbeat");
        client.post(&path, &vitals).refused_for(422, "invalid_field", field);
    }
    beat(&client, &worker, &json!({"memory_mb": 0, "cpu_percent": 1_000_000_000}));
}

#[test]
fn workers_and_queues_are_listed_by_pages() {
    let server = Server::start();
    let client = server.client();
    for name in ["a", "b", "c"] {
        register(&client, &[name]);
    }
    for (path, list) in [(WORKERS, "workers"), ("/api/v1/queues", "queues")] {
        let names = |query: &str| {
            let shown = client.get(&format!("{path}{query}")).expect(200);
            let name = |one: &Value| (one["id"].clone(), one["name"].clone());
            let names: Vec<_> = shown[list].as_array().unwrap().iter().map(name).collect();
            (names, shown["summary"]["total_workers"].clone())
        };
        // The server's own workers register while it starts.
        eventually("a page to be a part of all", || {
            let (all, page) = (names(""), names("?limit=2&offset=1"));
            (all.0.get(1..3) == Some(&page.0[..]) && all.1 == page.1).then_some(())
        });
        let none = client.get(&format!("{path}?offset=1000")).expect(200);
        assert_eq!(none[list], json!([]));
        client.get(&format!("{path}?limit=0")).refused_for(400, "invalid_parameter", "limit");
    }
}

#[test]
fn a_fetch_prefers_the_first_queue_and_waits_for_jobs() {
    covers!("POST /api/v1/workers/{id}/fetch", Happy);
    covers!("POST /api/v1/workers/{id}/fetch", Refusal);
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["urgent", "low"]);
    let low = enqueue(&client, &json!({"class_name": "A", "queue": "low"}));
    let urgent = enqueue(&client, &json!({"class_name": "A", "queue": "urgent"}));
    let ids: Vec<Value> =
        fetch(&client, &worker, 5).iter().map(|job| job["job_id"].clone()).collect();
    assert_eq!(ids, [json!(urgent), json!(low)]);
    let path = format!("{worker}/fetch");
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| server.client().post(&path, &json!({"wait_seconds": 30})).expect(200));
        eventually("somebody to wait", || (waiting_fetches(&client) == 1).then_some(()));
        let coming = enqueue(&client, &json!({"class_name": "B", "queue": "low"}));
        let fetched = waiting.join().unwrap();
        assert_eq!(fetched["jobs"][0]["job_id"], json!(coming));
    });
    let watch = Stopwatch::start();
    let nothing = client.post(&path, &json!({"wait_seconds": 1})).expect(200);
    assert_eq!(nothing, json!({"jobs": []}));
    assert!(watch.elapsed() >= Duration::from_millis(900), "it waited");
    for (body, field) in [
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 101}), "limit"),
        (json!({"wait_seconds": 31}), "wait_seconds"),
        (json!({"wait_seconds": -1}), "wait_seconds"),
    ] {
        client.post(&path, &body).refused_for(422, "invalid_field", field);
    }
    client.post(&format!("{WORKERS}/nobody/fetch"), &json!({})).refused(404, "worker_not_found");
}

#[test]
fn quiet_and_stop_are_irreversible() {
    covers!("POST /api/v1/workers/{id}/quiet", Happy);
    covers!("POST /api/v1/workers/{id}/quiet", Refusal);
    covers!("POST /api/v1/workers/{id}/stop", Happy);
    covers!("POST /api/v1/workers/{id}/stop", Refusal);
    covers!("POST /api/v1/workers/quiet-all", Happy);
    let mut server = Server::start();
    let client = server.client();
    let (one, two) = (register(&client, &["default"]), register(&client, &["default"]));
    for _ in 0..3 {
        enqueue(&client, &json!({"class_name": "A"}));
    }
    let job = fetch_one(&client, &one);
    let command = |client: &Client, worker: &str, what: &str| {
        client.post(&format!("{worker}/{what}"), &json!({})).expect(200)
    };
    let reported = command(&client, &one, "quiet");
    assert_eq!(reported["status"], "quiet");
    assert!(
        !text(&reported["message"]).is_empty() && text(&reported["id"]).starts_with("worker_"),
        "{reported}"
    );
    assert_eq!(beat(&client, &one, &json!({}))["status"], "quiet");
    assert!(fetch(&client, &one, 1).is_empty());
    assert_eq!(command(&client, &one, "stop")["status"], "stopping");
    assert_eq!(command(&client, &one, "quiet")["status"], "stopping", "never back");
    server.restart();
    let client = server.client();
    assert_eq!(beat(&client, &one, &json!({}))["status"], "stopping");
    assert!(fetch(&client, &one, 1).is_empty());
    about(&client, &job, "ack", &json!({})).expect(200);
    client.delete(&one).expect(200);
    assert_eq!(fetch(&client, &two, 1).len(), 1);
    let all = client.post(&format!("{WORKERS}/quiet-all"), &json!({})).expect(200);
    assert_eq!(all["workers_quieted"], 1, "{all}");
    assert!(!text(&all["message"]).is_empty(), "{all}");
    let all = client.post(&format!("{WORKERS}/quiet-all"), &json!({})).expect(200);
    assert_eq!(all["workers_quieted"], 0, "all are quiet already");
    assert!(fetch(&client, &two, 1).is_empty());
    for what in ["quiet", "stop"] {
        client
            .post(&format!("{WORKERS}/nobody/{what}"), &json!({}))
            .refused(404, "worker_not_found");
    }
}

#[test]
fn quieting_all_workers_needs_the_write_scope() {
    covers!("POST /api/v1/workers/quiet-all", Refusal);
    let server = Server::start();
    let client = server.client();
    let reader = crate::keys::client_with(&client, json!(["read", "ingest", "work"]));
    reader.post(&format!("{WORKERS}/quiet-all"), &json!({})).refused(403, "forbidden");
}

#[test]
fn listing_needs_the_read_scope() {
    covers!("GET /api/v1/workers", Refusal);
    covers!("GET /api/v1/queues", Refusal);
    let server = Server::start();
    let client = server.client();
    let worker = crate::keys::client_with(&client, json!(["work", "ingest"]));
    worker.get(WORKERS).refused(403, "forbidden");
    worker.get("/api/v1/queues").refused(403, "forbidden");
}

#[test]
fn jobs_of_a_lost_worker_and_of_an_expired_lease_are_reassigned() {
    let server = Setup::new().set("jobs.worker_silence", "\"2s\"").start();
    let client = server.client();
    let silent = register(&client, &["default"]);
    let id = enqueue(&client, &json!({"class_name": "A"}));
    let first = fetch_one(&client, &silent);
    let second = eventually("the silent worker to be lost", || {
        let other = register(&client, &["default"]);
        fetch(&client, &other, 1).pop().map(|job| (other, job))
    });
    let (other, job) = second;
    assert_eq!((&job["job_id"], &job["attempt"]), (&json!(id), &json!(2)), "the attempt counts");
    about(&client, &first, "ack", &json!({})).refused(409, "reservation_lost");
    client.post(&format!("{silent}/heartbeat"), &json!({})).refused(404, "worker_not_found");
    let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
    assert_eq!(shown["failures"][0]["error_class"], "WorkerLost");
    about(&client, &job, "ack", &json!({})).expect(200);

    let body = json!({"class_name": "B", "timeout_seconds": 1, "max_attempts": 2});
    let id = enqueue(&client, &body);
    for attempt in [1, 2] {
        let job = eventually("the attempt", || {
            beat(&client, &other, &json!({}));
            fetch(&client, &other, 1).pop()
        });
        assert_eq!(job["attempt"], attempt);
    }
    let shown = eventually("it to die", || {
        let heard = beat(&client, &other, &json!({}));
        let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
        (shown["status"] == "dead").then_some((shown, heard))
    });
    assert_eq!(shown.0["failures"][1]["error_class"], "ReservationExpired", "a poison job dies");
}

#[test]
fn workers_have_a_history() {
    covers!("GET /api/v1/workers/stats", Happy);
    covers!("GET /api/v1/workers/stats", Refusal);
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    beat(&client, &worker, &json!({"busy_threads": 1, "memory_mb": 100.0}));
    enqueue(&client, &json!({"class_name": "A"}));
    let job = fetch_one(&client, &worker);
    about(&client, &job, "ack", &json!({})).expect(200);
    let stats = eventually("the history", || {
        let past = client.get(&format!("{WORKERS}/stats")).expect(200);
        let known = past["stats"]["max_memory_mb"].as_f64().is_some_and(|mb| mb >= 100.0);
        let processed = past["stats"]["total_processed"] == 1;
        (known && processed).then_some(past)
    });
    assert_eq!(stats["period"], "hour");
    assert_eq!(stats["timeline"].as_array().unwrap().len(), 60);
    for field in [
        "avg_workers",
        "max_workers",
        "min_workers",
        "avg_utilization",
        "total_failed",
        "avg_memory_mb",
    ] {
        assert!(stats["stats"][field].is_number(), "{field} in {stats}");
    }
    let last = stats["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .rfind(|point| !point["workers"].is_null())
        .unwrap();
    assert!(last["timestamp"].is_string() && last["throughput"].is_u64(), "{last}");
    client.get(&format!("{WORKERS}/stats?period=day")).expect(200);
    client.get(&format!("{WORKERS}/stats?period=month")).refused_for(
        400,
        "invalid_parameter",
        "period",
    );
}

#[test]
fn a_repeated_fetch_is_a_new_fetch() {
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let ids = [
        enqueue(&client, &json!({"class_name": "A"})),
        enqueue(&client, &json!({"class_name": "A"})),
    ];
    for id in ids {
        let path = format!("{worker}/fetch");
        let request = client.request("POST", &path).header("idempotency-key", "same");
        let fetched = request.json(&json!({"limit": 1})).send();
        assert_eq!(fetched.header("idempotency-replayed"), None);
        assert_eq!(fetched.expect(200)["jobs"][0]["job_id"], json!(id));
    }
    // The OpenAPI document lists the routes that read the header.
    let document = client.get("/api/v1/openapi.json").json();
    let reads = |path: &str| {
        let parameters = document["paths"][path]["post"]["parameters"].as_array().cloned();
        parameters.unwrap_or_default().iter().any(|one| one["name"] == "Idempotency-Key")
    };
    assert!(reads("/api/v1/jobs") && !reads("/api/v1/workers/{id}/fetch"));
}
