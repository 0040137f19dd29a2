//! Workers: known, heard of, told what they may do, gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::machine::State;
use super::round::Round;
use crate::jobs::error::JobsError;
use crate::jobs::model::{Heard, JobId, NewWorker, Registered, Vitals, WorkerId, WorkerStatus};
use crate::jobs::names::QueueName;
use crate::jobs::stored::{self, StoredWorker};
use crate::limits;

/// One worker.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) about: NewWorker,
    /// The numbers of its queues, the most urgent first.
    pub(super) queues: Arc<[u32]>,
    pub(super) status: WorkerStatus,
    pub(super) vitals: Vitals,
    pub(super) started_ms: i64,
    pub(super) heard_ms: i64,
    /// When it is gone if it is not heard of before, on the steady clock.
    pub(super) expected_steady_ms: i64,
    pub(super) processed: u64,
    pub(super) failed: u64,
    pub(super) held: BTreeSet<JobId>,
    /// What it lost and was not told.
    lost: Vec<JobId>,
    /// What the disk has of it.
    stored: StoredWorker,
}

impl Worker {
    /// A worker that was stored, or is new.
    pub(super) fn new(
        about: NewWorker,
        queues: Arc<[u32]>,
        stored: StoredWorker,
        expected_steady_ms: i64,
    ) -> Self {
        Self {
            about,
            queues,
            status: match stored.status {
                0 => WorkerStatus::Active,
                1 => WorkerStatus::Quiet,
                _ => WorkerStatus::Stopping,
            },
            vitals: Vitals {
                busy_threads: stored.busy_threads,
                memory_mb: stored.memory_mb,
                cpu_percent: stored.cpu_percent,
            },
            started_ms: stored.started_ms,
            heard_ms: stored.heard_ms,
            expected_steady_ms,
            processed: stored.processed,
            failed: stored.failed,
            held: BTreeSet::new(),
            lost: Vec::new(),
            stored,
        }
    }

    /// Whether the disk should know it anew. How a worker is doing differs at every heartbeat, and so does the time: what is
    /// shown of both after a start may be so old as the limit says. But something is shown of all that it ever told.
    fn is_news(&self) -> bool {
        let (now, stored) = (self.to_stored(), &self.stored);
        let apart_ms = now.heard_ms.abs_diff(stored.heard_ms);
        let as_stored = StoredWorker {
            heard_ms: now.heard_ms,
            busy_threads: stored.busy_threads.and(now.busy_threads),
            memory_mb: stored.memory_mb.and(now.memory_mb),
            cpu_percent: stored.cpu_percent.and(now.cpu_percent),
            ..stored.clone()
        };
        apart_ms >= limits::WORKER_HEARD_STORED_MS || now != as_stored
    }

    /// Threads that work: as many as it says, or as it holds jobs while it does not say, and no more than it has.
    pub(super) fn busy_threads(&self) -> u32 {
        let held = || u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.vitals.busy_threads.unwrap_or_else(held).min(self.about.concurrency)
    }

    /// Whether it is one of the server's own.
    pub(super) fn is_own(&self) -> bool {
        self.about.queues.iter().any(QueueName::is_own)
    }

    pub(super) fn tell_lost(&mut self, id: JobId) {
        if self.lost.len() < limits::WORKER_LOST_TOLD_MAX {
            self.lost.push(id);
        }
    }

    fn to_stored(&self) -> StoredWorker {
        StoredWorker {
            hostname: self.about.hostname.to_string(),
            pid: self.about.pid,
            queues: self.queues.to_vec(),
            concurrency: self.about.concurrency,
            status: self.status as u8,
            started_ms: self.started_ms,
            heard_ms: self.heard_ms,
            processed: self.processed,
            failed: self.failed,
            busy_threads: self.vitals.busy_threads,
            memory_mb: self.vitals.memory_mb,
            cpu_percent: self.vitals.cpu_percent,
        }
    }
}

impl State {
    /// A worker becomes known; queues that it names are made.
    pub(in crate::jobs) fn register(
        &mut self,
        about: NewWorker,
        round: &mut Round,
    ) -> Result<Registered, JobsError> {
        if self.workers.len() >= limits::WORKERS_MAX {
            return Err(JobsError::TooManyWorkers);
        }
        let queues = self.take_on(&about.queues, round)?;
        let id = WorkerId(self.ids.next_number());
        let stored = StoredWorker {
            hostname: String::new(),
            pid: None,
            queues: Vec::new(),
            concurrency: about.concurrency,
            status: 0,
            started_ms: round.wall_ms(),
            heard_ms: round.wall_ms(),
            processed: 0,
            failed: 0,
            busy_threads: None,
            memory_mb: None,
            cpu_percent: None,
        };
        let by_ms = round.now.steady_ms + self.settings.worker_silence_ms;
        self.workers.insert(id, Worker::new(about, queues.into(), stored, by_ms));
        self.timers.expect(by_ms, id);
        self.store_worker(id, round);
        Ok(Registered {
            id,
            heartbeat_seconds: self.settings.heartbeat_seconds(),
            lease_seconds: self.settings.lease_ms as f64 / 1_000.0,
        })
    }

    /// A worker is alive, and says how it is doing.
    pub(in crate::jobs) fn heartbeat(
        &mut self,
        id: WorkerId,
        vitals: Vitals,
        round: &mut Round,
    ) -> Result<Heard, JobsError> {
        self.expect_anew(id, round);
        let worker = self.worker_mut(id)?;
        worker.heard_ms = round.wall_ms();
        worker.vitals = Vitals {
            busy_threads: vitals.busy_threads,
            memory_mb: vitals.memory_mb.or(worker.vitals.memory_mb),
            cpu_percent: vitals.cpu_percent.or(worker.vitals.cpu_percent),
        };
        let heard = Heard { status: worker.status, lost: std::mem::take(&mut worker.lost) };
        if worker.is_news() {
            self.store_worker(id, round);
        }
        Ok(heard)
    }

