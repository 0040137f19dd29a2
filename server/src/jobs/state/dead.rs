//! Dead jobs: buried, searched, brought back, forgotten.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use telltale_engine::TimestampMs;

use super::enqueue::Draft;
use super::job::Job;
use super::machine::State;
use super::round::Round;
use crate::jobs::error::JobsError;
use crate::jobs::model::{DeadFilter, DeadId, DeadJob, JobId, JobStatus, NewJob, Whose};
use crate::jobs::names::{ClassName, UniqueKey};
use crate::jobs::stored::{self, StoredDead, StoredDeadUnique};
use crate::limits;

/// Dead jobs by both of their ids.
#[derive(Debug, Default)]
pub(super) struct Graveyard {
    all: BTreeMap<DeadId, Grave>,
    by_job: HashMap<JobId, DeadId>,
}

/// What must be at hand of a dead job.
#[derive(Clone, Debug)]
pub(super) struct Grave {
    pub(super) dead: DeadJob,
    pub(super) max_attempts: u16,
    pub(super) timeout_seconds: u32,
    /// The hash of its unique key, which others may have meanwhile.
    pub(super) unique: Option<u128>,
}

/// A part of the list of dead jobs.
#[derive(Clone, Debug, Default)]
pub(in crate::jobs) struct DeadPageStep {
    pub(in crate::jobs) jobs: Vec<DeadJob>,
    /// How many fit.
    pub(in crate::jobs) fitting: usize,
    /// What the next step is below; nothing after the last.
    pub(in crate::jobs) next: Option<DeadId>,
}

/// A dead job that is to be tried again, with what was read of it.
#[derive(Clone, Debug)]
pub(in crate::jobs) struct Revival {
    pub(in crate::jobs) dead: DeadId,
    pub(in crate::jobs) new: JobId,
    pub(in crate::jobs) class: ClassName,
    pub(in crate::jobs) arguments: Box<str>,
}

/// The attempts of a job with so many failures whose story is on disk.
pub(in crate::jobs) fn kept_failures(failures: u16) -> RangeInclusive<u16> {
    failures.saturating_sub(limits::JOB_FAILURES_KEPT) + 1..=failures
}

impl Graveyard {
    pub(super) fn insert(&mut self, grave: Grave) {
        self.by_job.insert(grave.dead.job, grave.dead.id);
        self.all.insert(grave.dead.id, grave);
    }

    pub(super) fn greatest_id(&self) -> Option<DeadId> {
        self.all.last_key_value().map(|(id, _)| *id)
    }

    fn remove(&mut self, id: DeadId) -> Option<Grave> {
        let grave = self.all.remove(&id)?;
        self.by_job.remove(&grave.dead.job);
        Some(grave)
    }

    pub(super) fn of_job(&self, job: JobId) -> Option<&Grave> {
        self.all.get(self.by_job.get(&job)?)
    }

    pub(super) fn get(&self, id: DeadId) -> Option<&Grave> {
        self.all.get(&id)
    }
}

