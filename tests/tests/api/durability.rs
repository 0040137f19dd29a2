//! Acknowledged writes are durable through kills, stops, seals and merges, and count once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, eventually, iso};

use crate::points::{T0, definitions, gauge, pairs, point, query_metric, send, total};

/// Concurrent writers.
const WRITERS: usize = 4;
/// Samples of one batch: all of them are stored, or none.
const BATCH_POINTS: u64 = 40;
/// Kills of one test.
const ROUNDS: u64 = 6;
/// Batches that must be acknowledged before a kill, so that each kill could lose some.
const BATCHES_BEFORE_KILL: u64 = 30;

/// A batch of increments of 1 by one writer.
fn batch(writer: usize, number: u64) -> Value {
    let items: Vec<Value> = (0..BATCH_POINTS)
        .map(|i| {
            let ms = T0 + i64::try_from(number * BATCH_POINTS + i).unwrap_or(0);
            json!({"name": "kept", "type": "counter", "value": 1, "timestamp": iso(ms),
                   "tags": {"writer": format!("w{writer}")}})
        })
        .collect();
    json!({ "metrics": items })
}

/// Returns the stored batches of one writer.
#[track_caller]
fn stored_batches(client: &Client, writer: usize) -> u64 {
    let rest = format!("&interval=1d&aggregation=sum&tags[writer]=w{writer}");
    let data = query_metric(client, "kept", T0, T0 + 86_400_000, &rest).data(200);
    let points: f64 = pairs(&data["series"]).iter().map(|(_, value)| value).sum();
    let points = points as u64;
    assert_eq!(points % BATCH_POINTS, 0, "a batch was stored in part: {points} points");
    points / BATCH_POINTS
}

/// Runs writers until the server is killed during their writes; `sent[w]` counts the acknowledged
/// batches of writer `w`.
fn write_until_killed(
    server: &mut Server,
    acknowledged: &[AtomicU64],
    meanwhile: impl Fn(&Client),
) {
    let client = server.client();
    let killed = AtomicBool::new(false);
    let target: u64 = sum(acknowledged) + BATCHES_BEFORE_KILL;
    std::thread::scope(|scope| {
        for (writer, count) in acknowledged.iter().enumerate() {
            let (client, killed) = (&client, &killed);
            scope.spawn(move || {
                while !killed.load(Ordering::Relaxed) {
                    let number = count.load(Ordering::Relaxed);
                    let body = batch(writer, number);
                    let sent =
                        client.request("POST", "/api/v1/metrics/batch").json(&body).try_send();
                    match sent {
                        Ok(response) if response.status == 200 => {
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(response) => panic!("a write was refused: {}", response.summary()),
                        Err(_) => break,
                    }
                }
            });
        }
        meanwhile(&client);
        eventually("enough batches", || (sum(acknowledged) >= target).then_some(()));
        server.kill9();
        killed.store(true, Ordering::Relaxed);
    });
}

fn sum(counts: &[AtomicU64]) -> u64 {
    counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
}

/// Kills and restarts the server repeatedly. Every acknowledged batch is stored once; of each
/// writer at most the one batch in progress may be stored besides, and then counts as acknowledged.
fn survives_kills(setup: Setup, meanwhile: impl Fn(&Client)) {
    let mut server = setup.start();
    let acknowledged: Vec<AtomicU64> = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
    for round in 0..ROUNDS {
        write_until_killed(&mut server, &acknowledged, &meanwhile);
        server.restart();
        for (writer, count) in acknowledged.iter().enumerate() {
            let stored = stored_batches(&server.client(), writer);
            let known = count.load(Ordering::Relaxed);
            assert!(
                (known..=known + 1).contains(&stored),
                "round {round}, writer {writer}: {known} batches acknowledged, {stored} stored"
            );
            count.store(stored, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_kill_neither_loses_nor_duplicates_acknowledged_writes() {
    survives_kills(Setup::new(), |_| {});
}

#[test]
fn a_kill_during_seals_and_merges_neither_loses_nor_duplicates_writes() {
    let setup =
        Setup::new().set("storage.head_bytes", "\"1MiB\"").set("storage.head_age", "\"50ms\"");
    survives_kills(setup, |client| {
        for path in ["/api/v1/admin/seal", "/api/v1/admin/merge", "/api/v1/admin/seal"] {
            // The response may be lost in the kill on a slow machine; the stored data must not be.
            let _sealed = client.request("POST", path).try_send();
        }
    });
}

#[test]
fn a_kill_loses_nothing_without_syncs() {
    survives_kills(Setup::new().set("storage.durability", "\"interval:50\""), |_| {});
    survives_kills(Setup::new().set("storage.durability", "\"os\""), |_| {});
}

#[test]
fn a_write_that_is_repeated_after_a_kill_counts_once() {
    let mut server = Server::start();
    for round in 0..10_u64 {
        let key = format!("round-{round}");
        let body = batch(0, round);
        let client = server.client();
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let request = client.request("POST", "/api/v1/metrics/batch");
                request.header("idempotency-key", &key).json(&body).try_send()
            });
            server.kill9();
            assert!(sender.join().is_ok());
        });
        server.restart();
        let client = server.client();
        let request = client.request("POST", "/api/v1/metrics/batch");
        let data = request.header("idempotency-key", &key).json(&body).send().data(200);
        assert_eq!(data["accepted"], BATCH_POINTS);
        assert_eq!(stored_batches(&client, 0), round + 1);
    }
}

/// Returns one response of each kind, to be compared before and after.
fn responses(client: &Client) -> Vec<Value> {
    let day = |name, rest| query_metric(client, name, T0, T0 + 86_400_000, rest).data(200);
    vec![
        definitions(client).into(),
        client.get("/api/v1/metrics/gauge").data(200),
        client.get("/api/v1/metrics/set/tags").data(200),
        day("gauge", "&interval=1m&aggregation=avg,min,max,last&group_by=tags.host"),
        day("gauge", "&interval=1h&aggregation=avg,min,max,last"),
        day("counter", "&interval=5m&aggregation=sum,rate"),
        day("distribution", "&interval=1h&aggregation=avg,sum,min,max,p50,p90,p95,p99,count"),
        day("set", "&interval=1h"),
        day("set", "&interval=1d&group_by=tags.host"),
    ]
}

#[test]
fn results_do_not_change_when_data_ages() {
    let mut server = Server::start();
    let client = server.client();
    let mut points = Vec::new();
    for i in 0..700_i64 {
        let tags = json!({"host": format!("h{}", i % 3)});
        let ms = T0 + i * 77_777;
        points.push(point("gauge", "gauge", ms, (i % 91) as f64 / 7.0, tags.clone()));
        points.push(point("counter", "counter", ms, 1.25, tags.clone()));
        points.push(point("distribution", "distribution", ms, (i * i % 997) as f64, tags.clone()));
        points.push(point("set", "set", ms, format!("m{}", i % 53), tags));
    }
    send(&client, &points);
    let fresh = responses(&client);
    for path in ["/api/v1/admin/seal", "/api/v1/admin/merge", "/api/v1/admin/merge"] {
        assert_eq!(client.post(path, &json!({})).status, 200);
        assert_eq!(responses(&client), fresh, "after {path}");
    }
    server.kill9();
    server.restart();
    assert_eq!(responses(&server.client()), fresh, "after a kill");
    assert!(server.terminate().success());
    server.restart();
    assert_eq!(responses(&server.client()), fresh, "after a stop");
}

#[test]
fn a_stop_completes_requests_in_progress() {
    let mut server = Server::start();
    let client = server.client();
    let body = gauge("late", T0, 1.0).to_string();
    let mut wire = server.wire();
    wire.send(format!(
        "POST /api/v1/metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        telltale_tests::ADMIN_KEY,
        body.len()
    ));
    wire.send(&body.as_bytes()[..10]);
    // The request is in progress once the server has responded on a later connection.
    send(&client, &[gauge("early", T0, 1.0)]);
    server.signal("TERM");
    eventually("the server to refuse new work", || {
        match client.request("GET", "/readyz").try_send() {
            Ok(response) if response.status == 200 => None,
            _ => Some(()),
        }
    });
    wire.send(&body.as_bytes()[10..]);
    match wire.response() {
        Some(response) => drop(response.data(201)),
        None => panic!("a request under way was dropped"),
    }
    let status = server.wait_until_stopped();
    assert!(status.success(), "{status}");
    server.restart();
    for name in ["early", "late"] {
        assert_eq!(total_points(&server.client(), name), 1);
    }
}

fn total_points(client: &Client, name: &str) -> u64 {
    client.get(&format!("/api/v1/metrics/{name}")).data(200)["data_points"].as_u64().unwrap_or(0)
}

#[test]
fn a_stop_is_clean_and_fast() {
    let mut server = Server::start();
    send(&server.client(), &[gauge("a", T0, 1.0)]);
    let _idle = server.wire();
    let watch = telltale_tests::Stopwatch::start();
    let status = server.terminate();
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(watch.elapsed().as_secs() < 20, "{:?}", watch.elapsed());
}

#[test]
fn an_interrupt_stops_as_a_termination_does() {
    let mut server = Server::start();
    server.signal("INT");
    assert_eq!(server.wait_until_stopped().code(), Some(0));
}

/// Returns whether this process, and so the server it starts, ignores SIGHUP, as under `nohup`.
fn ignores_hang_ups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u128::from_str_radix(mask.trim(), 16).ok()).is_some_and(|m| m & 1 != 0)
}

