//! Tests of the ledger with its thread, on a real engine.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures_util::FutureExt;
use telltale_engine::{Clock, Engine, Memory, Options, Receipt, RecordBatch, TimestampMs};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::*;
use crate::limits;
use crate::platform::ids::Ids;
use crate::platform::ticks::Ticks;

pub(super) const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

/// Jobs on an engine of their own, with a manual clock.
pub(super) struct Fixture {
    pub(super) dir: TempDir,
    pub(super) clock: Clock,
    pub(super) engine: Engine,
    pub(super) jobs: Arc<Jobs>,
    pub(super) runtime: Runtime,
}

/// Opens the jobs of an engine with default settings.
pub(super) fn open(engine: &Engine, clock: &Clock, ticks: Ticks) -> Jobs {
    open_with(engine, clock, ticks, JobsSettings::default())
}

pub(super) fn open_with(
    engine: &Engine,
    clock: &Clock,
    ticks: Ticks,
    settings: JobsSettings,
) -> Jobs {
    let ids = Arc::new(Ids::new(clock.clone()).unwrap());
    Jobs::open(engine.clone(), clock.clone(), ticks, ids, settings).unwrap()
}

impl Fixture {
    /// Opens jobs with a manual wall clock and the system's monotonic clock.
    pub(super) fn open() -> Self {
        Self::with(|_| Ticks::system())
    }

    /// Opens jobs whose wall clock and monotonic clock are both manual.
    pub(super) fn with_manual_clocks() -> Self {
        Self::with(|clock| Ticks::following(clock.clone()))
    }

    pub(super) fn with(ticks: impl FnOnce(&Clock) -> Ticks) -> Self {
        Self::with_settings(ticks, JobsSettings::default())
    }

    pub(super) fn with_settings(
        ticks: impl FnOnce(&Clock) -> Ticks,
        settings: JobsSettings,
    ) -> Self {
        Self::with_memory(ticks, settings, Memory::unlimited())
    }

    pub(super) fn with_memory(
        ticks: impl FnOnce(&Clock) -> Ticks,
        settings: JobsSettings,
        memory: Memory,
    ) -> Self {
        let dir = TempDir::new().unwrap();
        let clock = Clock::manual(NOW);
        let options =
            Options { clock: clock.clone(), cache_bytes: 16 << 20, memory, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let jobs = Arc::new(open_with(&engine, &clock, ticks(&clock), settings));
        let runtime = Runtime::new().unwrap();
        Self { dir, clock, engine, jobs, runtime }
    }

    pub(super) fn enqueue(&self, class: &str) -> JobId {
        let drafted = self.jobs.draft(job(class));
        self.runtime.block_on(self.jobs.enqueue(drafted, None)).unwrap().id
    }

    pub(super) fn register(&self) -> WorkerId {
        self.register_for("default")
    }

    pub(super) fn register_for(&self, queue: &str) -> WorkerId {
        let about = NewWorker {
            hostname: "h".into(),
            pid: None,
            queues: vec![QueueName::own(queue).unwrap()],
            concurrency: 1,
        };
        self.runtime.block_on(self.jobs.register(about)).unwrap().id
    }

    pub(super) fn fetch(&self, worker: WorkerId) -> Vec<HeldJob> {
        self.runtime.block_on(self.jobs.fetch(worker, 100, Duration::ZERO)).unwrap().keep()
    }

    pub(super) fn status(&self, id: JobId) -> JobStatus {
        self.runtime.block_on(self.jobs.job(id)).unwrap().0.status
    }

    /// Blocks the ledger in the middle of a cycle that the drafted jobs fill, until the returned
    /// sender is dropped. The cycle then drops `last`.
    pub(super) fn block_ledger(
        &self,
        drafted: Vec<Drafted>,
        last: impl Send + 'static,
    ) -> mpsc::Sender<()> {
        let (go_on, gate) = mpsc::channel::<()>();
        let (arrive, arrived) = mpsc::channel::<()>();
        let wait = move |_| {
            drop(arrive);
            gate.recv().unwrap_err();
            drop(last);
            ((), None)
        };
        let mut holding = Box::pin(self.jobs.enqueue_all(drafted, wait));
        assert!((&mut holding).now_or_never().is_none());
        arrived.recv().unwrap_err();
        go_on
    }

    /// Returns enough jobs to fill a cycle.
    pub(super) fn full_cycle(&self) -> Vec<Drafted> {
        (0..3).map(|_| self.jobs.draft(large("other", 3 << 20))).collect()
    }

    /// Corrupts the stored body of a job.
    pub(super) fn corrupt_body(&self, id: JobId) {
        let mut batch = RecordBatch::new();
        batch.put(stored::BODIES, &id.key(), b"\xffno body".to_vec());
        self.engine.records().write(batch).unwrap();
    }

    /// Advances both clocks.
    pub(super) fn pass(&self, ms: i64) {
        self.clock.set(TimestampMs(self.clock.now().0 + ms));
    }
}

pub(super) fn job(class: &str) -> NewJob {
    NewJob {
        class: ClassName::new(class).unwrap(),
        queue: QueueName::new("default").unwrap(),
        arguments: r#"{"n":1}"#.into(),
        run_at: None,
        max_attempts: 3,
        unique: None,
        timeout_seconds: None,
    }
}

/// Returns a job with this many bytes of arguments.
pub(super) fn large(queue: &str, bytes: usize) -> NewJob {
    let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes)).into();
    NewJob { queue: QueueName::new(queue).unwrap(), arguments, ..job("Large") }
}

