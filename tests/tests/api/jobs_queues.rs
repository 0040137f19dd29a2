//! Queues: details, pause and resume across kills, purge, and history.

use serde_json::{Value, json};
use telltale_tests::{Server, Setup, covers, eventually};

use crate::jobs::{about, enqueue, fetch, fetch_one, register};
use crate::keys::text;

const QUEUES: &str = "/api/v1/queues";

#[test]
fn a_queue_has_its_waiting_jobs_and_counts_of_today() {
    covers!("GET /api/v1/queues", Happy);
    covers!("GET /api/v1/queues/{name}", Happy);
    covers!("GET /api/v1/queues/{name}", Refusal);
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["mail", "low"]);
    for (class, n) in [("Welcome", 3), ("Bill", 1)] {
        for _ in 0..n {
            enqueue(&client, &json!({"class_name": class, "queue": "mail", "max_attempts": 1}));
        }
    }
    enqueue(
        &client,
        &json!({"class_name": "Later", "queue": "mail", "run_at": "2999-01-01T00:00:00Z"}),
    );
    for verb in ["ack", "ack", "fail"] {
        let job = fetch_one(&client, &worker);
        about(&client, &job, verb, &json!({"error_class": "Boom"})).expect(200);
    }
    let detail = eventually("the history to be written", || {
        let detail = client.get(&format!("{QUEUES}/mail")).expect(200);
        // Each figure is a query of its own: the history may be written between two of them.
        let figures = [&detail["stats"]["processed_today"], &detail["throughput"]["per_hour"]];
        figures.iter().all(|figure| **figure == 3).then_some(detail)
    });
    for (field, value) in
        [("size", 1), ("scheduled", 1), ("running", 0), ("retrying", 0), ("workers", 1)]
    {
        assert_eq!(detail[field], value, "{field} in {detail}");
    }
    assert_eq!((&detail["name"], &detail["status"]), (&json!("mail"), &json!("healthy")));
    assert!(
        detail["latency_seconds"].as_f64().is_some_and(|s| (0.0..60.0).contains(&s)),
        "{detail}"
    );
    assert_eq!(detail["throughput"], json!({"per_minute": 3, "per_hour": 3}));
    let stats = &detail["stats"];
    assert_eq!(stats["failed_today"], 1);
    assert!(
        stats["failure_rate"].as_f64().is_some_and(|rate| (rate - 1.0 / 3.0).abs() < 1e-9),
        "{stats}"
    );
    assert!(stats["avg_job_duration_ms"].is_u64(), "{stats}");
    assert_eq!(detail["top_job_classes"], json!([{"class": "Welcome", "count": 3}]));
    let listed = client.get(QUEUES).expect(200);
    let names: Vec<&str> =
        listed["queues"].as_array().unwrap().iter().map(|q| text(&q["name"])).collect();
    assert!(names.contains(&"mail") && names.contains(&"low"), "{names:?}");
    let mail = listed["queues"].as_array().unwrap().iter().find(|q| q["name"] == "mail").unwrap();
    for field in ["size", "latency_seconds", "status", "throughput", "workers"] {
        assert!(!mail[field].is_null(), "{field} in {mail}");
    }
    client.get(&format!("{QUEUES}/nobody")).refused(404, "queue_not_found");
}

