//! Executes steps on queues, dead jobs and the history, and updates the model with the replies.

use std::time::Duration;

use telltale_engine::TimestampMs;
use telltale_server::jobs::{DeadJobId, JobsError, QueueName, WorkerUsage};
use telltale_simulation::{Outcome, fail};

use super::act::Reply;
use super::model::{Job, JobState, Paused};
use super::steps::QUEUES;
use crate::driver::Driver;

/// The gap between two cycles, in milliseconds, beyond which the later one expires nothing.
const LATE_MS: u64 = 2_000;

impl Driver {
    /// Checks that a queue that was not found may not exist.
    fn may_be_missing(&self, queue: usize) -> Outcome {
        if self.jobs.made[queue] { fail("a queue is lost", QUEUES[queue]) } else { Ok(()) }
    }

    pub(super) fn purge(&mut self, queue: usize) -> Outcome {
        let outcome = self.runtime.block_on(self.service().jobs().purge(queue_name(queue)));
        let reply = self.classify("a queue could not be purged", outcome)?;
        let waiting = |state| (state == JobState::Cancellation).then_some(JobState::Absent);
        let its = self.jobs.jobs.iter_mut().filter(|job| job.new.queue == queue);
        match reply {
            Reply::Accepted(count) => {
                let (mut least, mut most) = (0, 0);
                for job in its {
                    least += usize::from(job.must(|state| state == JobState::Cancellation));
                    most += usize::from(job.may(|state| state == JobState::Cancellation));
                    job.batch =
                        job.batch.filter(|_| !job.may(|state| state == JobState::Cancellation));
                    job.turn(waiting);
                }
                if (least..=most).contains(&count) {
                    return Ok(());
                }
                fail("a purge removed another number of jobs", format!("{count} {least}..={most}"))
            }
            Reply::Refused(JobsError::QueueNotFound(_)) => self.may_be_missing(queue),
            Reply::Refused(error) => fail("a purge was refused", error),
            Reply::Unknown => {
                for job in its {
                    job.batch = None;
                    job.in_order = false;
                    job.may_turn(waiting);
                }
                Ok(())
            }
        }
    }

    pub(super) fn pause(&mut self, queue: usize) -> Outcome {
        let outcome = self.runtime.block_on(self.service().jobs().pause(queue_name(queue)));
        match self.classify("a queue could not be paused", outcome)? {
            Reply::Accepted(_) => {
                self.jobs.paused[queue] = Paused { may_be: true, may_not_be: false }
            }
            Reply::Refused(JobsError::QueueNotFound(_)) => return self.may_be_missing(queue),
            Reply::Refused(error) => return fail("a pause was refused", error),
            Reply::Unknown => self.jobs.paused[queue].may_be = true,
        }
        Ok(())
    }

    pub(super) fn resume(&mut self, queue: usize) -> Outcome {
        let outcome = self.runtime.block_on(self.service().jobs().resume(queue_name(queue)));
        let paused = &self.jobs.paused[queue];
        match self.classify("a queue could not be resumed", outcome)? {
            Reply::Accepted(_) if !paused.may_be => {
                fail("a queue was paused without a request", QUEUES[queue])
            }
            Reply::Accepted(_) => {
                self.jobs.paused[queue] = Paused { may_be: false, may_not_be: true };
                Ok(())
            }
            Reply::Refused(JobsError::QueueNotFound(_)) => self.may_be_missing(queue),
            Reply::Refused(JobsError::NotPaused) if paused.may_not_be => Ok(()),
            Reply::Refused(error) => fail("a paused queue could not be resumed", error),
            Reply::Unknown => {
                self.jobs.paused[queue].may_not_be = true;
                Ok(())
            }
        }
    }

    pub(super) fn retry_dead(&mut self, pick: u64) -> Outcome {
        let is_dead = |job: &Job| job.must(|state| state == JobState::Dead);
        let Some(at) = self.pick_job(pick, is_dead) else { return Ok(()) };
        let retried = self.service().jobs().retry(DeadJobId::Job(self.id_of(at)));
        let outcome = self.runtime.block_on(retried);
        match self.classify("a dead job could not be retried", outcome)? {
            Reply::Accepted((_, new)) => {
                self.holds_alone(&self.jobs.jobs[at].new)?;
                self.jobs.retried(at, Some(new), self.now());
            }
            Reply::Refused(JobsError::NotUnique(holder)) => {
                self.may_be_held(&self.jobs.jobs[at].new, holder)?;
            }
            Reply::Refused(error) => return fail("a dead job is lost", error),
            Reply::Unknown => self.jobs.retried(at, None, self.now()),
        }
        Ok(())
    }

    pub(super) fn delete_dead(&mut self, pick: u64) -> Outcome {
        let is_dead = |job: &Job| job.must(|state| state == JobState::Dead);
        let Some(at) = self.pick_job(pick, is_dead) else { return Ok(()) };
        let deleted = self.service().jobs().forget(DeadJobId::Job(self.id_of(at)));
        let outcome = self.runtime.block_on(deleted);
        match self.classify("a dead job could not be deleted", outcome)? {
            Reply::Accepted(_) => self.jobs.jobs[at].remove(true),
            Reply::Refused(error) => return fail("a dead job is lost", error),
            Reply::Unknown => self.jobs.jobs[at].remove(false),
        }
        Ok(())
    }

    /// Trims dead jobs. None is old enough in any history, however wrong its clock is.
    pub(super) fn trim_dead(&mut self) -> Outcome {
        let outcome = self.runtime.block_on(self.service().jobs().trim_dead());
        match self.classify("dead jobs could not be trimmed", outcome)? {
            Reply::Accepted(0) | Reply::Unknown => Ok(()),
            Reply::Accepted(count) => fail("dead jobs were trimmed too early", count),
            Reply::Refused(error) => fail("a trim of dead jobs was refused", error),
        }
    }

    /// Makes a cycle take long, as on a slow disk. A worker whose heartbeat follows must not be
    /// lost.
    pub(super) fn stall(&mut self, pick: u64, ms: u64) -> Outcome {
        self.run_ledger()?;
        let before = self.now();
        let worker = self.pick_worker(pick).filter(|worker| self.jobs.is_there(*worker, before));
        let clock = self.clock.clone();
        let slow = move |_| {
            clock.pass(Duration::from_millis(ms));
            ((), None)
        };
        let outcome = self.runtime.block_on(self.service().jobs().enqueue_all(Vec::new(), slow));
        let is_certain = matches!(self.classify("a cycle failed", outcome)?, Reply::Accepted(()));
        if let Some(worker) = worker.filter(|_| is_certain && ms > LATE_MS) {
            let heartbeat = self.service().jobs().heartbeat(worker, WorkerUsage::default());
            let outcome = self.runtime.block_on(heartbeat);
            match self.classify("a heartbeat failed", outcome)? {
                Reply::Accepted(_) => self.jobs.heartbeat_received(worker, self.now()),
                Reply::Refused(error) => return fail("a worker was lost during a stall", error),
                Reply::Unknown => {}
            }
        }
        self.run_ledger()
    }

    pub(super) fn write_history(&mut self) -> Outcome {
        let now = TimestampMs(self.now().wall);
        let jobs = self.service().jobs();
        let written = jobs.write_history(now).map_err(JobsError::from);
        let sampled = jobs.sample(now);
        self.classify("the history of jobs could not be written", written.and(sampled)).map(|_| ())
    }
}

fn queue_name(queue: usize) -> QueueName {
    QueueName::new(QUEUES[queue]).unwrap()
}