#[test]
fn a_hang_up_stops_as_a_termination_does_and_seals() {
    let mut server = Server::start();
    send(&server.client(), &[gauge("a", T0, 1.0)]);
    if ignores_hang_ups() {
        server.signal("HUP");
        server.client().get("/healthz").expect(200);
        return;
    }
    // A terminal that closes may send SIGHUP twice.
    server.signal("HUP");
    server.signal("HUP");
    assert_eq!(server.wait_until_stopped().code(), Some(0));
    server.restart();
    let data = query_metric(&server.client(), "a", T0, T0 + 1, "&interval=1m").data(200);
    assert_eq!(pairs(&data["series"]), [(0, 1.0)]);
}

#[test]
fn all_increments_are_stored_after_many_restarts() {
    let mut server = Server::start();
    for round in 1..=5_i32 {
        let count = json!({"name": "c", "type": "counter", "value": 1, "timestamp": iso(T0)});
        send(&server.client(), &[count.clone(), count]);
        if round % 2 == 0 {
            assert!(server.terminate().success());
        }
        server.restart();
        assert_eq!(total(&server.client(), "c", T0, T0 + 1), f64::from(2 * round));
    }
}

/// Returns the modes of a directory and of everything in it.
#[expect(clippy::unwrap_used, reason = "a failing test may panic")]
fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
    let mut found = vec![(folder.to_owned(), mode(folder))];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(modes(&path));
        } else {
            found.push((path.clone(), mode(&path)));
        }
    }
    found
}

#[test]
fn other_users_of_the_machine_cannot_read_the_data() {
    let server = Server::start();
    send(&server.client(), &[gauge("a", T0, 1.0)]);
    let open: Vec<_> =
        modes(server.data()).into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
    assert_eq!(open, []);
}