#[test]
fn a_paused_queue_accepts_jobs_and_returns_none_until_resumed() {
    covers!("POST /api/v1/queues/{name}/pause", Happy);
    covers!("POST /api/v1/queues/{name}/pause", Refusal);
    covers!("POST /api/v1/queues/{name}/resume", Happy);
    covers!("POST /api/v1/queues/{name}/resume", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    client.post(&format!("{QUEUES}/nobody/pause"), &json!({})).refused(404, "queue_not_found");
    client.post(&format!("{QUEUES}/nobody/resume"), &json!({})).refused(404, "queue_not_found");
    client.post(&format!("{QUEUES}/default/resume"), &json!({})).refused(409, "invalid_state");
    let paused = client.post(&format!("{QUEUES}/default/pause"), &json!({})).expect(200);
    assert_eq!((&paused["queue"], &paused["status"]), (&json!("default"), &json!("paused")));
    let again = client.post(&format!("{QUEUES}/default/pause"), &json!({})).expect(200);
    assert_eq!(again, paused, "unchanged");
    let jobs: Vec<Value> =
        (0..100).map(|n| json!({"class_name": "A", "arguments": {"n": n}})).collect();
    client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
    assert!(fetch(&client, &worker, 100).is_empty());
    server.restart();
    let client = server.client();
    let shown = client.get(&format!("{QUEUES}/default")).expect(200);
    assert_eq!((&shown["status"], &shown["size"]), (&json!("paused"), &json!(100)));
    assert_eq!(shown["paused_at"], paused["paused_at"]);
    assert!(fetch(&client, &worker, 100).is_empty(), "still paused");
    let resumed = client.post(&format!("{QUEUES}/default/resume"), &json!({})).expect(200);
    assert_eq!(resumed["status"], "active");
    assert!(text(&resumed["resumed_at"]) > text(&paused["paused_at"]), "{resumed}");
    let seen: Vec<Value> =
        fetch(&client, &worker, 100).iter().map(|job| job["arguments"]["n"].clone()).collect();
    assert_eq!(seen, (0..100).map(Value::from).collect::<Vec<_>>(), "first in, first out");
}

#[test]
fn a_purge_deletes_waiting_jobs_and_needs_confirmation() {
    covers!("DELETE /api/v1/queues/{name}/jobs", Happy);
    covers!("DELETE /api/v1/queues/{name}/jobs", Refusal);
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["bulk"]);
    let jobs = vec![json!({"class_name": "A", "queue": "bulk"}); 20];
    client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
    enqueue(
        &client,
        &json!({"class_name": "B", "queue": "bulk", "run_at": "2999-01-01T00:00:00Z", "unique_key": "k"}),
    );
    enqueue(&client, &json!({"class_name": "C", "queue": "other"}));
    let held = fetch_one(&client, &worker);
    let path = format!("{QUEUES}/bulk/jobs");
    let purge = |body: &Value| client.request("DELETE", &path).json(body).send();
    purge(&json!({})).refused_for(422, "missing_field", "confirm");
    purge(&json!({"confirm": false})).refused_for(422, "missing_field", "confirm");
    purge(&json!({"confirmed": true})).refused(400, "invalid_parameter");
    client.delete(&path).refused_for(422, "missing_field", "confirm");
    client.delete(&format!("{QUEUES}/nobody/jobs?confirm=true")).refused(404, "queue_not_found");
    assert_eq!(client.get(&format!("{QUEUES}/bulk")).expect(200)["size"], 19, "nothing changed");
    let purged = purge(&json!({"confirm": true})).expect(200);
    assert_eq!((&purged["queue"], &purged["jobs_deleted"]), (&json!("bulk"), &json!(20)));
    assert!(!text(&purged["message"]).is_empty());
    let shown = client.get(&format!("{QUEUES}/bulk")).expect(200);
    assert_eq!(
        (&shown["size"], &shown["scheduled"], &shown["running"]),
        (&json!(0), &json!(0), &json!(1))
    );
    about(&client, &held, "ack", &json!({})).expect(200);
    enqueue(&client, &json!({"class_name": "B", "queue": "bulk", "unique_key": "k"}));
    assert_eq!(client.get(&format!("{QUEUES}/other")).expect(200)["size"], 1);
    assert_eq!(client.delete(&format!("{path}?confirm=true")).expect(200)["jobs_deleted"], 1);
}

