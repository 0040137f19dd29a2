//! The machine itself, and the moves from one status to another that all verbs share.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::dead::Graveyard;
use super::job::{Hold, Job};
use super::queues::Queues;
use super::round::Round;
use super::timers::Timers;
use super::workers::Worker;
use crate::jobs::model::{JobId, JobStatus, WorkerId};
use crate::jobs::settings::JobsSettings;
use crate::jobs::stored::{self, StoredStatus};
use crate::platform::ids::Ids;

/// Tokens that one write sets aside: at most so many are skipped by a restart.
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
    pub(super) dead: Graveyard,
    pub(super) timers: Timers,
    pub(super) tokens: Tokens,
    /// Spreads retries; no secret.
    pub(super) chance: Chance,
    /// New jobs that were refused because too many wait, and not counted elsewhere yet.
    pub(super) refused: u64,
}

/// Jobs that are done and can still be asked for, in the order they were done.
#[derive(Debug, Default)]
pub(super) struct Finished {
    /// Each with the time on the steady clock until which it is kept.
    pub(super) order: VecDeque<(i64, JobId)>,
    /// With which token.
    pub(super) tokens: HashMap<JobId, u64>,
}

/// Unique keys of jobs that are not finished.
#[derive(Debug, Default)]
pub(super) struct Unique {
    pub(super) holders: HashMap<u128, JobId>,
    pub(super) keys: HashMap<JobId, u128>,
}

/// Numbers that only grow, over restarts too.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) next: u64,
    /// Every token below was set aside on disk.
    pub(super) end: u64,
}

/// Numbers that look random: SplitMix64.
#[derive(Debug)]
pub(super) struct Chance(pub(super) u64);

impl State {
    /// A machine that knows nothing.
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
            dead: Graveyard::default(),
            timers: Timers::default(),
            tokens: Tokens { next: tokens_end, end: tokens_end },
            chance: Chance(seed),
            refused: 0,
        }
    }

    /// Stores what a job has become.
    pub(super) fn store(&self, id: JobId, job: Job, status: StoredStatus, round: &mut Round) {
        let unique = if job.is_unique { self.unique.keys.get(&id).copied() } else { None };
        let value = stored::encode(&job.to_stored(status, unique));
        round.batch.put(stored::STATES, &id.key(), value);
    }

    /// A job joins its queue, at the back.
    pub(super) fn make_ready(&mut self, id: JobId, mut job: Job, round: &mut Round) {
        (job.status, job.at_ms) = (JobStatus::Ready, round.wall_ms());
        let order = self.queues.push_back(job.queue, id);
        self.settle_ready(id, job, order, round);
    }

    /// A job returns to its queue, to the front.
    pub(super) fn make_ready_first(&mut self, id: JobId, mut job: Job, round: &mut Round) {
        (job.status, job.at_ms) = (JobStatus::Ready, round.wall_ms());
        let order = self.queues.push_front(job.queue, id);
        self.settle_ready(id, job, order, round);
    }

    fn settle_ready(&mut self, id: JobId, job: Job, order: i64, round: &mut Round) {
        self.store(id, job, StoredStatus::Ready { since_ms: job.at_ms, order }, round);
        self.jobs.insert(id, job);
        round.wake(job.queue);
    }

    /// A job waits for its time.
    pub(super) fn make_wait(
        &mut self,
        id: JobId,
        mut job: Job,
        status: JobStatus,
        due_ms: i64,
        round: &mut Round,
    ) {
        (job.status, job.at_ms) = (status, due_ms);
        let stored = match status {
            JobStatus::Retrying => StoredStatus::Retrying { due_ms },
            _ => StoredStatus::Scheduled { due_ms },
        };
        self.queues.count(job.queue, status, 1);
        match status {
            JobStatus::Retrying => {
                let delay_ms = due_ms.saturating_sub(round.wall_ms());
                self.timers.delay_retry(round.now.steady_ms.saturating_add(delay_ms), id);
            }
            _ => self.timers.schedule(due_ms, id),
        }
        self.store(id, job, stored, round);
        self.jobs.insert(id, job);
    }

    /// Takes a job that waits out of whatever it waits in. Its record stays as it is.
    pub(super) fn unwait(&mut self, id: JobId, job: Job) {
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

    /// Takes a running job out of the hands of whoever holds it.
    pub(super) fn unhold(&mut self, id: JobId, job: Job) -> Option<Hold> {
        let hold = self.holds.remove(&id)?;
        self.timers.end_lease(hold.ends_steady_ms, id);
        self.queues.count(job.queue, JobStatus::Running, -1);
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.held.remove(&id);
        }
        Some(hold)
    }

    /// The unique key of a job is free again.
    pub(super) fn release_key(&mut self, id: JobId, job: &mut Job) {
        job.is_unique = false;
        if let Some(key) = self.unique.keys.remove(&id) {
            self.unique.holders.remove(&key);
        }
    }

    /// Removes all that is stored of a job, its body and failures included.
    pub(super) fn erase(id: JobId, failures: u16, round: &mut Round) {
        round.batch.delete(stored::STATES, &id.key());
        round.batch.delete(stored::BODIES, &id.key());
        for attempt in super::dead::kept_failures(failures) {
            round.batch.delete(stored::FAILURES, &stored::failure_key(id, attempt));
        }
    }
}

impl Tokens {
    /// A number larger than any given before.
    pub(super) fn next(&mut self, round: &mut Round) -> u64 {
        if self.next == self.end {
            self.end += TOKENS_STRIDE;
            let value = stored::encode(&self.end);
            round.batch.put(stored::META, stored::TOKENS_KEY, value);
        }
        self.next += 1;
        self.next - 1
    }
}

impl Chance {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
