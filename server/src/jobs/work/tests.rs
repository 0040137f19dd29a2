//! Tests of a workshop.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use telltale_engine::{Clock, Engine, Options};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use super::kind::SPARE_SECONDS;
use super::*;
use crate::jobs::{DeadFilter, JobStatus, Jobs, JobsSettings, QueueOwner, WorkerStatus};
use crate::platform::ids::Ids;
use crate::platform::settings::Period;
use crate::platform::ticks::Ticks;

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    text: String,
}

const NOTES: WorkKind<Note> = WorkKind::new("test.note", "telltale").attempts(1);
const SHORT: WorkKind<Note> =
    WorkKind::new("test.short", "telltale").attempts(1).timeout_seconds(1);
const OTHER: WorkKind<Note> = WorkKind::new("test.other", "telltale").attempts(1);

/// Jobs, and a workshop that reports what it executes.
struct House {
    _dir: TempDir,
    jobs: Arc<Jobs>,
    runtime: Runtime,
    begun: mpsc::UnboundedReceiver<String>,
    done: mpsc::UnboundedReceiver<String>,
    end: watch::Sender<bool>,
    workshop: Option<tokio::task::JoinHandle<()>>,
}

impl House {
    /// Opens a workshop whose notes finish when `gate` opens.
    fn open(gate: watch::Receiver<bool>) -> Self {
        Self::with(gate, JobsSettings::default(), Duration::from_secs(30))
    }

    fn with(gate: watch::Receiver<bool>, settings: JobsSettings, drain: Duration) -> Self {
        let dir = TempDir::new().unwrap();
        let engine =
            Engine::open(dir.path(), Options { cache_bytes: 16 << 20, ..Options::default() });
        let clock = Clock::system();
        let ids = Arc::new(Ids::new(clock.clone()).unwrap());
        let jobs = Jobs::open(engine.unwrap(), clock, Ticks::system(), ids, settings);
        let jobs = Arc::new(jobs.unwrap());
        let (begin, begun) = mpsc::unbounded_channel();
        let (tell, done) = mpsc::unbounded_channel();
        let workshop = WorkerPool::new().queue("telltale", 2);
        let workshop = workshop.on(&SHORT, |_| std::future::pending());
        let workshop = workshop.on(&NOTES, move |note: Note| {
            begin.send(note.text.clone()).unwrap();
            let (tell, mut gate) = (tell.clone(), gate.clone());
            async move {
                gate.wait_for(|open| *open).await.unwrap();
                match note.text.as_str() {
                    "panic" => panic!("as planned"),
                    "fail" => return Err(WorkError::new("Planned", "to fail")),
                    _ => tell.send(note.text).unwrap(),
                }
                Ok(())
            }
        });
        let runtime = Runtime::new().unwrap();
        let (end, ending) = watch::channel(false);
        let run = workshop.run(Arc::clone(&jobs), ending, drain);
        let workshop = Some(runtime.spawn(run));
        Self { _dir: dir, jobs, runtime, begun, done, end, workshop }
    }

    fn enqueue_work(&self, text: &str) -> crate::jobs::JobId {
        let note = Note { text: text.to_owned() };
        self.runtime.block_on(NOTES.enqueue_work(&self.jobs, &note)).unwrap().id
    }

    /// Ends the workshop and waits for its end.
    fn end(&mut self) {
        self.end.send_replace(true);
        let workshop = self.workshop.take().unwrap();
        self.runtime.block_on(workshop).unwrap();
    }

    /// Waits for this many dead jobs and returns their error classes.
    fn dead(&self, count: usize) -> Vec<String> {
        self.runtime.block_on(async {
            loop {
                let filter = DeadFilter { whose: QueueOwner::All, ..DeadFilter::default() };
                let page = self.jobs.dead_jobs(filter, 0, 10).await.unwrap();
                if page.total == count {
                    return page
                        .jobs
                        .iter()
                        .rev()
                        .map(|job| job.dead.error_class.to_string())
                        .collect();
                }
            }
        })
    }
}

