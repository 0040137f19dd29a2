//! The soak: a steady load of every kind on the real server, with the curve of memory, files, threads and disk. At the end every
//! count is exact, the loads were sent at their rates with few requests refused, and the curve is flat.
//!
//! `TELLTALE_SOAK_SECONDS` says how long it sends, a minute by default; `make soak SECONDS=3600` does so for an hour on the
//! release build. From a quarter of an hour on, the verdict is also about slopes (`verdict.rs`). `TELLTALE_SOAK_CURVE` names a file
//! for the curve, a line of values between tabs for each look.

mod curve;
mod dashboards;
mod errors;
mod events;
mod jobs;
mod pace;
mod random;
mod remote_write;
mod sender;
mod tally;
mod verdict;

use std::path::PathBuf;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use serde_json::json;
use telltale_tests::{Client, MINUTE_MS, Server, Setup, now_ms};

use crate::curve::Sample;
use crate::errors::Errors;
use crate::events::Events;
use crate::jobs::{Jobs, Worker};
use crate::pace::{Run, Totals};
use crate::remote_write::RemoteWrite;

/// How long it sends when nobody says, in seconds.
const SECONDS: u64 = 60;
/// `memory.limit`: small, so that what is bounded by it is at its bound soon.
const LIMIT: u64 = 256 << 20;
/// Time between two merges that are asked for in a short run; the server looks for some once a minute.
const MERGE_PERIOD: Duration = Duration::from_secs(15);

/// What all loads sent.
struct Sent {
    metrics: RemoteWrite,
    events: Events,
    errors: Errors,
    jobs: Jobs,
    workers: Vec<Worker>,
    polls: usize,
    curve: Vec<Sample>,
    totals: Totals,
}

#[test]
fn a_steady_load_is_counted_exactly_and_leaves_the_server_as_it_was() {
    let length = length();
    // Then what happens once a minute is hurried.
    let is_short = length < verdict::LONG;
    let mut server = setup(is_short).start();
    let client = server.client();
    let from_ms = now_ms() - MINUTE_MS;
    let sent = run_all(&server, length, is_short);
    let to_ms = now_ms() + MINUTE_MS;

    sent.jobs.check(&client, &sent.workers, from_ms, to_ms);
    sent.metrics.check(&client);
    sent.events.check(&client, from_ms, to_ms);
    sent.errors.check(&client);
    assert!(sent.polls > 0, "nobody looked at the dashboard");
    let page = client.get("/metrics");
    for seen in ["telltale_seals_total", "telltale_merges_total"] {
        assert!(figure(page.text(), seen).is_some_and(|count| count > 0), "{seen}");
    }
    for absent in ["telltale_panics_total", "telltale_damage_found", "telltale_blocks_quarantined"]
    {
        assert_eq!(figure(page.text(), absent), Some(0), "{absent}");
    }
    let complaints = verdict::complaints(&sent.curve, &sent.totals, length, LIMIT);
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
    assert!(server.terminate().success(), "the server stops in order");
}

/// How long it sends.
#[track_caller]
fn length() -> Duration {
    let Some(text) = setting("TELLTALE_SOAK_SECONDS") else { return Duration::from_secs(SECONDS) };
    match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(error) => panic!("TELLTALE_SOAK_SECONDS is {text:?}: {error}"),
    }
}

/// A server whose caches fill within minutes, and which forgets finished jobs soon, so that it may be flat after ten.
fn setup(is_short: bool) -> Setup {
    let setup = Setup::new()
        .set("memory.limit", &LIMIT.to_string())
        .set("storage.cache_bytes", "\"2MiB\"")
        .set("storage.event_cache_bytes", "\"2MiB\"")
        .set("storage.head_age", if is_short { "\"5s\"" } else { "\"60s\"" })
        .set("jobs.finished_keep", "\"5m\"")
        .set("jobs.retry_base_seconds", "1")
        .set("jobs.retry_jitter_seconds", "1");
    // On a busy machine a worker may be slow, and a widget late, without anything being wrong.
    setup.set("jobs.worker_silence", "\"5m\"").set("dashboards.widget_timeout_ms", "60000")
}

/// Lets all loads run beside each other, to the end.
fn run_all(server: &Server, length: Duration, is_short: bool) -> Sent {
    let client = || server.client();
    let key = errors::public_key(&client());
    let dashboard = dashboards::make(&client());
    let file = setting("TELLTALE_SOAK_CURVE").map(PathBuf::from);
    let periods = if is_short { (1, 10) } else { (5, 60) };
    let periods = (Duration::from_secs(periods.0), Duration::from_secs(periods.1));
    let (jobs, run) = (Jobs::default(), Run::new(length));
    let (run, jobs_known, key) = (&run, &jobs, key.as_str());
    let (metrics, events, errors, polls, workers, curve) = std::thread::scope(|scope| {
        let metrics = scope.spawn(|| run.watched(|| remote_write::send(run, client())));
        let events = scope.spawn(|| run.watched(|| events::send(run, client())));
        let errors = scope.spawn(|| run.watched(|| errors::send(run, client(), key)));
        let polls = scope.spawn(|| run.watched(|| dashboards::poll(run, client(), &dashboard)));
        let enqueued = scope.spawn(|| run.watched(|| jobs::enqueue(run, client(), jobs_known)));
        let merging = scope.spawn(|| run.watched(|| merge(run, &client(), is_short)));
        let workers: Vec<_> = (0..jobs::WORKERS)
            .map(|number| {
                let client = client();
                scope.spawn(move || run.watched(|| jobs::work(run, client, jobs_known, number)))
            })
            .collect();
        let curve = run.watched(|| curve::record(run, server, periods, file.as_deref()));
        joined(enqueued);
        joined(merging);
        let workers: Vec<Worker> = workers.into_iter().map(joined).collect();
        (joined(metrics), joined(events), joined(errors), joined(polls), workers, curve)
    });
    let totals = run.totals();
    Sent { metrics, events, errors, jobs, workers, polls, curve, totals }
}

/// Asks for merges in a short run, in which none would come by itself.
fn merge(run: &Run, client: &Client, is_short: bool) {
    if !is_short {
        return;
    }
    let mut pace = run.pace("merges", MERGE_PERIOD);
    while pace.wait() {
        let answer = client.post("/api/v1/admin/merge", &json!({}));
        assert_eq!(answer.status, 200, "{}", answer.summary());
    }
}

/// What a load sent; its panic when it failed.
fn joined<T>(load: ScopedJoinHandle<'_, T>) -> T {
    load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A figure of `/metrics`.
fn figure(page: &str, name: &str) -> Option<u64> {
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[expect(clippy::disallowed_methods, reason = "the soak has two settings of its own")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
