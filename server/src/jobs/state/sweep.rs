//! Timers and expiry. Bounded: what does not fit into one cycle is left for the next one, which
//! follows at once.

use std::collections::VecDeque;

use super::cycle::Cycle;
use super::machine::{Finished, State};
use crate::jobs::model::{JobId, JobStatus};
use crate::limits;

impl State {
    /// Fires what is due, in order of time. Returns whether more is due than one cycle does.
    pub(in crate::jobs) fn tick(&mut self, cycle: &mut Cycle) -> bool {
        let mut steps = limits::LEDGER_STEP_JOBS_MAX;
        self.expire_holders(&mut steps, cycle);
        self.take_due(&mut steps, cycle);
        self.drop_unused(&mut steps, cycle);
        steps == 0
    }

    /// The same without expiring workers and leases: for cycles that have not yet applied all
    /// commands sent during a stall of `stalled_ms`. Extends the timeouts of workers, which got no
    /// responses meanwhile.
    pub(in crate::jobs) fn tick_without_expiry(
        &mut self,
        stalled_ms: i64,
        cycle: &mut Cycle,
    ) -> bool {
        self.extend_silence(stalled_ms, cycle);
        let mut steps = limits::LEDGER_STEP_JOBS_MAX;
        self.take_due(&mut steps, cycle);
        steps == 0
    }

    /// Expires workers without heartbeats, and leases.
    fn expire_holders(&mut self, steps: &mut usize, cycle: &mut Cycle) {
        while let Some(id) = take(steps, || self.timers.silent(cycle.now.steady_ms)) {
            let held = self.workers.get(&id).map_or(0, |worker| worker.held.len());
            *steps = steps.saturating_sub(held);
            self.lose_worker(id, cycle);
        }
        let over = self.timers.leases_over(cycle.now.steady_ms, *steps);
        *steps -= over.len();
        // The last one first: pushed to the front one by one, they are in their old order.
        for id in over.into_iter().rev() {
            self.lose(id, "ReservationExpired", "the job was not finished in time", cycle);
        }
    }

    fn take_due(&mut self, steps: &mut usize, cycle: &mut Cycle) {
        while let Some(id) = take(steps, || self.timers.take_due(cycle.wall_ms())) {
            self.make_due_ready(id, cycle);
        }
        while let Some(id) = take(steps, || self.timers.take_retry(cycle.now.steady_ms)) {
            self.make_due_ready(id, cycle);
        }
        self.forget_finished(steps, cycle);
    }

    /// Returns the milliseconds until the next timer; `None` without timers.
    pub(in crate::jobs) fn due_in_ms(&self, cycle: &Cycle) -> Option<i64> {
        let wall = self.timers.next_wall_ms().map(|due| due.saturating_sub(cycle.wall_ms()));
        let steady = self.timers.next_steady_ms();
        let steady = steady.map(|due| due.saturating_sub(cycle.now.steady_ms));
        [wall, steady].into_iter().flatten().min()
    }

    fn make_due_ready(&mut self, id: JobId, cycle: &mut Cycle) {
        let job = match self.jobs.get(&id) {
            Some(job) if matches!(job.status, JobStatus::Scheduled | JobStatus::Retrying) => *job,
            other => unreachable!("only jobs that wait have a timer, but {id} is {other:?}"),
        };
        self.queues.count(job.queue, job.status, -1);
        self.make_ready(id, job, cycle);
    }

    /// Deletes finished jobs that are too old or too many.
    fn forget_finished(&mut self, steps: &mut usize, cycle: &mut Cycle) {
        let now = cycle.now.steady_ms;
        while *steps > 0 {
            let Finished { order, own_order, .. } = &mut self.finished;
            let next = due_to_forget(order, self.settings.finished_max, now);
            let next = next.or_else(|| due_to_forget(own_order, limits::OWN_FINISHED_MAX, now));
            let Some(id) = next else { return };
            self.finished.tokens.remove(&id);
            let Some(job) = self.jobs.remove(&id) else {
                unreachable!("finished job {id} was removed before its time")
            };
            self.queues.count(job.queue, JobStatus::Completed, -1);
            Self::erase(id, job.failures, cycle);
            *steps -= 1;
        }
    }
}

/// Takes the job that finished first if it is too old, or if there are too many.
fn due_to_forget(order: &mut VecDeque<(i64, JobId)>, max: usize, now_ms: i64) -> Option<JobId> {
    let too_many = order.len() > max;
    let is_due = |(until_ms, _): &mut (i64, JobId)| *until_ms < now_ms || too_many;
    order.pop_front_if(is_due).map(|(_, id)| id)
}

/// Takes the next due item, while there are steps left.
fn take<T>(steps: &mut usize, next: impl FnOnce() -> Option<T>) -> Option<T> {
    if *steps == 0 {
        return None;
    }
    let next = next()?;
    *steps -= 1;
    Some(next)
}
