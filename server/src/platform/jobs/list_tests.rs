//! The list of jobs where there are more than one step of the ledger looks at, and the history of a queue that was not always there.

use super::tests::{House, NOW, job};
use super::*;
use crate::limits;

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
