//! Tests of job lists longer than one step of the ledger inspects, and of histories: of a queue
//! that did not always exist, and with a client's metric that has the name of one of ours.

use telltale_engine::limits::RESERVED_PREFIX;
use telltale_engine::{DefinitionFilter, Error, Memory, MemoryOwner, MetricType};

use super::tests::{Fixture, NOW, job};
use super::*;
use crate::limits;
use crate::platform::ticks::Ticks;

/// More jobs than one step inspects.
const MANY: usize = limits::LEDGER_STEP_LOOKUPS_MAX + 50;

impl Fixture {
    fn enqueue_many(&self, class: &str, queue: &str, many: usize) {
        let queue = QueueName::new(queue).unwrap();
        let class = ClassName::new(class).unwrap();
        let one = NewJob { class, queue, ..job("A") };
        let drafted = (0..many).map(|_| self.jobs.draft(one.clone())).collect();
        let all = |outcomes: Vec<Result<Enqueued, JobsError>>| {
            (outcomes.iter().filter(|outcome| outcome.is_ok()).count(), None)
        };
        let taken = self.runtime.block_on(self.jobs.enqueue_all(drafted, all)).unwrap();
        assert_eq!(taken, many);
    }

    fn list(&self, filter: &JobFilter, below: Option<JobId>, limit: usize) -> JobPage {
        self.runtime.block_on(self.jobs.list(filter.clone(), below, limit)).unwrap()
    }
}

fn in_queue(queue: &str, status: Option<JobStatus>) -> JobFilter {
    let standing =
        JobStateFilter { queue: Some(queue.to_owned()), status, whose: QueueOwner::Users };
    JobFilter { standing, ..JobFilter::default() }
}

#[test]
fn a_job_is_found_beyond_the_jobs_that_one_step_inspects() {
    let fixture = Fixture::open();
    fixture.enqueue_many("Rare", "rare", 1);
    fixture.enqueue_many("A", "default", MANY);
    let rare = fixture.list(&in_queue("rare", None), None, 10);
    assert_eq!((rare.jobs.len(), rare.next), (1, None));
    let page = fixture.list(&in_queue("default", Some(JobStatus::Ready)), None, 2);
    assert_eq!(page.jobs.len(), 2);
    assert!(page.jobs[0].id > page.jobs[1].id, "the newest first");
    assert_eq!(page.next, Some(page.jobs[1].id));
    let next = fixture.list(&in_queue("default", Some(JobStatus::Ready)), page.next, 2);
    assert!(next.jobs[0].id < page.jobs[1].id);
}

#[test]
fn a_request_reads_a_bounded_number_of_jobs() {
    let fixture = Fixture::open();
    fixture.enqueue_many("Rare", "default", 1);
    fixture.enqueue_many("A", "default", limits::JOB_LIST_READS_MAX);
    let filter = JobFilter { class: Some("Rare".to_owned()), ..JobFilter::default() };
    let first = fixture.list(&filter, None, 10);
    assert!(first.jobs.is_empty() && first.next.is_some(), "it has not read that far");
    let second = fixture.list(&filter, first.next, 10);
    assert_eq!((second.jobs.len(), second.next), (1, None));
    assert_eq!(&*second.jobs[0].class, "Rare");
}

#[test]
fn pages_are_charged_to_the_memory_account_and_refused_when_it_is_full() {
    const LIMIT: u64 = 1 << 40;
    let memory = Memory::new(LIMIT);
    let fixture =
        Fixture::with_memory(|_| Ticks::system(), JobsSettings::default(), memory.clone());
    let runtime = &fixture.runtime;
    ends_of_all_kinds(&fixture);
    fixture.enqueue_many("A", "default", 3);
    let answers = || memory.held_by(MemoryOwner::Answers);
    let list = || runtime.block_on(fixture.jobs.list(JobFilter::default(), None, 10));
    let dead = || runtime.block_on(fixture.jobs.dead_jobs(DeadFilter::default(), 0, 10));
    let waiting = list().unwrap();
    let bytes: usize = waiting.jobs.iter().map(|job| job.arguments.len()).sum();
    assert_eq!((waiting.jobs.len(), answers()), (3, bytes as u64));
    drop(waiting);
    let page = dead().unwrap();
    assert_eq!((page.jobs.len(), answers()), (1, page.jobs[0].arguments.len() as u64));
    drop(page);
    assert_eq!(answers(), 0);
    memory.hold(MemoryOwner::Errors, LIMIT);
    for refused in [list().map(drop), dead().map(drop)] {
        assert!(matches!(refused, Err(JobsError::Engine(Error::MemoryFull(_)))), "{refused:?}");
    }
    assert_eq!(answers(), 0);
}

