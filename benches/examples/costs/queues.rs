//! Queues: the cost of many queues with a few jobs each in the job ledger.

use std::path::Path;

use telltale_server::jobs::QueueName;
use telltale_server::limits::{QUEUES_MAX, WORKER_QUEUES_MAX};

use crate::case::{Case, Limit, Operation};
use crate::jobs::{OpenJobs, job};
use crate::open_engine::NOW;

/// Jobs per queue.
const JOBS: usize = 10;
/// How often all queues are listed.
const LISTS: usize = 10;

/// Queues with a few jobs each.
#[derive(Debug)]
pub(crate) struct Queues;

impl Queues {
    /// Enqueues jobs to the queues in turn.
    fn enqueue(open: &mut OpenJobs, queues: usize) {
        open.enqueue(queues * JOBS, |n| job(&name(n % queues)));
    }

    fn list(open: &mut OpenJobs, queues: usize) {
        for _ in 0..LISTS {
            assert_eq!(open.wait(open.jobs().queues()).unwrap().len(), queues);
        }
    }

    /// Fetches all jobs with workers that each serve the maximum number of queues.
    fn fetch(open: &mut OpenJobs, queues: usize) {
        for first in (0..queues).step_by(WORKER_QUEUES_MAX) {
            let served = first..queues.min(first + WORKER_QUEUES_MAX);
            let worker = open.register(served.map(|n| QueueName::new(&name(n)).unwrap()).collect());
            open.fetch_all(worker);
        }
        assert_eq!(open.held.len(), queues * JOBS);
    }

    fn purge_each(open: &mut OpenJobs, queues: usize) {
        open.each(0..queues, |jobs, n| async move {
            let purged = jobs.purge(QueueName::new(&name(n)).unwrap()).await?;
            assert_eq!(purged, JOBS);
            Ok(())
        });
    }
}

impl Case for Queues {
    type Open = OpenJobs;

    fn dimension(&self) -> &'static str {
        "queues"
    }

    fn limit(&self) -> Option<Limit> {
        Some(Limit { size: QUEUES_MAX, reason: "no more queues are taken" })
    }

    fn open(&self, dir: &Path) -> OpenJobs {
        OpenJobs::new(dir)
    }

    fn operations(&self) -> Vec<Operation<Self>> {
        vec![
            Operation::<Self>::new("enqueue", |_, open, size| Self::enqueue(open, size)),
            Operation::<Self>::new("close", |_, open, _| open.close()),
            Operation::<Self>::new("start", |_, open, _| open.start()),
            Operation::<Self>::new("list", |_, open, size| Self::list(open, size)),
            Operation::<Self>::new("sample", |_, open, _| open.jobs().sample(NOW).unwrap()),
            Operation::<Self>::new("fetch", |_, open, size| Self::fetch(open, size)),
            Operation::<Self>::new("ack", |_, open, _| open.ack(open.held.clone())),
            Operation::<Self>::new("enqueue again", |_, open, size| Self::enqueue(open, size)),
            Operation::<Self>::new("purge each", |_, open, size| Self::purge_each(open, size)),
        ]
    }
}

fn name(n: usize) -> String {
    format!("queue-{n}")
}
