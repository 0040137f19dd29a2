//! Jobs in the hands of workers: handed out, finished, failed, kept longer, handed back, lost.

use std::sync::Arc;

use telltale_engine::TimestampMs;

use super::job::{Hold, Job};
use super::machine::State;
use super::queues::Queue;
use super::round::Round;
use crate::jobs::error::JobsError;
use crate::jobs::model::{Failed, FailureReport, JobId, JobStatus, WorkerId, WorkerStatus};
use crate::jobs::names::{ClassName, QueueName};
use crate::jobs::stored::{self, StoredFailure, StoredStatus};
use crate::limits;

/// A job that was handed out, without what stands on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::jobs) struct Grant {
    pub(in crate::jobs) id: JobId,
    pub(in crate::jobs) queue: QueueName,
    pub(in crate::jobs) token: u64,
    pub(in crate::jobs) attempt: u16,
    pub(in crate::jobs) expires_at: TimestampMs,
    pub(in crate::jobs) lease_ms: i64,
}

impl State {
    /// Hands out up to `limit` jobs of the worker's queues, the first of them first. A worker that is not active gets none.
    pub(in crate::jobs) fn reserve(
        &mut self,
        worker: WorkerId,
        limit: u32,
        round: &mut Round,
    ) -> Result<Vec<Grant>, JobsError> {
        let found = self.workers.get(&worker);
        let found = found.ok_or_else(|| JobsError::WorkerNotFound(worker.to_string()))?;
        if found.status != WorkerStatus::Active {
            return Ok(Vec::new());
        }
        let queues = found.queues.clone();
        let mut granted = Vec::new();
        for queue in queues.iter() {
            while granted.len() < limit as usize {
                let Some(id) = self.pop_ready(*queue) else { break };
                granted.extend(self.grant(id, worker, round));
            }
        }
        Ok(granted)
    }

    /// The queues whose jobs a worker may wait for: none of them for a quiet one, which waits to be told to stop. Nothing for a
    /// worker that has no reason to wait.
    pub(in crate::jobs) fn serves(&self, worker: WorkerId) -> Option<Arc<[u32]>> {
        let found = self.workers.get(&worker)?;
        match found.status {
            WorkerStatus::Active => Some(Arc::clone(&found.queues)),
            WorkerStatus::Quiet => Some(Arc::new([])),
            WorkerStatus::Stopping => None,
        }
    }

    /// Whether a queue has a job to hand out.
    pub(in crate::jobs) fn has_ready(&self, queue: u32) -> bool {
        self.queues.get(queue).is_some_and(Queue::has_ready)
    }

    /// Whoever waits for jobs of a queue that has some may have them now.
    pub(in crate::jobs) fn wake_ready(&self, round: &mut Round) {
        for (number, queue) in self.queues.iter() {
            if queue.has_ready() {
                round.wake(number);
            }
        }
    }

    fn grant(&mut self, id: JobId, worker: WorkerId, round: &mut Round) -> Option<Grant> {
        let mut job = self.jobs.get(&id).copied()?;
        let lease_ms = match job.timeout_seconds {
            0 => self.settings.lease_ms,
            seconds => i64::from(seconds) * 1_000,
        };
        let hold = Hold {
            worker,
            token: self.tokens.next(round),
            ends_steady_ms: round.now.steady_ms.saturating_add(lease_ms),
            ends_wall_ms: round.wall_ms().saturating_add(lease_ms),
            class: None,
        };
        (job.status, job.at_ms) = (JobStatus::Running, round.wall_ms());
        let grant = Grant {
            id,
            queue: self.queues.of(job.queue).name.clone(),
            token: hold.token,
            attempt: job.failures.saturating_add(1),
            expires_at: TimestampMs(hold.ends_wall_ms),
            lease_ms,
        };
        self.store_held(id, job, &hold, round);
        self.hold(id, job, hold);
        self.jobs.insert(id, job);
        Some(grant)
    }

