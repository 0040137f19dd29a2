//! The memory limit: beyond it requests are refused, and nothing is kept for clients that do not
//! read their responses.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, MINUTE_MS, Server, Setup, Wire, eventually, folder, iso};

use crate::jobs::{about, fetch, register};
use crate::keys::text;
use crate::points::{T0, gauge, query_metric};

/// A small `memory.limit`.
const LIMIT: u64 = 256 << 20;

/// Returns a value of `/metrics`, 0 if it is absent.
fn figure(client: &Client, name: &str) -> u64 {
    let page = client.get("/metrics");
    let line = page.text().lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
}

/// Returns the memory of one owner.
fn held_by(client: &Client, owner: &str) -> u64 {
    figure(client, &format!("telltale_memory_bytes{{owner=\"{owner}\"}}"))
}

fn responses(client: &Client) -> u64 {
    held_by(client, "answers")
}

/// Writes samples of this many series, one per minute; a query of them has a response of `series` ×
/// `minutes` × about 60 bytes.
fn fill(client: &Client, series: usize, minutes: i64) {
    let line = |s: usize, m: i64| format!("load,s={s} value=1 {}\n", T0 + m * MINUTE_MS);
    for s in 0..series {
        let body: String = (0..minutes).map(|m| line(s, m)).collect();
        let response = client.post_text("/api/v1/influx/write?precision=ms", body);
        assert_eq!(response.status, 204, "{}", response.summary());
    }
}

fn ask_slowly(server: &Server, minutes: i64) -> Wire {
    let (from, to) = (iso(T0), iso(T0 + minutes * MINUTE_MS));
    let mut wire = server.wire();
    wire.send(format!(
        "GET /api/v1/metrics/load/query?from={from}&to={to}&interval=1m&group_by=tags.s HTTP/1.1\r\nHost: a\r\n\
         Authorization: Bearer {ADMIN_KEY}\r\n\r\n"
    ));
    wire
}

#[test]
fn a_client_that_reads_its_response_too_slowly_is_disconnected() {
    let setup = Setup::new()
        .set("http.answer_pace", "\"8MiB\"")
        .set("http.answer_pace_period", "\"500ms\"")
        .set("http.header_timeout", "\"500ms\"");
    let server = setup.start();
    let client = server.client();
    fill(&client, 100, 2_000);
    let wires: Vec<Wire> = (0..3).map(|_| ask_slowly(&server, 2_000)).collect();
    eventually("a response waiting to be read", || (responses(&client) > 0).then_some(()));
    eventually("the connections to be cut and the memory to be free", || {
        let cut = figure(&client, "telltale_http_connections_cut_total");
        (cut == 3 && responses(&client) == 0).then_some(())
    });
    drop(wires);
}

#[test]
fn connections_and_uncounted_memory_are_owners() {
    let server = Setup::new().start();
    let client = server.client();
    let wire = server.wire();
    let counts = || (held_by(&client, "connections") > 0).then_some(());
    eventually("an open connection to count", counts);
    drop(wire);
    let page = client.get("/metrics");
    let is_named = |line: &str| line.starts_with("telltale_memory_bytes{owner=\"uncounted\"} ");
    assert!(page.text().lines().any(is_named), "{}", page.text());
}

#[test]
fn unread_responses_do_not_fill_the_memory() {
    let setup = Setup::new().set("memory.limit", &LIMIT.to_string());
    let server = setup.start();
    let client = server.client();
    assert_eq!(figure(&client, "telltale_memory_limit_bytes"), LIMIT);
    fill(&client, 100, 2_000);
    let begun = |_| {
        let wire = ask_slowly(&server, 2_000);
        let begins = || wire.begins_with(b"HTTP/1.1 ").then_some(());
        eventually("a response to begin", begins);
        wire
    };
    let mut wires: Vec<Wire> = (0..64).map(begun).collect();
    let mut refused = 0;
    eventually("most of them to be refused", || {
        for wire in &mut wires {
            if wire.begins_with(b"HTTP/1.1 503") {
                wire.response().map(|response| response.refused(503, "overloaded"));
                refused += 1;
            }
        }
        (refused > 20).then_some(())
    });
    // An eighth is not available to responses, nor is the share of the stores.
    let held = responses(&client);
    let stores = held_by(&client, "heads") + held_by(&client, "caches");
    assert!(held > 4 << 20 && held <= LIMIT - LIMIT / 8 - stores, "{held} beside {stores}");
    let resident = figure(&client, "telltale_memory_resident_bytes");
    assert!(resident < LIMIT + LIMIT * 15 / 100, "{resident} of {LIMIT}");
    // Ingest continues meanwhile.
    client.post("/api/v1/metrics", &gauge("other", T0, 1.0)).expect(201);
    drop(wires);
    eventually("the memory to be free", || (responses(&client) == 0).then_some(()));
    query_metric(&client, "load", T0, T0 + MINUTE_MS, "&interval=1m").data(200);
}

