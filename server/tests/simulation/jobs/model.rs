//! The model of jobs: the possible states of each job, based on the replies. A reply leaves one
//! state; a failed call leaves two, and the next start resolves which.

use std::collections::BTreeMap;

use telltale_server::jobs::{HeldJob, JobId, QueueName, UniqueKey, WorkerId};
use telltale_simulation::{Outcome, fail};

use super::due::{Lease, Retry};
use super::steps::{NewJob, QUEUES};

/// The time on all clocks. The wall clock can change at any moment, the monotonic one cannot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) wall: i64,
    pub(crate) steady: i64,
    /// The wall clock time that the engine trusts.
    pub(crate) believed: i64,
    /// The time by which the engine expires data.
    pub(crate) expiry: i64,
}

/// A possible state of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JobState {
    /// It never existed, or was deleted.
    Absent,
    /// Ready, scheduled, or to be retried.
    Cancellation,
    Held(Hold),
    /// Finished with this token.
    Done(u64),
    Dead,
}

/// Held by a worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hold {
    /// `None` if the reply was lost.
    pub(crate) token: Option<u64>,
    pub(crate) worker: WorkerId,
    /// Until it ends, the job stays with its worker if that sends heartbeats.
    pub(crate) lease: Lease,
    /// Whether the job may have been taken away.
    may_be_lost: bool,
}

/// The facts about a job.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// `None` for a retried dead job whose reply was lost.
    pub(crate) id: Option<JobId>,
    pub(crate) new: NewJob,
    /// The batch it was enqueued with.
    pub(crate) batch: Option<usize>,
    pub(crate) enqueued_at: i64,
    pub(crate) states: Vec<JobState>,
    /// The earliest wall clock time of its first grant.
    pub(crate) not_before: i64,
    /// Whether that time has come, regardless of later clock changes.
    pub(crate) is_due: bool,
    /// When it is retried; `None` if unknown.
    pub(crate) retry: Option<Retry>,
    /// The minimum and maximum number of failed attempts.
    pub(crate) failures: (u16, u16),
    /// The messages of acknowledged failures.
    pub(crate) reports: Vec<String>,
    /// All tokens ever granted.
    pub(crate) tokens: Vec<u64>,
    /// Whether its position in the queue is known: it was ready from the start and never granted.
    pub(crate) in_order: bool,
    /// The dead job it may be a retry of, while that is not certain.
    pub(crate) was: Option<usize>,
}

/// Jobs enqueued together, with their receipt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// The receipt and its expiry time.
    pub(crate) receipt: Option<(u128, i64)>,
    /// Whether the receipt may have expired at some time.
    pub(crate) may_be_forgotten: bool,
    /// Whether the batch exists; `None` if unknown.
    pub(crate) there: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) queues: Vec<usize>,
    /// The last certain heartbeat, on the monotonic clock.
    last_heartbeat: i64,
    /// Whether it may have been removed by a failed call.
    pub(crate) may_have_left: bool,
}

/// Whether a queue is paused: both are possible after a failed call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paused {
    pub(crate) may_be: bool,
    pub(crate) may_not_be: bool,
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) jobs: Vec<Job>,
    pub(crate) batches: Vec<Batch>,
    pub(crate) workers: BTreeMap<WorkerId, Worker>,
    pub(crate) paused: [Paused; QUEUES.len()],
    /// Queues that certainly exist.
    pub(crate) made: [bool; QUEUES.len()],
    last_token: u64,
    lease_ms: i64,
    silence_ms: i64,
}

impl JobState {
    pub(crate) fn is_held_with(self, token: u64) -> bool {
        matches!(self, Self::Held(hold) if hold.token == Some(token))
    }

    pub(crate) fn is_unfinished(self) -> bool {
        matches!(self, Self::Cancellation | Self::Held(_))
    }
}

impl Worker {
    fn may_be_gone(&self, now: Now, silence_ms: i64) -> bool {
        self.may_have_left || now.steady >= self.last_heartbeat + silence_ms
    }
}

impl Job {
    pub(crate) fn may(&self, is: impl Fn(JobState) -> bool) -> bool {
        self.states.iter().any(|state| is(*state))
    }

    pub(crate) fn must(&self, is: impl Fn(JobState) -> bool) -> bool {
        self.states.iter().all(|state| is(*state))
    }

    pub(crate) fn add(&mut self, state: JobState) {
        if !self.states.contains(&state) {
            self.states.push(state);
        }
    }

