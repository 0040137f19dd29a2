//! Single jobs: enqueued, shown, deleted, completed, failed, retained; refusals.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, covers, eventually, iso, now_ms};

use crate::keys::text;

pub(crate) const JOBS: &str = "/api/v1/jobs";

/// Enqueues a job and returns its id.
#[track_caller]
pub(crate) fn enqueue(client: &Client, body: &Value) -> String {
    text(&client.post(JOBS, body).expect(201)["job_id"]).to_owned()
}

/// Registers a worker of these queues and returns its path.
#[track_caller]
pub(crate) fn register(client: &Client, queues: &[&str]) -> String {
    let about = json!({"hostname": "web-1", "pid": 7, "queues": queues, "concurrency": 4});
    let worker = client.post("/api/v1/workers", &about).expect(201);
    format!("/api/v1/workers/{}", text(&worker["id"]))
}

/// Fetches up to this many jobs, without waiting.
#[track_caller]
pub(crate) fn fetch(client: &Client, worker: &str, limit: u32) -> Vec<Value> {
    let fetched = client.post(&format!("{worker}/fetch"), &json!({ "limit": limit })).expect(200);
    fetched["jobs"].as_array().cloned().unwrap_or_default()
}

/// Fetches the only ready job.
#[track_caller]
pub(crate) fn fetch_one(client: &Client, worker: &str) -> Value {
    let mut jobs = fetch(client, worker, 1);
    assert_eq!(jobs.len(), 1, "there is a job");
    jobs.remove(0)
}

/// Sends a request about a fetched job.
#[track_caller]
pub(crate) fn about(
    client: &Client,
    job: &Value,
    verb: &str,
    more: &Value,
) -> telltale_tests::Response {
    let mut body = more.clone();
    body["reservation_token"] = job["reservation_token"].clone();
    client.post(&format!("{JOBS}/{}/{verb}", text(&job["job_id"])), &body)
}

#[test]
fn a_job_is_enqueued_fetched_and_completed() {
    covers!("POST /api/v1/jobs", Happy);
    covers!("GET /api/v1/jobs/{id}", Happy);
    covers!("POST /api/v1/jobs/{id}/ack", Happy);
    covers!("POST /api/v1/jobs/{id}/ack", Refusal);
    covers!("POST /api/v1/jobs/{id}/extend", Happy);
    let mut server = Server::start();
    let client = server.client();
    let body = json!({"class_name": "Mail", "queue": "mail", "arguments": {"to": "a", "n": 1.5}});
    let made = client.post(JOBS, &body).expect(201);
    assert_eq!((&made["queue"], &made["status"]), (&json!("mail"), &json!("ready")));
    let id = text(&made["job_id"]).to_owned();
    assert!(id.starts_with("job_") && id.len() == 30, "{id}");
    server.restart();
    let client = server.client();
    let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
    assert_eq!((&shown["status"], &shown["class_name"]), (&json!("ready"), &json!("Mail")));
    assert_eq!((&shown["attempts"], &shown["max_attempts"]), (&json!(0), &json!(25)));

    let worker = register(&client, &["mail"]);
    let job = fetch_one(&client, &worker);
    assert_eq!((&job["job_id"], &job["attempt"]), (&json!(id), &json!(1)));
    assert_eq!(job["arguments"], body["arguments"]);
    let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
    assert_eq!((&shown["status"], &shown["expires_at"]), (&json!("running"), &job["expires_at"]));
    let kept = about(&client, &job, "extend", &json!({"seconds": 86_400})).expect(200);
    assert!(text(&kept["expires_at"]) > text(&job["expires_at"]), "{kept}");

    let other = json!({"reservation_token": "none of its tokens"});
    client.post(&format!("{JOBS}/{id}/ack"), &other).refused(409, "reservation_lost");
    client.post(&format!("{JOBS}/{id}/ack"), &json!({})).refused_for(
        422,
        "missing_field",
        "reservation_token",
    );
    let done = about(&client, &job, "ack", &json!({})).expect(200);
    assert_eq!(done, json!({"job_id": id, "status": "completed"}));
    assert_eq!(about(&client, &job, "ack", &json!({})).expect(200), done, "the same again");
    server.restart();
    let client = server.client();
    assert_eq!(about(&client, &job, "ack", &json!({})).expect(200), done, "also after a kill");
    client.post(&format!("{JOBS}/{id}/ack"), &other).refused(409, "reservation_lost");
    let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
    assert_eq!((&shown["status"], &shown["attempts"]), (&json!("completed"), &json!(1)));
}

