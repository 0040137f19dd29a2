//! Dead jobs: added, searched, retried, deleted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use telltale_engine::TimestampMs;

use super::cycle::Cycle;
use super::enqueue::Draft;
use super::job::Job;
use super::machine::State;
use crate::jobs::error::JobsError;
use crate::jobs::model::{
    DeadFilter, DeadId, DeadJob, DeadJobId, JobId, JobStatus, NewJob, QueueOwner,
};
use crate::jobs::names::{ClassName, UniqueKey};
use crate::jobs::stored::{self, StoredDead, StoredDeadUnique};
use crate::limits;

/// Dead jobs by both of their ids.
#[derive(Debug, Default)]
pub(super) struct DeadJobs {
    all: BTreeMap<DeadId, DeadEntry>,
    /// Those of the queues of the server.
    own: BTreeSet<DeadId>,
    by_job: HashMap<JobId, DeadId>,
}

/// The in-memory part of a dead job.
#[derive(Clone, Debug)]
pub(super) struct DeadEntry {
    pub(super) dead: DeadJob,
    /// The number of its queue.
    pub(super) queue: u32,
    pub(super) max_attempts: u16,
    pub(super) timeout_seconds: u32,
    /// The hash of its unique key, which another job may have now.
    pub(super) unique: Option<u128>,
}

/// One step of listing dead jobs.
#[derive(Clone, Debug, Default)]
pub(in crate::jobs) struct DeadPageStep {
    pub(in crate::jobs) jobs: Vec<DeadJob>,
    /// The number of matching jobs.
    pub(in crate::jobs) fitting: usize,
    /// The upper bound of the next step; `None` after the last step.
    pub(in crate::jobs) next: Option<DeadId>,
}

/// A dead job to retry, with what was read from disk.
#[derive(Clone, Debug)]
pub(in crate::jobs) struct DeadRetry {
    pub(in crate::jobs) dead: DeadId,
    pub(in crate::jobs) new: JobId,
    pub(in crate::jobs) class: ClassName,
    pub(in crate::jobs) arguments: Box<str>,
}

/// Returns the attempts whose failures are kept on disk, for a job with this number of failures.
pub(in crate::jobs) fn kept_failures(failures: u16) -> RangeInclusive<u16> {
    failures.saturating_sub(limits::JOB_FAILURES_KEPT) + 1..=failures
}

impl DeadJobs {
    pub(super) fn insert(&mut self, entry: DeadEntry) {
        self.by_job.insert(entry.dead.job, entry.dead.id);
        if entry.dead.queue.is_own() {
            self.own.insert(entry.dead.id);
        }
        self.all.insert(entry.dead.id, entry);
    }

    pub(super) fn greatest_id(&self) -> Option<DeadId> {
        self.all.last_key_value().map(|(id, _)| *id)
    }

    fn remove(&mut self, id: DeadId) -> Option<DeadEntry> {
        let entry = self.all.remove(&id)?;
        self.by_job.remove(&entry.dead.job);
        self.own.remove(&id);
        Some(entry)
    }

    /// Returns the one that is given up when there are too many: the oldest of the server's own, or
    /// else the oldest. Strangers can make mails of the server fail, and must not make the dead
    /// jobs of users vanish.
    fn dispensable(&self) -> Option<DeadId> {
        self.own.first().copied().or_else(|| self.all.keys().next().copied())
    }

    pub(super) fn of_job(&self, job: JobId) -> Option<&DeadEntry> {
        self.all.get(self.by_job.get(&job)?)
    }

    pub(super) fn get(&self, id: DeadId) -> Option<&DeadEntry> {
        self.all.get(&id)
    }
}