    /// A worker asks for jobs, so it is alive.
    pub(in crate::jobs) fn expect_anew(&mut self, id: WorkerId, round: &Round) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        self.timers.unexpect(worker.expected_steady_ms, id);
        worker.expected_steady_ms = round.now.steady_ms + self.settings.worker_silence_ms;
        self.timers.expect(worker.expected_steady_ms, id);
    }

    /// Every worker has so long to be heard of, if it has not longer.
    pub(super) fn excuse_silence(&mut self, for_ms: i64, round: &Round) {
        let by_ms = round.now.steady_ms + for_ms.min(self.settings.worker_silence_ms);
        for (id, worker) in &mut self.workers {
            if worker.expected_steady_ms < by_ms {
                self.timers.unexpect(worker.expected_steady_ms, *id);
                worker.expected_steady_ms = by_ms;
                self.timers.expect(by_ms, *id);
            }
        }
    }

    /// Refuses what a user wants of a worker that is the server's own.
    pub(in crate::jobs) fn check_users_worker(&self, id: WorkerId) -> Result<(), JobsError> {
        match self.workers.get(&id) {
            Some(worker) if worker.is_own() => Err(JobsError::OwnWorker),
            Some(_) => Ok(()),
            None => Err(JobsError::WorkerNotFound(id.to_string())),
        }
    }

    /// Refuses what a user says of a job that only the server's own workers hold.
    pub(in crate::jobs) fn check_users_job(&self, id: JobId) -> Result<(), JobsError> {
        let queue = self.jobs.get(&id).map(|job| self.queues.of(job.queue));
        match queue {
            Some(queue) if queue.name.is_own() => Err(JobsError::ReservationLost),
            _ => Ok(()),
        }
    }

    /// Tells a worker that it may do no more than this. It never goes back. Answers what it may do now, and whether that
    /// changed.
    pub(in crate::jobs) fn restrict(
        &mut self,
        id: WorkerId,
        to: WorkerStatus,
        round: &mut Round,
    ) -> Result<(WorkerStatus, bool), JobsError> {
        let worker = self.worker_mut(id)?;
        if worker.status >= to {
            return Ok((worker.status, false));
        }
        worker.status = to;
        round.restricted.push(id);
        self.store_worker(id, round);
        Ok((to, true))
    }

    /// Tells every worker of users to begin nothing more. Answers how many had not been told.
    pub(in crate::jobs) fn quiet_all(&mut self, round: &mut Round) -> usize {
        let users = self.workers.iter().filter(|(_, worker)| !worker.is_own());
        let ids: Vec<WorkerId> = users.map(|(id, _)| *id).collect();
        let changed = |id: &WorkerId| {
            let told = self.restrict(*id, WorkerStatus::Quiet, round);
            told.is_ok_and(|(_, changed)| changed)
        };
        ids.iter().copied().filter(changed).count()
    }

    /// A worker leaves. What it holds goes back to the front, in its old order, and nothing counts.
    pub(in crate::jobs) fn deregister(
        &mut self,
        id: WorkerId,
        round: &mut Round,
    ) -> Result<(), JobsError> {
        let held = self.remove_worker(id, round)?;
        for job_id in held.into_iter().rev() {
            let Some(job) = self.jobs.get(&job_id).copied() else { continue };
            if self.unhold(job_id, job).is_some() {
                self.make_ready_first(job_id, job, round);
            }
        }
        Ok(())
    }

    /// A worker was not heard of for too long. What it holds is lost.
    pub(super) fn lose_worker(&mut self, id: WorkerId, round: &mut Round) {
        let Ok(held) = self.remove_worker(id, round) else { return };
        for job in held.into_iter().rev() {
            self.lose(job, "WorkerLost", "the worker was not heard of for too long", round);
        }
    }

    fn remove_worker(
        &mut self,
        id: WorkerId,
        round: &mut Round,
    ) -> Result<BTreeSet<JobId>, JobsError> {
        let worker = self.workers.remove(&id);
        let worker = worker.ok_or_else(|| JobsError::WorkerNotFound(id.to_string()))?;
        self.timers.unexpect(worker.expected_steady_ms, id);
        round.restricted.push(id);
        round.batch.delete(stored::WORKERS, &id.key());
        self.let_go(&worker.queues);
        Ok(worker.held)
    }

    /// The numbers of the queues of a new worker, which count it from now on: one must not give its place to the next.
    fn take_on(&mut self, names: &[QueueName], round: &mut Round) -> Result<Vec<u32>, JobsError> {
        let mut queues = Vec::with_capacity(names.len());
        for name in names {
            match self.queue_named(name, round) {
                Ok(number) => {
                    self.queues.of_mut(number).workers += 1;
                    queues.push(number);
                }
                Err(refused) => {
                    self.let_go(&queues);
                    return Err(refused);
                }
            }
        }
        Ok(queues)
    }

    /// The queues of a worker that is no more do not count it any longer.
    fn let_go(&mut self, queues: &[u32]) {
        for number in queues {
            let queue = self.queues.of_mut(*number);
            queue.workers = queue.workers.saturating_sub(1);
        }
    }

    fn worker_mut(&mut self, id: WorkerId) -> Result<&mut Worker, JobsError> {
        let found = self.workers.get_mut(&id);
        found.ok_or_else(|| JobsError::WorkerNotFound(id.to_string()))
    }

    fn store_worker(&mut self, id: WorkerId, round: &mut Round) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.stored = worker.to_stored();
            round.batch.put(stored::WORKERS, &id.key(), stored::encode(&worker.stored));
        }
    }
}
