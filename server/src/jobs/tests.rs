//! The ledger with its thread, on a real engine.

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

/// Jobs that nobody else knows, with a clock that is moved by hand.
pub(super) struct House {
    pub(super) dir: TempDir,
    pub(super) clock: Clock,
    pub(super) engine: Engine,
    pub(super) jobs: Arc<Jobs>,
    pub(super) runtime: Runtime,
}

/// The jobs of an engine.
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

impl House {
    /// The wall clock is ours to set; the steady one is not.
    pub(super) fn open() -> Self {
        Self::with(|_| Ticks::system())
    }

    /// Both clocks are.
    pub(super) fn timeless() -> Self {
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
        let about = NewWorker {
            hostname: "h".into(),
            pid: None,
            queues: vec![QueueName::new("default").unwrap()],
            concurrency: 1,
        };
        self.runtime.block_on(self.jobs.register(about)).unwrap().id
    }

    pub(super) fn fetch(&self, worker: WorkerId) -> Vec<Holding> {
        self.runtime.block_on(self.jobs.fetch(worker, 100, Duration::ZERO)).unwrap().keep()
    }

    pub(super) fn status(&self, id: JobId) -> JobStatus {
        self.runtime.block_on(self.jobs.job(id)).unwrap().0.status
    }

    /// Holds the ledger up, in the middle of a round that is full with what is drafted, until what this answers is
    /// dropped. Then `last` is dropped there.
    pub(super) fn hold_up(
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

    /// As much as makes a round full.
    pub(super) fn full_round(&self) -> Vec<Drafted> {
        (0..3).map(|_| self.jobs.draft(large("other", 3 << 20))).collect()
    }

    /// Damages what a job is to do.
    pub(super) fn spoil(&self, id: JobId) {
        let mut batch = RecordBatch::new();
        batch.put(stored::BODIES, &id.key(), b"\xffno body".to_vec());
        self.engine.records().write(batch).unwrap();
    }

    /// Moves both clocks on.
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

/// A job with so many bytes of arguments.
pub(super) fn large(queue: &str, bytes: usize) -> NewJob {
    let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes)).into();
    NewJob { queue: QueueName::new(queue).unwrap(), arguments, ..job("Large") }
}

/// A job that no record can hold, so that the write of its round fails.
pub(super) fn too_large() -> NewJob {
    large("default", telltale_engine::limits::RECORD_VALUE_BYTES_MAX)
}