    /// Replaces each state for which `to` returns another.
    pub(crate) fn turn(&mut self, to: impl Fn(JobState) -> Option<JobState>) {
        let before = std::mem::take(&mut self.states);
        before.into_iter().for_each(|state| self.add(to(state).unwrap_or(state)));
    }

    /// The same for a failed call, which may have replaced them.
    pub(crate) fn may_turn(&mut self, to: impl Fn(JobState) -> Option<JobState>) {
        let before = self.states.clone();
        before.into_iter().filter_map(to).for_each(|state| self.add(state));
    }

    /// Records that it is deleted, or may be, which says nothing about the rest of its batch.
    pub(crate) fn remove(&mut self, is_done: bool) {
        if is_done {
            self.states.clear();
        }
        self.add(JobState::Absent);
        self.batch = None;
    }

    /// Records that an attempt may have failed.
    pub(crate) fn may_fail(&mut self) {
        self.failures.1 += 1;
        if self.failures.1 >= self.new.max_attempts {
            self.add(JobState::Dead);
        }
    }

    /// Records an observation: keeps the states that fit, and sets the number of failed attempts.
    pub(crate) fn seen(&mut self, fits: impl Fn(&JobState) -> bool, failed: Option<u16>) {
        self.states.retain(fits);
        for state in &mut self.states {
            if let JobState::Held(hold) = state {
                // It was not taken away until now.
                hold.may_be_lost = false;
            }
        }
        self.failures = failed.map_or(self.failures, |failed| (failed, failed));
    }

    /// Returns whether it is certainly waiting at its position in the queue.
    fn waits_in_order(&self) -> bool {
        self.in_order && self.must(|state| state == JobState::Cancellation)
    }
}

impl Model {
    pub(crate) fn new(lease_ms: i64, silence_ms: i64) -> Self {
        Self {
            jobs: Vec::new(),
            batches: Vec::new(),
            workers: BTreeMap::new(),
            paused: [Paused { may_be: false, may_not_be: true }; QUEUES.len()],
            made: [false; QUEUES.len()],
            last_token: 0,
            lease_ms,
            silence_ms,
        }
    }

    /// Updates what may have happened because time has passed.
    pub(crate) fn pass(&mut self, now: Now) {
        for batch in &mut self.batches {
            batch.may_be_forgotten |= batch.receipt.is_some_and(|(_, end)| end <= now.expiry);
        }
        for job in &mut self.jobs {
            job.is_due |= now.wall >= job.not_before;
            job.retry.iter_mut().for_each(|retry| retry.pass(now));
            let mut lost = false;
            let waits = job.may(|state| state == JobState::Cancellation);
            for state in &mut job.states {
                let JobState::Held(hold) = state else { continue };
                let worker = self.workers.get(&hold.worker);
                let is_gone = worker.is_none_or(|w| w.may_be_gone(now, self.silence_ms));
                let is_over = is_gone || hold.lease.may_be_over(now);
                // A job that was still held when waiting jobs were removed may be lost later.
                if is_over && !(hold.may_be_lost && waits) {
                    hold.may_be_lost = true;
                    lost = true;
                }
            }
            if lost {
                job.add(JobState::Cancellation);
                job.may_fail();
            }
        }
    }

    /// Records a restart: workers start with their full timeouts, and the remaining leases and
    /// delays are read from disk.
    pub(crate) fn restarted(&mut self, now: Now) {
        self.workers.values_mut().for_each(|worker| worker.last_heartbeat = now.steady);
        self.each_timer(|lease| lease.reloaded(now), |retry| retry.reloaded(now));
    }

    /// Records a failed write: the state may be reloaded at any moment.
    pub(crate) fn may_be_reloaded(&mut self, now: Now) {
        self.each_timer(|lease| lease.may_be_reloaded(now), |retry| retry.may_be_reloaded(now));
    }

    fn each_timer(&mut self, of_lease: impl Fn(&mut Lease), of_retry: impl Fn(&mut Retry)) {
        for job in &mut self.jobs {
            job.retry.iter_mut().for_each(&of_retry);
            for state in &mut job.states {
                if let JobState::Held(hold) = state {
                    of_lease(&mut hold.lease);
                }
            }
        }
    }

    pub(crate) fn index_of(&self, id: JobId) -> Option<usize> {
        self.jobs.iter().position(|job| job.id == Some(id))
    }

