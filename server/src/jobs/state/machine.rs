//! The state, and the status changes shared by all operations.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::cycle::Cycle;
use super::dead::DeadJobs;
use super::job::{Hold, Job};
use super::queues::Queues;
use super::timers::Timers;
use super::workers::Worker;
use crate::jobs::model::{JobId, JobStatus, WorkerId};
use crate::jobs::settings::JobsSettings;
use crate::jobs::stored::{self, StoredStatus};
use crate::platform::ids::Ids;

/// Tokens reserved by one write: at most this many are skipped by a restart.
const TOKENS_STRIDE: u64 = 1 << 20;

/// All jobs, queues and workers.
#[derive(Debug)]
pub(in crate::jobs) struct State {
    pub(super) settings: JobsSettings,
    pub(super) ids: Arc<Ids>,
    pub(super) jobs: BTreeMap<JobId, Job>,
    pub(super) queues: Queues,
    pub(super) holds: HashMap<JobId, Hold>,
    pub(super) workers: BTreeMap<WorkerId, Worker>,
    pub(super) finished: Finished,
    pub(super) unique: Unique,
    pub(super) dead: DeadJobs,
    pub(super) timers: Timers,
    pub(super) tokens: Tokens,
    /// Random numbers for the jitter of retries; no secret.
    pub(super) random: SplitMix64,
    /// New jobs refused because of a limit, and not reported yet.
    pub(super) refused: u64,
}

/// Finished jobs that are still kept, in the order they finished.
#[derive(Debug, Default)]
pub(super) struct Finished {
    /// Each with the end of its retention on the monotonic clock.
    pub(super) order: VecDeque<(i64, JobId)>,
    /// The same of the server's own jobs, which nobody looks at for long: they must not take the
    /// places of others.
    pub(super) own_order: VecDeque<(i64, JobId)>,
    /// The tokens they were finished with.
    pub(super) tokens: HashMap<JobId, u64>,
}

/// Unique keys of unfinished jobs.
#[derive(Debug, Default)]
pub(super) struct Unique {
    pub(super) holders: HashMap<u128, JobId>,
    pub(super) keys: HashMap<JobId, u128>,
}

/// Tokens, which only grow, over restarts too.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) next: u64,
    /// All tokens below this one are reserved on disk.
    pub(super) end: u64,
}

/// A pseudorandom number generator: SplitMix64.
#[derive(Debug)]
pub(super) struct SplitMix64(pub(super) u64);

impl State {
    /// Returns an empty state.
    pub(in crate::jobs) fn new(
        settings: JobsSettings,
        ids: Arc<Ids>,
        seed: u64,
        tokens_end: u64,
    ) -> Self {
        Self {
            settings,
            ids,
            jobs: BTreeMap::new(),
            queues: Queues::default(),
            holds: HashMap::new(),
            workers: BTreeMap::new(),
            finished: Finished::default(),
            unique: Unique::default(),
            dead: DeadJobs::default(),
            timers: Timers::default(),
            tokens: Tokens { next: tokens_end, end: tokens_end },
            random: SplitMix64(seed),
            refused: 0,
        }
    }

    /// Stores the status of a job.
    pub(super) fn store(&self, id: JobId, job: Job, status: StoredStatus, cycle: &mut Cycle) {
        let unique = if job.is_unique { self.unique.keys.get(&id).copied() } else { None };
        let value = stored::encode(&job.to_stored(status, unique));
        cycle.batch.put(stored::STATES, &id.key(), value);
    }

    /// Adds a job to the back of its queue.
    pub(super) fn make_ready(&mut self, id: JobId, mut job: Job, cycle: &mut Cycle) {
        (job.status, job.at_ms) = (JobStatus::Ready, cycle.wall_ms());
        let order = self.queues.push_back(job.queue, id);
        self.settle_ready(id, job, order, cycle);
    }

