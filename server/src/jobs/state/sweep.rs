//! What happens because time passes. Bounded: what does not fit into one round is left for the next, which comes at once.

use super::machine::State;
use super::round::Round;
use crate::jobs::model::{JobId, JobStatus};
use crate::limits;

impl State {
    /// Fires what is due, in the order of time. Answers whether more is due than one round takes.
    pub(in crate::jobs) fn tick(&mut self, round: &mut Round) -> bool {
        let mut steps = limits::LEDGER_STEP_JOBS_MAX;
        self.take_losses(&mut steps, round);
        self.take_due(&mut steps, round);
        self.drop_vacant(&mut steps, round);
        steps == 0
    }

    /// The same, but nobody loses anything: for a round that has yet to hear those who spoke while nobody listened, which was
    /// so for `stalled_ms`. Who had no answer meanwhile has as long to speak again.
    pub(in crate::jobs) fn tick_without_losses(
        &mut self,
        stalled_ms: i64,
        round: &mut Round,
    ) -> bool {
        self.excuse_silence(stalled_ms, round);
        let mut steps = limits::LEDGER_STEP_JOBS_MAX;
        self.take_due(&mut steps, round);
        steps == 0
    }

    /// Workers that were silent for too long are gone, and leases end.
    fn take_losses(&mut self, steps: &mut usize, round: &mut Round) {
        while let Some(id) = take(steps, || self.timers.silent(round.now.steady_ms)) {
            let held = self.workers.get(&id).map_or(0, |worker| worker.held.len());
            *steps = steps.saturating_sub(held);
            self.lose_worker(id, round);
        }
        let over = self.timers.leases_over(round.now.steady_ms, *steps);
        *steps -= over.len();
        // The last one first: put to the front one by one, they stand in their old order.
        for id in over.into_iter().rev() {
            self.lose(id, "ReservationExpired", "the job was not finished in time", round);
        }
    }

    fn take_due(&mut self, steps: &mut usize, round: &mut Round) {
        while let Some(id) = take(steps, || self.timers.take_due(round.wall_ms())) {
            self.begin_due(id, round);
        }
        while let Some(id) = take(steps, || self.timers.take_retry(round.now.steady_ms)) {
            self.begin_due(id, round);
        }
        self.forget_finished(steps, round);
    }

    /// Milliseconds until something is due; none when nothing is.
    pub(in crate::jobs) fn due_in_ms(&self, round: &Round) -> Option<i64> {
        let wall = self.timers.next_wall_ms().map(|due| due.saturating_sub(round.wall_ms()));
        let steady = self.timers.next_steady_ms();
        let steady = steady.map(|due| due.saturating_sub(round.now.steady_ms));
        [wall, steady].into_iter().flatten().min()
    }

    fn begin_due(&mut self, id: JobId, round: &mut Round) {
        let Some(job) = self.jobs.get(&id).copied() else { return };
        if matches!(job.status, JobStatus::Scheduled | JobStatus::Retrying) {
            self.queues.count(job.queue, job.status, -1);
            self.make_ready(id, job, round);
        }
    }

    /// Finished jobs are forgotten when they are too old or too many.
    fn forget_finished(&mut self, steps: &mut usize, round: &mut Round) {
        while *steps > 0 {
            let Some((until_steady_ms, id)) = self.finished.order.front().copied() else { return };
            let too_many = self.finished.order.len() > self.settings.finished_max;
            if until_steady_ms >= round.now.steady_ms && !too_many {
                return;
            }
            self.finished.order.pop_front();
            self.finished.tokens.remove(&id);
            let job = self.jobs.remove(&id);
            if let Some(job) = job {
                self.queues.count(job.queue, JobStatus::Completed, -1);
            }
            Self::erase(id, job.map_or(0, |job| job.failures), round);
            *steps -= 1;
        }
    }
}

/// The next of what is due, while there are steps left.
fn take<T>(steps: &mut usize, next: impl FnOnce() -> Option<T>) -> Option<T> {
    if *steps == 0 {
        return None;
    }
    let next = next()?;
    *steps -= 1;
    Some(next)
}
