//! Purging a queue: removes all jobs that were waiting when the purge began, in steps of bounded
//! work.
//!
//! Scheduled and retrying jobs are found by the timers of all queues, before the ready ones: a job
//! that becomes ready meanwhile joins the order of its queue, where it is found later. Jobs that
//! were enqueued after the beginning are skipped.

use super::cycle::Cycle;
use super::job::Job;
use super::machine::State;
use super::queues::waits;
use crate::jobs::error::JobsError;
use crate::jobs::model::{JobId, JobStatus};
use crate::limits;

/// Where the next step of a purge begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::jobs) enum PurgeCursor {
    /// At a scheduled job that is due at this wall clock time.
    Scheduled(i64, JobId),
    /// At a retrying job that is due at this monotonic time.
    Retrying(i64, JobId),
    /// In the order of the queue: `left` positions that existed when its end was `back` are not
    /// inspected yet.
    Ready { left: usize, back: i64 },
}

impl PurgeCursor {
    /// The beginning of a purge.
    pub(in crate::jobs) const START: Self = Self::Scheduled(i64::MIN, JobId(0));
}

/// One step of a purge.
struct PurgeStep<'a> {
    state: &'a State,
    queue: u32,
    /// Jobs with this id and greater ones were enqueued later.
    end: JobId,
    inspected: usize,
    chosen: Vec<(JobId, Job)>,
}

impl State {
    /// Removes waiting jobs of a queue whose ids are less than `end`. One step; returns the number
    /// of removed jobs and where the next step begins.
    pub(in crate::jobs) fn purge_step(
        &mut self,
        name: &str,
        from: PurgeCursor,
        end: JobId,
        cycle: &mut Cycle,
    ) -> Result<(usize, Option<PurgeCursor>), JobsError> {
        let queue = self.queue_number(name)?;
        let mut step = PurgeStep { state: self, queue, end, inspected: 0, chosen: Vec::new() };
        let next = step.choose(from);
        let chosen = step.chosen;
        for (id, job) in &chosen {
            self.remove_waiting(*id, *job, cycle);
        }
        Ok((chosen.len(), next))
    }
}

impl PurgeStep<'_> {
    /// Chooses jobs until the step is full, and returns where the next one begins.
    fn choose(&mut self, mut from: PurgeCursor) -> Option<PurgeCursor> {
        let state = self.state;
        let (timers, queue) = (&state.timers, state.queues.of(self.queue));
        if let PurgeCursor::Scheduled(due_ms, id) = from {
            let next = self.choose_timed(timers.scheduled_from(due_ms, id), queue.scheduled);
            if let Some((due_ms, id)) = next {
                return Some(PurgeCursor::Scheduled(due_ms, id));
            }
            from = PurgeCursor::Retrying(i64::MIN, JobId(0));
        }
        if let PurgeCursor::Retrying(due_ms, id) = from {
            let next = self.choose_timed(timers.retrying_from(due_ms, id), queue.retrying);
            if let Some((due_ms, id)) = next {
                return Some(PurgeCursor::Retrying(due_ms, id));
            }
            from = PurgeCursor::Ready { left: queue.order.len(), back: queue.back };
        }
        match from {
            PurgeCursor::Ready { left, back } => self.choose_ready(left, back),
            PurgeCursor::Scheduled(..) | PurgeCursor::Retrying(..) => None,
        }
    }

    /// Chooses among scheduled or retrying jobs, of which `of_queue` are of this queue. Returns the
    /// first that was not inspected.
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
            if let Some(job) = self.inspect(id).filter(|job| job.status != JobStatus::Ready) {
                of_queue -= 1;
                self.take(id, job);
            }
        }
        None
    }

    /// Chooses among the positions that existed when the end of the order was `back` and of which
    /// `left` remain. If the order has become shorter since, some are inspected again and none is
    /// missed.
    fn choose_ready(&mut self, left: usize, back: i64) -> Option<PurgeCursor> {
        let state = self.state;
        let queue = state.queues.of(self.queue);
        // After a reload the ledger may count from a smaller number.
        let added = usize::try_from(queue.back.saturating_sub(back)).unwrap_or(usize::MAX);
        let start = queue.order.len().saturating_sub(left.saturating_add(added));
        for (inspected, id) in queue.order.range(start..).take(left).enumerate() {
            if self.is_full() {
                return Some(PurgeCursor::Ready { left: left - inspected, back });
            }
            if let Some(job) = self.inspect(*id).filter(|job| job.status == JobStatus::Ready) {
                self.take(*id, job);
            }
        }
        None
    }

    fn is_full(&self) -> bool {
        self.inspected == limits::LEDGER_STEP_LOOKUPS_MAX
            || self.chosen.len() == limits::LEDGER_STEP_JOBS_MAX
    }

    /// Returns the job if it is waiting in this queue.
    fn inspect(&mut self, id: JobId) -> Option<Job> {
        self.inspected += 1;
        let job = self.state.jobs.get(&id).copied();
        job.filter(|job| job.queue == self.queue && waits(job.status))
    }

    fn take(&mut self, id: JobId, job: Job) {
        if id < self.end {
            self.chosen.push((id, job));
        }
    }
}
