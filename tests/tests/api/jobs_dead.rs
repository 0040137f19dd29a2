//! Dead jobs: their histories, search, retries, deletion, counts, and retention.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, covers, eventually, now_ms, parse_iso};

use crate::jobs::{JOBS, about, enqueue, fetch, fetch_one, register};
use crate::keys::text;

const DEAD: &str = "/api/v1/dead-jobs";

/// Makes jobs of these classes die of these errors, and returns their ids.
#[track_caller]
fn kill(client: &Client, deaths: &[(&str, &str, &str)]) -> Vec<String> {
    let mut ids = Vec::new();
    for (queue, class, error) in deaths {
        let worker = register(client, &[*queue]);
        let body = json!({"class_name": class, "queue": queue, "max_attempts": 1, "arguments": {"of": class}});
        ids.push(enqueue(client, &body));
        let job = fetch_one(client, &worker);
        let report = json!({"error_class": error, "error_message": "it broke", "backtrace": ["here", "there"]});
        assert_eq!(about(client, &job, "fail", &report).expect(200)["status"], "dead");
        client.delete(&worker).expect(200);
    }
    ids
}

fn ids(listed: &Value) -> Vec<String> {
    listed["dead_jobs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|job| text(&job["id"]).to_owned())
        .collect()
}

#[test]
fn a_dead_job_has_its_history_and_can_be_retried() {
    covers!("GET /api/v1/dead-jobs/{id}", Happy);
    covers!("GET /api/v1/dead-jobs/{id}", Refusal);
    covers!("POST /api/v1/dead-jobs/{id}/retry", Happy);
    covers!("POST /api/v1/dead-jobs/{id}/retry", Refusal);
    let quick =
        Setup::new().set("jobs.retry_base_seconds", "1").set("jobs.retry_jitter_seconds", "1");
    let mut server = quick.start();
    let client = server.client();
    let worker = register(&client, &["mail"]);
    let id = enqueue(
        &client,
        &json!({"class_name": "Mail", "queue": "mail", "max_attempts": 2, "arguments": {"to": "a"}}),
    );
    for (error, message) in [("Slow", "timed out"), ("Gone", "no such user")] {
        let job = eventually("the attempt", || fetch(&client, &worker, 1).pop());
        let report = json!({"error_class": error, "error_message": message, "backtrace": ["here"]});
        about(&client, &job, "fail", &report).expect(200);
    }
    server.restart();
    let client = server.client();
    let listed = client.get(DEAD).expect(200);
    assert_eq!(
        (&listed["total"], &listed["pagination"]),
        (&json!(1), &json!({"page": 1, "per_page": 50}))
    );
    let dead = &listed["dead_jobs"][0];
    let dead_id = text(&dead["id"]);
    assert!(dead_id.starts_with("dead_"), "{dead}");
    let detail = client.get(&format!("{DEAD}/{dead_id}")).expect(200);
    for shown in [dead, &detail] {
        assert_eq!(
            (&shown["job_id"], &shown["class_name"], &shown["queue"]),
            (&json!(id), &json!("Mail"), &json!("mail"))
        );
        assert_eq!((&shown["arguments"], &shown["attempts"]), (&json!({"to": "a"}), &json!(2)));
        assert_eq!(
            (&shown["error_class"], &shown["error_message"]),
            (&json!("Gone"), &json!("no such user"))
        );
        let (first, died) =
            (parse_iso(text(&shown["first_failed_at"])), parse_iso(text(&shown["died_at"])));
        assert!(first < died && died <= now_ms(), "{shown}");
    }
    assert_eq!(detail["backtrace"], json!(["here"]));
    let history = detail["retry_history"].as_array().unwrap();
    assert_eq!(history.len(), 2);
    assert_eq!(
        (&history[0]["attempt"], &history[0]["error"]),
        (&json!(1), &json!("Slow: timed out"))
    );
    assert_eq!(
        (&history[1]["attempt"], &history[1]["error"]),
        (&json!(2), &json!("Gone: no such user"))
    );
    assert!(history[0]["failed_at"].is_string() && detail["original_enqueued_at"].is_string());

    let retried = client.post(&format!("{DEAD}/{dead_id}/retry"), &json!({})).expect(200);
    assert_eq!((&retried["dead_job_id"], &retried["queue"]), (&json!(dead_id), &json!("mail")));
    let new = text(&retried["new_job_id"]);
    assert_ne!(new, id);
    client.get(&format!("{DEAD}/{dead_id}")).refused(404, "dead_job_not_found");
    client.post(&format!("{DEAD}/{dead_id}/retry"), &json!({})).refused(404, "dead_job_not_found");
    client.get(&format!("{JOBS}/{id}")).refused(404, "job_not_found");
    let job = fetch_one(&client, &worker);
    assert_eq!(
        (&job["job_id"], &job["attempt"]),
        (&json!(new), &json!(1)),
        "all its attempts before it"
    );
    assert_eq!(job["arguments"], json!({"to": "a"}));
    assert_eq!(client.get(&format!("{JOBS}/{new}")).expect(200)["max_attempts"], 2);
}

#[test]
fn dead_jobs_are_searched_page_by_page() {
    covers!("GET /api/v1/dead-jobs", Happy);
    covers!("GET /api/v1/dead-jobs", Refusal);
    let server = Server::start();
    let client = server.client();
    kill(&client, &[("a", "Mail", "Slow"), ("a", "Mail", "Gone"), ("b", "Bill", "Slow")]);
    let all = client.get(DEAD).expect(200);
    let newest_first = ids(&all);
    assert_eq!(newest_first.len(), 3);
    assert!(newest_first.is_sorted_by(|a, b| a > b), "{newest_first:?}");
    let total = |query: &str| client.get(&format!("{DEAD}?{query}")).expect(200)["total"].clone();
    for (query, expected) in [
        ("class_name=Mail", 2),
        ("error_class=Slow", 2),
        ("class_name=Mail&error_class=Slow", 1),
        ("queue=b", 1),
        ("queue=nobody", 0),
        ("since=2020-01-01", 3),
        ("since=2999-01-01T00:00:00Z", 0),
    ] {
        assert_eq!(total(query), expected, "{query}");
    }
    let page = client.get(&format!("{DEAD}?limit=2&page=2")).expect(200);
    assert_eq!(
        (&page["total"], &page["pagination"]),
        (&json!(3), &json!({"page": 2, "per_page": 2}))
    );
    assert_eq!(ids(&page), newest_first[2..]);
    for query in ["per_page=2&page=2", "per_page=2&limit=2&page=2"] {
        assert_eq!(client.get(&format!("{DEAD}?{query}")).expect(200), page, "{query}");
    }
    let largest = client.get(&format!("{DEAD}?per_page=100000")).expect(200);
    assert_eq!(largest["pagination"], json!({"page": 1, "per_page": 500}));
    let both = client.get(&format!("{DEAD}?per_page=2&limit=3"));
    both.refused_for(400, "invalid_parameter", "per_page");
    client.get(&format!("{DEAD}?per_page=0")).refused_for(400, "invalid_parameter", "per_page");
    client.get(&format!("{DEAD}?page=0")).refused_for(400, "invalid_parameter", "page");
    client.get(&format!("{DEAD}?limit=0")).refused_for(400, "invalid_parameter", "limit");
    client.get(&format!("{DEAD}?since=soon")).refused_for(422, "invalid_timestamp", "since");
}

#[test]
fn dead_jobs_are_retried_together() {
    covers!("POST /api/v1/dead-jobs/retry", Happy);
    covers!("POST /api/v1/dead-jobs/retry", Refusal);
    let server = Server::start();
    let client = server.client();
    kill(
        &client,
        &[
            ("a", "Mail", "Slow"),
            ("a", "Mail", "Gone"),
            ("b", "Bill", "Slow"),
            ("b", "Bill", "Slow"),
        ],
    );
    let all = ids(&client.get(DEAD).expect(200));
    let retry = |body: Value| client.post(&format!("{DEAD}/retry"), &body);
    for (body, code, field) in [
        (json!({}), "missing_field", "job_ids"),
        (json!({"job_ids": all, "filter": {"class_name": "Mail"}}), "invalid_field", "filter"),
        (json!({"job_ids": []}), "invalid_field", "job_ids"),
        (json!({"filter": {}}), "invalid_field", "filter"),
        (json!({"filter": {"older_than": "soon"}}), "invalid_timestamp", "filter.older_than"),
    ] {
        retry(body).refused_for(422, code, field);
    }
    retry(json!({"filter": {"class": "Mail"}})).refused(400, "invalid_parameter");
    assert_eq!(client.get(DEAD).expect(200)["total"], 4, "nothing changed");
    let some = retry(json!({"job_ids": [all[0], "dead_nobody", all[0]]})).expect(200);
    assert_eq!((&some["retried"], &some["failed"]), (&json!(1), &json!(1)));
    assert!(!text(&some["message"]).is_empty());
    let filtered = retry(json!({"filter": {"queue": "b", "error_class": "Slow"}})).expect(200);
    assert_eq!((&filtered["retried"], &filtered["failed"]), (&json!(1), &json!(0)));
    assert_eq!(client.get(DEAD).expect(200)["total"], 2);
    assert_eq!(client.get("/api/v1/queues/b").expect(200)["size"], 2);
}

#[test]
fn a_dead_job_keeps_its_unique_key_when_it_is_retried() {
    let mut server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let body = json!({"class_name": "A", "max_attempts": 1, "unique_key": "k"});
    let conflict = |client: &Client| client.post(JOBS, &body).refused(409, "conflict");
    let die = |client: &Client| {
        enqueue(client, &body);
        let job = fetch_one(client, &worker);
        about(client, &job, "fail", &json!({})).expect(200);
        text(&client.get(DEAD).expect(200)["dead_jobs"][0]["id"]).to_owned()
    };
    let (first, second) = (die(&client), die(&client));
    server.restart();
    let client = server.client();
    let retried = client.post(&format!("{DEAD}/{first}/retry"), &json!({})).expect(200);
    let holder = &retried["new_job_id"];
    assert_eq!(&conflict(&client)["details"]["id"], holder);
    let refused =
        client.post(&format!("{DEAD}/{second}/retry"), &json!({})).refused(409, "conflict");
    assert_eq!(&refused["details"]["id"], holder, "another job has the key meanwhile");
    let all = client.post(&format!("{DEAD}/retry"), &json!({"job_ids": [second]})).expect(200);
    assert_eq!((&all["retried"], &all["failed"]), (&json!(0), &json!(1)), "{all}");
    let job = fetch_one(&client, &worker);
    about(&client, &job, "ack", &json!({})).expect(200);
    client.post(&format!("{DEAD}/{second}/retry"), &json!({})).expect(200);
    conflict(&client);
}

#[test]
fn dead_jobs_are_deleted_one_by_one_and_together() {
    covers!("DELETE /api/v1/dead-jobs/{id}", Happy);
    covers!("DELETE /api/v1/dead-jobs/{id}", Refusal);
    covers!("DELETE /api/v1/dead-jobs", Happy);
    covers!("DELETE /api/v1/dead-jobs", Refusal);
    let server = Server::start();
    let client = server.client();
    let jobs = kill(&client, &[("a", "A", "E"), ("a", "B", "E"), ("a", "C", "E"), ("a", "D", "E")]);
    let all = ids(&client.get(DEAD).expect(200));
    let one = format!("{DEAD}/{}", all[0]);
    assert_eq!(client.delete(&one).expect(200), json!({"id": all[0], "deleted": true}));
    client.delete(&one).refused(404, "dead_job_not_found");
    client.get(&format!("{JOBS}/{}", jobs[3])).refused(404, "job_not_found");
    let delete = |body: Value| client.request("DELETE", DEAD).json(&body).send();
    delete(json!({"job_ids": [all[1]]})).refused_for(422, "missing_field", "confirm");
    delete(json!({"confirm": true})).refused_for(422, "missing_field", "job_ids");
    let both = json!({"job_ids": [all[1]], "filter": {"class_name": "A"}, "confirm": true});
    delete(both).refused_for(422, "invalid_field", "filter");
    assert_eq!(client.get(DEAD).expect(200)["total"], 3, "nothing changed");
    let deleted = delete(json!({"job_ids": [all[1], "dead_nobody"], "confirm": true})).expect(200);
    assert_eq!(deleted["deleted"], 1);
    let old = json!({"filter": {"older_than": "2020-01-01T00:00:00Z"}, "confirm": true});
    assert_eq!(delete(old).expect(200)["deleted"], 0);
    let all = json!({"filter": {"older_than": "2999-01-01T00:00:00Z"}, "confirm": true});
    assert_eq!(delete(all).expect(200)["deleted"], 2);
    assert_eq!(client.get(DEAD).expect(200)["total"], 0);
}

#[test]
fn the_number_of_dead_jobs_is_limited_and_all_are_counted() {
    covers!("GET /api/v1/dead-jobs/analytics", Happy);
    covers!("GET /api/v1/dead-jobs/analytics", Refusal);
    let server = Setup::new().set("jobs.dead_max", "3").start();
    let client = server.client();
    kill(
        &client,
        &[("a", "A", "E"), ("a", "A", "F"), ("a", "B", "E"), ("a", "B", "E"), ("a", "B", "E")],
    );
    assert_eq!(client.get(DEAD).expect(200)["total"], 3, "the oldest are gone");
    let reported = eventually("the history", || {
        let reported = client.get(&format!("{DEAD}/analytics")).expect(200);
        // Its parts are queries of their own, which may not all see the last job yet.
        let days = reported["timeline"].as_array().into_iter().flatten();
        let in_days: u64 = days.filter_map(|day| day["count"].as_u64()).sum();
        (reported["total_dead"] == 5 && in_days == 5).then_some(reported)
    });
    assert_eq!(reported["period"], "week");
    assert_eq!(
        reported["by_class"],
        json!([{"class_name": "B", "count": 3}, {"class_name": "A", "count": 2}])
    );
    assert_eq!(
        reported["by_error"],
        json!([{"error_class": "E", "count": 4}, {"error_class": "F", "count": 1}])
    );
    let days = reported["timeline"].as_array().unwrap();
    assert_eq!(days.len(), 7);
    assert!(days.iter().all(|day| text(&day["date"]).len() == 10), "{days:?}");
    for (period, days) in [("day", 1), ("month", 30)] {
        let reported = client.get(&format!("{DEAD}/analytics?period={period}")).expect(200);
        assert_eq!(reported["timeline"].as_array().unwrap().len(), days);
    }
    client.get(&format!("{DEAD}/analytics?period=hour")).refused_for(
        400,
        "invalid_parameter",
        "period",
    );
}

#[test]
fn dead_jobs_are_found_by_what_they_were_and_what_they_died_of() {
    let server = Server::start();
    let client = server.client();
    kill(&client, &[("a", "Mail", "Slow"), ("a", "Größe", "Gone"), ("b", "Bill", "Slow")]);
    let worker = register(&client, &["a"]);
    let body = json!({"class_name": "Pay", "queue": "a", "max_attempts": 1, "arguments": {"iban": "DE02%/,\u{202e}x"}});
    enqueue(&client, &body);
    let job = fetch_one(&client, &worker);
    let report = json!({"error_class": "Refused", "error_message": "Card DECLINED: no funds"});
    about(&client, &job, "fail", &report).expect(200);

    let found = |query: &str| client.get(&format!("{DEAD}?{query}")).expect(200);
    for (query, expected) in [
        ("search=mail", 1),
        ("search=gr%C3%96%C3%9Fe", 1),
        ("search=slow", 2),
        ("search=it+broke", 3),
        ("search=declined", 1),
        ("search=de02%25%2F,", 1),
        ("search=%E2%80%AE", 1),
        ("search=slow&queue=b", 1),
        ("search=slow&class_name=Nobody", 0),
        ("search=nothing+like+it", 0),
    ] {
        let page = found(query);
        assert_eq!(ids(&page).len(), expected, "{query}: {page}");
        assert!(page.get("total").is_none() && page.get("next_cursor").is_none(), "{page}");
    }
    assert_eq!(found("search=")["total"], 4, "an empty search is none");

    // Page by page.
    let all = ids(&found("search=e"));
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = found(&format!("search=e&limit=1{cursor}"));
        seen.extend(ids(&page));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!((seen.len(), &seen), (4, &all));
    for (query, field) in [
        (format!("search={}", "x".repeat(201)), "search"),
        ("search=x&cursor=nobody".to_owned(), "cursor"),
        ("search=x&page=2".to_owned(), "page"),
        (format!("cursor={}", all[0]), "cursor"),
    ] {
        client.get(&format!("{DEAD}?{query}")).refused_for(400, "invalid_parameter", field);
    }
}

#[test]
fn a_bulk_change_can_be_counted_first_and_must_not_exceed_the_count() {
    let server = Server::start();
    let client = server.client();
    kill(&client, &[("a", "Mail", "Slow"), ("a", "Mail", "Gone"), ("b", "Bill", "Slow")]);
    let total = || client.get(DEAD).expect(200)["total"].clone();
    let retry = |body: &Value| client.post(&format!("{DEAD}/retry"), body);
    let delete = |body: &Value| client.request("DELETE", DEAD).json(body).send();
    let slow = json!({"search": "SLOW"});

    let counted = retry(&json!({"filter": slow, "dry_run": true})).expect(200);
    assert_eq!((&counted["matched"], &counted["retried"]), (&json!(2), &json!(0)));
    let counted = delete(&json!({"filter": {"queue": "a"}, "dry_run": true})).expect(200);
    assert_eq!((&counted["matched"], &counted["deleted"]), (&json!(2), &json!(0)));
    let named =
        json!({"job_ids": [ids(&client.get(DEAD).expect(200))[0], "nobody"], "dry_run": true});
    assert_eq!(retry(&named).expect(200)["matched"], 1);
    assert_eq!(total(), 3);

    let wrong = json!({"filter": slow, "expected_count": 1, "confirm": true});
    retry(&json!({"filter": slow, "expected_count": 3})).refused_for(
        409,
        "count_changed",
        "expected_count",
    );
    delete(&wrong).refused_for(409, "count_changed", "expected_count");
    let negative = json!({"filter": slow, "expected_count": -1});
    retry(&negative).refused_for(422, "invalid_field", "expected_count");
    let long = json!({"filter": {"search": "x".repeat(201)}});
    retry(&long).refused_for(422, "invalid_field", "filter.search");
    let future = json!({"filter": {"since": "2999-01-01"}, "expected_count": 0});
    assert_eq!(retry(&future).expect(200)["retried"], 0);
    assert_eq!(total(), 3);

    let deleted = delete(&json!({"filter": slow, "expected_count": 2, "confirm": true}));
    let deleted = deleted.expect(200);
    assert_eq!(deleted["deleted"], 2);
    assert!(deleted.get("matched").is_none(), "{deleted}");
    let retried = retry(&json!({"filter": {"search": "mail", "queue": "a"}, "expected_count": 1}));
    assert_eq!(retried.expect(200)["retried"], 1);
    assert_eq!(total(), 0);
}