impl State {
    /// Makes a job dead. Its body and failures stay on disk.
    pub(super) fn make_dead(
        &mut self,
        id: JobId,
        mut job: Job,
        class: Option<ClassName>,
        error_class: ClassName,
        cycle: &mut Cycle,
    ) {
        let unique = self.unique.keys.get(&id).copied();
        self.release_key(id, &mut job);
        self.jobs.remove(&id);
        cycle.batch.delete(stored::STATES, &id.key());
        let dead = DeadJob {
            id: DeadId(self.ids.next_number()),
            job: id,
            class: class.unwrap_or_else(|| ClassName::stored("unknown")),
            queue: self.queues.of(job.queue).name.clone(),
            error_class,
            attempts: job.failures,
            first_failed_at: TimestampMs(job.first_failed_ms),
            // With the later of the two clocks: while the wall clock is behind, for example in
            // 1970, the death would be so old that it is trimmed.
            died_at: cycle.now.wall.max(cycle.now.believed),
        };
        let record = StoredDead {
            job: id.0,
            class: dead.class.to_string(),
            queue: job.queue,
            error_class: dead.error_class.to_string(),
            attempts: job.failures,
            max_attempts: job.max_attempts,
            timeout_seconds: job.timeout_seconds,
            first_failed_ms: job.first_failed_ms,
            died_ms: dead.died_at.0,
        };
        self.queues.count(job.queue, JobStatus::Dead, 1);
        let key = unique.map(|key| StoredDeadUnique { key });
        let record = stored::encode_with(&record, key.as_ref());
        cycle.batch.put(stored::DEAD, &dead.id.key(), record);
        cycle.counts.died(&dead.queue, &dead.class, &dead.error_class);
        let Job { queue, max_attempts, timeout_seconds, .. } = job;
        self.dead.insert(DeadEntry { dead, queue, max_attempts, timeout_seconds, unique });
        while self.dead.all.len() > self.settings.dead_max {
            let Some(dispensable) = self.dead.dispensable() else { break };
            self.forget(dispensable, cycle);
        }
    }

    /// Deletes a dead job and everything stored of it. Returns whether it existed.
    pub(in crate::jobs) fn forget(&mut self, id: DeadId, cycle: &mut Cycle) -> bool {
        let Some(entry) = self.dead.remove(id) else { return false };
        self.queues.count(entry.queue, JobStatus::Dead, -1);
        cycle.batch.delete(stored::DEAD, &id.key());
        Self::erase(entry.dead.job, entry.dead.attempts, cycle);
        true
    }

    /// Deletes matching dead jobs with ids from `from` to, not including, `to`. One step; returns
    /// the number of deleted jobs and where the next step begins.
    pub(in crate::jobs) fn forget_step(
        &mut self,
        filter: &DeadFilter,
        from: DeadId,
        to: DeadId,
        cycle: &mut Cycle,
    ) -> (usize, Option<DeadId>) {
        let (chosen, next) = self.dead_step(filter, from, to);
        let forgotten = chosen.into_iter().filter(|dead| self.forget(dead.id, cycle)).count();
        (forgotten, next)
    }

    /// Selects matching dead jobs with ids from `from` to, not including, `to`. One step; also
    /// returns where the next step begins.
    pub(in crate::jobs) fn dead_step(
        &self,
        filter: &DeadFilter,
        from: DeadId,
        to: DeadId,
    ) -> (Vec<DeadJob>, Option<DeadId>) {
        let mut chosen = Vec::new();
        for (inspected, (id, entry)) in self.dead.all.range(from..to).enumerate() {
            if inspected == limits::LEDGER_STEP_INSPECTED_MAX
                || chosen.len() == limits::LEDGER_STEP_JOBS_MAX
            {
                return (chosen, Some(*id));
            }
            if filter.fits(&entry.dead) {
                chosen.push(entry.dead.clone());
            }
        }
        (chosen, None)
    }

