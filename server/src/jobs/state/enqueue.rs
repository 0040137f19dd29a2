//! New jobs, and deleted jobs.

use super::cycle::Cycle;
use super::job::Job;
use super::machine::State;
use super::queues::{Queue, waits};
use crate::jobs::error::JobsError;
use crate::jobs::model::{JobId, JobStatus, NewJob};
use crate::jobs::stored::{self, StoredBody};
use crate::limits;

/// A job with its id and encoded body, prepared before the ledger handles it.
#[derive(Clone, Debug)]
pub(in crate::jobs) struct Draft {
    pub(in crate::jobs) id: JobId,
    pub(in crate::jobs) job: NewJob,
    body: Vec<u8>,
}

impl Draft {
    pub(in crate::jobs) fn new(id: JobId, job: NewJob, enqueued_ms: i64) -> Self {
        let body = StoredBody { class: &job.class, arguments: &job.arguments, enqueued_ms };
        let body = stored::encode(&body);
        Self { id, job, body }
    }

    /// Returns the status of the new job: scheduled if its start is after `now_ms`, otherwise
    /// ready.
    pub(in crate::jobs) fn status(&self, now_ms: i64) -> JobStatus {
        match self.job.run_at {
            Some(at) if at.0 > now_ms => JobStatus::Scheduled,
            _ => JobStatus::Ready,
        }
    }
}

impl State {
    /// Adds a job with the given status, ready or scheduled. Refused if an unfinished job has its
    /// unique key.
    pub(in crate::jobs) fn enqueue(
        &mut self,
        draft: Draft,
        status: JobStatus,
        cycle: &mut Cycle,
    ) -> Result<(), JobsError> {
        let Draft { id, job, body } = draft;
        if let Some(holder) = job.unique.and_then(|key| self.unique.holders.get(&key.0)) {
            return Err(JobsError::NotUnique(*holder));
        }
        self.check_capacity(&job).inspect_err(|_| self.refused += 1)?;
        let queue = self.queue_named(&job.queue, cycle)?;
        if let Some(key) = job.unique {
            self.unique.holders.insert(key.0, id);
            self.unique.keys.insert(id, key.0);
        }
        let new = Job {
            at_ms: 0,
            first_failed_ms: 0,
            queue,
            timeout_seconds: job.timeout_seconds.unwrap_or(0),
            failures: 0,
            max_attempts: job.max_attempts,
            status,
            is_unique: job.unique.is_some(),
        };
        cycle.batch.put(stored::BODIES, &id.key(), body);
        cycle.counts.enqueued(&job.queue);
        match (status, job.run_at) {
            (JobStatus::Scheduled, Some(due)) => {
                self.make_wait(id, new, JobStatus::Scheduled, due.0, cycle);
            }
            _ => self.make_ready(id, new, cycle),
        }
        Ok(())
    }

    /// Refuses a new job if its queue, or all queues together, are full. Existing jobs are granted,
    /// retried and returned regardless of the limits.
    fn check_capacity(&self, job: &NewJob) -> Result<(), JobsError> {
        let settings = &self.settings;
        // The server's own jobs are few, and may be what reduces the load.
        let reserve = if job.queue.is_own() { limits::OWN_JOBS_RESERVE } else { 0 };
        let max = settings.waiting_max.saturating_add(reserve);
        if self.queues.waiting >= max {
            return Err(JobsError::TooManyJobs { max });
        }
        let max = settings.waiting_bytes_max().saturating_add(reserve * limits::WAITING_JOB_BYTES);
        if self.waiting_bytes().saturating_add(limits::WAITING_JOB_BYTES) > max {
            return Err(JobsError::TooManyJobBytes { max });
        }
        let queue = self.queues.by_name.get(&job.queue).map(|number| self.queues.of(*number));
        let (waiting, max) = (queue.map_or(0, Queue::waiting), settings.queue_waiting_max);
        if waiting >= max {
            return Err(JobsError::QueueFull { queue: job.queue.to_string(), max });
        }
        Ok(())
    }

    /// Returns the number of waiting jobs.
    pub(in crate::jobs) fn waiting(&self) -> usize {
        self.queues.waiting
    }

    /// Returns the approximate memory of the waiting jobs, in bytes.
    pub(in crate::jobs) fn waiting_bytes(&self) -> usize {
        self.queues.waiting * limits::WAITING_JOB_BYTES
            + self.unique.keys.len() * limits::UNIQUE_KEY_BYTES
    }

    /// Returns how many new jobs were refused because of a limit since the last call.
    pub(in crate::jobs) fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// Makes a scheduled or retrying job ready, as if its time had come. A ready job keeps its
    /// position.
    pub(in crate::jobs) fn run_now(
        &mut self,
        id: JobId,
        cycle: &mut Cycle,
    ) -> Result<(), JobsError> {
        if self.dead.of_job(id).is_some() {
            return Err(JobsError::NotRunnable(JobStatus::Dead.as_str()));
        }
        let job = self.jobs.get(&id).copied();
        let job = job.ok_or_else(|| JobsError::JobNotFound(id.to_string()))?;
        match job.status {
            JobStatus::Ready => {}
            JobStatus::Scheduled | JobStatus::Retrying => {
                self.cancel_wait(id, job);
                self.make_ready(id, job, cycle);
            }
            JobStatus::Running | JobStatus::Completed | JobStatus::Dead => {
                return Err(JobsError::NotRunnable(job.status.as_str()));
            }
        }
        Ok(())
    }

    /// Deletes a job that has not started.
    pub(in crate::jobs) fn delete(
        &mut self,
        id: JobId,
        cycle: &mut Cycle,
    ) -> Result<(), JobsError> {
        if self.dead.of_job(id).is_some() {
            return Err(JobsError::NotDeletable(JobStatus::Dead.as_str()));
        }
        let job = self.jobs.get(&id).copied();
        let job = job.ok_or_else(|| JobsError::JobNotFound(id.to_string()))?;
        if !waits(job.status) {
            return Err(JobsError::NotDeletable(job.status.as_str()));
        }
        self.remove_waiting(id, job, cycle);
        Ok(())
    }
}
