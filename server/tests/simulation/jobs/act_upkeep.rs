//! Does what a step says about queues, dead jobs and the history, and tells the model what was answered.

use std::time::Duration;

use telltale_engine::TimestampMs;
use telltale_server::jobs::{JobsError, Vitals};
use telltale_simulation::{Outcome, fail};

use super::act::Heard;
use super::model::{Job, Paused, Stand};
use super::steps::QUEUES;
use crate::driver::Driver;

/// Milliseconds between two rounds from which on the later one takes nothing from anybody.
const LATE_MS: u64 = 2_000;

impl Driver {
    /// Whether a queue that is not found may not be there.
    fn may_be_missing(&self, queue: usize) -> Outcome {
        if self.jobs.made[queue] { fail("a queue is lost", QUEUES[queue]) } else { Ok(()) }
    }

    pub(super) fn purge(&mut self, queue: usize) -> Outcome {
        let outcome = self.runtime.block_on(self.house().jobs().purge(QUEUES[queue].to_owned()));
        let heard = self.hear("a queue cannot be purged", outcome)?;
        let waiting = |stand| (stand == Stand::Waiting).then_some(Stand::Absent);
        let its = self.jobs.jobs.iter_mut().filter(|job| job.new.queue == queue);
        match heard {
            Heard::Yes(count) => {
                let (mut least, mut most) = (0, 0);
                for job in its {
                    least += usize::from(job.must(|stand| stand == Stand::Waiting));
                    most += usize::from(job.may(|stand| stand == Stand::Waiting));
                    job.batch = job.batch.filter(|_| !job.may(|stand| stand == Stand::Waiting));
                    job.turn(waiting);
                }
                if (least..=most).contains(&count) {
                    return Ok(());
                }
                fail("a purge removes another number of jobs", format!("{count} {least}..={most}"))
            }
            Heard::No(JobsError::QueueNotFound(_)) => self.may_be_missing(queue),
            Heard::No(error) => fail("a purge is refused", error),
            Heard::Nothing => {
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
        let outcome = self.runtime.block_on(self.house().jobs().pause(QUEUES[queue].to_owned()));
        match self.hear("a queue cannot be paused", outcome)? {
            Heard::Yes(_) => self.jobs.paused[queue] = Paused { may_be: true, may_not_be: false },
            Heard::No(JobsError::QueueNotFound(_)) => return self.may_be_missing(queue),
            Heard::No(error) => return fail("a pause is refused", error),
            Heard::Nothing => self.jobs.paused[queue].may_be = true,
        }
        Ok(())
    }

    pub(super) fn resume(&mut self, queue: usize) -> Outcome {
        let outcome = self.runtime.block_on(self.house().jobs().resume(QUEUES[queue].to_owned()));
        let paused = &self.jobs.paused[queue];
        match self.hear("a queue cannot be resumed", outcome)? {
            Heard::Yes(_) if !paused.may_be => fail("a queue was paused by nobody", QUEUES[queue]),
            Heard::Yes(_) => {
                self.jobs.paused[queue] = Paused { may_be: false, may_not_be: true };
                Ok(())
            }
            Heard::No(JobsError::QueueNotFound(_)) => self.may_be_missing(queue),
            Heard::No(JobsError::NotPaused) if paused.may_not_be => Ok(()),
            Heard::No(error) => fail("a paused queue is not resumed", error),
            Heard::Nothing => {
                self.jobs.paused[queue].may_not_be = true;
                Ok(())
            }
        }
    }

    pub(super) fn revive(&mut self, pick: u64) -> Outcome {
        let is_dead = |job: &Job| job.must(|stand| stand == Stand::Dead);
        let Some(at) = self.pick_job(pick, is_dead) else { return Ok(()) };
        let revived = self.house().jobs().retry(self.id_of(at).to_string());
        let outcome = self.runtime.block_on(revived);
        match self.hear("a dead job cannot be tried again", outcome)? {
            Heard::Yes((_, new)) => {
                self.holds_alone(&self.jobs.jobs[at].new)?;
                self.jobs.revived(at, Some(new), self.now());
            }
            Heard::No(JobsError::NotUnique(holder)) => {
                self.may_be_held(&self.jobs.jobs[at].new, holder)?;
            }
            Heard::No(error) => return fail("a dead job is lost", error),
            Heard::Nothing => self.jobs.revived(at, None, self.now()),
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, pick: u64) -> Outcome {
        let is_dead = |job: &Job| job.must(|stand| stand == Stand::Dead);
        let Some(at) = self.pick_job(pick, is_dead) else { return Ok(()) };
        let forgotten = self.house().jobs().forget(self.id_of(at).to_string());
        let outcome = self.runtime.block_on(forgotten);
        match self.hear("a dead job cannot be forgotten", outcome)? {
            Heard::Yes(_) => self.jobs.jobs[at].remove(true),
            Heard::No(error) => return fail("a dead job is lost", error),
            Heard::Nothing => self.jobs.jobs[at].remove(false),
        }
        Ok(())
    }

    /// Forgets dead jobs that are too old, of which there are none in a history however wrong its clock is.
    pub(super) fn trim_dead(&mut self) -> Outcome {
        let outcome = self.runtime.block_on(self.house().jobs().trim_dead());
        match self.hear("dead jobs cannot be trimmed", outcome)? {
            Heard::Yes(0) | Heard::Nothing => Ok(()),
            Heard::Yes(count) => fail("dead jobs are forgotten too early", count),
            Heard::No(error) => fail("a trim of dead jobs is refused", error),
        }
    }

    /// A round takes long, as on a slow disk. Who is heard of first after it was not lost meanwhile.
    pub(super) fn stall(&mut self, pick: u64, ms: u64) -> Outcome {
        self.look()?;
        let before = self.now();
        let worker = self.pick_worker(pick).filter(|worker| self.jobs.is_there(*worker, before));
        let clock = self.clock.clone();
        let slow = move |_| {
            clock.pass(Duration::from_millis(ms));
            ((), None)
        };
        let outcome = self.runtime.block_on(self.house().jobs().enqueue_all(Vec::new(), slow));
        let is_certain = matches!(self.hear("a round fails", outcome)?, Heard::Yes(()));
        if let Some(worker) = worker.filter(|_| is_certain && ms > LATE_MS) {
            let heartbeat = self.house().jobs().heartbeat(worker, Vitals::default());
            let outcome = self.runtime.block_on(heartbeat);
            match self.hear("a worker is not heard", outcome)? {
                Heard::Yes(_) => self.jobs.heard(worker, self.now()),
                Heard::No(error) => return fail("a worker is lost while nobody listened", error),
                Heard::Nothing => {}
            }
        }
        self.look()
    }

    pub(super) fn recorder(&mut self) -> Outcome {
        let now = TimestampMs(self.now().wall);
        let jobs = self.house().jobs();
        let written = jobs.write_history(now).map_err(JobsError::from);
        let sampled = jobs.sample(now);
        self.hear("the history of jobs cannot be written", written.and(sampled)).map(|_| ())
    }
}
