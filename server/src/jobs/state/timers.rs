//! Timers of jobs and workers.

use std::collections::{BTreeSet, HashMap};

use crate::jobs::model::{JobId, WorkerId};

/// All timers, on the wall clock and on the monotonic clock.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Scheduled jobs, by wall clock time: that is what clients specify.
    schedule: BTreeSet<(i64, JobId)>,
    /// Retrying jobs, by monotonic time: a delay does not depend on the date.
    retries: BTreeSet<(i64, JobId)>,
    /// The due times of retrying jobs.
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

    /// Returns the scheduled jobs from this one on, in the order of their due times.
    pub(super) fn scheduled_from(
        &self,
        due_ms: i64,
        id: JobId,
    ) -> impl Iterator<Item = (i64, JobId)> {
        self.schedule.range((due_ms, id)..).copied()
    }

    /// Returns the retrying jobs from this one on, in the order of their due times.
    pub(super) fn retrying_from(
        &self,
        due_steady_ms: i64,
        id: JobId,
    ) -> impl Iterator<Item = (i64, JobId)> {
        self.retries.range((due_steady_ms, id)..).copied()
    }

    /// Returns the number of scheduled jobs.
    pub(super) fn scheduled(&self) -> usize {
        self.schedule.len()
    }

    /// Returns the number of retrying jobs.
    pub(super) fn retrying(&self) -> usize {
        self.retries.len()
    }

    /// Takes the next scheduled job that is due.
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

    /// Takes the next job whose retry delay is over.
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

    /// Returns up to `max` jobs whose leases have ended, in the order of their ends.
    pub(super) fn leases_over(&self, steady_ms: i64, max: usize) -> Vec<JobId> {
        let over = self.leases.iter().take_while(|(ends, _)| *ends <= steady_ms);
        over.take(max).map(|(_, id)| *id).collect()
    }

    pub(super) fn start_silence(&mut self, by_ms: i64, id: WorkerId) {
        self.silences.insert((by_ms, id));
    }

    pub(super) fn end_silence(&mut self, by_ms: i64, id: WorkerId) {
        self.silences.remove(&(by_ms, id));
    }

    /// Returns the next worker without a timely heartbeat.
    pub(super) fn silent(&self, steady_ms: i64) -> Option<WorkerId> {
        self.silences.first().filter(|(by, _)| *by < steady_ms).map(|(_, id)| *id)
    }

    /// Returns when the next timer of the wall clock is due.
    pub(super) fn next_wall_ms(&self) -> Option<i64> {
        self.schedule.first().map(|(due, _)| *due)
    }

    /// Returns when the next timer of the monotonic clock is due.
    pub(super) fn next_steady_ms(&self) -> Option<i64> {
        let lease = self.leases.first().map(|(ends, _)| *ends);
        let silence = self.silences.first().map(|(by, _)| *by + 1);
        let retry = self.retries.first().map(|(due, _)| *due);
        [lease, silence, retry].into_iter().flatten().min()
    }
}