#[test]
fn items_are_executed_and_failures_become_dead_jobs() {
    let (_open, gate) = watch::channel(true);
    let mut house = House::open(gate);
    let id = house.enqueue_work("one");
    assert_eq!(house.done.blocking_recv().as_deref(), Some("one"));
    house.enqueue_work("fail");
    assert_eq!(house.dead(1), ["Planned"]);
    house.enqueue_work("panic");
    assert_eq!(house.dead(2), ["Planned", "Panic"]);
    let note = Note { text: String::new() };
    house.runtime.block_on(OTHER.enqueue_work(&house.jobs, &note)).unwrap();
    assert_eq!(house.dead(3), ["Planned", "Panic", "UnknownClass"]);
    house.end();
    assert_eq!(house.runtime.block_on(house.jobs.job(id)).unwrap().0.status, JobStatus::Completed);
    assert!(house.runtime.block_on(house.jobs.workers()).unwrap().is_empty(), "it has left");
}

#[test]
fn an_item_with_a_key_is_enqueued_once() {
    let (open, gate) = watch::channel(false);
    let mut house = House::open(gate);
    let note = Note { text: "once".to_owned() };
    let results = Mutex::new(Vec::new());
    for _ in 0..3 {
        results.lock().push(NOTES.enqueue_once(&house.jobs, &note, "key").unwrap());
    }
    assert_eq!(results.into_inner(), [true, false, false]);
    open.send_replace(true);
    assert_eq!(house.done.blocking_recv().as_deref(), Some("once"));
    house.end();
    assert!(house.done.try_recv().is_err());
}

#[test]
fn running_items_finish_before_the_end() {
    let (open, gate) = watch::channel(false);
    let mut house = House::open(gate);
    let id = house.enqueue_work("slow");
    assert_eq!(house.begun.blocking_recv().as_deref(), Some("slow"));
    house.end.send_replace(true);
    open.send_replace(true);
    house.end();
    assert_eq!(house.runtime.block_on(house.jobs.job(id)).unwrap().0.status, JobStatus::Completed);
}

#[test]
fn the_workshop_is_listed_as_a_worker_and_can_be_stopped() {
    let (_open, gate) = watch::channel(true);
    let mut house = House::open(gate);
    house.enqueue_work("one");
    assert_eq!(house.done.blocking_recv().as_deref(), Some("one"));
    let worker = house.runtime.block_on(house.jobs.workers()).unwrap().remove(0);
    assert_eq!(worker.about.pid, Some(std::process::id()));
    assert_eq!(worker.about.concurrency, 2);
    assert!(!worker.about.hostname.is_empty());
    house.runtime.block_on(house.jobs.restrict(worker.id, WorkerStatus::Stopping)).unwrap();
    let id = house.enqueue_work("two");
    assert_eq!(house.runtime.block_on(house.jobs.job(id)).unwrap().0.status, JobStatus::Ready);
    house.end();
    assert!(house.done.try_recv().is_err(), "it started nothing more");
}

#[test]
fn an_item_times_out_before_its_lease_ends() {
    let (_open, gate) = watch::channel(true);
    let mut house = House::open(gate);
    let note = Note { text: String::new() };
    let ticks = Ticks::system();
    house.runtime.block_on(SHORT.enqueue_work(&house.jobs, &note)).unwrap();
    assert_eq!(house.dead(1), ["TimedOut"]);
    let took = ticks.elapsed();
    let held = Duration::from_secs((SHORT.timeout_seconds + SPARE_SECONDS).into());
    assert!(took >= Duration::from_secs(SHORT.timeout_seconds.into()), "{took:?}");
    assert!(took < held / 2, "the spare time is not used: {took:?}");
    house.end();
}

#[test]
fn a_stopping_worker_sends_heartbeats_until_its_items_are_done_or_the_server_ends() {
    let (open, gate) = watch::channel(false);
    let worker_silence = Period::from(Duration::from_secs(1));
    let settings = JobsSettings { worker_silence, ..JobsSettings::default() };
    let mut house = House::with(gate, settings, Duration::ZERO);
    let (slow, stuck) = (house.enqueue_work("slow"), house.enqueue_work("stuck"));
    assert!(house.begun.blocking_recv().is_some());
    assert!(house.begun.blocking_recv().is_some(), "both");
    let worker = house.runtime.block_on(house.jobs.workers()).unwrap().remove(0).id;
    house.runtime.block_on(async {
        house.jobs.restrict(worker, WorkerStatus::Stopping).await.unwrap();
        // Longer than the heartbeat timeout.
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(house.jobs.job(slow).await.unwrap().0.attempts, 1);
        assert!(house.jobs.worker(worker).await.is_ok());
    });
    // Without time to drain, it leaves at once.
    house.end();
    assert_eq!(house.runtime.block_on(house.jobs.job(stuck)).unwrap().0.status, JobStatus::Ready);
    drop(open);
}