    /// Counts a job as held.
    pub(super) fn hold(&mut self, id: JobId, job: Job, hold: Hold) {
        self.timers.begin_lease(hold.ends_steady_ms, id);
        self.queues.count(job.queue, JobStatus::Running, 1);
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.held.insert(id);
        }
        self.holds.insert(id, hold);
    }

    fn store_held(&self, id: JobId, job: Job, hold: &Hold, round: &mut Round) {
        let left_ms = hold.ends_steady_ms.saturating_sub(round.now.steady_ms);
        let status = StoredStatus::Running {
            worker: hold.worker.0,
            token: hold.token,
            started_ms: job.at_ms,
            // A start after the wall clock was set must know how much of the lease is left.
            lease_ends_ms: round.believed_ms().saturating_add(left_ms),
        };
        self.store(id, job, status, round);
    }

    /// What a job that was handed out is called, once that was read.
    pub(in crate::jobs) fn learn_class(&mut self, id: JobId, token: u64, class: &ClassName) {
        if let Some(hold) = self.holds.get_mut(&id).filter(|hold| hold.token == token) {
            hold.class = Some(class.clone());
        }
    }

    /// The job is done. The same again is no error.
    pub(in crate::jobs) fn ack(
        &mut self,
        id: JobId,
        token: Option<u64>,
        round: &mut Round,
    ) -> Result<(), JobsError> {
        if let Some(done_with) = self.finished.tokens.get(&id) {
            let same = token == Some(*done_with);
            return if same { Ok(()) } else { Err(JobsError::ReservationLost) };
        }
        let mut job = self.held_by(id, token)?;
        let Some(hold) = self.unhold(id, job) else { return Err(JobsError::ReservationLost) };
        let ran_ms = round.wall_ms().saturating_sub(job.at_ms).max(0);
        self.release_key(id, &mut job);
        (job.status, job.at_ms) = (JobStatus::Completed, round.wall_ms());
        let status = StoredStatus::Completed { at_ms: job.at_ms, token: hold.token };
        self.store(id, job, status, round);
        self.queues.count(job.queue, JobStatus::Completed, 1);
        self.jobs.insert(id, job);
        let until_ms = round.now.steady_ms.saturating_add(self.settings.finished_keep_ms);
        self.finished.order.push_back((until_ms, id));
        self.finished.tokens.insert(id, hold.token);
        self.count_processed(&hold, 0);
        let queue = &self.queues.of(job.queue).name;
        round.seen.succeeded(queue, hold.class.as_ref(), ran_ms);
        Ok(())
    }

    /// The attempt failed: the job is tried again later, or it is dead.
    pub(in crate::jobs) fn fail(
        &mut self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
        round: &mut Round,
    ) -> Result<Failed, JobsError> {
        let job = self.held_by(id, token)?;
        let Some(hold) = self.unhold(id, job) else { return Err(JobsError::ReservationLost) };
        let Some(job) = self.count_failure(id, job, &hold, report, round) else {
            return Ok(Failed { status: JobStatus::Dead, next_run_at: None });
        };
        let delay_ms = self.settings.retry_delay_ms(job.failures, self.chance.next());
        let due_ms = round.wall_ms().saturating_add(delay_ms);
        self.make_wait(id, job, JobStatus::Retrying, due_ms, round);
        Ok(Failed { status: JobStatus::Retrying, next_run_at: Some(TimestampMs(due_ms)) })
    }

    /// The holder keeps the job for `seconds` from now. Answers until when.
    pub(in crate::jobs) fn extend(
        &mut self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
        round: &mut Round,
    ) -> Result<TimestampMs, JobsError> {
        let job = self.held_by(id, token)?;
        let Some(hold) = self.holds.get_mut(&id) else { return Err(JobsError::ReservationLost) };
        self.timers.end_lease(hold.ends_steady_ms, id);
        let more_ms = i64::from(seconds) * 1_000;
        hold.ends_steady_ms = round.now.steady_ms.saturating_add(more_ms);
        hold.ends_wall_ms = round.wall_ms().saturating_add(more_ms);
        self.timers.begin_lease(hold.ends_steady_ms, id);
        let hold = hold.clone();
        self.store_held(id, job, &hold, round);
        Ok(TimestampMs(hold.ends_wall_ms))
    }

    /// A job comes back as if it had never been handed out: nothing counts. Whoever is not its holder any more says nothing.
    pub(in crate::jobs) fn give_back(&mut self, id: JobId, token: u64, round: &mut Round) {
        let Ok(job) = self.held_by(id, Some(token)) else { return };
        if self.unhold(id, job).is_some() {
            self.make_ready_first(id, job, round);
        }
    }

    /// A job is taken away from its holder, and the attempt counts: it goes to the front of its queue, or is dead.
    pub(super) fn lose(&mut self, id: JobId, error_class: &str, message: &str, round: &mut Round) {
        let Some(job) = self.jobs.get(&id).copied() else { return };
        let Some(hold) = self.unhold(id, job) else { return };
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.tell_lost(id);
        }
        let report = FailureReport::new(error_class, message, Vec::new());
        if let Some(job) = self.count_failure(id, job, &hold, report, round) {
            self.make_ready_first(id, job, round);
        }
    }

    /// A job that cannot be read can never be done: it dies at once, with the reason.
    pub(in crate::jobs) fn condemn(
        &mut self,
        id: JobId,
        token: u64,
        reason: &str,
        round: &mut Round,
    ) {
        let Ok(mut job) = self.held_by(id, Some(token)) else { return };
        let Some(hold) = self.unhold(id, job) else { return };
        job.max_attempts = job.failures.saturating_add(1);
        let report = FailureReport::new("Unreadable", reason, Vec::new());
        self.count_failure(id, job, &hold, report, round);
    }

    /// The job that is held with this token.
    fn held_by(&self, id: JobId, token: Option<u64>) -> Result<Job, JobsError> {
        let dead = || self.dead.of_job(id).is_some();
        match (self.jobs.get(&id), self.holds.get(&id)) {
            (Some(job), Some(hold)) if token == Some(hold.token) => Ok(*job),
            (None, _) if !dead() => Err(JobsError::JobNotFound(id.to_string())),
            _ => Err(JobsError::ReservationLost),
        }
    }

    /// Counts and stores a failed attempt. Answers the job, unless it died of it.
    fn count_failure(
        &mut self,
        id: JobId,
        mut job: Job,
        hold: &Hold,
        report: FailureReport,
        round: &mut Round,
    ) -> Option<Job> {
        job.failures = job.failures.saturating_add(1);
        if job.first_failed_ms == 0 {
            job.first_failed_ms = round.wall_ms();
        }
        let key = stored::failure_key(id, job.failures);
        let error_class = report.error_class.clone();
        let failure = StoredFailure {
            failed_ms: round.wall_ms(),
            error_class: report.error_class.to_string(),
            message: report.message,
            backtrace: report.backtrace,
        };
        round.batch.put(stored::FAILURES, &key, stored::encode(&failure));
        if let Some(old) = job.failures.checked_sub(limits::JOB_FAILURES_KEPT).filter(|n| *n > 0) {
            round.batch.delete(stored::FAILURES, &stored::failure_key(id, old));
        }
        self.count_processed(hold, 1);
        round.seen.failed(&self.queues.of(job.queue).name, hold.class.as_ref());
        if job.failures < job.max_attempts {
            return Some(job);
        }
        self.bury(id, job, hold.class.clone(), error_class, round);
        None
    }

    fn count_processed(&mut self, hold: &Hold, failures: u64) {
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.processed += 1;
            worker.failed += failures;
        }
    }
}
