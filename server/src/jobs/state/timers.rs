//! What is due when.

use std::collections::{BTreeSet, HashMap};

use crate::jobs::model::{JobId, WorkerId};

/// All timers: those of the wall clock, and those of the steady one.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Scheduled jobs, by time of day: it is what they asked for.
    schedule: BTreeSet<(i64, JobId)>,
    /// Retrying jobs, by the steady clock: a delay is no date.
    retries: BTreeSet<(i64, JobId)>,
    /// When each of them is due.
    retry_dues: HashMap<JobId, i64>,
    leases: BTreeSet<(i64, JobId)>,
    silences: BTreeSet<(i64, WorkerId)>,
}

impl Timers {
    pub(super) fn schedule(&mut self, due_ms: i64, id: JobId) {
        self.schedule.insert((due_ms, id));
    }

    pub(super) fn unschedule(&mut self, due_ms: i64, id: JobId) {
        self.schedule.remove(&(due_ms, id));
    }

    /// The scheduled jobs from this one on, in the order in which they are due.
    pub(super) fn scheduled_from(
        &self,
        due_ms: i64,
        id: JobId,
    ) -> impl Iterator<Item = (i64, JobId)> {
        self.schedule.range((due_ms, id)..).copied()
    }

    /// The retrying jobs from this one on, in the order in which they are due.
    pub(super) fn retrying_from(
        &self,
        due_steady_ms: i64,
        id: JobId,
    ) -> impl Iterator<Item = (i64, JobId)> {
        self.retries.range((due_steady_ms, id)..).copied()
    }

    /// How many jobs are scheduled.
    pub(super) fn scheduled(&self) -> usize {
        self.schedule.len()
    }

    /// How many jobs wait to be tried again.
    pub(super) fn retrying(&self) -> usize {
        self.retries.len()
    }

    /// Takes the next job that is due at this time of day.
    pub(super) fn take_due(&mut self, wall_ms: i64) -> Option<JobId> {
        self.schedule.first().filter(|(due, _)| *due <= wall_ms)?;
        self.schedule.pop_first().map(|(_, id)| id)
    }

    pub(super) fn delay_retry(&mut self, until_steady_ms: i64, id: JobId) {
        self.retries.insert((until_steady_ms, id));
        self.retry_dues.insert(id, until_steady_ms);
    }

    pub(super) fn cancel_retry(&mut self, id: JobId) {
        if let Some(due_ms) = self.retry_dues.remove(&id) {
            self.retries.remove(&(due_ms, id));
        }
    }

    /// Takes the next job whose delay is over.
    pub(super) fn take_retry(&mut self, steady_ms: i64) -> Option<JobId> {
        self.retries.first().filter(|(due, _)| *due <= steady_ms)?;
        let (_, id) = self.retries.pop_first()?;
        self.retry_dues.remove(&id);
        Some(id)
    }

    pub(super) fn begin_lease(&mut self, ends_ms: i64, id: JobId) {
        self.leases.insert((ends_ms, id));
    }

    pub(super) fn end_lease(&mut self, ends_ms: i64, id: JobId) {
        self.leases.remove(&(ends_ms, id));
    }

    /// The jobs whose leases are over, so many at most, in the order of their ends.
    pub(super) fn leases_over(&self, steady_ms: i64, max: usize) -> Vec<JobId> {
        let over = self.leases.iter().take_while(|(ends, _)| *ends <= steady_ms);
        over.take(max).map(|(_, id)| *id).collect()
    }

    pub(super) fn expect(&mut self, by_ms: i64, id: WorkerId) {
        self.silences.insert((by_ms, id));
    }

    pub(super) fn unexpect(&mut self, by_ms: i64, id: WorkerId) {
        self.silences.remove(&(by_ms, id));
    }

    /// The next worker that should have been heard of.
    pub(super) fn silent(&self, steady_ms: i64) -> Option<WorkerId> {
        self.silences.first().filter(|(by, _)| *by < steady_ms).map(|(_, id)| *id)
    }

    /// When the next timer of the wall clock is due.
    pub(super) fn next_wall_ms(&self) -> Option<i64> {
        self.schedule.first().map(|(due, _)| *due)
    }

    /// When the next timer of the steady clock is due.
    pub(super) fn next_steady_ms(&self) -> Option<i64> {
        let lease = self.leases.first().map(|(ends, _)| *ends);
        let silence = self.silences.first().map(|(by, _)| *by + 1);
        let retry = self.retries.first().map(|(due, _)| *due);
        [lease, silence, retry].into_iter().flatten().min()
    }
}
