//! Workers: registration, heartbeats, restrictions, expiry.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cycle::Cycle;
use super::machine::State;
use crate::jobs::error::JobsError;
use crate::jobs::model::{
    HeartbeatReply, JobId, NewWorker, Registered, WorkerId, WorkerStatus, WorkerUsage,
};
use crate::jobs::names::QueueName;
use crate::jobs::stored::{self, StoredWorker};
use crate::limits;

/// A registered worker.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) about: NewWorker,
    /// The numbers of its queues, in order of priority.
    pub(super) queues: Arc<[u32]>,
    pub(super) status: WorkerStatus,
    pub(super) vitals: WorkerUsage,
    pub(super) started_ms: i64,
    pub(super) heard_ms: i64,
    /// When it is considered dead unless it sends a heartbeat, on the monotonic clock.
    pub(super) expected_steady_ms: i64,
    pub(super) processed: u64,
    pub(super) failed: u64,
    pub(super) held: BTreeSet<JobId>,
    /// Lost jobs that were not reported to it yet.
    lost: Vec<JobId>,
    /// Its record on disk.
    stored: StoredWorker,
}

impl Worker {
    /// Returns a worker that is new or loaded from disk.
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
            vitals: WorkerUsage {
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

    /// Returns whether its record must be written. Resource usage and times differ at every
    /// heartbeat; on disk they may lag by [`limits::WORKER_HEARTBEAT_STORED_MS`]. A value that was
    /// never stored before is written at once.
    fn must_be_stored(&self) -> bool {
        let (now, stored) = (self.to_stored(), &self.stored);
        let apart_ms = now.heard_ms.abs_diff(stored.heard_ms);
        let as_stored = StoredWorker {
            heard_ms: now.heard_ms,
            busy_threads: stored.busy_threads.and(now.busy_threads),
            memory_mb: stored.memory_mb.and(now.memory_mb),
            cpu_percent: stored.cpu_percent.and(now.cpu_percent),
            ..stored.clone()
        };
        apart_ms >= limits::WORKER_HEARTBEAT_STORED_MS || now != as_stored
    }

    /// Returns the number of busy threads: as reported, otherwise the number of held jobs, and at
    /// most its concurrency.
    pub(super) fn busy_threads(&self) -> u32 {
        let held = || u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.vitals.busy_threads.unwrap_or_else(held).min(self.about.concurrency)
    }

    /// Returns whether it belongs to the server.
    pub(super) fn is_own(&self) -> bool {
        self.about.queues.iter().any(QueueName::is_own)
    }

    pub(super) fn report_lost(&mut self, id: JobId) {
        if self.lost.len() < limits::WORKER_LOST_REPORTED_MAX {
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
    /// Registers a worker. Queues that it names are added.
    pub(in crate::jobs) fn register(
        &mut self,
        about: NewWorker,
        cycle: &mut Cycle,
    ) -> Result<Registered, JobsError> {
        if self.workers.len() >= limits::WORKERS_MAX {
            return Err(JobsError::TooManyWorkers);
        }
        let queues = self.join_queues(&about.queues, cycle)?;
        let id = WorkerId(self.ids.next_number());
        let stored = StoredWorker {
            hostname: String::new(),
            pid: None,
            queues: Vec::new(),
            concurrency: about.concurrency,
            status: 0,
            started_ms: cycle.wall_ms(),
            heard_ms: cycle.wall_ms(),
            processed: 0,
            failed: 0,
            busy_threads: None,
            memory_mb: None,
            cpu_percent: None,
        };
        let by_ms = cycle.now.steady_ms + self.settings.worker_silence.ms();
        self.workers.insert(id, Worker::new(about, queues.into(), stored, by_ms));
        self.timers.start_silence(by_ms, id);
        self.store_worker(id, cycle);
        Ok(Registered {
            id,
            heartbeat_seconds: self.settings.heartbeat_seconds(),
            lease_seconds: self.settings.lease.ms() as f64 / 1_000.0,
        })
    }

    /// Records a heartbeat.
    pub(in crate::jobs) fn heartbeat(
        &mut self,
        id: WorkerId,
        vitals: WorkerUsage,
        cycle: &mut Cycle,
    ) -> Result<HeartbeatReply, JobsError> {
        self.restart_silence(id, cycle);
        let worker = self.worker_mut(id)?;
        worker.heard_ms = cycle.wall_ms();
        worker.vitals = WorkerUsage {
            busy_threads: vitals.busy_threads,
            memory_mb: vitals.memory_mb.or(worker.vitals.memory_mb),
            cpu_percent: vitals.cpu_percent.or(worker.vitals.cpu_percent),
        };
        let heard =
            HeartbeatReply { status: worker.status, lost: std::mem::take(&mut worker.lost) };
        if worker.must_be_stored() {
            self.store_worker(id, cycle);
        }
        Ok(heard)
    }

    /// Restarts the timeout of a worker that fetches: it is alive.
    pub(in crate::jobs) fn restart_silence(&mut self, id: WorkerId, cycle: &Cycle) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        self.timers.end_silence(worker.expected_steady_ms, id);
        worker.expected_steady_ms = cycle.now.steady_ms + self.settings.worker_silence.ms();
        self.timers.start_silence(worker.expected_steady_ms, id);
    }

    /// Gives every worker at least this long until it is considered dead.
    pub(super) fn extend_silence(&mut self, for_ms: i64, cycle: &Cycle) {
        let by_ms = cycle.now.steady_ms + for_ms.min(self.settings.worker_silence.ms());
        for (id, worker) in &mut self.workers {
            if worker.expected_steady_ms < by_ms {
                self.timers.end_silence(worker.expected_steady_ms, *id);
                worker.expected_steady_ms = by_ms;
                self.timers.start_silence(by_ms, *id);
            }
        }
    }

    /// Refuses a client's operation on a worker of the server.
    pub(in crate::jobs) fn check_users_worker(&self, id: WorkerId) -> Result<(), JobsError> {
        match self.workers.get(&id) {
            Some(worker) if worker.is_own() => Err(JobsError::OwnWorker),
            Some(_) => Ok(()),
            None => Err(JobsError::WorkerNotFound(id.to_string())),
        }
    }

    /// Refuses a client's operation on a held job of the server.
    pub(in crate::jobs) fn check_users_job(&self, id: JobId) -> Result<(), JobsError> {
        let queue = self.jobs.get(&id).map(|job| self.queues.of(job.queue));
        match queue {
            Some(queue) if queue.name.is_own() => Err(JobsError::ReservationLost),
            _ => Ok(()),
        }
    }

    /// Restricts a worker to this status, which is never undone. Returns its status, and whether it
    /// changed.
    pub(in crate::jobs) fn restrict(
        &mut self,
        id: WorkerId,
        to: WorkerStatus,
        cycle: &mut Cycle,
    ) -> Result<(WorkerStatus, bool), JobsError> {
        let worker = self.worker_mut(id)?;
        if worker.status >= to {
            return Ok((worker.status, false));
        }
        worker.status = to;
        cycle.restricted.push(id);
        self.store_worker(id, cycle);
        Ok((to, true))
    }

    /// Makes every active worker of clients quiet. Returns their number.
    pub(in crate::jobs) fn quiet_all(&mut self, cycle: &mut Cycle) -> usize {
        let users = self.workers.iter().filter(|(_, worker)| !worker.is_own());
        let ids: Vec<WorkerId> = users.map(|(id, _)| *id).collect();
        let changed = |id: &WorkerId| {
            let restricted = self.restrict(*id, WorkerStatus::Quiet, cycle);
            restricted.is_ok_and(|(_, changed)| changed)
        };
        ids.iter().copied().filter(changed).count()
    }

    /// Removes a worker. The jobs it holds return to the front in their old order, without
    /// counting.
    pub(in crate::jobs) fn deregister(
        &mut self,
        id: WorkerId,
        cycle: &mut Cycle,
    ) -> Result<(), JobsError> {
        let held = self.remove_worker(id, cycle)?;
        for job_id in held.into_iter().rev() {
            let (job, _) = self.release_hold(job_id);
            self.make_ready_first(job_id, job, cycle);
        }
        Ok(())
    }

    /// Removes a worker without heartbeats. The jobs it holds are lost.
    pub(super) fn lose_worker(&mut self, id: WorkerId, cycle: &mut Cycle) {
        let held = match self.remove_worker(id, cycle) {
            Ok(held) => held,
            Err(error) => unreachable!("only registered workers have a timer: {error}"),
        };
        for job in held.into_iter().rev() {
            self.lose(job, "WorkerLost", "the worker sent no heartbeat for too long", cycle);
        }
    }

    fn remove_worker(
        &mut self,
        id: WorkerId,
        cycle: &mut Cycle,
    ) -> Result<BTreeSet<JobId>, JobsError> {
        let worker = self.workers.remove(&id);
        let worker = worker.ok_or_else(|| JobsError::WorkerNotFound(id.to_string()))?;
        self.timers.end_silence(worker.expected_steady_ms, id);
        cycle.restricted.push(id);
        cycle.batch.delete(stored::WORKERS, &id.key());
        self.leave_queues(&worker.queues);
        Ok(worker.held)
    }

    /// Returns the numbers of the queues of a new worker and counts the worker in each at once, so
    /// that none of them is dropped for the next.
    fn join_queues(
        &mut self,
        names: &[QueueName],
        cycle: &mut Cycle,
    ) -> Result<Vec<u32>, JobsError> {
        let mut queues = Vec::with_capacity(names.len());
        for name in names {
            match self.queue_named(name, cycle) {
                Ok(number) => {
                    self.queues.of_mut(number).workers += 1;
                    queues.push(number);
                }
                Err(refused) => {
                    self.leave_queues(&queues);
                    return Err(refused);
                }
            }
        }
        Ok(queues)
    }

    /// Counts a removed worker no longer in its queues.
    fn leave_queues(&mut self, queues: &[u32]) {
        for number in queues {
            let queue = self.queues.of_mut(*number);
            let Some(left) = queue.workers.checked_sub(1) else {
                unreachable!("queue {number} counts fewer workers than are registered for it")
            };
            queue.workers = left;
        }
    }

    fn worker_mut(&mut self, id: WorkerId) -> Result<&mut Worker, JobsError> {
        let found = self.workers.get_mut(&id);
        found.ok_or_else(|| JobsError::WorkerNotFound(id.to_string()))
    }

    fn store_worker(&mut self, id: WorkerId, cycle: &mut Cycle) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.stored = worker.to_stored();
            cycle.batch.put(stored::WORKERS, &id.key(), stored::encode(&worker.stored));
        }
    }
}