impl State {
    /// A job becomes a dead job. Its body and the story of its failures stay where they are.
    pub(super) fn bury(
        &mut self,
        id: JobId,
        mut job: Job,
        class: Option<ClassName>,
        error_class: ClassName,
        round: &mut Round,
    ) {
        let unique = self.unique.keys.get(&id).copied();
        self.release_key(id, &mut job);
        self.jobs.remove(&id);
        round.batch.delete(stored::STATES, &id.key());
        let dead = DeadJob {
            id: DeadId(self.ids.next_number()),
            job: id,
            class: class.unwrap_or_else(|| ClassName::stored("unknown")),
            queue: self.queues.of(job.queue).name.clone(),
            error_class,
            attempts: job.failures,
            first_failed_at: TimestampMs(job.first_failed_ms),
            // A clock that is behind, as one is that begins in 1970, makes no death so old that it is forgotten.
            died_at: round.now.wall.max(round.now.believed),
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
        round.batch.put(stored::DEAD, &dead.id.key(), record);
        round.seen.died(&dead.queue, &dead.class, &dead.error_class);
        let (max_attempts, timeout_seconds) = (job.max_attempts, job.timeout_seconds);
        self.dead.insert(Grave { dead, max_attempts, timeout_seconds, unique });
        while self.dead.all.len() > self.settings.dead_max {
            let Some(oldest) = self.dead.all.keys().next().copied() else { break };
            self.forget(oldest, round);
        }
    }

    /// Removes a dead job and all that is stored of it. Answers whether there was one.
    pub(in crate::jobs) fn forget(&mut self, id: DeadId, round: &mut Round) -> bool {
        let Some(grave) = self.dead.remove(id) else { return false };
        if let Some(number) = self.queues.by_name.get(&grave.dead.queue) {
            self.queues.count(*number, JobStatus::Dead, -1);
        }
        round.batch.delete(stored::DEAD, &id.key());
        Self::erase(grave.dead.job, grave.dead.attempts, round);
        true
    }

    /// Removes the dead jobs of a step that fit, from `from` up to, not including, `to`. Answers how many, and where the next step begins.
    pub(in crate::jobs) fn forget_step(
        &mut self,
        filter: &DeadFilter,
        from: DeadId,
        to: DeadId,
        round: &mut Round,
    ) -> (usize, Option<DeadId>) {
        let (chosen, next) = self.dead_step(filter, from, to);
        let forgotten = chosen.into_iter().filter(|dead| self.forget(dead.id, round)).count();
        (forgotten, next)
    }

    /// The dead jobs of a step that fit, from `from` up to, not including, `to`, and where the next step begins.
    pub(in crate::jobs) fn dead_step(
        &self,
        filter: &DeadFilter,
        from: DeadId,
        to: DeadId,
    ) -> (Vec<DeadJob>, Option<DeadId>) {
        let mut chosen = Vec::new();
        for (looked, (id, grave)) in self.dead.all.range(from..to).enumerate() {
            if looked == limits::LEDGER_STEP_LOOKS_MAX
                || chosen.len() == limits::LEDGER_STEP_JOBS_MAX
            {
                return (chosen, Some(*id));
            }
            if filter.fits(&grave.dead) {
                chosen.push(grave.dead.clone());
            }
        }
        (chosen, None)
    }

    /// The dead job with this id, its own or that of the job it was.
    pub(in crate::jobs) fn dead_job(&self, id: &str) -> Result<DeadJob, JobsError> {
        let by_job = || self.dead.of_job(JobId::parse(id)?);
        let found = match DeadId::parse(id) {
            Some(id) => self.dead.get(id),
            None => by_job(),
        };
        let found = found.map(|grave| grave.dead.clone());
        found.ok_or_else(|| JobsError::DeadJobNotFound(id.to_owned()))
    }

    /// Whether there is such a dead job.
    pub(in crate::jobs) fn is_dead(&self, id: DeadId) -> bool {
        self.dead.get(id).is_some()
    }

    /// The dead jobs that are named, and how many names were of none.
    pub(in crate::jobs) fn dead_named(
        &self,
        ids: &[String],
        whose: Whose,
    ) -> (Vec<DeadJob>, usize) {
        let named = ids.iter().filter_map(|id| self.dead_job(id).ok());
        let mut found: Vec<DeadJob> = named.filter(|dead| whose.fits(&dead.queue)).collect();
        let unknown = ids.len() - found.len();
        found.sort_by_key(|dead| dead.id);
        found.dedup_by_key(|dead| dead.id);
        (found, unknown)
    }

    /// The dead jobs of a step that fit, the last to die first: how many among those with ids less than `below`, and `take` of them after
    /// the first `skip`.
    pub(in crate::jobs) fn dead_page_step(
        &self,
        filter: &DeadFilter,
        below: DeadId,
        skip: usize,
        take: usize,
    ) -> DeadPageStep {
        let mut step = DeadPageStep::default();
        for (looked, (id, grave)) in self.dead.all.range(..below).rev().enumerate() {
            if looked == limits::LEDGER_STEP_LOOKUPS_MAX {
                return step;
            }
            step.next = Some(*id);
            if !filter.fits(&grave.dead) {
                continue;
            }
            if step.fitting >= skip && step.jobs.len() < take {
                step.jobs.push(grave.dead.clone());
            }
            step.fitting += 1;
        }
        step.next = None;
        step
    }

    /// A dead job becomes a new job, with all its attempts before it, and with its unique key. Answers what it was, or nothing when it
    /// is no longer there. Refused where too many jobs wait, or another job has the key: it is a new job.
    pub(in crate::jobs) fn revive(
        &mut self,
        revival: Revival,
        round: &mut Round,
    ) -> Result<Option<DeadJob>, JobsError> {
        let Some(grave) = self.dead.get(revival.dead) else { return Ok(None) };
        let Grave { dead, max_attempts, timeout_seconds, unique } = grave.clone();
        let job = NewJob {
            class: revival.class,
            queue: dead.queue.clone(),
            arguments: revival.arguments,
            run_at: None,
            max_attempts,
            unique: unique.map(UniqueKey),
            timeout_seconds: (timeout_seconds > 0).then_some(timeout_seconds),
        };
        let draft = Draft::new(revival.new, job, round.now.wall.0);
        self.enqueue(draft, JobStatus::Ready, round)?;
        self.forget(dead.id, round);
        Ok(Some(dead))
    }
}