#[test]
fn an_unused_queue_is_deleted_and_created_again_on_use() {
    covers!("DELETE /api/v1/queues/{name}", Happy);
    covers!("DELETE /api/v1/queues/{name}", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let worker = register(&client, &["old"]);
    let path = format!("{QUEUES}/old");
    let listed = |client: &telltale_tests::Client| client.get(QUEUES).expect(200)["total"].clone();
    enqueue(&client, &json!({"class_name": "A", "queue": "old"}));
    client.delete(&path).refused(409, "invalid_state");
    let job = fetch_one(&client, &worker);
    client.delete(&path).refused(409, "invalid_state");
    about(&client, &job, "ack", &json!({})).expect(200);
    let body = json!({"class_name": "A", "queue": "old", "run_at": "2999-01-01T00:00:00Z"});
    let later = enqueue(&client, &body);
    client.delete(&path).refused(409, "invalid_state");
    client.delete(&format!("/api/v1/jobs/{later}")).expect(200);
    client.post(&format!("{path}/pause"), &json!({})).expect(200);
    assert_eq!(listed(&client), 1);
    // The completed job can still be read, and the worker still lists the queue.
    assert_eq!(client.delete(&path).expect(200), json!({"id": "old", "deleted": true}));
    for _ in 0..2 {
        let client = server.client();
        client.get(&path).refused(404, "queue_not_found");
        client.delete(&path).refused(404, "queue_not_found");
        client.post(&format!("{path}/pause"), &json!({})).refused(404, "queue_not_found");
        assert_eq!(listed(&client), 0);
        let job = format!("/api/v1/jobs/{}", text(&job["job_id"]));
        assert_eq!(client.get(&job).expect(200)["queue"], "old");
        server.restart();
    }
    let client = server.client();
    let id = enqueue(&client, &json!({"class_name": "B", "queue": "old"}));
    assert_eq!((listed(&client), &client.get(&path).expect(200)["size"]), (json!(1), &json!(1)));
    assert_eq!(fetch_one(&client, &worker)["job_id"], json!(id), "it is not paused");
}

#[test]
fn a_queue_whose_oldest_job_waits_too_long_is_degraded() {
    let server = Setup::new().set("jobs.degraded_latency", "\"1s\"").start();
    let client = server.client();
    enqueue(&client, &json!({"class_name": "A"}));
    let look = || client.get(&format!("{QUEUES}/default")).expect(200);
    assert_eq!(look()["status"], "healthy");
    let shown =
        eventually("it to be degraded", || Some(look()).filter(|q| q["status"] == "degraded"));
    assert!(shown["latency_seconds"].as_f64().is_some_and(|s| s > 1.0), "{shown}");
}

#[test]
fn the_history_of_a_queue_has_every_bucket_of_its_period() {
    covers!("GET /api/v1/queues/{name}/metrics", Happy);
    covers!("GET /api/v1/queues/{name}/metrics", Refusal);
    let server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    enqueue(&client, &json!({"class_name": "A", "max_attempts": 1}));
    enqueue(&client, &json!({"class_name": "A"}));
    let job = fetch_one(&client, &worker);
    about(&client, &job, "fail", &json!({"error_class": "Boom"})).expect(200);
    let path = format!("{QUEUES}/default/metrics");
    let sum = |history: &Value, field: &str| -> u64 {
        history["metrics"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|point| point[field].as_u64())
            .sum()
    };
    let history = eventually("the history", || {
        let history = client.get(&path).expect(200);
        let sampled = history["metrics"].as_array().unwrap().iter().any(|point| point["size"] == 1);
        (sum(&history, "throughput") == 1 && sampled).then_some(history)
    });
    assert_eq!(
        (&history["queue"], &history["period"], &history["resolution"]),
        (&json!("default"), &json!("hour"), &json!("minute"))
    );
    assert_eq!((history["metrics"].as_array().unwrap().len(), sum(&history, "failures")), (60, 1));
    assert_eq!(history["metrics"][0]["size"], Value::Null, "nobody looked an hour ago");
    // The current server process counts, even if it has not recorded the queue in this minute.
    let latest =
        client.get(&path).expect(200)["metrics"].as_array().and_then(|m| m.last().cloned());
    assert!(latest.is_some_and(|point| point["size"].is_number() && point["latency"].is_number()));
    for (period, resolution, buckets) in [
        ("day", "5min", 288),
        ("week", "hour", 168),
        ("day", "hour", 24),
        ("week", "minute", 10_080),
    ] {
        let history =
            client.get(&format!("{path}?period={period}&resolution={resolution}")).expect(200);
        assert_eq!(history["metrics"].as_array().unwrap().len(), buckets, "{period} {resolution}");
        assert_eq!(sum(&history, "throughput"), 1, "{period} {resolution}");
    }
    assert_eq!(client.get(&format!("{path}?period=week")).expect(200)["resolution"], "hour");
    client.get(&format!("{path}?period=year")).refused_for(400, "invalid_parameter", "period");
    client.get(&format!("{path}?resolution=1m")).refused_for(
        400,
        "invalid_parameter",
        "resolution",
    );
    client.get(&format!("{QUEUES}/nobody/metrics")).refused(404, "queue_not_found");
}

#[test]
fn ten_thousand_queues_do_not_prevent_new_ones() {
    let server = Setup::new().set("jobs.queue_keep", "\"1s\"").start();
    let client = server.client();
    for worker in 0..100 {
        let names: Vec<String> = (0..100).map(|n| format!("junk-{worker}-{n}")).collect();
        let about = json!({"hostname": "web-1", "queues": names});
        let made = client.post("/api/v1/workers", &about).expect(201);
        client.delete(&format!("/api/v1/workers/{}", text(&made["id"]))).expect(200);
    }
    enqueue(&client, &json!({"class_name": "A", "queue": "wanted"}));
    client.post("/api/v1/workers", &json!({"hostname": "a", "queues": ["idle"]})).expect(201);
    eventually("the queues that nobody needs to vanish", || {
        let listed = client.get("/api/v1/queues").expect(200);
        let names: Vec<&str> =
            listed["queues"].as_array()?.iter().map(|queue| text(&queue["name"])).collect();
        (names == ["idle", "wanted"] && listed["total"] == 2).then_some(())
    });
    client.get("/api/v1/queues/junk-0-0").refused(404, "queue_not_found");
}
