//! The soak test: a steady load of every kind on the real server, with a curve of its memory,
//! files, threads and disk use. At the end every count must be exact, the loads must have been sent
//! at their rates with few requests refused, and the curve must be flat.
//!
//! `TELLTALE_SOAK_SECONDS` sets how long it sends, a minute by default; `make soak SECONDS=3600`
//! runs an hour on the release build. From a quarter of an hour on, the verdict also covers slopes
//! (`verdict.rs`). `TELLTALE_SOAK_CURVE` names a file for the curve: one line of tab-separated
//! values for each sample.

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

use crate::curve::ServerSample;
use crate::errors::Errors;
use crate::events::Events;
use crate::jobs::{Jobs, Worker};
use crate::pace::{Run, Totals};
use crate::remote_write::RemoteWrite;

/// How long the loads send when the setting is absent, in seconds.
const SECONDS: u64 = 60;
/// `memory.limit`: small, so that the stores it bounds reach their bounds soon.
const LIMIT: u64 = 256 << 20;
/// Time between two compactions that a short run requests; the server checks for due ones once a
/// minute.
const COMPACTION_PERIOD: Duration = Duration::from_secs(15);

/// What all loads sent, and the curve of the server meanwhile.
struct LoadResults {
    metrics: RemoteWrite,
    events: Events,
    errors: Errors,
    jobs: Jobs,
    workers: Vec<Worker>,
    polls: usize,
    curve: Vec<ServerSample>,
    totals: Totals,
}

#[test]
fn a_steady_load_is_counted_exactly_and_leaves_the_server_as_it_was() {
    let length = length();
    // A short run shortens the periods of what otherwise happens once a minute.
    let is_short = length < verdict::LONG_RUN;
    let mut server = setup(is_short).start();
    let client = server.client();
    let from_ms = now_ms() - MINUTE_MS;
    let sent = run_all(&server, length, is_short);
    let to_ms = now_ms() + MINUTE_MS;

    sent.jobs.check(&client, &sent.workers, from_ms, to_ms);
    sent.metrics.check(&client);
    sent.events.check(&client, from_ms, to_ms);
    sent.errors.check(&client);
    assert!(sent.polls > 0, "the dashboard was never polled");
    let page = client.get("/metrics");
    for counted in ["telltale_seals_total", "telltale_merges_total"] {
        assert!(metric_value(page.text(), counted).is_some_and(|count| count > 0), "{counted}");
    }
    for absent in ["telltale_panics_total", "telltale_damage_found", "telltale_blocks_quarantined"]
    {
        assert_eq!(metric_value(page.text(), absent), Some(0), "{absent}");
    }
    let violations = verdict::violations(&sent.curve, &sent.totals, length, LIMIT);
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
    assert!(server.terminate().success(), "the server exits with success");
}

/// Returns how long the loads send.
#[track_caller]
fn length() -> Duration {
    let Some(text) = setting("TELLTALE_SOAK_SECONDS") else { return Duration::from_secs(SECONDS) };
    match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(error) => panic!("TELLTALE_SOAK_SECONDS is {text:?}: {error}"),
    }
}

/// Returns settings of a server whose caches fill within minutes and whose finished jobs are
/// deleted soon, so that its curve can be flat after ten minutes.
fn setup(is_short: bool) -> Setup {
    let setup = Setup::new()
        .set("memory.limit", &LIMIT.to_string())
        .set("storage.cache_bytes", "\"2MiB\"")
        .set("storage.event_cache_bytes", "\"2MiB\"")
        .set("storage.head_age", if is_short { "\"5s\"" } else { "\"60s\"" })
        .set("jobs.finished_keep", "\"5m\"")
        .set("jobs.retry_base_seconds", "1")
        .set("jobs.retry_jitter_seconds", "1");
    // On a busy machine a worker or a widget may be slow although nothing is wrong.
    setup.set("jobs.worker_silence", "\"5m\"").set("dashboards.widget_timeout_ms", "60000")
}

/// Runs all loads concurrently, to the end.
fn run_all(server: &Server, length: Duration, is_short: bool) -> LoadResults {
    let client = || server.client();
    let key = errors::public_key(&client());
    let dashboard = dashboards::create(&client());
    let file = setting("TELLTALE_SOAK_CURVE").map(PathBuf::from);
    let periods = if is_short { (1, 10) } else { (5, 60) };
    let periods = (Duration::from_secs(periods.0), Duration::from_secs(periods.1));
    let (jobs, run) = (Jobs::default(), Run::new(length));
    let (run, shared_jobs, key) = (&run, &jobs, key.as_str());
    let (metrics, events, errors, polls, workers, curve) = std::thread::scope(|scope| {
        let metrics = scope.spawn(|| run.run_load(|| remote_write::send(run, client())));
        let events = scope.spawn(|| run.run_load(|| events::send(run, client())));
        let errors = scope.spawn(|| run.run_load(|| errors::send(run, client(), key)));
        let polls = scope.spawn(|| run.run_load(|| dashboards::poll(run, client(), &dashboard)));
        let enqueued = scope.spawn(|| run.run_load(|| jobs::enqueue(run, client(), shared_jobs)));
        let compacting =
            scope.spawn(|| run.run_load(|| request_compactions(run, &client(), is_short)));
        let workers: Vec<_> = (0..jobs::WORKERS)
            .map(|number| {
                let client = client();
                scope.spawn(move || run.run_load(|| jobs::work(run, client, shared_jobs, number)))
            })
            .collect();
        let curve = run.run_load(|| curve::record(run, server, periods, file.as_deref()));
        joined(enqueued);
        joined(compacting);
        let workers: Vec<Worker> = workers.into_iter().map(joined).collect();
        (joined(metrics), joined(events), joined(errors), joined(polls), workers, curve)
    });
    let totals = run.totals();
    LoadResults { metrics, events, errors, jobs, workers, polls, curve, totals }
}

/// Requests compactions in a short run, which would otherwise see none.
fn request_compactions(run: &Run, client: &Client, is_short: bool) {
    if !is_short {
        return;
    }
    let mut schedule = run.schedule("compactions", COMPACTION_PERIOD);
    while schedule.wait() {
        let response = client.post("/api/v1/admin/merge", &json!({}));
        assert_eq!(response.status, 200, "{}", response.summary());
    }
}

/// Returns what a load sent; resumes its panic when it failed.
fn joined<T>(load: ScopedJoinHandle<'_, T>) -> T {
    load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the value of a metric without labels on a page of `/metrics`.
fn metric_value(page: &str, name: &str) -> Option<u64> {
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[expect(clippy::disallowed_methods, reason = "the soak has two settings of its own")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