    /// Returns a job to the front of its queue.
    pub(super) fn make_ready_first(&mut self, id: JobId, mut job: Job, cycle: &mut Cycle) {
        (job.status, job.at_ms) = (JobStatus::Ready, cycle.wall_ms());
        let order = self.queues.push_front(job.queue, id);
        self.settle_ready(id, job, order, cycle);
    }

    fn settle_ready(&mut self, id: JobId, job: Job, order: i64, cycle: &mut Cycle) {
        self.store(id, job, StoredStatus::Ready { since_ms: job.at_ms, order }, cycle);
        self.jobs.insert(id, job);
        cycle.wake(job.queue);
    }

    /// Makes a job wait for its start or retry time.
    pub(super) fn make_wait(
        &mut self,
        id: JobId,
        mut job: Job,
        status: JobStatus,
        due_ms: i64,
        cycle: &mut Cycle,
    ) {
        (job.status, job.at_ms) = (status, due_ms);
        let stored = match status {
            JobStatus::Retrying => StoredStatus::Retrying { due_ms },
            _ => StoredStatus::Scheduled { due_ms },
        };
        self.queues.count(job.queue, status, 1);
        match status {
            JobStatus::Retrying => {
                let delay_ms = due_ms.saturating_sub(cycle.wall_ms());
                self.timers.delay_retry(cycle.now.steady_ms.saturating_add(delay_ms), id);
            }
            _ => self.timers.schedule(due_ms, id),
        }
        self.store(id, job, stored, cycle);
        self.jobs.insert(id, job);
    }

    /// Removes a waiting job from its queue or timer. Its record stays.
    pub(super) fn cancel_wait(&mut self, id: JobId, job: Job) {
        match job.status {
            JobStatus::Ready => self.leave_ready(id, job.queue),
            JobStatus::Scheduled => {
                self.queues.count(job.queue, job.status, -1);
                self.timers.unschedule(job.at_ms, id);
            }
            JobStatus::Retrying => {
                self.queues.count(job.queue, job.status, -1);
                self.timers.cancel_retry(id);
            }
            JobStatus::Running | JobStatus::Completed | JobStatus::Dead => {}
        }
    }

    /// Takes a running job from its holder.
    ///
    /// # Panics
    /// If the job is not held: timers and workers refer only to held jobs.
    pub(super) fn release_hold(&mut self, id: JobId) -> (Job, Hold) {
        let (job, hold) = match (self.jobs.get(&id), self.holds.remove(&id)) {
            (Some(job), Some(hold)) => (*job, hold),
            (job, hold) => unreachable!("job {id} is not held: {job:?}, {hold:?}"),
        };
        self.timers.end_lease(hold.ends_steady_ms, id);
        self.queues.count(job.queue, JobStatus::Running, -1);
        // The record of the worker may have been damaged.
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.held.remove(&id);
        }
        (job, hold)
    }

    /// Releases the unique key of a job.
    pub(super) fn release_key(&mut self, id: JobId, job: &mut Job) {
        job.is_unique = false;
        if let Some(key) = self.unique.keys.remove(&id) {
            self.unique.holders.remove(&key);
        }
    }

    /// Deletes everything stored of a job, its body and failures included.
    pub(super) fn erase(id: JobId, failures: u16, cycle: &mut Cycle) {
        cycle.batch.delete(stored::STATES, &id.key());
        cycle.batch.delete(stored::BODIES, &id.key());
        for attempt in super::dead::kept_failures(failures) {
            cycle.batch.delete(stored::FAILURES, &stored::failure_key(id, attempt));
        }
    }
}

impl Tokens {
    /// Returns a token larger than all before.
    pub(super) fn next(&mut self, cycle: &mut Cycle) -> u64 {
        if self.next == self.end {
            self.end += TOKENS_STRIDE;
            let value = stored::encode(&self.end);
            cycle.batch.put(stored::META, stored::TOKENS_KEY, value);
        }
        self.next += 1;
        self.next - 1
    }
}

impl SplitMix64 {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
