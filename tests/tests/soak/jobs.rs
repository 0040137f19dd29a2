//! Jobs: a producer that enqueues them, and five workers. Most succeed, some of them at a scheduled
//! time or after a failed attempt, and some never do. Each must end once, as its class requires.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, eventually, iso, now_ms};

use crate::pace::Run;
use crate::random::Random;
use crate::sender::Sender;

/// Workers, each a thread with one job at a time.
pub(crate) const WORKERS: usize = 5;
/// Time between two batches of new jobs, and jobs of a batch.
const PERIOD: Duration = Duration::from_millis(500);
const BATCH: usize = 4;
/// How far ahead a scheduled job is due.
const SCHEDULED_MS: i64 = 2_000;
/// The most attempts of a job.
const ATTEMPTS: u64 = 2;
/// Time between two heartbeats of a worker.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long the workers may take to finish the remaining jobs after the run: retries wait a few
/// seconds.
const DRAIN: Duration = Duration::from_secs(120);
const QUEUE: &str = "soak";
const JOBS: &str = "/api/v1/jobs";

/// How a job is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlannedOutcome {
    Succeeds,
    Scheduled,
    FailsOnce,
    Dies,
}

impl PlannedOutcome {
    fn next(random: &mut Random) -> Self {
        match random.below(20) {
            0 => Self::Dies,
            1 | 2 => Self::FailsOnce,
            3 | 4 => Self::Scheduled,
            _ => Self::Succeeds,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Succeeds => "Succeeds",
            Self::Scheduled => "Scheduled",
            Self::FailsOnce => "FailsOnce",
            Self::Dies => "Dies",
        }
    }

    fn body(self) -> Value {
        let mut job = json!({
            "class_name": self.class(), "queue": QUEUE, "max_attempts": ATTEMPTS,
            "arguments": {"order": 17, "to": "ann@example.com"}
        });
        if self == Self::Scheduled {
            job["run_at"] = json!(iso(now_ms() + SCHEDULED_MS));
        }
        job
    }

    /// Returns how many attempts it takes until it ends, and how many of them fail.
    fn attempts(self) -> (u64, u64) {
        match self {
            Self::Succeeds | Self::Scheduled => (1, 0),
            Self::FailsOnce => (2, 1),
            Self::Dies => (ATTEMPTS, ATTEMPTS),
        }
    }

    /// Returns the status it must end with.
    fn final_status(self) -> &'static str {
        if self == Self::Dies { "dead" } else { "completed" }
    }
}

/// What the producer and the workers record about the jobs.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    enqueued: Mutex<BTreeMap<String, PlannedOutcome>>,
    /// The status that each job ended with, by id.
    ended: Mutex<BTreeMap<String, String>>,
    all_enqueued: AtomicBool,
}

/// What a worker did.
#[derive(Debug)]
pub(crate) struct Worker {
    path: String,
    processed: u64,
    failed: u64,
}

/// Enqueues jobs until the run is over.
pub(crate) fn enqueue(run: &Run, client: Client, jobs: &Jobs) {
    let mut sender = Sender::new(run, client, "jobs");
    let mut random = Random::new(4);
    let mut schedule = run.schedule("jobs", PERIOD);
    while schedule.wait() {
        let outcomes: Vec<PlannedOutcome> =
            (0..BATCH).map(|_| PlannedOutcome::next(&mut random)).collect();
        let bodies: Vec<Value> = outcomes.iter().map(|outcome| outcome.body()).collect();
        let body = json!({ "jobs": bodies });
        let response = sender.send(|client, key| {
            let path = format!("{JOBS}/batch");
            client.request("POST", &path).header("idempotency-key", key).json(&body).send()
        });
        let enqueued = response.expect(201);
        assert_eq!(
            (&enqueued["accepted"], &enqueued["rejected"]),
            (&json!(BATCH), &json!(0)),
            "{enqueued}"
        );
        let ids = enqueued["job_ids"].as_array().into_iter().flatten();
        lock_ignoring_poison(&jobs.enqueued).extend(ids.map(string).zip(outcomes));
    }
    jobs.all_enqueued.store(true, Ordering::Release);
}

/// Works until all jobs have ended.
pub(crate) fn work(run: &Run, client: Client, jobs: &Jobs, number: usize) -> Worker {
    let mut sender = Sender::new(run, client, format!("worker-{number}"));
    let worker =
        json!({"hostname": "soak", "pid": 1 + number, "queues": [QUEUE], "concurrency": 1});
    let registered = sender.send(|client, _| client.post("/api/v1/workers", &worker)).expect(201);
    let path = format!("/api/v1/workers/{}", string(&registered["id"]));
    let mut worker = Worker { path, processed: 0, failed: 0 };
    let mut last_heartbeat = run.elapsed();
    while !jobs.are_done() && !run.has_failed() {
        assert!(run.elapsed() < run.length() + DRAIN, "unfinished jobs: {}", jobs.unfinished());
        if run.elapsed() >= last_heartbeat + HEARTBEAT {
            let path = format!("{}/heartbeat", worker.path);
            let body = json!({"busy_threads": 0, "memory_mb": 64});
            sender.send(|client, _| client.post(&path, &body)).expect(200);
            last_heartbeat = run.elapsed();
        }
        let fetch = format!("{}/fetch", worker.path);
        let body = json!({"limit": 1, "wait_seconds": 1});
        let fetched = sender.send(|client, _| client.post(&fetch, &body)).expect(200);
        for job in fetched["jobs"].as_array().into_iter().flatten() {
            worker.finish(&mut sender, jobs, job);
        }
    }
    worker
}

