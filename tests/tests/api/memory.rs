//! Memory has a limit, whichever client uses it: past it work is refused, and nothing is held for
//! those who do not take it.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, MINUTE_MS, Server, Setup, Wire, eventually, folder, iso};

use crate::jobs::{about, fetch, register};
use crate::keys::text;
use crate::points::{T0, ask, gauge};

/// What `memory.limit` is where the machine has little.
const LIMIT: u64 = 256 << 20;

/// A figure of `/metrics`, 0 where it is not there.
fn figure(client: &Client, name: &str) -> u64 {
    let page = client.get("/metrics");
    let line = page.text().lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
}

/// What one owner has.
fn held_by(client: &Client, owner: &str) -> u64 {
    figure(client, &format!("telltale_memory_bytes{{owner=\"{owner}\"}}"))
}

fn answers(client: &Client) -> u64 {
    held_by(client, "answers")
}

/// Points of so many series, a minute apart, whose query is an answer of `series` × `minutes` ×
/// some 60 bytes.
fn fill(client: &Client, series: usize, minutes: i64) {
    let line = |s: usize, m: i64| format!("load,s={s} value=1 {}\n", T0 + m * MINUTE_MS);
    for s in 0..series {
        let body: String = (0..minutes).map(|m| line(s, m)).collect();
        let answer = client.post_text("/api/v1/influx/write?precision=ms", body);
        assert_eq!(answer.status, 204, "{}", answer.summary());
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
fn a_client_that_takes_its_answer_too_slowly_is_cut_off() {
    let setup = Setup::new()
        .set("http.answer_pace", "\"8MiB\"")
        .set("http.answer_pace_period", "\"500ms\"")
        .set("http.header_timeout", "\"500ms\"");
    let server = setup.start();
    let client = server.client();
    fill(&client, 100, 2_000);
    let wires: Vec<Wire> = (0..3).map(|_| ask_slowly(&server, 2_000)).collect();
    eventually("an answer to wait for being taken", || (answers(&client) > 0).then_some(()));
    eventually("the connections to be cut and the memory to be free", || {
        let cut = figure(&client, "telltale_http_connections_cut_total");
        (cut == 3 && answers(&client) == 0).then_some(())
    });
    drop(wires);
}

#[test]
fn connections_and_what_nobody_counts_are_owners_of_memory() {
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
fn answers_that_nobody_takes_do_not_fill_the_memory() {
    let setup = Setup::new().set("memory.limit", &LIMIT.to_string());
    let server = setup.start();
    let client = server.client();
    assert_eq!(figure(&client, "telltale_memory_limit_bytes"), LIMIT);
    fill(&client, 100, 2_000);
    let begun = |_| {
        let wire = ask_slowly(&server, 2_000);
        let begins = || wire.begins_with(b"HTTP/1.1 ").then_some(());
        eventually("an answer to begin", begins);
        wire
    };
    let mut wires: Vec<Wire> = (0..64).map(begun).collect();
    let mut refused = 0;
    eventually("most of them to be refused", || {
        for wire in &mut wires {
            if wire.begins_with(b"HTTP/1.1 503") {
                wire.answer().map(|answer| answer.refused(503, "overloaded"));
                refused += 1;
            }
        }
        (refused > 20).then_some(())
    });
    // An eighth is kept from answers, and what stores may take is not theirs either.
    let held = answers(&client);
    let stores = held_by(&client, "heads") + held_by(&client, "caches");
    assert!(held > 4 << 20 && held <= LIMIT - LIMIT / 8 - stores, "{held} beside {stores}");
    let resident = figure(&client, "telltale_memory_resident_bytes");
    assert!(resident < LIMIT + LIMIT * 15 / 100, "{resident} of {LIMIT}");
    // Data comes in meanwhile.
    client.post("/api/v1/metrics", &gauge("other", T0, 1.0)).expect(201);
    drop(wires);
    eventually("the memory to be free", || (answers(&client) == 0).then_some(()));
    ask(&client, "load", T0, T0 + MINUTE_MS, "&interval=1m").data(200);
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
fn a_query_ends_when_it_took_too_long() {
    let server = Setup::new().set("http.query_timeout", "\"1ms\"").start();
    let client = server.client();
    fill(&client, 20, 2_000);
    let ended = eventually("a query to be ended", || {
        let answer =
            ask(&client, "load", T0, T0 + 2_000 * MINUTE_MS, "&interval=1m&group_by=tags.s");
        (answer.status != 200).then_some(answer)
    });
    let error = ended.refused(503, "overloaded");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("http.query_timeout"), "{message}");
}

#[test]
fn a_limit_that_leaves_nothing_is_refused_by_name() {
    let server = Setup::new().start();
    let told = server.cli(["config", "--set", "memory.limit=64MiB"]);
    let text = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(!told.status.success() && text.contains("memory.limit"), "{text}");
    assert!(text.contains("storage.head_bytes"), "{text}");
    for (key, value) in [("jobs.waiting_bytes_max", "256MiB"), ("errors.groups_max", "200000")] {
        let set = format!("{key}={value}");
        let told = server.cli(["config", "--set", "memory.limit=256MiB", "--set", &set]);
        let text = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(!told.status.success() && text.contains(key), "{text}");
    }
}

/// Batches of a thousand jobs, which together take more than 128 MiB leave beside the program.
const JOB_BATCHES: u64 = 480;

/// Jobs that came under a higher limit than there is now, and take all of this one.
#[test]
fn jobs_that_fill_the_memory_can_be_worked_and_deleted() {
    let data = folder();
    let setup = Setup::new().data(data.path());
    let mut roomy = setup.clone().set("memory.limit", "\"1GiB\"").start();
    let client = roomy.client();
    for batch in 0..JOB_BATCHES {
        let job = |n: usize| json!({"class_name": "A", "unique_key": format!("{batch}-{n}")});
        let jobs: Vec<Value> = (0..1_000).map(job).collect();
        client.post("/api/v1/jobs/batch", &json!({ "jobs": jobs })).expect(201);
    }
    // An answer of more than a kilobyte, which counts.
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