/// Returns a job too large for a record, so that the write of its cycle fails.
pub(super) fn too_large() -> NewJob {
    large("default", telltale_engine::limits::RECORD_VALUE_BYTES_MAX)
}

#[test]
fn a_waiting_fetch_gets_the_next_job() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let (jobs, other) = (Arc::clone(&fixture.jobs), Arc::clone(&fixture.jobs));
    let (id, fetched) = fixture.runtime.block_on(async move {
        let waiting =
            tokio::spawn(async move { jobs.fetch(worker, 1, Duration::from_secs(60)).await });
        let drafted = other.draft(job("A"));
        let id = other.enqueue(drafted, None).await.unwrap().id;
        (id, waiting.await.unwrap().unwrap().keep())
    });
    assert_eq!(fetched[0].id, id);
    assert_eq!((&*fetched[0].class, &*fetched[0].arguments), ("A", r#"{"n":1}"#));
}

#[test]
fn jobs_whose_fetch_was_dropped_return_to_the_front_without_counting() {
    let fixture = Fixture::open();
    let (gone, stays) = (fixture.register(), fixture.register());
    let ids: Vec<JobId> = (0..3).map(|_| fixture.enqueue("A")).collect();
    let granted = fixture.runtime.block_on(fixture.jobs.fetch(gone, 2, Duration::ZERO)).unwrap();
    assert_eq!(granted.jobs().len(), 2);
    drop(granted);
    let fetched = fixture.fetch(stays);
    assert!(fetched.iter().map(|held| held.id).eq(ids), "in their original order");
    assert!(fetched.iter().all(|held| held.attempt == 1));
}

#[test]
fn a_cancelled_fetch_gets_no_job_and_loses_none() {
    let fixture = Fixture::open();
    let (gone, stays) = (fixture.register(), fixture.register());
    let jobs = Arc::clone(&fixture.jobs);
    fixture.runtime.block_on(async move {
        for _ in 0..50 {
            let mut waiting = Box::pin(jobs.fetch(gone, 1, Duration::from_secs(60)));
            let drafted = jobs.draft(job("A"));
            // A job that was returned before may be granted at once; it is dropped likewise.
            drop((&mut waiting).now_or_never());
            jobs.enqueue(drafted, None).await.unwrap();
        }
        // Waits for the end of a cycle that may have started before the last job returned.
        jobs.queues().await.unwrap();
    });
    assert_eq!(fixture.fetch(stays).len(), 50);
}

#[test]
fn a_job_that_cannot_be_read_dies_with_the_reason() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let (bad, good) = (fixture.enqueue("Bad"), fixture.enqueue("Good"));
    fixture.corrupt_body(bad);
    let shown = fixture.runtime.block_on(fixture.jobs.job(bad));
    assert!(matches!(shown, Err(JobsError::Failed(_))), "it exists and cannot be read: {shown:?}");
    let fetched = fixture.fetch(worker);
    assert!(fetched.iter().map(|held| held.id).eq([good]), "the other one is granted");
    let page = fixture.runtime.block_on(async {
        // Waits for a second cycle: the first one found the damage.
        fixture.jobs.queues().await.unwrap();
        fixture.jobs.dead_jobs(DeadFilter::default(), 0, 10).await.unwrap()
    });
    assert_eq!((page.total, page.jobs.len()), (1, 1));
    let dead = &page.jobs[0];
    assert_eq!((dead.dead.job, &*dead.dead.error_class), (bad, "Unreadable"));
    assert_eq!((&*dead.arguments, dead.enqueued_at), ("{}", NOW));
    let retried = fixture.runtime.block_on(fixture.jobs.retry(DeadJobId::Dead(dead.dead.id)));
    assert!(matches!(retried, Err(JobsError::Failed(_))), "there is no body to retry with");
}