#[test]
fn invalid_jobs_are_refused() {
    covers!("POST /api/v1/jobs", Refusal);
    let server = Server::start();
    let client = server.client();
    let large = "x".repeat(64 << 10);
    for (body, code, field) in [
        (json!({}), "missing_field", "class_name"),
        (json!({"class_name": ""}), "missing_field", "class_name"),
        (json!({"class_name": "a\nb"}), "invalid_field", "class_name"),
        (json!({"class_name": "A", "queue": "a b"}), "invalid_field", "queue"),
        (json!({"class_name": "A", "queue": ""}), "invalid_field", "queue"),
        (json!({"class_name": "A", "arguments": 1}), "invalid_field", "arguments"),
        (json!({"class_name": "A", "arguments": {"a": large}}), "invalid_field", "arguments"),
        (json!({"class_name": "A", "max_attempts": 0}), "invalid_field", "max_attempts"),
        (json!({"class_name": "A", "max_attempts": 1_001}), "invalid_field", "max_attempts"),
        (json!({"class_name": "A", "timeout_seconds": 0}), "invalid_field", "timeout_seconds"),
        (json!({"class_name": "A", "unique_key": ""}), "invalid_field", "unique_key"),
        (json!({"class_name": "A", "run_at": "soon"}), "invalid_timestamp", "run_at"),
    ] {
        client.post(JOBS, &body).refused_for(422, code, field);
    }
    client.post(JOBS, &json!({"class_name": 1})).refused_for(
        400,
        "invalid_parameter",
        "class_name",
    );
    client.post_text(JOBS, "{").refused(400, "invalid_json");
    assert_eq!(client.get("/api/v1/queues/default").status, 404, "nothing was enqueued");
}