impl Worker {
    /// Ends one attempt of a job.
    #[track_caller]
    fn finish(&mut self, sender: &mut Sender<'_>, jobs: &Jobs, job: &Value) {
        let (id, token) = (string(&job["job_id"]), &job["reservation_token"]);
        let class = job["class_name"].as_str().unwrap_or_default();
        let fails = match class {
            "Dies" => true,
            "FailsOnce" => job["attempt"] == 1,
            _ => false,
        };
        let (verb, body) = if fails {
            let report = json!({
                "reservation_token": token, "error_class": "SoakFailure",
                "error_message": "this job has to fail", "backtrace": ["soak.rb:1"]
            });
            ("fail", report)
        } else {
            ("ack", json!({ "reservation_token": token }))
        };
        let path = format!("{JOBS}/{id}/{verb}");
        let response = sender.send(|client, key| {
            client.request("POST", &path).header("idempotency-key", key).json(&body).send()
        });
        let status = string(&response.expect(200)["status"]);
        self.processed += 1;
        self.failed += u64::from(fails);
        if status != "retrying" {
            let before = lock_ignoring_poison(&jobs.ended).insert(id.clone(), status);
            assert_eq!(before, None, "{id} ended twice");
        }
    }
}

impl Jobs {
    fn are_done(&self) -> bool {
        self.all_enqueued.load(Ordering::Acquire) && self.unfinished() == 0
    }

    /// Returns how many jobs were enqueued and have not ended.
    fn unfinished(&self) -> usize {
        let enqueued = lock_ignoring_poison(&self.enqueued).len();
        enqueued.saturating_sub(lock_ignoring_poison(&self.ended).len())
    }

    /// Fails unless each job ended once, as its class requires, and the server counts the same.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client, workers: &[Worker], from_ms: i64, to_ms: i64) {
        for worker in workers {
            let shown = client.get(&worker.path).expect(200);
            let counts = (&shown["processed_count"], &shown["failed_count"]);
            assert_eq!(counts, (&json!(worker.processed), &json!(worker.failed)), "{shown}");
        }
        let (enqueued, ended) =
            (lock_ignoring_poison(&self.enqueued), lock_ignoring_poison(&self.ended));
        let expected: BTreeMap<&str, &str> =
            enqueued.iter().map(|(id, outcome)| (id.as_str(), outcome.final_status())).collect();
        let found: BTreeMap<&str, &str> =
            ended.iter().map(|(id, status)| (id.as_str(), status.as_str())).collect();
        assert_eq!(found, expected, "how the jobs ended");
        let dead = enqueued.values().filter(|outcome| **outcome == PlannedOutcome::Dies).count();
        let listed = client.get(&format!("/api/v1/dead-jobs?queue={QUEUE}&limit=1")).expect(200);
        assert_eq!(listed["total"], dead, "dead jobs");
        let queue = client.get(&format!("/api/v1/queues/{QUEUE}")).expect(200);
        for state in ["size", "scheduled", "retrying", "running"] {
            assert_eq!(queue[state], 0, "{state} in {queue}");
        }
        let attempts = enqueued.values().map(|outcome| outcome.attempts().0).sum();
        let failed = enqueued.values().map(|outcome| outcome.attempts().1).sum();
        for (what, count) in [
            ("enqueued", enqueued.len() as u64),
            ("processed", attempts),
            ("failed", failed),
            ("died", dead as u64),
        ] {
            // The histories are stored once a second.
            eventually(&format!("the history of {count} jobs {what}"), || {
                (history_sum(client, what, from_ms, to_ms) == count).then_some(())
            });
        }
    }
}

/// Returns the sum of the history of the queue between two times.
#[track_caller]
fn history_sum(client: &Client, what: &str, from_ms: i64, to_ms: i64) -> u64 {
    let path = format!(
        "/api/v1/metrics/telltale.jobs.{what}/query?from={}&to={}&interval=1h&aggregation=sum&tags[queue]={QUEUE}",
        iso(from_ms),
        iso(to_ms)
    );
    let response = client.get(&path);
    if response.status == 404 {
        return 0;
    }
    let series = response.data(200)["series"].clone();
    let values = series.as_array().into_iter().flatten();
    values.map(|point| point["value"].as_f64().unwrap_or(0.0) as u64).sum()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