#[test]
fn a_wall_clock_jump_expires_no_job_and_no_worker() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let id = fixture.enqueue("A");
    let held = fixture.fetch(worker).remove(0);
    for jump_ms in [86_400_000, -3 * 86_400_000] {
        fixture.clock.set(TimestampMs(fixture.clock.now().0 + jump_ms));
        assert_eq!(fixture.status(id), JobStatus::Running, "after {jump_ms}");
        fixture.runtime.block_on(fixture.jobs.heartbeat(worker, WorkerUsage::default())).unwrap();
    }
    fixture.runtime.block_on(fixture.jobs.ack(id, Some(held.token))).unwrap();
    assert_eq!(fixture.status(id), JobStatus::Completed);
}

#[test]
fn a_purge_takes_as_many_steps_as_needed() {
    let fixture = Fixture::open();
    let many = 2 * limits::LEDGER_STEP_JOBS_MAX + 7;
    let drafted = (0..many).map(|_| fixture.jobs.draft(job("A"))).collect();
    let answer = |taken: Vec<_>| (taken.iter().all(Result::is_ok), None);
    assert!(fixture.runtime.block_on(fixture.jobs.enqueue_all(drafted, answer)).unwrap());
    assert_eq!(
        fixture.runtime.block_on(fixture.jobs.purge(QueueName::stored("default"))).unwrap(),
        many
    );
    let queue = fixture.runtime.block_on(fixture.jobs.queue(QueueName::stored("default"))).unwrap();
    assert_eq!(queue.ready, 0);
}

#[test]
fn a_ledger_that_is_closed_and_reopened_knows_all_jobs() {
    let fixture = Fixture::open();
    let id = fixture.enqueue("A");
    fixture.jobs.close();
    let refused = fixture.runtime.block_on(fixture.jobs.queues());
    assert!(matches!(refused, Err(JobsError::Unavailable(_))));
    let Fixture { dir, clock, engine, jobs, runtime } = fixture;
    drop(jobs);
    drop(engine);
    let engine = Engine::open(dir.path(), Options::default()).unwrap();
    let jobs = open(&engine, &clock, Ticks::system());
    assert_eq!(runtime.block_on(jobs.job(id)).unwrap().0.status, JobStatus::Ready);
}