#[test]
fn a_batch_accepts_valid_jobs_and_reports_the_others() {
    covers!("POST /api/v1/jobs/batch", Happy);
    covers!("POST /api/v1/jobs/batch", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let mut jobs: Vec<Value> = (0..1_000)
        .map(|n| json!({"class_name": "A", "queue": "bulk", "arguments": {"n": n}}))
        .collect();
    jobs[3] = json!({"queue": "bulk"});
    jobs[5] = json!(7);
    jobs[7] = json!({"class_name": "A", "max_attempts": -1});
    let body = json!({ "jobs": jobs });
    let made = client.post(&format!("{JOBS}/batch"), &body).expect(201);
    assert_eq!((&made["accepted"], &made["rejected"]), (&json!(997), &json!(3)));
    let ids = made["job_ids"].as_array().unwrap();
    assert_eq!(
        (ids.len(), &ids[3], &ids[5], &ids[7]),
        (1_000, &Value::Null, &Value::Null, &Value::Null)
    );
    let reported: Vec<_> =
        made["errors"].as_array().unwrap().iter().map(|e| (&e["index"], &e["code"])).collect();
    let (missing, form, range) =
        (json!("missing_field"), json!("invalid_parameter"), json!("invalid_field"));
    assert_eq!(reported, [(&json!(3), &missing), (&json!(5), &form), (&json!(7), &range)]);

    server.restart();
    let client = server.client();
    let worker = register(&client, &["bulk"]);
    let mut seen = Vec::new();
    for _ in 0..10 {
        seen.extend(fetch(&client, &worker, 100).into_iter().map(|job| job["job_id"].clone()));
    }
    let accepted: Vec<Value> = ids.iter().filter(|id| !id.is_null()).cloned().collect();
    assert_eq!(seen, accepted, "first in, first out");

    let many = vec![json!({"class_name": "A"}); 1_001];
    client.post(&format!("{JOBS}/batch"), &json!({ "jobs": many })).refused_for(
        413,
        "batch_too_large",
        "jobs",
    );
    client.post(&format!("{JOBS}/batch"), &json!({})).refused_for(422, "missing_field", "jobs");
}

#[test]
fn a_scheduled_job_becomes_ready_when_due_even_after_a_kill() {
    let mut server = Server::start();
    let client = server.client();
    let past = enqueue(&client, &json!({"class_name": "Past", "run_at": "2020-01-01T00:00:00Z"}));
    let soon_ms = now_ms() + 3_000;
    let body = json!({"class_name": "Soon", "run_at": iso(soon_ms)});
    let made = client.post(JOBS, &body).expect(201);
    assert_eq!(made["status"], "scheduled");
    let far = json!({"class_name": "Far", "run_at": "2999-01-01T00:00:00Z"});
    let far = enqueue(&client, &far);
    server.restart();
    let client = server.client();
    let worker = register(&client, &["default"]);
    assert_eq!(fetch_one(&client, &worker)["job_id"], json!(past));
    let soon = eventually("the scheduled job", || fetch(&client, &worker, 1).pop());
    assert_eq!(soon["job_id"], made["job_id"]);
    assert!(now_ms() >= soon_ms, "not before its time");
    let shown = client.get(&format!("{JOBS}/{far}")).expect(200);
    assert_eq!(
        (&shown["status"], &shown["run_at"]),
        (&json!("scheduled"), &json!("2999-01-01T00:00:00.000Z"))
    );
}

#[test]
fn a_job_that_has_not_started_is_deleted() {
    covers!("DELETE /api/v1/jobs/{id}", Happy);
    covers!("DELETE /api/v1/jobs/{id}", Refusal);
    covers!("GET /api/v1/jobs/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let (one, two) = (
        enqueue(&client, &json!({"class_name": "A"})),
        enqueue(&client, &json!({"class_name": "A"})),
    );
    let path = format!("{JOBS}/{one}");
    assert_eq!(client.delete(&path).expect(200), json!({"id": one, "deleted": true}));
    client.get(&path).refused(404, "job_not_found");
    client.delete(&path).refused(404, "job_not_found");
    client.get(&format!("{JOBS}/nobody")).refused(404, "job_not_found");
    let worker = register(&client, &["default"]);
    let job = fetch_one(&client, &worker);
    assert_eq!(job["job_id"], json!(two));
    client.delete(&format!("{JOBS}/{two}")).refused(409, "invalid_state");
    about(&client, &job, "ack", &json!({})).expect(200);
    client.delete(&format!("{JOBS}/{two}")).refused(409, "invalid_state");
}

#[test]
fn a_failed_job_is_retried_and_finally_dead() {
    covers!("POST /api/v1/jobs/{id}/fail", Happy);
    covers!("POST /api/v1/jobs/{id}/fail", Refusal);
    covers!("POST /api/v1/jobs/{id}/extend", Refusal);
    let quick =
        Setup::new().set("jobs.retry_base_seconds", "1").set("jobs.retry_jitter_seconds", "1");
    let server = quick.start();
    let client = server.client();
    let id = enqueue(&client, &json!({"class_name": "Poison", "max_attempts": 2}));
    let worker = register(&client, &["default"]);
    let job = fetch_one(&client, &worker);
    let before_ms = now_ms();
    let boom = json!({"error_class": "Boom", "error_message": "it broke", "backtrace": ["a", "b"]});
    let failed = about(&client, &job, "fail", &boom).expect(200);
    assert_eq!(failed["status"], "retrying", "{failed}");
    let due_ms = telltale_tests::parse_iso(text(&failed["next_run_at"]));
    assert!((2_000..=3_500).contains(&(due_ms - before_ms)), "1·1⁴ + 1 + 0…1 seconds: {failed}");
    about(&client, &job, "fail", &boom).refused(409, "reservation_lost");
    about(&client, &job, "ack", &json!({})).refused(409, "reservation_lost");
    about(&client, &job, "extend", &json!({"seconds": 5})).refused(409, "reservation_lost");
    assert!(fetch(&client, &worker, 1).is_empty(), "its time has not come");
    let job = eventually("the second attempt", || fetch(&client, &worker, 1).pop());
    assert_eq!((&job["job_id"], &job["attempt"]), (&json!(id), &json!(2)));
    about(&client, &job, "extend", &json!({"seconds": 0})).refused_for(
        422,
        "invalid_field",
        "seconds",
    );
    about(&client, &job, "extend", &json!({})).refused_for(422, "missing_field", "seconds");
    let failed = about(&client, &job, "fail", &json!({"error_class": "Bang"})).expect(200);
    assert_eq!((&failed["status"], &failed["next_run_at"]), (&json!("dead"), &Value::Null));
    let shown = client.get(&format!("{JOBS}/{id}")).expect(200);
    assert_eq!(shown["status"], "dead");
    assert_eq!(shown["failures"][0]["error_message"], "it broke");
    assert_eq!(shown["failures"][1]["error_class"], "Bang");
}

#[test]
fn of_concurrent_jobs_with_one_unique_key_one_is_accepted() {
    let server = Server::start();
    let body = json!({"class_name": "Once", "unique_key": "nightly"});
    let responses: Vec<_> = std::thread::scope(|scope| {
        let send = || scope.spawn(|| server.client().post(JOBS, &body));
        let sent: Vec<_> = (0..50).map(|_| send()).collect();
        sent.into_iter().map(|response| response.join().unwrap()).collect()
    });
    let (taken, refused): (Vec<_>, Vec<_>) =
        responses.iter().partition(|response| response.status == 201);
    assert_eq!((taken.len(), refused.len()), (1, 49));
    let id = taken[0].json()["job_id"].clone();
    for response in refused {
        let error = response.refused(409, "conflict");
        assert_eq!(
            (&error["details"]["field"], &error["details"]["id"]),
            (&json!("unique_key"), &id)
        );
    }
    let client = server.client();
    let worker = register(&client, &["default"]);
    let job = fetch_one(&client, &worker);
    client.post(JOBS, &body).refused(409, "conflict");
    about(&client, &job, "ack", &json!({})).expect(200);
    assert_ne!(json!(enqueue(&client, &body)), id, "finished: the key is free");
}

#[test]
fn a_repeated_request_enqueues_once_even_after_a_kill() {
    let mut server = Server::start();
    let send = |client: &Client| {
        let request = client.request("POST", JOBS).header("idempotency-key", "k");
        request.json(&json!({"class_name": "A"})).send()
    };
    let first = send(&server.client()).expect(201);
    server.restart();
    let client = server.client();
    let again = send(&client);
    assert_eq!(again.must_header("idempotency-replayed"), "true");
    assert_eq!(again.expect(201), first);
    assert_eq!(client.get("/api/v1/queues/default").expect(200)["size"], 1);
}
