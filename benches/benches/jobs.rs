//! The job ledger alone, without HTTP: enqueue, fetch and completion, wake-ups, and a start with a
//! million jobs. Every change is synced before its response.
//!
//! `cargo bench -p telltale-benches --bench jobs`
#![allow(clippy::unwrap_used, reason = "a failing bench may panic")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use telltale_benches::data::options;
use telltale_engine::{Clock, Engine};
use telltale_server::jobs::{
    ClassName, Jobs, JobsSettings, NewJob, NewWorker, QueueName, WorkerId,
};
use telltale_server::platform::ids::Ids;
use telltale_server::platform::ticks::Ticks;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Concurrent clients.
const CALLERS: u64 = 64;
/// Jobs of a batch, the maximum of the API.
const BATCH: usize = 1_000;

fn open(dir: &Path) -> Arc<Jobs> {
    let engine = Engine::open(dir, options()).unwrap();
    // A measurement enqueues more jobs than a queue takes by default.
    let settings = JobsSettings {
        finished_max: 10_000,
        waiting_max: usize::MAX,
        queue_waiting_max: usize::MAX,
        ..JobsSettings::default()
    };
    Arc::new(ledger_of(engine, settings))
}

fn ledger_of(engine: Engine, settings: JobsSettings) -> Jobs {
    let clock = Clock::system();
    let ids = Arc::new(Ids::new(clock.clone()).unwrap());
    Jobs::open(engine, clock, Ticks::system(), ids, settings).unwrap()
}

fn job() -> NewJob {
    NewJob {
        class: ClassName::new("Mailer::Welcome").unwrap(),
        queue: QueueName::new("default").unwrap(),
        arguments: r#"{"to":"ada@example.com","template":"welcome","language":"en"}"#.into(),
        run_at: None,
        max_attempts: 25,
        unique: None,
        timeout_seconds: None,
    }
}

async fn fill(jobs: &Jobs, count: usize) {
    for _ in 0..count / BATCH {
        let drafted = (0..BATCH).map(|_| jobs.draft(job())).collect();
        black_box(jobs.enqueue_all(drafted, |outcomes| (outcomes, None)).await.unwrap());
    }
}

async fn register(jobs: &Jobs) -> WorkerId {
    let queues = vec![QueueName::new("default").unwrap()];
    let about = NewWorker { hostname: "bench".into(), pid: None, queues, concurrency: 1 };
    jobs.register(about).await.unwrap().id
}

/// Runs `work` once for each of `count` items, by clients that each wait for their response.
async fn by_callers<Work>(jobs: &Arc<Jobs>, count: u64, work: impl Fn(Arc<Jobs>) -> Work)
where
    Work: Future<Output = ()> + Send + 'static,
{
    let mut callers = JoinSet::new();
    let mut begun = 0;
    while begun < count || !callers.is_empty() {
        if begun < count && (callers.len() as u64) < CALLERS {
            callers.spawn(work(Arc::clone(jobs)));
            begun += 1;
        } else {
            callers.join_next().await.unwrap().unwrap();
        }
    }
}

fn enqueue(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let jobs = open(dir.path());
    let mut group = c.benchmark_group("jobs");
    group.sample_size(10);
    let singles = 20_000;
    group.throughput(Throughput::Elements(singles));
    group.bench_function("enqueue one by one, 64 callers", |b| {
        b.iter(|| {
            runtime.block_on(by_callers(&jobs, singles, |jobs| async move {
                let drafted = jobs.draft(job());
                jobs.enqueue(drafted, None).await.unwrap();
            }));
        });
    });
    let batched = 100_000;
    group.throughput(Throughput::Elements(batched as u64));
    group.bench_function("enqueue by batches of 1000", |b| {
        b.iter(|| runtime.block_on(fill(&jobs, batched)));
    });
    group.finish();
}

fn work(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let jobs = open(dir.path());
    let worker = runtime.block_on(register(&jobs));
    let count = 20_000;
    let mut group = c.benchmark_group("jobs");
    group.sample_size(10);
    group.throughput(Throughput::Elements(count));
    group.bench_function("fetch one and finish it, 64 callers", |b| {
        b.iter_batched(
            || runtime.block_on(fill(&jobs, count as usize)),
            |()| {
                runtime.block_on(by_callers(&jobs, count, move |jobs| async move {
                    let fetched = jobs.fetch(worker, 1, Duration::ZERO).await.unwrap().keep();
                    let held = fetched.first().unwrap();
                    jobs.ack(held.id, Some(held.token)).await.unwrap();
                }));
            },
            BatchSize::PerIteration,
        );
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("from enqueue to the worker that waits", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let waiting = Arc::clone(&jobs);
                let fetched = tokio::spawn(async move {
                    waiting.fetch(worker, 1, Duration::from_secs(30)).await.unwrap().keep()
                });
                let drafted = jobs.draft(job());
                jobs.enqueue(drafted, None).await.unwrap();
                let held = fetched.await.unwrap().pop().unwrap();
                jobs.ack(held.id, Some(held.token)).await.unwrap();
            });
        });
    });
    group.finish();
}

fn start(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let count = 1_000_000;
    let jobs = open(dir.path());
    runtime.block_on(fill(&jobs, count));
    drop(jobs);
    let engine = Engine::open(dir.path(), options()).unwrap();
    let mut group = c.benchmark_group("jobs");
    group.sample_size(10);
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("start over a million jobs that wait", |b| {
        b.iter(|| {
            let ledger = ledger_of(engine.clone(), JobsSettings::default());
            let queue = runtime.block_on(ledger.queue(QueueName::new("default").unwrap())).unwrap();
            assert_eq!(queue.ready, count);
            ledger
        });
    });
    group.finish();
}

criterion_group!(benches, enqueue, work, start);
criterion_main!(benches);
