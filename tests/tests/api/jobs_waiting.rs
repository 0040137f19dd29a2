//! Waiting fetches: they use no request slots of others, have limits of their own, and end with
//! their key, their client or the server.

use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, Stopwatch, eventually};

use crate::jobs::{about, enqueue, fetch, register};
use crate::keys::{make, text};

/// The maximum wait.
fn patient() -> Value {
    json!({"wait_seconds": 30})
}

/// Returns the number of waiting fetches.
pub(crate) fn waiting_fetches(client: &Client) -> u64 {
    gauge(client, "telltale_jobs_fetches_waiting ")
}

fn gauge(client: &Client, name: &str) -> u64 {
    let page = client.get("/metrics");
    let line = page.text().lines().find_map(|line| line.strip_prefix(name));
    let Some(number) = line.and_then(|number| number.trim().parse().ok()) else {
        panic!("no gauge {name:?}, or no whole number: {line:?}")
    };
    number
}

#[test]
fn waiting_fetches_take_no_slots_of_others() {
    let server = Setup::new().set("http.requests_in_flight", "3").start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let path = format!("{worker}/fetch");
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| server.client().post(&path, &patient()).expect(200)))
            .collect();
        eventually("all to wait", || (waiting_fetches(&client) == 8).then_some(()));
        client.get("/api/v1/workers").expect(200);
        assert_eq!(gauge(&client, "telltale_http_requests_in_flight "), 0);
        assert_eq!(gauge(&client, "telltale_http_body_bytes_in_flight "), 0);
        let mut expected: Vec<String> =
            (0..8).map(|_| enqueue(&client, &json!({"class_name": "A"}))).collect();
        let fetched = waiting.into_iter().map(|one| one.join().unwrap());
        let mut fetched: Vec<String> =
            fetched.map(|response| text(&response["jobs"][0]["job_id"]).to_owned()).collect();
        expected.sort();
        fetched.sort();
        assert_eq!(fetched, expected);
    });
    assert_eq!(waiting_fetches(&client), 0);
}

#[test]
fn fetches_above_the_limits_return_immediately() {
    let server = Setup::new()
        .set("jobs.key_waiting_fetches_max", "2")
        .set("jobs.waiting_fetches_max", "3")
        .start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let path = format!("{worker}/fetch");
    let keys: Vec<Client> = (0..3)
        .map(|_| client.with_key(text(&make(&client, json!(["work"]), json!({}))["key"])))
        .collect();
    let [one, other, third] = keys.as_slice() else { panic!("three keys") };
    let nobody = json!({"jobs": []});
    std::thread::scope(|scope| {
        let mut waiting = vec![
            scope.spawn(|| one.post(&path, &patient()).expect(200)),
            scope.spawn(|| one.post(&path, &patient()).expect(200)),
        ];
        eventually("two to wait", || (waiting_fetches(&client) == 2).then_some(()));
        let watch = Stopwatch::start();
        assert_eq!(one.post(&path, &patient()).expect(200), nobody, "two of a key may wait");
        waiting.push(scope.spawn(|| other.post(&path, &patient()).expect(200)));
        eventually("three to wait", || (waiting_fetches(&client) == 3).then_some(()));
        assert_eq!(third.post(&path, &patient()).expect(200), nobody, "three in all may wait");
        assert!(watch.elapsed() < Duration::from_secs(15), "it took {:?}", watch.elapsed());

        let id = enqueue(&client, &json!({"class_name": "A"}));
        eventually("one to be served", || (waiting_fetches(&client) == 2).then_some(()));
        client.delete(&worker).expect(200);
        let fetched: Vec<Value> = waiting.into_iter().map(|one| one.join().unwrap()).collect();
        let jobs = fetched.iter().filter_map(|response| response["jobs"][0]["job_id"].as_str());
        assert_eq!(jobs.collect::<Vec<_>>(), [id]);
    });
}

#[test]
fn a_waiting_fetch_ends_when_its_key_is_revoked() {
    let server = Server::start();
    let client = server.client();
    let made = make(&client, json!(["work"]), json!({}));
    let revoked = client.with_key(text(&made["key"]));
    let (its, other) = (register(&revoked, &["default"]), register(&client, &["default"]));
    let path = format!("{its}/fetch");
    std::thread::scope(|scope| {
        let watch = Stopwatch::start();
        let waiting = scope.spawn(|| revoked.post(&path, &patient()));
        eventually("it to wait", || (waiting_fetches(&client) == 1).then_some(()));
        client.delete(&format!("/api/v1/keys/{}", text(&made["id"]))).data(200);
        waiting.join().unwrap().refused(401, "unauthorized");
        assert!(watch.elapsed() < Duration::from_secs(15), "it took {:?}", watch.elapsed());
    });
    let id = enqueue(&client, &json!({"class_name": "A"}));
    let job = fetch(&client, &other, 1).pop().unwrap();
    assert_eq!((&job["job_id"], &job["attempt"]), (&json!(id), &json!(1)));
    about(&client, &job, "ack", &json!({})).expect(200);
}

#[test]
fn a_worker_that_disconnects_while_waiting_loses_no_job() {
    let server = Server::start();
    let client = server.client();
    let (gone, stays) = (register(&client, &["default"]), register(&client, &["default"]));
    for _ in 0..5 {
        let mut wire = server.wire();
        let body = r#"{"wait_seconds":30}"#;
        let request = format!(
            "POST {gone}/fetch HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            telltale_tests::ADMIN_KEY,
            body.len()
        );
        wire.send(request.as_bytes());
        eventually("it to wait", || (waiting_fetches(&client) == 1).then_some(()));
        drop(wire);
        eventually("it to be forgotten", || (waiting_fetches(&client) == 0).then_some(()));
    }
    let id = enqueue(&client, &json!({"class_name": "A"}));
    let job = eventually("the job to come back", || fetch(&client, &stays, 1).pop());
    assert_eq!((&job["job_id"], &job["attempt"]), (&json!(id), &json!(1)), "nothing counts");
}

#[test]
fn a_stopping_server_ends_waiting_fetches() {
    let mut server = Server::start();
    let client = server.client();
    let worker = register(&client, &["default"]);
    let path = format!("{worker}/fetch");
    let watch = Stopwatch::start();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.post(&path, &json!({"wait_seconds": 30})).status);
        eventually("it to wait", || (waiting_fetches(&client) == 1).then_some(()));
        assert!(server.terminate().success());
        assert!(matches!(waiting.join(), Ok(200)));
    });
    assert!(watch.elapsed() < Duration::from_secs(20), "it took {:?}", watch.elapsed());
}