    pub(crate) fn enqueued(
        &mut self,
        id: Option<JobId>,
        new: &NewJob,
        states: &[JobState],
        now: Now,
    ) -> &mut Job {
        let is_known = states == [JobState::Cancellation];
        self.made[new.queue] |= is_known;
        self.jobs.push(Job {
            id,
            new: new.clone(),
            batch: None,
            enqueued_at: now.wall,
            states: states.to_vec(),
            not_before: now.wall + new.in_ms,
            is_due: new.in_ms == 0,
            retry: None,
            failures: (0, 0),
            reports: Vec::new(),
            tokens: Vec::new(),
            in_order: is_known && new.in_ms == 0,
            was: None,
        });
        self.jobs.last_mut().expect("it was just added")
    }

    /// Returns the jobs with a unique key that certainly, or possibly, are unfinished.
    pub(crate) fn holders_of(&self, key: u8) -> impl Iterator<Item = &Job> {
        let may_hold = |job: &&Job| job.may(JobState::is_unfinished);
        self.jobs.iter().filter(move |job| job.new.unique == Some(key)).filter(may_hold)
    }

    pub(crate) fn registered(&mut self, id: WorkerId, queues: &[usize], now: Now) {
        queues.iter().for_each(|queue| self.made[*queue] = true);
        let queues = queues.to_vec();
        self.workers
            .insert(id, Worker { queues, last_heartbeat: now.steady, may_have_left: false });
    }