#[test]
fn ended_attempts_are_in_the_history() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let ids: Vec<JobId> = ["A", "A", "B"].map(|class| fixture.enqueue(class)).to_vec();
    let held = fixture.fetch(worker);
    fixture.clock.set(TimestampMs(NOW.0 + 4_000));
    for one in &held[..2] {
        fixture.runtime.block_on(fixture.jobs.ack(one.id, Some(one.token))).unwrap();
    }
    let report = FailureReport::new("Boom", "", Vec::new());
    fixture.runtime.block_on(fixture.jobs.fail(ids[2], Some(held[2].token), report)).unwrap();
    fixture.jobs.sample(fixture.clock.now()).unwrap();
    fixture.jobs.write_history(fixture.clock.now()).unwrap();
    let history = fixture.jobs.history();
    let today = history.today("default").unwrap();
    assert_eq!((today.processed, today.failed), (3, 1));
    assert_eq!(today.avg_duration_ms, 4_000.0);
    assert_eq!(today.top_classes, [("A".to_owned(), 2), ("B".to_owned(), 1)]);
    let lately = history.throughput().unwrap()["default"];
    assert_eq!(lately, QueueThroughput { per_minute: 3, per_hour: 3 });
    let moments = history.queue("default", Period::Hour, Resolution::Minute).unwrap();
    assert_eq!(moments.len(), 60);
    assert_eq!(
        moments.last().map(|moment| (moment.size, moment.throughput, moment.failures)),
        Some((Some(0.0), 3, 1))
    );
    let past = history.workers(Period::Hour, QueueOwner::Users).unwrap();
    assert_eq!((past.totals.max_workers, past.totals.processed, past.totals.failed), (1.0, 3, 1));
    assert!(fixture.jobs.write_history(fixture.clock.now()).is_ok(), "nothing is written twice");
    assert_eq!(fixture.jobs.history().today("default").unwrap().processed, 3);
}

#[test]
fn cancelled_fetches_do_not_count_as_waiting() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let jobs = &fixture.jobs;
    fixture.runtime.block_on(async {
        for _ in 0..=jobs.settings().waiters_max() / 1_000 {
            let mut waiting = Vec::new();
            for _ in 0..1_000 {
                let mut one = Box::pin(jobs.fetch(worker, 1, Duration::from_secs(60)));
                assert!((&mut one).now_or_never().is_none(), "there is no job");
                waiting.push(one);
            }
            // All of them are waiting when this returns.
            jobs.queues().await.unwrap();
        }
        let more = jobs.fetch(worker, 1, Duration::from_millis(1)).await;
        assert!(more.is_ok(), "{more:?}");
    });
}

#[test]
fn after_a_failed_write_queries_are_answered_and_returned_jobs_are_kept() {
    let fixture = Fixture::with_manual_clocks();
    let (gone, stays) = (fixture.register(), fixture.register());
    let id = fixture.enqueue("A");
    let soon = NewJob { run_at: Some(TimestampMs(NOW.0 + 500)), ..job("Soon") };
    let jobs = &fixture.jobs;
    let later = fixture.runtime.block_on(async {
        let later = jobs.enqueue(jobs.draft(soon), None).await.unwrap().id;
        let granted = jobs.fetch(gone, 1, Duration::ZERO).await.unwrap();
        // A cycle that is full at once and blocked until the next commands are queued; the
        // following cycle returns the job.
        let go_on = fixture.block_ledger(fixture.full_cycle(), granted);
        let mut failing = Box::pin(jobs.enqueue(jobs.draft(too_large()), None));
        let mut looking = Box::pin(jobs.queue(QueueName::stored("default")));
        assert!((&mut failing).now_or_never().is_none());
        assert!((&mut looking).now_or_never().is_none());
        drop(go_on);
        assert!(matches!(failing.await, Err(JobsError::Failed(_))));
        let seen = looking.await.unwrap();
        assert_eq!((seen.running, seen.ready, seen.scheduled), (1, 0, 1), "as on disk");
        later
    });
    fixture.clock.set(TimestampMs(NOW.0 + 999));
    assert!(fixture.fetch(stays).is_empty());
    assert_eq!(fixture.status(later), JobStatus::Scheduled, "the ledger backs off");
    fixture.clock.set(TimestampMs(NOW.0 + 1_000));
    let fetched = fixture.fetch(stays);
    assert!(fetched.iter().map(|held| held.id).eq([id, later]));
    assert_eq!(fetched[0].attempt, 1, "the attempt does not count");
}

