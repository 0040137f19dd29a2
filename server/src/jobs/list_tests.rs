//! The list of jobs where there are more than one step of the ledger looks at, and histories: of a queue that was not always there, and
//! where somebody else's metric has the name of one of ours.

use telltale_engine::limits::RESERVED_PREFIX;
use telltale_engine::{DefinitionFilter, Error, Memory, MemoryOwner, MetricType};

use super::tests::{House, NOW, job};
use super::*;
use crate::limits;
use crate::platform::ticks::Ticks;

/// More than are looked up in a step.
const MANY: usize = limits::LEDGER_STEP_LOOKUPS_MAX + 50;

impl House {
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
    let standing = JobStanding { queue: Some(queue.to_owned()), status, whose: Whose::Users };
    JobFilter { standing, ..JobFilter::default() }
}

#[test]
fn a_job_is_found_among_more_than_a_step_looks_at() {
    let house = House::open();
    house.enqueue_many("Rare", "rare", 1);
    house.enqueue_many("A", "default", MANY);
    let rare = house.list(&in_queue("rare", None), None, 10);
    assert_eq!((rare.jobs.len(), rare.next), (1, None));
    let page = house.list(&in_queue("default", Some(JobStatus::Ready)), None, 2);
    assert_eq!(page.jobs.len(), 2);
    assert!(page.jobs[0].id > page.jobs[1].id, "the last one first");
    assert_eq!(page.next, Some(page.jobs[1].id));
    let next = house.list(&in_queue("default", Some(JobStatus::Ready)), page.next, 2);
    assert!(next.jobs[0].id < page.jobs[1].id);
}

#[test]
fn a_request_reads_so_many_jobs_and_no_more() {
    let house = House::open();
    house.enqueue_many("Rare", "default", 1);
    house.enqueue_many("A", "default", limits::JOB_LIST_READS_MAX);
    let filter = JobFilter { class: Some("Rare".to_owned()), ..JobFilter::default() };
    let first = house.list(&filter, None, 10);
    assert!(first.jobs.is_empty() && first.next.is_some(), "it has not come so far");
    let second = house.list(&filter, first.next, 10);
    assert_eq!((second.jobs.len(), second.next), (1, None));
    assert_eq!(&*second.jobs[0].class, "Rare");
}

#[test]
fn pages_count_as_memory_while_they_are_there_and_are_refused_where_there_is_none() {
    const LIMIT: u64 = 1 << 40;
    let memory = Memory::new(LIMIT);
    let house = House::with_memory(|_| Ticks::system(), JobsSettings::default(), memory.clone());
    let runtime = &house.runtime;
    ends_of_all_kinds(&house);
    house.enqueue_many("A", "default", 3);
    let answers = || memory.held_by(MemoryOwner::Answers);
    let list = || runtime.block_on(house.jobs.list(JobFilter::default(), None, 10));
    let dead = || runtime.block_on(house.jobs.dead_jobs(DeadFilter::default(), 0, 10));
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
fn a_queue_that_was_not_there_while_the_server_was_had_nothing_in_it() {
    let house = House::timeless();
    house.jobs.sample(NOW).unwrap();
    house.pass(5 * 60_000);
    house.enqueue("A");
    house.jobs.sample(house.clock.now()).unwrap();
    let history = house.jobs.history();
    let moments = history.queue("default", Period::Hour, Resolution::Minute).unwrap();
    let seen: Vec<_> = moments.iter().rev().take(7).map(|m| (m.size, m.latency_seconds)).collect();
    assert_eq!(seen[0], (Some(1.0), Some(0.0)));
    assert_eq!(seen[1..5], [(None, None); 4], "nobody looked");
    assert_eq!(seen[5], (Some(0.0), Some(0.0)));
    assert_eq!(seen[6], (None, None));
}

/// A job of each end, and all that is told of them.
fn ends_of_all_kinds(house: &House) {
    let worker = house.register();
    house.enqueue("Done");
    house.enqueue("Dead");
    let held = house.fetch(worker);
    house.runtime.block_on(house.jobs.ack(held[0].id, Some(held[0].token))).unwrap();
    for attempt in 1..=3 {
        let held = match attempt {
            1 => held[1].clone(),
            _ => house.fetch(worker).remove(0),
        };
        let report = FailureReport::new("Boom", "", Vec::new());
        house.runtime.block_on(house.jobs.fail(held.id, Some(held.token), report)).unwrap();
        if attempt < 3 {
            house.runtime.block_on(house.jobs.run_now(held.id)).unwrap();
        }
    }
    let vitals = Vitals { memory_mb: Some(1.0), ..Vitals::default() };
    house.runtime.block_on(house.jobs.heartbeat(worker, vitals)).unwrap();
    house.jobs.sample(house.clock.now()).unwrap();
}

#[test]
fn all_metrics_of_histories_are_known_before_they_are_written() {
    let house = House::open();
    ends_of_all_kinds(&house);
    house.jobs.write_history(house.clock.now()).unwrap();
    let filter = DefinitionFilter { limit: 100, ..DefinitionFilter::default() };
    let written = house.engine.metrics(&filter).definitions;
    assert_eq!(written.len(), HISTORY_METRICS.len());
    for metric in written {
        assert!(metric.name.as_str().starts_with(RESERVED_PREFIX), "{}", metric.name);
        assert!(HISTORY_METRICS.contains(&(metric.name.as_str(), metric.kind)), "{}", metric.name);
    }
}

#[test]
fn a_metric_of_somebody_else_leaves_questions_with_an_answer() {
    let house = House::open();
    let mut batch = house.engine.own_batch();
    let series = batch.series("telltale.jobs.failed", MetricType::Gauge, &[]).unwrap();
    batch.number(MetricType::Gauge, series, house.clock.now(), 1.0);
    house.engine.write(batch.finish()).unwrap();
    let history = house.jobs.history();
    assert_eq!(history.today("default").unwrap().failed, 0);
    assert_eq!(history.workers(Period::Hour, Whose::Users).unwrap().totals.failed, 0);
    assert!(history.queue("default", Period::Hour, Resolution::Minute).is_ok());
}