#[test]
fn receipts_are_sealed_like_other_new_data() {
    let setup =
        Setup::new().set("storage.head_bytes", "\"1MiB\"").set("storage.head_age", "\"1d\"");
    let server = setup.start();
    let client = server.client();
    let point = json!({"type": "gauge", "name": "g", "value": 1, "timestamp": iso(T0)});
    let seals = || figure(&client, "telltale_seals_total");
    eventually("the seal after a start", || (seals() > 0).then_some(()));
    let before = seals();
    for n in 0..6_000 {
        let key = format!("key-{n}");
        let post = client.request("POST", "/api/v1/metrics").header("Idempotency-Key", &key);
        post.json(&point).send().expect(201);
    }
    eventually("a seal of receipts", || (seals() > before).then_some(()));
    let again = client.request("POST", "/api/v1/metrics").header("Idempotency-Key", "key-0");
    again.json(&point).send().expect(201);
}

#[test]
fn a_query_times_out() {
    let server = Setup::new().set("http.query_timeout", "\"1ms\"").start();
    let client = server.client();
    fill(&client, 20, 2_000);
    let ended = eventually("a query to be ended", || {
        let response = query_metric(
            &client,
            "load",
            T0,
            T0 + 2_000 * MINUTE_MS,
            "&interval=1m&group_by=tags.s",
        );
        (response.status != 200).then_some(response)
    });
    let error = ended.refused(503, "overloaded");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("http.query_timeout"), "{message}");
}

#[test]
fn a_memory_limit_that_is_too_small_is_refused() {
    let server = Setup::new().start();
    let reported = server.cli(["config", "--set", "memory.limit=64MiB"]);
    let text = String::from_utf8_lossy(&reported.stderr).into_owned();
    assert!(!reported.status.success() && text.contains("memory.limit"), "{text}");
    assert!(text.contains("storage.head_bytes"), "{text}");
    for (key, value) in [("jobs.waiting_bytes_max", "256MiB"), ("errors.groups_max", "200000")] {
        let set = format!("{key}={value}");
        let reported = server.cli(["config", "--set", "memory.limit=256MiB", "--set", &set]);
        let text = String::from_utf8_lossy(&reported.stderr).into_owned();
        assert!(!reported.status.success() && text.contains(key), "{text}");
    }
}

/// Batches of a thousand jobs, which together exceed what 128 MiB leave beside the program.
const JOB_BATCHES: u64 = 480;

/// Jobs that were enqueued under a higher limit, and use all of the present one.
#[test]
fn jobs_that_fill_the_memory_can_be_completed_and_deleted() {
    let data = folder();
    let setup = Setup::new().data(data.path());
    let mut roomy = setup.clone().set("memory.limit", "\"1GiB\"").start();
    let client = roomy.client();
    for batch in 0..JOB_BATCHES {
        let job = |n: usize| json!({"class_name": "A", "unique_key": format!("{batch}-{n}")});
        let jobs: Vec<Value> = (0..1_000).map(job).collect();
        client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
    }
    // A response of more than a kilobyte, which is accounted.
    let dashboards = client.get("/api/v1/dashboards").data(200);
    let large = format!("/api/v1/dashboards/{}", text(&dashboards[0]["id"]));
    client.get(&large).data(200);
    roomy.terminate();
    let server = setup
        .set("memory.limit", "\"128MiB\"")
        .set("storage.cache_bytes", "\"4MiB\"")
        .set("storage.event_cache_bytes", "\"4MiB\"")
        .set("jobs.waiting_bytes_max", "\"8MiB\"")
        .start();
    let client = server.client();
    eventually("memory to be full", || {
        let jobs = held_by(&client, "jobs");
        (jobs > 80 << 20 && client.get(&large).status == 503).then_some(())
    });
    client.post("/api/v1/metrics", &gauge("a", T0, 1.0)).refused(503, "overloaded");
    let worker = register(&client, &["default"]);
    let empty = register(&client, &["other"]);
    assert!(fetch(&client, &empty, 1).is_empty());
    for job in fetch(&client, &worker, 50) {
        about(&client, &job, "ack", &json!({})).expect(200);
    }
    let purged = client.request("DELETE", "/api/v1/queues/default/jobs");
    let purged = purged.json(&json!({"confirm": true})).send().expect(200);
    assert_eq!(purged["jobs_deleted"], JOB_BATCHES * 1_000 - 50);
    eventually("memory to be free", || (client.get(&large).status == 200).then_some(()));
    eventually("room for a metric", || {
        (client.post("/api/v1/metrics", &gauge("a", T0, 1.0)).status == 201).then_some(())
    });
}