#[test]
fn a_queue_that_did_not_exist_yet_counts_as_empty_while_the_server_sampled() {
    let fixture = Fixture::with_manual_clocks();
    fixture.jobs.sample(NOW).unwrap();
    fixture.pass(5 * 60_000);
    fixture.enqueue("A");
    fixture.jobs.sample(fixture.clock.now()).unwrap();
    let history = fixture.jobs.history();
    let moments = history.queue("default", Period::Hour, Resolution::Minute).unwrap();
    let seen: Vec<_> = moments.iter().rev().take(7).map(|m| (m.size, m.latency_seconds)).collect();
    assert_eq!(seen[0], (Some(1.0), Some(0.0)));
    assert_eq!(seen[1..5], [(None, None); 4], "no samples");
    assert_eq!(seen[5], (Some(0.0), Some(0.0)));
    assert_eq!(seen[6], (None, None));
}

/// Lets jobs end in every way, and samples everything.
fn ends_of_all_kinds(fixture: &Fixture) {
    let worker = fixture.register();
    fixture.enqueue("Done");
    fixture.enqueue("Dead");
    let held = fixture.fetch(worker);
    fixture.runtime.block_on(fixture.jobs.ack(held[0].id, Some(held[0].token))).unwrap();
    for attempt in 1..=3 {
        let held = match attempt {
            1 => held[1].clone(),
            _ => fixture.fetch(worker).remove(0),
        };
        let report = FailureReport::new("Boom", "", Vec::new());
        fixture.runtime.block_on(fixture.jobs.fail(held.id, Some(held.token), report)).unwrap();
        if attempt < 3 {
            fixture.runtime.block_on(fixture.jobs.run_now(held.id)).unwrap();
        }
    }
    let vitals = WorkerUsage { memory_mb: Some(1.0), ..WorkerUsage::default() };
    fixture.runtime.block_on(fixture.jobs.heartbeat(worker, vitals)).unwrap();
    fixture.jobs.sample(fixture.clock.now()).unwrap();
}

#[test]
fn every_metric_that_histories_write_is_declared() {
    let fixture = Fixture::open();
    ends_of_all_kinds(&fixture);
    fixture.jobs.write_history(fixture.clock.now()).unwrap();
    let filter = DefinitionFilter { limit: 100, ..DefinitionFilter::default() };
    let written = fixture.engine.metrics(&filter).definitions;
    assert_eq!(written.len(), HISTORY_METRICS.len());
    for metric in written {
        assert!(metric.name.as_str().starts_with(RESERVED_PREFIX), "{}", metric.name);
        assert!(HISTORY_METRICS.contains(&(metric.name.as_str(), metric.kind)), "{}", metric.name);
    }
}

#[test]
fn a_clients_metric_of_another_type_does_not_fail_history_queries() {
    let fixture = Fixture::open();
    let mut batch = fixture.engine.own_batch();
    let series = batch.series("telltale.jobs.failed", MetricType::Gauge, &[]).unwrap();
    batch.number(MetricType::Gauge, series, fixture.clock.now(), 1.0);
    fixture.engine.write(batch.finish()).unwrap();
    let history = fixture.jobs.history();
    assert_eq!(history.today("default").unwrap().failed, 0);
    assert_eq!(history.workers(Period::Hour, QueueOwner::Users).unwrap().totals.failed, 0);
    assert!(history.queue("default", Period::Hour, Resolution::Minute).is_ok());
}