    pub(crate) fn heartbeat_received(&mut self, id: WorkerId, now: Now) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.last_heartbeat = now.steady;
        }
    }

    /// Returns whether the ledger certainly knows a worker.
    pub(crate) fn is_there(&self, id: WorkerId, now: Now) -> bool {
        self.workers.get(&id).is_some_and(|worker| !worker.may_be_gone(now, self.silence_ms))
    }

    /// Records that the ledger does not know a worker.
    pub(crate) fn not_found(&mut self, id: WorkerId, now: Now) -> Outcome {
        let silence_ms = self.silence_ms;
        match self.workers.get(&id) {
            Some(worker) if !worker.may_be_gone(now, silence_ms) => {
                fail("a worker was lost", format!("{id:?}: {worker:?}"))
            }
            _ => {
                self.workers.remove(&id);
                self.pass(now);
                Ok(())
            }
        }
    }

    /// Records that a worker was removed: the jobs it holds wait again.
    pub(crate) fn deregistered(&mut self, id: WorkerId) {
        self.workers.remove(&id);
        for job in &mut self.jobs {
            job.turn(|state| match state {
                JobState::Held(hold) if hold.worker == id => Some(JobState::Cancellation),
                _ => None,
            });
        }
    }

    /// Returns the state of a job after a grant.
    pub(crate) fn hold(
        &self,
        job: &Job,
        worker: WorkerId,
        token: Option<u64>,
        now: Now,
    ) -> JobState {
        let lease_ms = job.new.timeout_s.map_or(self.lease_ms, |s| i64::from(s) * 1_000);
        let lease = Lease::new(lease_ms, now);
        JobState::Held(Hold { token, worker, lease, may_be_lost: false })
    }

    /// Records a failed fetch: any job of these queues may have been granted.
    pub(crate) fn fetch_failed(&mut self, worker: WorkerId, now: Now) {
        let Some(queues) = self.workers.get(&worker).map(|worker| worker.queues.clone()) else {
            return;
        };
        for at in 0..self.jobs.len() {
            let hold = self.hold(&self.jobs[at], worker, None, now);
            let job = &mut self.jobs[at];
            if queues.contains(&job.new.queue) {
                job.in_order = false;
                job.may_turn(|state| (state == JobState::Cancellation).then_some(hold));
            }
        }
    }

    /// Records the grant of a job.
    pub(crate) fn granted(&mut self, worker: WorkerId, held: &HeldJob, now: Now) -> Outcome {
        let at = match self.index_of(held.id) {
            Some(at) => at,
            None => self.adopt(held)?,
        };
        self.check_grant(at, worker, held, now)?;
        self.last_token = held.token;
        let hold = self.hold(&self.jobs[at], worker, Some(held.token), now);
        let job = &mut self.jobs[at];
        job.tokens.push(held.token);
        (job.is_due, job.retry) = (true, None);
        job.in_order = false;
        job.states = vec![hold];
        if let Some(was) = job.was.take() {
            self.jobs[was].states = vec![JobState::Absent];
        }
        if let Some(batch) = self.jobs[at].batch {
            self.batches[batch].there = Some(true);
        }
        Ok(())
    }

    /// Finds the model of an unknown job, which must be a retried dead job whose reply was lost.
    fn adopt(&mut self, held: &HeldJob) -> Outcome<usize> {
        let is_it = |job: &Job| job.id.is_none() && *job.new.class() == *held.class;
        let Some(at) = self.jobs.iter().position(is_it) else {
            return fail("an unknown job was granted", format!("{held:?}"));
        };
        self.jobs[at].id = Some(held.id);
        Ok(at)
    }

    fn check_grant(&self, at: usize, worker: WorkerId, held: &HeldJob, now: Now) -> Outcome {
        let job = &self.jobs[at];
        let details = || format!("{held:?} to {worker:?}; {job:?}");
        if !job.may(|state| state == JobState::Cancellation) {
            let kind = match job.states[..] {
                [JobState::Held(_)] => "a job has two holders",
                [JobState::Done(_)] => "a finished job was granted",
                [JobState::Absent] => "a deleted job was granted",
                _ => "a job that is not waiting was granted",
            };
            return fail(kind, details());
        }
        if held.token <= self.last_token {
            return fail("a token is not larger than all before it", details());
        }
        let queues = self.workers.get(&worker).map(|worker| &worker.queues[..]).unwrap_or_default();
        if !queues.contains(&job.new.queue) || *held.queue != *QUEUES[job.new.queue] {
            return fail("a job of another queue was granted", details());
        }
        if !self.paused[job.new.queue].may_not_be {
            return fail("a job of a paused queue was granted", details());
        }
        if *held.class != *job.new.class() || *held.arguments != *job.new.arguments() {
            return fail("a job was granted with other content", details());
        }
        let is_certain = job.must(|state| state == JobState::Cancellation);
        let is_early = !job.is_due && now.wall < job.not_before;
        if is_certain && (is_early || job.retry.is_some_and(|retry| retry.must_wait(now))) {
            return fail("a job was granted before its time", details());
        }
        let (least, most) = job.failures;
        if !(least + 1..=most + 1).contains(&held.attempt) {
            return fail("attempts are miscounted", details());
        }
        let earlier = |other: &&Job| other.new.queue == job.new.queue && other.waits_in_order();
        match self.jobs[..at].iter().find(earlier) {
            Some(earlier) if job.waits_in_order() => {
                fail("a job was granted before an earlier one", format!("{earlier:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns a job that should have been granted to a worker whose fetch was not filled.
    pub(crate) fn passed_over(&self, worker: WorkerId) -> Option<&Job> {
        let queues = &self.workers.get(&worker)?.queues;
        let is_open =
            |job: &&Job| queues.contains(&job.new.queue) && !self.paused[job.new.queue].may_be;
        self.jobs.iter().filter(is_open).find(|job| job.waits_in_order())
    }

    /// Records that a granted job is returned, at once or when its lease ends.
    pub(crate) fn returned(&mut self, held: &HeldJob) {
        let Some(at) = self.index_of(held.id) else { return };
        let job = &mut self.jobs[at];
        job.tokens.pop();
        job.turn(|state| match state {
            JobState::Held(hold) => {
                let lease = hold.lease.returned();
                Some(JobState::Held(Hold { token: None, lease, ..hold }))
            }
            _ => None,
        });
    }

    /// Records a new lease of the holder with this token.
    pub(crate) fn extended(&mut self, at: usize, token: u64, lease: Lease) {
        self.jobs[at].turn(|state| match state {
            JobState::Held(hold) if hold.token == Some(token) => {
                Some(JobState::Held(Hold { lease, may_be_lost: false, ..hold }))
            }
            _ => None,
        });
    }

    /// Records a possible new lease of the holder with this token.
    pub(crate) fn may_be_extended(&mut self, at: usize, token: u64, lease: Lease) {
        self.jobs[at].may_turn(|state| match state {
            JobState::Held(hold) if hold.token == Some(token) => {
                Some(JobState::Held(Hold { lease, ..hold }))
            }
            _ => None,
        });
    }

    /// Records that a dead job was retried, or may have been. The new job keeps the unique key.
    pub(crate) fn retried(&mut self, at: usize, id: Option<JobId>, now: Now) {
        let new = NewJob { in_ms: 0, ..self.jobs[at].new.clone() };
        let states: &[JobState] = match id {
            Some(_) => &[JobState::Cancellation],
            None => &[JobState::Absent, JobState::Cancellation],
        };
        let was = id.is_none().then_some(at);
        let retried = self.enqueued(id, &new, states, now);
        (retried.in_order, retried.was) = (false, was);
        self.jobs[at].remove(id.is_some());
    }
}

pub(crate) fn queue_name(queue: usize) -> QueueName {
    QueueName::new(QUEUES[queue]).unwrap()
}

pub(crate) fn unique_key(key: u8) -> UniqueKey {
    UniqueKey::new(&format!("key{key}")).unwrap()
}
