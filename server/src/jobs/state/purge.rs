//! The purge of a queue: all jobs that waited in it when the purge began are removed, in steps of bounded work.
//!
//! Jobs that wait for their time are found by the timers of all queues, before those that are ready: a job that becomes ready
//! meanwhile joins the order of its queue, where it is found later. Jobs that came after the beginning are passed over.

use super::job::Job;
use super::machine::State;
use super::queues::waits;
use super::round::Round;
use crate::jobs::error::JobsError;
use crate::jobs::model::{JobId, JobStatus};
use crate::limits;

/// Where the next step of a purge begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::jobs) enum PurgePlace {
    /// Among the scheduled jobs, at one that is due at this time of day.
    Scheduled(i64, JobId),
    /// Among the retrying jobs, at one that is due at this time of the steady clock.
    Retrying(i64, JobId),
    /// In the order of the queue: `left` places were not looked at that were there when the place behind the last was `back`.
    Ready { left: usize, back: i64 },
}

impl PurgePlace {
    /// Where the first step begins.
    pub(in crate::jobs) const START: Self = Self::Scheduled(i64::MIN, JobId(0));
}

/// The work of one step.
struct PurgeStep<'a> {
    state: &'a State,
    queue: u32,
    /// Jobs with this id and greater ones came later.
    end: JobId,
    looks: usize,
    chosen: Vec<(JobId, Job)>,
}

impl State {
    /// Removes jobs of a queue that wait, whatever for, and whose ids are less than `end`. One step, which returns how many it
    /// removed and where the next step begins.
    pub(in crate::jobs) fn purge_step(
        &mut self,
        name: &str,
        from: PurgePlace,
        end: JobId,
        round: &mut Round,
    ) -> Result<(usize, Option<PurgePlace>), JobsError> {
        let queue = self.queue_number(name)?;
        let mut step = PurgeStep { state: self, queue, end, looks: 0, chosen: Vec::new() };
        let next = step.choose(from);
        let chosen = step.chosen;
        for (id, job) in &chosen {
            self.remove_waiting(*id, *job, round);
        }
        Ok((chosen.len(), next))
    }
}

impl PurgeStep<'_> {
    /// Chooses jobs until the step is full, and returns where the next one begins.
    fn choose(&mut self, mut from: PurgePlace) -> Option<PurgePlace> {
        let state = self.state;
        let (timers, queue) = (&state.timers, state.queues.of(self.queue));
        if let PurgePlace::Scheduled(due_ms, id) = from {
            let next = self.choose_timed(timers.scheduled_from(due_ms, id), queue.scheduled);
            if let Some((due_ms, id)) = next {
                return Some(PurgePlace::Scheduled(due_ms, id));
            }
            from = PurgePlace::Retrying(i64::MIN, JobId(0));
        }
        if let PurgePlace::Retrying(due_ms, id) = from {
            let next = self.choose_timed(timers.retrying_from(due_ms, id), queue.retrying);
            if let Some((due_ms, id)) = next {
                return Some(PurgePlace::Retrying(due_ms, id));
            }
            from = PurgePlace::Ready { left: queue.order.len(), back: queue.back };
        }
        match from {
            PurgePlace::Ready { left, back } => self.choose_ready(left, back),
            PurgePlace::Scheduled(..) | PurgePlace::Retrying(..) => None,
        }
    }

    /// Chooses among jobs that wait for their time, of which so many are of this queue. Returns the first that was not looked at.
    fn choose_timed(
        &mut self,
        timed: impl Iterator<Item = (i64, JobId)>,
        mut of_queue: usize,
    ) -> Option<(i64, JobId)> {
        for (due_ms, id) in timed {
            if of_queue == 0 {
                return None;
            }
            if self.is_full() {
                return Some((due_ms, id));
            }
            if let Some(job) = self.look(id).filter(|job| job.status != JobStatus::Ready) {
                of_queue -= 1;
                self.take(id, job);
            }
        }
        None
    }

    /// Chooses among the places of the order that were there when the place behind the last was `back`, and of which so many are
    /// left. The order may have become shorter since: then some are looked at again, and none is passed over.
    fn choose_ready(&mut self, left: usize, back: i64) -> Option<PurgePlace> {
        let state = self.state;
        let queue = state.queues.of(self.queue);
        // A ledger that read the disk anew may count from less.
        let added = usize::try_from(queue.back.saturating_sub(back)).unwrap_or(usize::MAX);
        let start = queue.order.len().saturating_sub(left.saturating_add(added));
        for (looked, id) in queue.order.range(start..).take(left).enumerate() {
            if self.is_full() {
                return Some(PurgePlace::Ready { left: left - looked, back });
            }
            if let Some(job) = self.look(*id).filter(|job| job.status == JobStatus::Ready) {
                self.take(*id, job);
            }
        }
        None
    }

    fn is_full(&self) -> bool {
        self.looks == limits::LEDGER_STEP_LOOKUPS_MAX
            || self.chosen.len() == limits::LEDGER_STEP_JOBS_MAX
    }

    /// The job, where it is one of this queue that waits.
    fn look(&mut self, id: JobId) -> Option<Job> {
        self.looks += 1;
        let job = self.state.jobs.get(&id).copied();
        job.filter(|job| job.queue == self.queue && waits(job.status))
    }

    fn take(&mut self, id: JobId, job: Job) {
        if id < self.end {
            self.chosen.push((id, job));
        }
    }
}
