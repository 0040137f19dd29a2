//! Jobs held by workers: granted, finished, failed, extended, returned, lost.

use std::sync::Arc;

use telltale_engine::TimestampMs;

use super::cycle::Cycle;
use super::job::{Hold, Job};
use super::machine::State;
use super::queues::Queue;
use crate::jobs::error::JobsError;
use crate::jobs::model::{Failed, FailureReport, JobId, JobStatus, WorkerId, WorkerStatus};
use crate::jobs::names::{ClassName, QueueName};
use crate::jobs::stored::{self, StoredFailure, StoredStatus};
use crate::limits;

/// A granted job, without its body.
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
    /// Grants up to `limit` jobs of the worker's queues, in order of priority. A worker that is not
    /// active gets none.
    pub(in crate::jobs) fn reserve(
        &mut self,
        worker: WorkerId,
        limit: u32,
        cycle: &mut Cycle,
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
                let Some((id, job)) = self.pop_ready(*queue) else { break };
                granted.push(self.grant(id, job, worker, cycle));
            }
        }
        Ok(granted)
    }

    /// Returns the queues whose jobs a worker may wait for. A quiet worker has none, but waits
    /// until it is stopped. `None` for a worker that must not wait.
    pub(in crate::jobs) fn serves(&self, worker: WorkerId) -> Option<Arc<[u32]>> {
        let found = self.workers.get(&worker)?;
        match found.status {
            WorkerStatus::Active => Some(Arc::clone(&found.queues)),
            WorkerStatus::Quiet => Some(Arc::new([])),
            WorkerStatus::Stopping => None,
        }
    }

    /// Returns whether a queue has a job to grant.
    pub(in crate::jobs) fn has_ready(&self, queue: u32) -> bool {
        self.queues.get(queue).is_some_and(Queue::has_ready)
    }

    /// Wakes the fetches that wait for queues with ready jobs.
    pub(in crate::jobs) fn wake_ready(&self, cycle: &mut Cycle) {
        for (number, queue) in self.queues.iter() {
            if queue.has_ready() {
                cycle.wake(number);
            }
        }
    }

    fn grant(&mut self, id: JobId, mut job: Job, worker: WorkerId, cycle: &mut Cycle) -> Grant {
        let lease_ms = match job.timeout_seconds {
            0 => self.settings.lease.ms(),
            seconds => i64::from(seconds) * 1_000,
        };
        let hold = Hold {
            worker,
            token: self.tokens.next(cycle),
            ends_steady_ms: cycle.now.steady_ms.saturating_add(lease_ms),
            ends_wall_ms: cycle.wall_ms().saturating_add(lease_ms),
            class: None,
        };
        (job.status, job.at_ms) = (JobStatus::Running, cycle.wall_ms());
        let grant = Grant {
            id,
            queue: self.queues.of(job.queue).name.clone(),
            token: hold.token,
            attempt: job.failures.saturating_add(1),
            expires_at: TimestampMs(hold.ends_wall_ms),
            lease_ms,
        };
        self.store_held(id, job, &hold, cycle);
        self.hold(id, job, hold);
        self.jobs.insert(id, job);
        grant
    }

    /// Records a job as held.
    pub(super) fn hold(&mut self, id: JobId, job: Job, hold: Hold) {
        self.timers.begin_lease(hold.ends_steady_ms, id);
        self.queues.count(job.queue, JobStatus::Running, 1);
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.held.insert(id);
        }
        self.holds.insert(id, hold);
    }

    fn store_held(&self, id: JobId, job: Job, hold: &Hold, cycle: &mut Cycle) {
        let left_ms = hold.ends_steady_ms.saturating_sub(cycle.now.steady_ms);
        let status = StoredStatus::Running {
            worker: hold.worker.0,
            token: hold.token,
            started_ms: job.at_ms,
            // In trusted time: after a restart with a changed wall clock, the remaining lease is
            // still known.
            lease_ends_ms: cycle.believed_ms().saturating_add(left_ms),
        };
        self.store(id, job, status, cycle);
    }

    /// Records the class of a granted job, once its body was read.
    pub(in crate::jobs) fn learn_class(&mut self, id: JobId, token: u64, class: &ClassName) {
        if let Some(hold) = self.holds.get_mut(&id).filter(|hold| hold.token == token) {
            hold.class = Some(class.clone());
        }
    }

    /// Finishes a job. Repeating the same request succeeds.
    pub(in crate::jobs) fn ack(
        &mut self,
        id: JobId,
        token: Option<u64>,
        cycle: &mut Cycle,
    ) -> Result<(), JobsError> {
        if let Some(done_with) = self.finished.tokens.get(&id) {
            let same = token == Some(*done_with);
            return if same { Ok(()) } else { Err(JobsError::ReservationLost) };
        }
        let (mut job, hold) = self.take_held(id, token)?;
        let ran_ms = cycle.wall_ms().saturating_sub(job.at_ms).max(0);
        self.release_key(id, &mut job);
        (job.status, job.at_ms) = (JobStatus::Completed, cycle.wall_ms());
        let status = StoredStatus::Completed { at_ms: job.at_ms, token: hold.token };
        self.store(id, job, status, cycle);
        self.queues.count(job.queue, JobStatus::Completed, 1);
        self.jobs.insert(id, job);
        self.finished.tokens.insert(id, hold.token);
        self.count_processed(&hold, 0);
        let queue = &self.queues.of(job.queue).name;
        cycle.counts.succeeded(queue, hold.class.as_ref(), ran_ms);
        let keep_ms = self.settings.finished_keep.ms();
        if queue.is_own() {
            let keep_ms = keep_ms.min(limits::OWN_FINISHED_KEPT_MS);
            let until_ms = cycle.now.steady_ms.saturating_add(keep_ms);
            self.finished.own_order.push_back((until_ms, id));
        } else {
            let until_ms = cycle.now.steady_ms.saturating_add(keep_ms);
            self.finished.order.push_back((until_ms, id));
        }
        Ok(())
    }

    /// Records a failed attempt: the job is retried later, or becomes dead.
    pub(in crate::jobs) fn fail(
        &mut self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
        cycle: &mut Cycle,
    ) -> Result<Failed, JobsError> {
        let (job, hold) = self.take_held(id, token)?;
        let Some(job) = self.count_failure(id, job, &hold, report, cycle) else {
            return Ok(Failed { status: JobStatus::Dead, next_run_at: None });
        };
        let delay_ms = self.settings.retry_delay_ms(job.failures, self.random.next());
        let due_ms = cycle.wall_ms().saturating_add(delay_ms);
        self.make_wait(id, job, JobStatus::Retrying, due_ms, cycle);
        Ok(Failed { status: JobStatus::Retrying, next_run_at: Some(TimestampMs(due_ms)) })
    }

    /// Extends the lease to `seconds` from now. Returns its end.
    pub(in crate::jobs) fn extend(
        &mut self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
        cycle: &mut Cycle,
    ) -> Result<TimestampMs, JobsError> {
        let (job, hold) = self.held_by(id, token)?;
        let (job, mut hold) = (*job, hold.clone());
        self.timers.end_lease(hold.ends_steady_ms, id);
        let more_ms = i64::from(seconds) * 1_000;
        hold.ends_steady_ms = cycle.now.steady_ms.saturating_add(more_ms);
        hold.ends_wall_ms = cycle.wall_ms().saturating_add(more_ms);
        self.timers.begin_lease(hold.ends_steady_ms, id);
        self.store_held(id, job, &hold, cycle);
        let ends_at = TimestampMs(hold.ends_wall_ms);
        self.holds.insert(id, hold);
        Ok(ends_at)
    }

    /// Returns a job to its queue as if it had never been granted. Without effect if the token is
    /// no longer that of the holder.
    pub(in crate::jobs) fn return_job(&mut self, id: JobId, token: u64, cycle: &mut Cycle) {
        if let Ok((job, _)) = self.take_held(id, Some(token)) {
            self.make_ready_first(id, job, cycle);
        }
    }

    /// Takes a job from its holder. The attempt counts: the job returns to the front of its queue,
    /// or becomes dead.
    pub(super) fn lose(&mut self, id: JobId, error_class: &str, message: &str, cycle: &mut Cycle) {
        let (job, hold) = self.release_hold(id);
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.report_lost(id);
        }
        let report = FailureReport::new(error_class, message, Vec::new());
        if let Some(job) = self.count_failure(id, job, &hold, report, cycle) {
            self.make_ready_first(id, job, cycle);
        }
    }

    /// Makes a job whose body cannot be read dead at once, with the reason. Without effect if the
    /// token is no longer that of the holder.
    pub(in crate::jobs) fn fail_unreadable(
        &mut self,
        id: JobId,
        token: u64,
        reason: &str,
        cycle: &mut Cycle,
    ) {
        let Ok((mut job, hold)) = self.take_held(id, Some(token)) else { return };
        job.max_attempts = job.failures.saturating_add(1);
        let report = FailureReport::new("Unreadable", reason, Vec::new());
        self.count_failure(id, job, &hold, report, cycle);
    }

    /// Takes the job that is held with this token from its holder.
    fn take_held(&mut self, id: JobId, token: Option<u64>) -> Result<(Job, Hold), JobsError> {
        self.held_by(id, token)?;
        Ok(self.release_hold(id))
    }

    /// Returns the job that is held with this token.
    fn held_by(&self, id: JobId, token: Option<u64>) -> Result<(&Job, &Hold), JobsError> {
        let dead = || self.dead.of_job(id).is_some();
        match (self.jobs.get(&id), self.holds.get(&id)) {
            (Some(job), Some(hold)) if token == Some(hold.token) => Ok((job, hold)),
            (None, _) if !dead() => Err(JobsError::JobNotFound(id.to_string())),
            _ => Err(JobsError::ReservationLost),
        }
    }

    /// Counts and stores a failed attempt. Returns the job, unless it died of it.
    fn count_failure(
        &mut self,
        id: JobId,
        mut job: Job,
        hold: &Hold,
        report: FailureReport,
        cycle: &mut Cycle,
    ) -> Option<Job> {
        job.failures = job.failures.saturating_add(1);
        if job.first_failed_ms == 0 {
            job.first_failed_ms = cycle.wall_ms();
        }
        let key = stored::failure_key(id, job.failures);
        let error_class = report.error_class.clone();
        let failure = StoredFailure {
            failed_ms: cycle.wall_ms(),
            error_class: report.error_class.to_string(),
            message: report.message,
            backtrace: report.backtrace,
        };
        cycle.batch.put(stored::FAILURES, &key, stored::encode(&failure));
        if let Some(old) = job.failures.checked_sub(limits::JOB_FAILURES_KEPT).filter(|n| *n > 0) {
            cycle.batch.delete(stored::FAILURES, &stored::failure_key(id, old));
        }
        self.count_processed(hold, 1);
        cycle.counts.failed(&self.queues.of(job.queue).name, hold.class.as_ref());
        if job.failures < job.max_attempts {
            return Some(job);
        }
        self.make_dead(id, job, hold.class.clone(), error_class, cycle);
        None
    }

    fn count_processed(&mut self, hold: &Hold, failures: u64) {
        if let Some(worker) = self.workers.get_mut(&hold.worker) {
            worker.processed += 1;
            worker.failed += failures;
        }
    }
}