#[test]
fn who_waits_gets_the_job_that_comes() {
    let house = House::open();
    let worker = house.register();
    let (jobs, other) = (Arc::clone(&house.jobs), Arc::clone(&house.jobs));
    let (id, fetched) = house.runtime.block_on(async move {
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
fn jobs_that_reach_nobody_are_back_at_the_front_and_nothing_counts() {
    let house = House::open();
    let (gone, stays) = (house.register(), house.register());
    let ids: Vec<JobId> = (0..3).map(|_| house.enqueue("A")).collect();
    let granted = house.runtime.block_on(house.jobs.fetch(gone, 2, Duration::ZERO)).unwrap();
    assert_eq!(granted.jobs().len(), 2);
    drop(granted);
    let fetched = house.fetch(stays);
    assert!(fetched.iter().map(|held| held.id).eq(ids), "in their old order");
    assert!(fetched.iter().all(|held| held.attempt == 1));
}

#[test]
fn who_stops_waiting_gets_nothing_and_nothing_is_lost() {
    let house = House::open();
    let (gone, stays) = (house.register(), house.register());
    let jobs = Arc::clone(&house.jobs);
    house.runtime.block_on(async move {
        for _ in 0..50 {
            let mut waiting = Box::pin(jobs.fetch(gone, 1, Duration::from_secs(60)));
            let drafted = jobs.draft(job("A"));
            // A job that came back before may be there at once: it goes the same way.
            drop((&mut waiting).now_or_never());
            jobs.enqueue(drafted, None).await.unwrap();
        }
        // Afterwards the round is over that may have begun before the last job came back.
        jobs.queues().await.unwrap();
    });
    assert_eq!(house.fetch(stays).len(), 50);
}

#[test]
fn a_job_that_cannot_be_read_dies_and_says_why() {
    let house = House::open();
    let worker = house.register();
    let (bad, good) = (house.enqueue("Bad"), house.enqueue("Good"));
    house.spoil(bad);
    let shown = house.runtime.block_on(house.jobs.job(bad));
    assert!(
        matches!(shown, Err(JobsError::Failed(_))),
        "it is there and cannot be read: {shown:?}"
    );
    let fetched = house.fetch(worker);
    assert!(fetched.iter().map(|held| held.id).eq([good]), "the other one is not held up");
    let page = house.runtime.block_on(async {
        // A second round: the first one found out.
        house.jobs.queues().await.unwrap();
        house.jobs.dead_jobs(DeadFilter::default(), 0, 10).await.unwrap()
    });
    assert_eq!((page.total, page.jobs.len()), (1, 1));
    let dead = &page.jobs[0];
    assert_eq!((dead.dead.job, &*dead.dead.error_class), (bad, "Unreadable"));
    assert_eq!((&*dead.arguments, dead.enqueued_at), ("{}", NOW));
    let retried = house.runtime.block_on(house.jobs.retry(dead.dead.id.to_string()));
    assert!(matches!(retried, Err(JobsError::Failed(_))), "there is nothing to try again");
}

#[test]
fn a_wall_clock_that_jumps_takes_no_job_and_no_worker_away() {
    let house = House::open();
    let worker = house.register();
    let id = house.enqueue("A");
    let held = house.fetch(worker).remove(0);
    for jump_ms in [86_400_000, -3 * 86_400_000] {
        house.clock.set(TimestampMs(house.clock.now().0 + jump_ms));
        assert_eq!(house.status(id), JobStatus::Running, "after {jump_ms}");
        house.runtime.block_on(house.jobs.heartbeat(worker, Vitals::default())).unwrap();
    }
    house.runtime.block_on(house.jobs.ack(id, Some(held.token))).unwrap();
    assert_eq!(house.status(id), JobStatus::Completed);
}

#[test]
fn a_purge_takes_as_many_steps_as_it_needs() {
    let house = House::open();
    let many = 2 * limits::LEDGER_STEP_JOBS_MAX + 7;
    let drafted = (0..many).map(|_| house.jobs.draft(job("A"))).collect();
    let answer = |taken: Vec<_>| (taken.iter().all(Result::is_ok), None);
    assert!(house.runtime.block_on(house.jobs.enqueue_all(drafted, answer)).unwrap());
    assert_eq!(house.runtime.block_on(house.jobs.purge("default".to_owned())).unwrap(), many);
    let queue = house.runtime.block_on(house.jobs.queue("default".to_owned())).unwrap();
    assert_eq!(queue.ready, 0);
}

#[test]
fn a_ledger_that_is_closed_and_opened_again_knows_everything() {
    let house = House::open();
    let id = house.enqueue("A");
    house.jobs.close();
    let refused = house.runtime.block_on(house.jobs.queues());
    assert!(matches!(refused, Err(JobsError::Unavailable(_))));
    let House { dir, clock, engine, jobs, runtime } = house;
    drop(jobs);
    drop(engine);
    let engine = Engine::open(dir.path(), Options::default()).unwrap();
    let jobs = open(&engine, &clock, Ticks::system());
    assert_eq!(runtime.block_on(jobs.job(id)).unwrap().0.status, JobStatus::Ready);
}

#[test]
fn what_happened_is_in_the_history() {
    let house = House::open();
    let worker = house.register();
    let ids: Vec<JobId> = ["A", "A", "B"].map(|class| house.enqueue(class)).to_vec();
    let held = house.fetch(worker);
    house.clock.set(TimestampMs(NOW.0 + 4_000));
    for one in &held[..2] {
        house.runtime.block_on(house.jobs.ack(one.id, Some(one.token))).unwrap();
    }
    let report = FailureReport::new("Boom", "", Vec::new());
    house.runtime.block_on(house.jobs.fail(ids[2], Some(held[2].token), report)).unwrap();
    house.jobs.sample(house.clock.now()).unwrap();
    house.jobs.write_history(house.clock.now()).unwrap();
    let history = house.jobs.history();
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
    let past = history.workers(Period::Hour, Whose::Users).unwrap();
    assert_eq!((past.totals.max_workers, past.totals.processed, past.totals.failed), (1.0, 3, 1));
    assert!(house.jobs.write_history(house.clock.now()).is_ok(), "nothing is written twice");
    assert_eq!(house.jobs.history().today("default").unwrap().processed, 3);
}

#[test]
fn those_who_stopped_waiting_take_no_places() {
    let house = House::open();
    let worker = house.register();
    let jobs = &house.jobs;
    house.runtime.block_on(async {
        for _ in 0..=jobs.settings().waiters_max() / 1_000 {
            let mut waiting = Vec::new();
            for _ in 0..1_000 {
                let mut one = Box::pin(jobs.fetch(worker, 1, Duration::from_secs(60)));
                assert!((&mut one).now_or_never().is_none(), "there is no job");
                waiting.push(one);
            }
            // All of them wait when this is answered.
            jobs.queues().await.unwrap();
        }
        let more = jobs.fetch(worker, 1, Duration::from_millis(1)).await;
        assert!(more.is_ok(), "{more:?}");
    });
}

#[test]
fn a_write_that_fails_hides_nothing_and_forgets_nothing_that_is_to_come_back() {
    let house = House::timeless();
    let (gone, stays) = (house.register(), house.register());
    let id = house.enqueue("A");
    let soon = NewJob { run_at: Some(TimestampMs(NOW.0 + 500)), ..job("Soon") };
    let jobs = &house.jobs;
    let later = house.runtime.block_on(async {
        let later = jobs.enqueue(jobs.draft(soon), None).await.unwrap().id;
        let granted = jobs.fetch(gone, 1, Duration::ZERO).await.unwrap();
        // A round that is full at once, and not over before the next one is known: that one takes the job back.
        let go_on = house.hold_up(house.full_round(), granted);
        let mut failing = Box::pin(jobs.enqueue(jobs.draft(too_large()), None));
        let mut looking = Box::pin(jobs.queue("default".to_owned()));
        assert!((&mut failing).now_or_never().is_none());
        assert!((&mut looking).now_or_never().is_none());
        drop(go_on);
        assert!(matches!(failing.await, Err(JobsError::Failed(_))));
        let seen = looking.await.unwrap();
        assert_eq!((seen.running, seen.ready, seen.scheduled), (1, 0, 1), "as the disk says");
        later
    });
    house.clock.set(TimestampMs(NOW.0 + 999));
    assert!(house.fetch(stays).is_empty());
    assert_eq!(house.status(later), JobStatus::Scheduled, "the ledger rests");
    house.clock.set(TimestampMs(NOW.0 + 1_000));
    let fetched = house.fetch(stays);
    assert!(fetched.iter().map(|held| held.id).eq([id, later]));
    assert_eq!(fetched[0].attempt, 1, "nothing counts");
}

#[test]
fn why_a_job_cannot_be_read_is_remembered_however_often_a_write_fails() {
    let house = House::timeless();
    let worker = house.register();
    let bad = house.enqueue("Bad");
    house.spoil(bad);
    let jobs = &house.jobs;
    house.runtime.block_on(async {
        // One round hands it out, the next one is to bury it and fails.
        let go_on = house.hold_up(house.full_round(), ());
        let mut fetching = Box::pin(jobs.fetch(worker, 1, Duration::ZERO));
        let mut filling = Box::pin(jobs.enqueue_all(house.full_round(), |_| ((), None)));
        let mut failing = Box::pin(jobs.enqueue(jobs.draft(too_large()), None));
        assert!((&mut fetching).now_or_never().is_none());
        assert!((&mut filling).now_or_never().is_none());
        assert!((&mut failing).now_or_never().is_none());
        drop(go_on);
        assert!(fetching.await.unwrap().jobs().is_empty());
        filling.await.unwrap();
        assert!(matches!(failing.await, Err(JobsError::Failed(_))));
        let again = jobs.enqueue(jobs.draft(too_large()), None).await;
        assert!(matches!(again, Err(JobsError::Failed(_))), "while the ledger rests");
        assert_eq!(jobs.queue("default".to_owned()).await.unwrap().running, 1);
        house.pass(1_000);
        jobs.queues().await.unwrap();
        let page = jobs.dead_jobs(DeadFilter::default(), 0, 10).await.unwrap();
        assert_eq!(&*page.jobs[0].dead.error_class, "Unreadable");
    });
}

#[test]
fn who_waits_gets_the_job_that_a_write_that_failed_left_behind() {
    let house = House::timeless();
    let (first, second) = (house.register(), house.register());
    let id = house.enqueue("A");
    let jobs = &house.jobs;
    house.runtime.block_on(async {
        let go_on = house.hold_up(house.full_round(), ());
        let mut taking = Box::pin(jobs.fetch(first, 1, Duration::ZERO));
        let mut waiting = Box::pin(jobs.fetch(second, 1, Duration::from_secs(60)));
        let unwritten = jobs.draft(large("other", telltale_engine::limits::RECORD_VALUE_BYTES_MAX));
        let mut failing = Box::pin(jobs.enqueue(unwritten, None));
        assert!((&mut taking).now_or_never().is_none());
        assert!((&mut waiting).now_or_never().is_none());
        assert!((&mut failing).now_or_never().is_none());
        drop(go_on);
        assert!(matches!(taking.await, Err(JobsError::Failed(_))));
        house.pass(1_000);
        jobs.queues().await.unwrap();
        let granted = waiting.now_or_never().unwrap().unwrap();
        assert!(granted.jobs().iter().map(|held| held.id).eq([id]));
    });
}

#[test]
fn what_was_said_while_the_ledger_was_held_up_is_heard_before_anybody_loses_anything() {
    let house = House::timeless();
    let (speaks, silent) = (house.register(), house.register());
    let jobs = &house.jobs;
    house.runtime.block_on(async {
        let short = jobs.draft(NewJob { timeout_seconds: Some(30), ..job("A") });
        let id = jobs.enqueue(short, None).await.unwrap().id;
        let held = jobs.fetch(speaks, 1, Duration::ZERO).await.unwrap().keep().remove(0);
        let go_on = house.hold_up(house.full_round(), ());
        house.pass(61_000);
        // Another round is full before these are heard.
        let mut filling = Box::pin(jobs.enqueue_all(house.full_round(), |_| ((), None)));
        let mut beating = Box::pin(jobs.heartbeat(speaks, Vitals::default()));
        let mut acking = Box::pin(jobs.ack(id, Some(held.token)));
        assert!((&mut filling).now_or_never().is_none());
        assert!((&mut beating).now_or_never().is_none());
        assert!((&mut acking).now_or_never().is_none());
        drop(go_on);
        assert_eq!(beating.await.unwrap().lost, []);
        acking.await.unwrap();
        // Who had no answer for a minute has another one.
        for _ in 0..60 {
            house.pass(1_000);
            jobs.heartbeat(speaks, Vitals::default()).await.unwrap();
            assert!(jobs.worker(silent).await.is_ok());
        }
        house.pass(1_000);
        jobs.queues().await.unwrap();
        assert!(matches!(jobs.worker(silent).await, Err(JobsError::WorkerNotFound(_))));
        assert!(jobs.worker(speaks).await.is_ok());
    });
}

#[test]
fn a_receipt_is_on_disk_with_the_jobs_or_not_at_all() {
    let house = House::open();
    let receipt = |id| Receipt {
        id,
        fingerprint: 1,
        answer: b"made".to_vec(),
        expires_at: TimestampMs(NOW.0 + 1_000),
    };
    let enqueue = |all: Vec<NewJob>, id| {
        let drafted = all.into_iter().map(|job| house.jobs.draft(job)).collect();
        let answer = move |taken: Vec<_>| (taken.len(), Some(receipt(id)));
        house.runtime.block_on(house.jobs.enqueue_all(drafted, answer))
    };
    assert_eq!(enqueue(vec![job("A"), job("B")], 7).unwrap(), 2);
    assert!(house.engine.receipt(7).unwrap().is_some());
    assert!(matches!(enqueue(vec![job("A"), too_large()], 8), Err(JobsError::Failed(_))));
    assert!(house.engine.receipt(8).unwrap().is_none());
    let queue = house.runtime.block_on(house.jobs.queue("default".to_owned())).unwrap();
    assert_eq!(queue.ready, 2);
}

#[test]
fn a_dead_job_that_somebody_else_brings_back_meanwhile_is_not_found() {
    let house = House::open();
    let worker = house.register();
    let jobs = &house.jobs;
    house.runtime.block_on(async {
        let once = jobs.draft(NewJob { max_attempts: 1, ..job("A") });
        let id = jobs.enqueue(once, None).await.unwrap().id;
        let held = jobs.fetch(worker, 1, Duration::ZERO).await.unwrap().keep().remove(0);
        let report = FailureReport::new("Boom", "", Vec::new());
        jobs.fail(id, Some(held.token), report).await.unwrap();
        let dead = jobs.job(id).await.unwrap().0.dead_id.unwrap().to_string();
        let go_on = house.hold_up(Vec::new(), ());
        let mut second = Box::pin(jobs.retry(dead.clone()));
        let mut shown = Box::pin(jobs.dead_job(dead.clone()));
        assert!((&mut second).now_or_never().is_none());
        let mut listed = Box::pin(jobs.dead_jobs(DeadFilter::default(), 0, 10));
        assert!((&mut shown).now_or_never().is_none());
        assert!((&mut listed).now_or_never().is_none());
        drop(go_on);
        // All have found it when it is brought back.
        jobs.retry(dead).await.unwrap();
        assert!(matches!(second.await, Err(JobsError::DeadJobNotFound(_))));
        assert!(matches!(shown.await, Err(JobsError::DeadJobNotFound(_))));
        assert!(listed.await.unwrap().jobs.is_empty());
    });
}

impl House {
    /// Enqueues, and answers why not.
    pub(super) fn try_enqueue(&self, job: NewJob) -> Result<JobId, JobsError> {
        let drafted = self.jobs.draft(job);
        self.runtime.block_on(self.jobs.enqueue(drafted, None)).map(|enqueued| enqueued.id)
    }

    pub(super) fn fail(&self, held: &Holding) -> Failed {
        let report = FailureReport::new("Odd", "as told", Vec::new());
        self.runtime.block_on(self.jobs.fail(held.id, Some(held.token), report)).unwrap()
    }
}
