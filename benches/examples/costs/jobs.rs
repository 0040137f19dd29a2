//! Jobs: the cost of many waiting, completed, dead or scheduled jobs in their ledger.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, Engine, TimestampMs};
use telltale_server::jobs::{
    ClassName, DeadFilter, FailureReport, JobId, Jobs, JobsError, JobsSettings, NewJob, NewWorker,
    QueueName, Selection, UniqueKey, WorkerId,
};
use telltale_server::limits::{JOB_BATCH_MAX, JOB_FETCH_MAX};
use telltale_server::platform::ids::Ids;
use telltale_server::platform::ticks::Ticks;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::case::{Case, Operation};
use crate::open_engine::{self, NOW};

/// Concurrent requests, which share a sync.
const CALLERS: usize = 1_000;
/// The queue of cases with a single queue.
const QUEUE: &str = "default";
/// Requested pages of a list.
const PAGES: usize = 10;
/// More than any size, without overflow in sums.
const NO_LIMIT: usize = 1 << 40;

/// The ledger of jobs on an engine, closed and opened again between operations.
#[derive(Debug)]
pub(crate) struct OpenJobs {
    dir: PathBuf,
    runtime: Runtime,
    clock: Clock,
    jobs: Option<(Engine, Arc<Jobs>)>,
    /// Fetched jobs, with their tokens.
    pub(crate) held: Vec<(JobId, u64)>,
    /// The jobs enqueued last.
    pub(crate) enqueued: Vec<JobId>,
}

impl OpenJobs {
    pub(crate) fn new(dir: &Path) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let clock = Clock::manual(NOW);
        let (held, enqueued) = (Vec::new(), Vec::new());
        let mut open = Self { dir: dir.to_owned(), runtime, clock, jobs: None, held, enqueued };
        open.start();
        open
    }

    pub(crate) fn start(&mut self) {
        let settings = JobsSettings {
            waiting_max: NO_LIMIT,
            queue_waiting_max: NO_LIMIT,
            finished_max: NO_LIMIT,
            dead_max: NO_LIMIT,
            ..JobsSettings::default()
        };
        let (engine, clock) = (open_engine::open(&self.dir), self.clock.clone());
        let (ids, ticks) = (Ids::new(clock.clone()).unwrap(), Ticks::following(clock.clone()));
        let jobs = Jobs::open(engine.clone(), clock, ticks, Arc::new(ids), settings).unwrap();
        self.jobs = Some((engine, Arc::new(jobs)));
    }

    pub(crate) fn close(&mut self) {
        let (engine, jobs) = self.jobs.take().unwrap();
        jobs.close();
        engine.close().unwrap();
    }

    pub(crate) fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs.as_ref().unwrap().1
    }

    /// Waits for the ledger.
    pub(crate) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }

    /// Runs an operation on many items, a thousand at the same time.
    pub(crate) fn each<T, Work>(
        &self,
        items: impl IntoIterator<Item = T>,
        work: impl Fn(Arc<Jobs>, T) -> Work,
    ) where
        Work: Future<Output = Result<(), JobsError>> + Send + 'static,
    {
        let mut items = items.into_iter().peekable();
        self.wait(async {
            while items.peek().is_some() {
                let mut callers = JoinSet::new();
                for item in items.by_ref().take(CALLERS) {
                    callers.spawn(work(Arc::clone(self.jobs()), item));
                }
                callers.join_all().await.into_iter().for_each(Result::unwrap);
            }
        });
    }

    /// Enqueues the jobs with numbers below `count`.
    pub(crate) fn enqueue(&mut self, count: usize, job: impl Fn(usize) -> NewJob) {
        let mut enqueued = Vec::with_capacity(count);
        for first in (0..count).step_by(JOB_BATCH_MAX) {
            let numbers = first..count.min(first + JOB_BATCH_MAX);
            let drafted = numbers.map(|n| self.jobs().draft(job(n))).collect();
            let answer = self.jobs().enqueue_all(drafted, |outcomes| (outcomes, None));
            let outcomes = self.wait(answer).unwrap();
            enqueued.extend(outcomes.into_iter().map(|outcome| outcome.unwrap().id));
        }
        self.enqueued = enqueued;
    }

    pub(crate) fn register(&self, queues: Vec<QueueName>) -> WorkerId {
        let about = NewWorker { hostname: "bench".into(), pid: None, queues, concurrency: 1 };
        self.wait(self.jobs().register(about)).unwrap().id
    }

    /// Fetches all ready jobs with a worker, as many at a time as a request allows.
    pub(crate) fn fetch_all(&mut self, worker: WorkerId) {
        loop {
            let fetch = self.jobs().fetch(worker, JOB_FETCH_MAX, Duration::ZERO);
            let granted = self.wait(fetch).unwrap().keep();
            if granted.is_empty() {
                return;
            }
            self.held.extend(granted.into_iter().map(|job| (job.id, job.token)));
        }
    }

    /// Acknowledges these jobs.
    pub(crate) fn ack(&self, held: Vec<(JobId, u64)>) {
        self.each(held, |jobs, (id, token)| async move { jobs.ack(id, Some(token)).await });
    }

    /// Advances the clock, and waits until the ledger has processed what became due.
    fn pass(&self, time: Duration, is_done: impl AsyncFn(&Jobs) -> bool) {
        self.clock.pass(time);
        self.wait(async { while !is_done(self.jobs()).await {} });
    }
}