    /// Selects up to `max` matching dead jobs with ids less than `below`, the latest death first.
    /// One step; also returns the upper bound of the next step, `None` after the last one.
    pub(in crate::jobs) fn dead_step_back(
        &self,
        filter: &DeadFilter,
        below: DeadId,
        max: usize,
    ) -> (Vec<DeadJob>, Option<DeadId>) {
        let (mut chosen, mut last) = (Vec::new(), below);
        for (inspected, (id, entry)) in self.dead.all.range(..below).rev().enumerate() {
            if inspected == limits::LEDGER_STEP_LOOKUPS_MAX || chosen.len() == max {
                return (chosen, Some(last));
            }
            last = *id;
            if filter.fits(&entry.dead) {
                chosen.push(entry.dead.clone());
            }
        }
        (chosen, None)
    }

    /// Returns the dead job with this id, its own or that of the original job.
    pub(in crate::jobs) fn dead_job(&self, id: DeadJobId) -> Result<DeadJob, JobsError> {
        let found = match id {
            DeadJobId::Dead(id) => self.dead.get(id),
            DeadJobId::Job(id) => self.dead.of_job(id),
        };
        let found = found.map(|entry| entry.dead.clone());
        found.ok_or_else(|| JobsError::DeadJobNotFound(id.to_string()))
    }

    /// Returns whether the dead job exists.
    pub(in crate::jobs) fn is_dead(&self, id: DeadId) -> bool {
        self.dead.get(id).is_some()
    }

    /// Returns the dead jobs with these ids, and the number of ids that were not found.
    pub(in crate::jobs) fn dead_named(
        &self,
        ids: &[String],
        whose: QueueOwner,
    ) -> (Vec<DeadJob>, usize) {
        let named = ids.iter().filter_map(|id| self.dead_job(DeadJobId::parse(id)?).ok());
        let mut found: Vec<DeadJob> = named.filter(|dead| whose.fits(&dead.queue)).collect();
        let unknown = ids.len() - found.len();
        found.sort_by_key(|dead| dead.id);
        found.dedup_by_key(|dead| dead.id);
        (found, unknown)
    }

    /// One step of listing matching dead jobs with ids less than `below`, the latest death first:
    /// counts them, and returns `take` of them after skipping `skip`.
    pub(in crate::jobs) fn dead_page_step(
        &self,
        filter: &DeadFilter,
        below: DeadId,
        skip: usize,
        take: usize,
    ) -> DeadPageStep {
        let mut step = DeadPageStep::default();
        for (inspected, (id, entry)) in self.dead.all.range(..below).rev().enumerate() {
            if inspected == limits::LEDGER_STEP_LOOKUPS_MAX {
                return step;
            }
            step.next = Some(*id);
            if !filter.fits(&entry.dead) {
                continue;
            }
            if step.fitting >= skip && step.jobs.len() < take {
                step.jobs.push(entry.dead.clone());
            }
            step.fitting += 1;
        }
        step.next = None;
        step
    }

    /// Retries a dead job as a new job with all its attempts and its unique key. Returns the dead
    /// job, or `None` if it no longer exists. As a new job it is refused if too many jobs are
    /// waiting, or another job has the key.
    pub(in crate::jobs) fn retry_dead(
        &mut self,
        retry: DeadRetry,
        cycle: &mut Cycle,
    ) -> Result<Option<DeadJob>, JobsError> {
        let Some(entry) = self.dead.get(retry.dead) else { return Ok(None) };
        let DeadEntry { dead, max_attempts, timeout_seconds, unique, .. } = entry.clone();
        let job = NewJob {
            class: retry.class,
            queue: dead.queue.clone(),
            arguments: retry.arguments,
            run_at: None,
            max_attempts,
            unique: unique.map(UniqueKey),
            timeout_seconds: (timeout_seconds > 0).then_some(timeout_seconds),
        };
        let draft = Draft::new(retry.new, job, cycle.now.wall.0);
        self.enqueue(draft, JobStatus::Ready, cycle)?;
        self.forget(dead.id, cycle);
        Ok(Some(dead))
    }
}
