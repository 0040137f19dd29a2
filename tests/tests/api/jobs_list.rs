//! The list of waiting and running jobs by page, and jobs that are started early.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, covers, eventually};

use crate::jobs::{JOBS, about, enqueue, fetch, fetch_one, register};
use crate::keys::text;

const LATER: &str = "2999-01-01T00:00:00Z";

/// Returns the ids of a page of the list.
#[track_caller]
fn ids(client: &Client, query: &str) -> Vec<String> {
    let page = client.get(&format!("{JOBS}?{query}")).expect(200);
    assert!(page["next_cursor"].is_null(), "there is no more: {page}");
    page["jobs"].as_array().into_iter().flatten().map(|job| text(&job["id"]).to_owned()).collect()
}

/// Enqueues a job in a queue of its own, and fetches it with a worker.
#[track_caller]
fn begin(client: &Client, queue: &str, attempts: u32) -> Value {
    let worker = register(client, &[queue]);
    enqueue(client, &json!({"class_name": "Begun", "queue": queue, "max_attempts": attempts}));
    fetch_one(client, &worker)
}

#[track_caller]
fn status(client: &Client, id: &str) -> Value {
    client.get(&format!("{JOBS}/{id}")).expect(200)["status"].clone()
}

#[test]
fn waiting_and_running_jobs_are_listed() {
    covers!("GET /api/v1/jobs", Happy);
    covers!("GET /api/v1/jobs", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let ready = enqueue(
        &client,
        &json!({"class_name": "Mail", "queue": "mail", "arguments": {"to": "Ada@example.com"}}),
    );
    let scheduled =
        enqueue(&client, &json!({"class_name": "Mail::Later", "queue": "mail", "run_at": LATER}));
    let running = begin(&client, "run", 2);
    let retrying = begin(&client, "retry", 2);
    about(&client, &retrying, "fail", &json!({"error_class": "Boom"})).expect(200);
    let done = begin(&client, "done", 1);
    about(&client, &done, "ack", &json!({})).expect(200);
    let dead = begin(&client, "dead", 1);
    about(&client, &dead, "fail", &json!({})).expect(200);
    let (running, retrying) = (text(&running["job_id"]), text(&retrying["job_id"]));
    server.restart();
    let client = server.client();
    for (query, expected) in [
        ("", &[retrying, running, &scheduled, &ready][..]),
        ("status=waiting", &[&ready]),
        ("status=ready&queue=mail", &[&ready]),
        ("status=scheduled", &[&scheduled]),
        ("status=running", &[running]),
        ("status=retrying", &[retrying]),
        ("status=running&queue=mail", &[]),
        ("queue=mail", &[&scheduled, &ready]),
        ("queue=nobody", &[]),
        ("queue=done", &[]),
        ("class_name=Mail", &[&ready]),
        ("class_name=mail", &[]),
        ("search=MAIL", &[&scheduled, &ready]),
        ("search=ada%40", &[&ready]),
        ("search=begun&status=running", &[running]),
        ("search=bob", &[]),
    ] {
        assert_eq!(ids(&client, query), expected, "{query}");
    }
    let page = client.get(&format!("{JOBS}?queue=mail&status=waiting")).expect(200);
    let shown = &page["jobs"][0];
    for (field, value) in [
        ("class_name", json!("Mail")),
        ("queue", json!("mail")),
        ("status", json!("ready")),
        ("arguments", json!({"to": "Ada@example.com"})),
        ("attempts", json!(0)),
        ("max_attempts", json!(25)),
        ("run_at", json!(null)),
    ] {
        assert_eq!(shown[field], value, "{field} in {shown}");
    }
    assert!(shown["enqueued_at"].is_string(), "{shown}");
    for (query, field) in [
        ("status=dead", "status"),
        ("status=", "status"),
        ("cursor=x", "cursor"),
        ("limit=0", "limit"),
        ("internal=x", "internal"),
        (&format!("search={}", "x".repeat(201)), "search"),
    ] {
        let response = client.get(&format!("{JOBS}?{query}"));
        response.refused_for(400, "invalid_parameter", field);
    }
}

#[test]
fn pages_continue_after_the_previous_one_despite_changes() {
    let server = Server::start();
    let client = server.client();
    let jobs = |class: &str| -> Vec<String> {
        let jobs = vec![json!({"class_name": class, "queue": "many"}); 25];
        let made = client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
        made["job_ids"].as_array().into_iter().flatten().map(|id| text(id).to_owned()).collect()
    };
    let (one, other) = (jobs("One"), jobs("Other"));
    let newest_first: Vec<String> = one.iter().chain(&other).rev().cloned().collect();
    for (query, expected) in [
        ("queue=many&status=waiting", &newest_first[..]),
        ("queue=many", &newest_first),
        ("class_name=One", &newest_first[25..]),
        ("search=other", &newest_first[..25]),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.get(&format!("{JOBS}?{query}&limit=10{cursor}")).expect(200);
            let jobs = page["jobs"].as_array().cloned().unwrap_or_default();
            assert!(jobs.len() <= 10, "{query}: {}", jobs.len());
            seen.extend(jobs.iter().map(|job| text(&job["id"]).to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
            enqueue(&client, &json!({"class_name": "New", "queue": "new"}));
        }
        assert_eq!(seen, expected, "{query}");
    }
}

#[test]
fn a_page_of_large_jobs_is_short_and_has_a_next_page() {
    let server = Server::start();
    let client = server.client();
    let text = "x".repeat(60 << 10);
    for _ in 0..15 {
        let jobs = vec![json!({"class_name": "Large", "arguments": {"text": text}}); 12];
        client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
    }
    let (mut pages, mut seen, mut cursor) = (0, 0, String::new());
    loop {
        let page = client.get(&format!("{JOBS}?limit=1000{cursor}")).expect(200);
        pages += 1;
        seen += page["jobs"].as_array().map_or(0, Vec::len);
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, 180);
    assert!(pages > 1, "eleven megabytes are no page");
}

#[test]
fn a_scheduled_job_can_be_started_early() {
    covers!("POST /api/v1/jobs/{id}/run", Happy);
    covers!("POST /api/v1/jobs/{id}/run", Refusal);
    let mut server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let scheduled = enqueue(&client, &json!({"class_name": "A", "run_at": LATER}));
    let run = |client: &Client, id: &str| client.post(&format!("{JOBS}/{id}/run"), &json!({}));
    assert!(fetch(&client, &worker, 1).is_empty());
    let shown = run(&client, &scheduled).expect(200);
    assert_eq!((&shown["id"], &shown["status"]), (&json!(scheduled), &json!("ready")));
    assert_eq!(shown["run_at"], Value::Null);
    assert_eq!(run(&client, &scheduled).expect(200)["status"], "ready", "nothing changes");
    server.restart();
    let client = server.client();
    let held = fetch_one(&client, &worker);
    assert_eq!(held["job_id"], json!(scheduled));
    run(&client, &scheduled).refused(409, "invalid_state");
    about(&client, &held, "fail", &json!({"error_class": "Boom"})).expect(200);
    assert_eq!(status(&client, &scheduled), "retrying");
    assert_eq!(run(&client, &scheduled).expect(200)["status"], "ready");
    let again = fetch_one(&client, &worker);
    assert_eq!((&again["job_id"], &again["attempt"]), (&json!(scheduled), &json!(2)));
    about(&client, &again, "ack", &json!({})).expect(200);
    run(&client, &scheduled).refused(409, "invalid_state");
    let dead = begin(&client, "dead", 1);
    about(&client, &dead, "fail", &json!({})).expect(200);
    run(&client, text(&dead["job_id"])).refused(409, "invalid_state");
    run(&client, "job_nobody").refused(404, "job_not_found");
    assert!(fetch(&client, &worker, 1).is_empty());
}

#[test]
fn retries_may_be_immediate() {
    let server = Setup::new()
        .set("jobs.retry_exponent_factor", "0")
        .set("jobs.retry_base_seconds", "0")
        .set("jobs.retry_jitter_seconds", "0")
        .start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let id = enqueue(&client, &json!({"class_name": "A", "max_attempts": 3}));
    for attempt in 1..=3 {
        let job = eventually("the attempt", || fetch(&client, &worker, 1).pop());
        assert_eq!(job["attempt"], attempt);
        about(&client, &job, "fail", &json!({})).expect(200);
    }
    assert_eq!(status(&client, &id), "dead");
}