#[test]
fn an_unreadable_job_dies_with_its_reason_even_if_writes_fail_meanwhile() {
    let fixture = Fixture::with_manual_clocks();
    let worker = fixture.register();
    let bad = fixture.enqueue("Bad");
    fixture.corrupt_body(bad);
    let jobs = &fixture.jobs;
    fixture.runtime.block_on(async {
        // One cycle grants the job; the write of the next one, which would mark it dead, fails.
        let go_on = fixture.block_ledger(fixture.full_cycle(), ());
        let mut fetching = Box::pin(jobs.fetch(worker, 1, Duration::ZERO));
        let mut filling = Box::pin(jobs.enqueue_all(fixture.full_cycle(), |_| ((), None)));
        let mut failing = Box::pin(jobs.enqueue(jobs.draft(too_large()), None));
        assert!((&mut fetching).now_or_never().is_none());
        assert!((&mut filling).now_or_never().is_none());
        assert!((&mut failing).now_or_never().is_none());
        drop(go_on);
        assert!(fetching.await.unwrap().jobs().is_empty());
        filling.await.unwrap();
        assert!(matches!(failing.await, Err(JobsError::Failed(_))));
        let again = jobs.enqueue(jobs.draft(too_large()), None).await;
        assert!(matches!(again, Err(JobsError::Failed(_))), "while the ledger backs off");
        assert_eq!(jobs.queue(QueueName::stored("default")).await.unwrap().running, 1);
        fixture.pass(1_000);
        jobs.queues().await.unwrap();
        let page = jobs.dead_jobs(DeadFilter::default(), 0, 10).await.unwrap();
        assert_eq!(&*page.jobs[0].dead.error_class, "Unreadable");
    });
}

#[test]
fn a_waiting_fetch_gets_a_job_whose_grant_was_not_written() {
    let fixture = Fixture::with_manual_clocks();
    let (first, second) = (fixture.register(), fixture.register());
    let id = fixture.enqueue("A");
    let jobs = &fixture.jobs;
    fixture.runtime.block_on(async {
        let go_on = fixture.block_ledger(fixture.full_cycle(), ());
        let mut taking = Box::pin(jobs.fetch(first, 1, Duration::ZERO));
        let mut waiting = Box::pin(jobs.fetch(second, 1, Duration::from_secs(60)));
        let unwritten = jobs.draft(large("other", telltale_engine::limits::RECORD_VALUE_BYTES_MAX));
        let mut failing = Box::pin(jobs.enqueue(unwritten, None));
        assert!((&mut taking).now_or_never().is_none());
        assert!((&mut waiting).now_or_never().is_none());
        assert!((&mut failing).now_or_never().is_none());
        drop(go_on);
        assert!(matches!(taking.await, Err(JobsError::Failed(_))));
        fixture.pass(1_000);
        jobs.queues().await.unwrap();
        let granted = waiting.now_or_never().unwrap().unwrap();
        assert!(granted.jobs().iter().map(|held| held.id).eq([id]));
    });
}

#[test]
fn commands_sent_during_a_stall_are_applied_before_anything_expires() {
    let fixture = Fixture::with_manual_clocks();
    let (speaks, silent) = (fixture.register(), fixture.register());
    let jobs = &fixture.jobs;
    fixture.runtime.block_on(async {
        let short = jobs.draft(NewJob { timeout_seconds: Some(30), ..job("A") });
        let id = jobs.enqueue(short, None).await.unwrap().id;
        let held = jobs.fetch(speaks, 1, Duration::ZERO).await.unwrap().keep().remove(0);
        let go_on = fixture.block_ledger(fixture.full_cycle(), ());
        fixture.pass(61_000);
        // Another full cycle precedes these commands.
        let mut filling = Box::pin(jobs.enqueue_all(fixture.full_cycle(), |_| ((), None)));
        let mut beating = Box::pin(jobs.heartbeat(speaks, WorkerUsage::default()));
        let mut acking = Box::pin(jobs.ack(id, Some(held.token)));
        assert!((&mut filling).now_or_never().is_none());
        assert!((&mut beating).now_or_never().is_none());
        assert!((&mut acking).now_or_never().is_none());
        drop(go_on);
        assert_eq!(beating.await.unwrap().lost, []);
        acking.await.unwrap();
        // A worker that got no response for a minute has another minute.
        for _ in 0..60 {
            fixture.pass(1_000);
            jobs.heartbeat(speaks, WorkerUsage::default()).await.unwrap();
            assert!(jobs.worker(silent).await.is_ok());
        }
        fixture.pass(1_000);
        jobs.queues().await.unwrap();
        assert!(matches!(jobs.worker(silent).await, Err(JobsError::WorkerNotFound(_))));
        assert!(jobs.worker(speaks).await.is_ok());
    });
}