/// Returns a ready job of a queue.
pub(crate) fn job(queue: &str) -> NewJob {
    NewJob {
        class: ClassName::new("Mailer::Welcome").unwrap(),
        queue: QueueName::new(queue).unwrap(),
        arguments: r#"{"to":"ada@example.com"}"#.into(),
        run_at: None,
        max_attempts: 1,
        unique: None,
        timeout_seconds: None,
    }
}

/// Jobs of one queue that wait, are completed, fail and die.
#[derive(Debug)]
pub(crate) struct WaitingJobs;

impl WaitingJobs {
    /// Half of the held jobs, and at least one, fail for the last time.
    fn fail(open: &mut OpenJobs) {
        let failed = open.held.split_off(open.held.len() / 2);
        open.each(failed, |jobs, (id, token)| async move {
            let report = FailureReport::new("Timeout", "the mail server is silent", Vec::new());
            jobs.fail(id, Some(token), report).await.map(|_| ())
        });
    }

    fn list_dead(open: &mut OpenJobs, size: usize) {
        for page in 0..PAGES {
            let offset = size / 2 / PAGES * page;
            let dead = open.jobs().dead_jobs(DeadFilter::default(), offset, 50);
            assert_eq!(open.wait(dead).unwrap().total, size - size / 2);
        }
    }

    fn delete_dead(open: &mut OpenJobs, size: usize) {
        let all = Selection::Filter(DeadFilter::default());
        let deleted = open.wait(open.jobs().forget_all(all, None));
        assert_eq!(deleted.unwrap(), size - size / 2);
    }

    /// Deletes half of the jobs one by one, from the end of the queue.
    fn delete_each(open: &mut OpenJobs) {
        let last = open.enqueued.split_off(open.enqueued.len() / 2);
        open.each(last.into_iter().rev(), |jobs, id| async move { jobs.delete(id).await });
    }

    fn expire_finished(open: &mut OpenJobs) {
        let retention_ms = open.jobs().settings().finished_keep.ms().unsigned_abs();
        let last = open.held.last().map(|(id, _)| *id).unwrap();
        open.pass(Duration::from_millis(retention_ms + 1), async |jobs| {
            jobs.job(last).await.is_err()
        });
    }
}

impl Case for WaitingJobs {
    type Open = OpenJobs;

    fn dimension(&self) -> &'static str {
        "jobs"
    }

    fn open(&self, dir: &Path) -> OpenJobs {
        OpenJobs::new(dir)
    }

    fn operations(&self) -> Vec<Operation<Self>> {
        vec![
            Operation::<Self>::new("enqueue", |_, open, size| open.enqueue(size, |_| job(QUEUE))),
            Operation::<Self>::new("close", |_, open, _| open.close()),
            Operation::<Self>::new("start", |_, open, _| open.start()),
            Operation::<Self>::new("fetch", |_, open, size| {
                let worker = open.register(vec![QueueName::new(QUEUE).unwrap()]);
                open.fetch_all(worker);
                assert_eq!(open.held.len(), size);
            }),
            Operation::<Self>::new("fail half", |_, open, _| Self::fail(open)),
            Operation::<Self>::new("ack half", |_, open, _| open.ack(open.held.clone())),
            Operation::<Self>::new("start with ended", |_, open, _| {
                open.close();
                open.start();
            }),
            Operation::<Self>::new("list dead", |_, open, size| Self::list_dead(open, size)),
            Operation::<Self>::new("delete dead", |_, open, size| Self::delete_dead(open, size)),
            Operation::<Self>::new("expire finished", |_, open, _| Self::expire_finished(open)),
            Operation::<Self>::new("enqueue again", |_, open, size| {
                open.enqueue(size, |_| job(QUEUE))
            }),
            Operation::<Self>::new("delete each of half", |_, open, _| Self::delete_each(open)),
            Operation::<Self>::new("purge half", |_, open, size| {
                let purged = open.wait(open.jobs().purge(QueueName::new(QUEUE).unwrap())).unwrap();
                assert_eq!(purged, size / 2);
            }),
        ]
    }
}

/// Scheduled jobs of one queue, each with a unique key.
#[derive(Debug)]
pub(crate) struct ScheduledJobs;

impl ScheduledJobs {
    /// Returns a job that is due this many milliseconds after the start of the sweep.
    fn job(n: usize) -> NewJob {
        NewJob {
            run_at: Some(TimestampMs(NOW.0 + 1 + n as i64)),
            unique: Some(UniqueKey::new(&format!("key-{n}")).unwrap()),
            ..job(QUEUE)
        }
    }

    fn become_due(open: &mut OpenJobs, size: usize) {
        open.pass(Duration::from_millis(size as u64 + 1), async |jobs| {
            jobs.queue(QueueName::new(QUEUE).unwrap()).await.unwrap().scheduled == 0
        });
    }
}

impl Case for ScheduledJobs {
    type Open = OpenJobs;

    fn dimension(&self) -> &'static str {
        "scheduled-jobs"
    }

    fn open(&self, dir: &Path) -> OpenJobs {
        OpenJobs::new(dir)
    }

    fn operations(&self) -> Vec<Operation<Self>> {
        vec![
            Operation::<Self>::new("enqueue", |_, open, size| open.enqueue(size, Self::job)),
            Operation::<Self>::new("close", |_, open, _| open.close()),
            Operation::<Self>::new("start", |_, open, _| open.start()),
            Operation::<Self>::new("become due", |_, open, size| Self::become_due(open, size)),
            Operation::<Self>::new("purge", |_, open, size| {
                let purged = open.wait(open.jobs().purge(QueueName::new(QUEUE).unwrap())).unwrap();
                assert_eq!(purged, size);
            }),
        ]
    }
}