#[test]
fn a_receipt_and_its_jobs_are_written_together_or_not_at_all() {
    let fixture = Fixture::open();
    let receipt = |id| Receipt {
        id,
        fingerprint: 1,
        answer: b"made".to_vec(),
        expires_at: TimestampMs(NOW.0 + 1_000),
    };
    let enqueue = |all: Vec<NewJob>, id| {
        let drafted = all.into_iter().map(|job| fixture.jobs.draft(job)).collect();
        let answer = move |taken: Vec<_>| (taken.len(), Some(receipt(id)));
        fixture.runtime.block_on(fixture.jobs.enqueue_all(drafted, answer))
    };
    assert_eq!(enqueue(vec![job("A"), job("B")], 7).unwrap(), 2);
    assert!(fixture.engine.receipt(7).unwrap().is_some());
    assert!(matches!(enqueue(vec![job("A"), too_large()], 8), Err(JobsError::Failed(_))));
    assert!(fixture.engine.receipt(8).unwrap().is_none());
    let queue = fixture.runtime.block_on(fixture.jobs.queue(QueueName::stored("default"))).unwrap();
    assert_eq!(queue.ready, 2);
}

#[test]
fn a_dead_job_that_another_request_retries_meanwhile_is_not_found() {
    let fixture = Fixture::open();
    let worker = fixture.register();
    let jobs = &fixture.jobs;
    fixture.runtime.block_on(async {
        let once = jobs.draft(NewJob { max_attempts: 1, ..job("A") });
        let id = jobs.enqueue(once, None).await.unwrap().id;
        let held = jobs.fetch(worker, 1, Duration::ZERO).await.unwrap().keep().remove(0);
        let report = FailureReport::new("Boom", "", Vec::new());
        jobs.fail(id, Some(held.token), report).await.unwrap();
        let dead = jobs.job(id).await.unwrap().0.dead_id.map(DeadJobId::Dead).unwrap();
        let go_on = fixture.block_ledger(Vec::new(), ());
        let mut second = Box::pin(jobs.retry(dead));
        let mut shown = Box::pin(jobs.dead_job(dead));
        assert!((&mut second).now_or_never().is_none());
        let mut listed = Box::pin(jobs.dead_jobs(DeadFilter::default(), 0, 10));
        assert!((&mut shown).now_or_never().is_none());
        assert!((&mut listed).now_or_never().is_none());
        drop(go_on);
        // All of them have found the job before it is retried.
        jobs.retry(dead).await.unwrap();
        assert!(matches!(second.await, Err(JobsError::DeadJobNotFound(_))));
        assert!(matches!(shown.await, Err(JobsError::DeadJobNotFound(_))));
        assert!(listed.await.unwrap().jobs.is_empty());
    });
}

impl Fixture {
    /// Enqueues a job, or returns the error.
    pub(super) fn try_enqueue(&self, job: NewJob) -> Result<JobId, JobsError> {
        let drafted = self.jobs.draft(job);
        self.runtime.block_on(self.jobs.enqueue(drafted, None)).map(|enqueued| enqueued.id)
    }

    pub(super) fn fail(&self, held: &HeldJob) -> Failed {
        let report = FailureReport::new("Odd", "as planned", Vec::new());
        self.runtime.block_on(self.jobs.fail(held.id, Some(held.token), report)).unwrap()
    }
}
