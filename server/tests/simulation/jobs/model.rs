//! What is promised of jobs: for each of them where it may stand, by all that was answered. An answer leaves one place; a call that
//! failed leaves two, and the next start shows which it is.

use std::collections::BTreeMap;

use telltale_server::jobs::{Holding, JobId, QueueName, UniqueKey, WorkerId};
use telltale_simulation::{Outcome, fail};

use super::due::{Lease, Retry};
use super::steps::{NewJob, QUEUES};

/// The time on all clocks. The wall clock is set at any moment, the steady one never.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) wall: i64,
    pub(crate) steady: i64,
    /// The time of day that the engine believes.
    pub(crate) believed: i64,
    /// The time by which the engine counts ages.
    pub(crate) expiry: i64,
}

/// Where a job may stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stand {
    /// It never was, or it was deleted.
    Absent,
    /// Ready, scheduled, or to be tried again.
    Waiting,
    Held(Hold),
    /// Finished by who had this token.
    Done(u64),
    Dead,
}

/// In somebody's hands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hold {
    /// None where nobody heard it.
    pub(crate) token: Option<u64>,
    pub(crate) worker: WorkerId,
    /// Before this ends nobody takes it away while its worker is heard of.
    pub(crate) lease: Lease,
    /// The time has come at which it may have been taken away.
    may_be_lost: bool,
}

/// What is known of a job.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// None of one that came back from the dead by a call that failed.
    pub(crate) id: Option<JobId>,
    pub(crate) new: NewJob,
    /// What it was enqueued with.
    pub(crate) batch: Option<usize>,
    pub(crate) enqueued_at: i64,
    pub(crate) stands: Vec<Stand>,
    /// Not before this time of day is it handed out for the first time.
    pub(crate) not_before: i64,
    /// That time has come, whatever the clock shows now.
    pub(crate) is_due: bool,
    /// When it is tried again; none where that is not known.
    pub(crate) retry: Option<Retry>,
    /// The least and the most attempts that have failed.
    pub(crate) failures: (u16, u16),
    /// What workers said of failures, and were answered.
    pub(crate) reports: Vec<String>,
    /// All tokens that somebody had for it.
    pub(crate) tokens: Vec<u64>,
    /// It was ready from the first moment and nobody has ever had it: its place in its queue is known.
    pub(crate) in_order: bool,
    /// The dead job that it was, if that is not certain.
    pub(crate) was: Option<usize>,
}

/// Jobs that were enqueued together, and what says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// Its receipt, and the time at which that expires.
    pub(crate) receipt: Option<(u128, i64)>,
    /// Whether the receipt has been expired at some time, so that it may be deleted.
    pub(crate) may_be_forgotten: bool,
    /// Whether it is there; none while nobody knows.
    pub(crate) there: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) queues: Vec<usize>,
    /// When it was heard of at least, on the steady clock.
    heard: i64,
    /// It may have left by a call that failed.
    pub(crate) may_have_left: bool,
}

/// Whether a queue hands nothing out: both are possible after a call that failed.
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
    /// Queues that there are for certain.
    pub(crate) made: [bool; QUEUES.len()],
    last_token: u64,
    lease_ms: i64,
    silence_ms: i64,
}

impl Stand {
    pub(crate) fn is_held_with(self, token: u64) -> bool {
        matches!(self, Self::Held(hold) if hold.token == Some(token))
    }

    pub(crate) fn is_unfinished(self) -> bool {
        matches!(self, Self::Waiting | Self::Held(_))
    }
}

impl Worker {
    fn may_be_gone(&self, now: Now, silence_ms: i64) -> bool {
        self.may_have_left || now.steady >= self.heard + silence_ms
    }
}

impl Job {
    pub(crate) fn may(&self, is: impl Fn(Stand) -> bool) -> bool {
        self.stands.iter().any(|stand| is(*stand))
    }

    pub(crate) fn must(&self, is: impl Fn(Stand) -> bool) -> bool {
        self.stands.iter().all(|stand| is(*stand))
    }

    pub(crate) fn add(&mut self, stand: Stand) {
        if !self.stands.contains(&stand) {
            self.stands.push(stand);
        }
    }

    /// Replaces each place for which `to` knows another.
    pub(crate) fn turn(&mut self, to: impl Fn(Stand) -> Option<Stand>) {
        let before = std::mem::take(&mut self.stands);
        before.into_iter().for_each(|stand| self.add(to(stand).unwrap_or(stand)));
    }

    /// The same by a call that failed: it may have done it.
    pub(crate) fn may_turn(&mut self, to: impl Fn(Stand) -> Option<Stand>) {
        let before = self.stands.clone();
        before.into_iter().filter_map(to).for_each(|stand| self.add(stand));
    }

    /// It is gone, or may be, which says nothing any more of those that it came with.
    pub(crate) fn remove(&mut self, is_done: bool) {
        if is_done {
            self.stands.clear();
        }
        self.add(Stand::Absent);
        self.batch = None;
    }

    /// An attempt may have failed.
    pub(crate) fn may_fail(&mut self) {
        self.failures.1 += 1;
        if self.failures.1 >= self.new.max_attempts {
            self.add(Stand::Dead);
        }
    }

    /// Where it stands was seen: only what is so of these places, and so many attempts have failed.
    pub(crate) fn seen(&mut self, fits: impl Fn(&Stand) -> bool, failed: Option<u16>) {
        self.stands.retain(fits);
        for stand in &mut self.stands {
            if let Stand::Held(hold) = stand {
                // It was not taken away until now.
                hold.may_be_lost = false;
            }
        }
        self.failures = failed.map_or(self.failures, |failed| (failed, failed));
    }

    /// Whether it certainly waits at its place in the queue.
    fn waits_in_order(&self) -> bool {
        self.in_order && self.must(|stand| stand == Stand::Waiting)
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

    /// What may be so because time has passed.
    pub(crate) fn pass(&mut self, now: Now) {
        for batch in &mut self.batches {
            batch.may_be_forgotten |= batch.receipt.is_some_and(|(_, end)| end <= now.expiry);
        }
        for job in &mut self.jobs {
            job.is_due |= now.wall >= job.not_before;
            job.retry.iter_mut().for_each(|retry| retry.pass(now));
            let mut lost = false;
            let waits = job.may(|stand| stand == Stand::Waiting);
            for stand in &mut job.stands {
                let Stand::Held(hold) = stand else { continue };
                let worker = self.workers.get(&hold.worker);
                let is_gone = worker.is_none_or(|w| w.may_be_gone(now, self.silence_ms));
                let is_over = is_gone || hold.lease.may_be_over(now);
                // One that was still held when those that wait were removed may be lost later.
                if is_over && !(hold.may_be_lost && waits) {
                    hold.may_be_lost = true;
                    lost = true;
                }
            }
            if lost {
                job.add(Stand::Waiting);
                job.may_fail();
            }
        }
    }

    /// A start gives every worker its whole silence anew, and finds out from the disk how much is left of leases and delays.
    pub(crate) fn restarted(&mut self, now: Now) {
        self.workers.values_mut().for_each(|worker| worker.heard = now.steady);
        self.each_timer(|lease| lease.reread(now), |retry| retry.reread(now));
    }

    /// After a write that failed the same may be found out at any moment.
    pub(crate) fn may_be_reread(&mut self, now: Now) {
        self.each_timer(|lease| lease.may_be_reread(now), |retry| retry.may_be_reread(now));
    }

    fn each_timer(&mut self, of_lease: impl Fn(&mut Lease), of_retry: impl Fn(&mut Retry)) {
        for job in &mut self.jobs {
            job.retry.iter_mut().for_each(&of_retry);
            for stand in &mut job.stands {
                if let Stand::Held(hold) = stand {
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
        stands: &[Stand],
        now: Now,
    ) -> &mut Job {
        let is_known = stands == [Stand::Waiting];
        self.made[new.queue] |= is_known;
        self.jobs.push(Job {
            id,
            new: new.clone(),
            batch: None,
            enqueued_at: now.wall,
            stands: stands.to_vec(),
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

    /// Those that certainly, or possibly, are unfinished and have a unique key.
    pub(crate) fn holders_of(&self, key: u8) -> impl Iterator<Item = &Job> {
        let may_hold = |job: &&Job| job.may(Stand::is_unfinished);
        self.jobs.iter().filter(move |job| job.new.unique == Some(key)).filter(may_hold)
    }

    pub(crate) fn registered(&mut self, id: WorkerId, queues: &[usize], now: Now) {
        queues.iter().for_each(|queue| self.made[*queue] = true);
        let queues = queues.to_vec();
        self.workers.insert(id, Worker { queues, heard: now.steady, may_have_left: false });
    }

    pub(crate) fn heard(&mut self, id: WorkerId, now: Now) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.heard = now.steady;
        }
    }

    /// Whether a worker is certainly known to the ledger.
    pub(crate) fn is_there(&self, id: WorkerId, now: Now) -> bool {
        self.workers.get(&id).is_some_and(|worker| !worker.may_be_gone(now, self.silence_ms))
    }

    /// The worker is not known to the ledger.
    pub(crate) fn not_found(&mut self, id: WorkerId, now: Now) -> Outcome {
        let silence_ms = self.silence_ms;
        match self.workers.get(&id) {
            Some(worker) if !worker.may_be_gone(now, silence_ms) => {
                fail("a worker is lost", format!("{id:?}: {worker:?}"))
            }
            _ => {
                self.workers.remove(&id);
                self.pass(now);
                Ok(())
            }
        }
    }

    /// A worker left: what it holds waits again.
    pub(crate) fn deregistered(&mut self, id: WorkerId) {
        self.workers.remove(&id);
        for job in &mut self.jobs {
            job.turn(|stand| match stand {
                Stand::Held(hold) if hold.worker == id => Some(Stand::Waiting),
                _ => None,
            });
        }
    }

    /// Where a job is after it was handed out.
    pub(crate) fn hold(&self, job: &Job, worker: WorkerId, token: Option<u64>, now: Now) -> Stand {
        let lease_ms = job.new.timeout_s.map_or(self.lease_ms, |s| i64::from(s) * 1_000);
        let lease = Lease::new(lease_ms, now);
        Stand::Held(Hold { token, worker, lease, may_be_lost: false })
    }

    /// A fetch failed: any job of these queues may have been handed out to nobody's knowledge.
    pub(crate) fn fetch_failed(&mut self, worker: WorkerId, now: Now) {
        let Some(queues) = self.workers.get(&worker).map(|worker| worker.queues.clone()) else {
            return;
        };
        for at in 0..self.jobs.len() {
            let hold = self.hold(&self.jobs[at], worker, None, now);
            let job = &mut self.jobs[at];
            if queues.contains(&job.new.queue) {
                job.in_order = false;
                job.may_turn(|stand| (stand == Stand::Waiting).then_some(hold));
            }
        }
    }

    /// Somebody was handed a job.
    pub(crate) fn granted(&mut self, worker: WorkerId, held: &Holding, now: Now) -> Outcome {
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
        job.stands = vec![hold];
        if let Some(was) = job.was.take() {
            self.jobs[was].stands = vec![Stand::Absent];
        }
        if let Some(batch) = self.jobs[at].batch {
            self.batches[batch].there = Some(true);
        }
        Ok(())
    }

    /// A job that nobody knows can only be one that came back from the dead by a call that failed.
    fn adopt(&mut self, held: &Holding) -> Outcome<usize> {
        let is_it = |job: &Job| job.id.is_none() && *job.new.class() == *held.class;
        let Some(at) = self.jobs.iter().position(is_it) else {
            return fail("a job is handed out that nobody enqueued", format!("{held:?}"));
        };
        self.jobs[at].id = Some(held.id);
        Ok(at)
    }

    fn check_grant(&self, at: usize, worker: WorkerId, held: &Holding, now: Now) -> Outcome {
        let job = &self.jobs[at];
        let details = || format!("{held:?} to {worker:?}; {job:?}");
        if !job.may(|stand| stand == Stand::Waiting) {
            let kind = match job.stands[..] {
                [Stand::Held(_)] => "a job has two holders",
                [Stand::Done(_)] => "a job that was done is handed out",
                [Stand::Absent] => "a job that was deleted is handed out",
                _ => "a job is handed out that does not wait",
            };
            return fail(kind, details());
        }
        if held.token <= self.last_token {
            return fail("a token is not larger than all before it", details());
        }
        let queues = self.workers.get(&worker).map(|worker| &worker.queues[..]).unwrap_or_default();
        if !queues.contains(&job.new.queue) || *held.queue != *QUEUES[job.new.queue] {
            return fail("a job comes from another queue", details());
        }
        if !self.paused[job.new.queue].may_not_be {
            return fail("a paused queue hands out a job", details());
        }
        if *held.class != *job.new.class() || *held.arguments != *job.new.arguments() {
            return fail("a job is handed out as another", details());
        }
        let is_certain = job.must(|stand| stand == Stand::Waiting);
        let is_early = !job.is_due && now.wall < job.not_before;
        if is_certain && (is_early || job.retry.is_some_and(|retry| retry.must_wait(now))) {
            return fail("a job is handed out before its time", details());
        }
        let (least, most) = job.failures;
        if !(least + 1..=most + 1).contains(&held.attempt) {
            return fail("attempts are miscounted", details());
        }
        let earlier = |other: &&Job| other.new.queue == job.new.queue && other.waits_in_order();
        match self.jobs[..at].iter().find(earlier) {
            Some(earlier) if job.waits_in_order() => {
                fail("a job is handed out before an earlier one", format!("{earlier:?}"))
            }
            _ => Ok(()),
        }
    }

    /// A job that must have been handed out to a worker who asked for more than it got.
    pub(crate) fn passed_over(&self, worker: WorkerId) -> Option<&Job> {
        let queues = &self.workers.get(&worker)?.queues;
        let is_open =
            |job: &&Job| queues.contains(&job.new.queue) && !self.paused[job.new.queue].may_be;
        self.jobs.iter().filter(is_open).find(|job| job.waits_in_order())
    }

    /// What was handed out goes back, at once or when its lease ends.
    pub(crate) fn returned(&mut self, held: &Holding) {
        let Some(at) = self.index_of(held.id) else { return };
        let job = &mut self.jobs[at];
        job.tokens.pop();
        job.turn(|stand| match stand {
            Stand::Held(hold) => {
                let lease = hold.lease.given_back();
                Some(Stand::Held(Hold { token: None, lease, ..hold }))
            }
            _ => None,
        });
    }

    /// Every hold with this token has another lease.
    pub(crate) fn extended(&mut self, at: usize, token: u64, lease: Lease) {
        self.jobs[at].turn(|stand| match stand {
            Stand::Held(hold) if hold.token == Some(token) => {
                Some(Stand::Held(Hold { lease, may_be_lost: false, ..hold }))
            }
            _ => None,
        });
    }

    /// A hold with this token has another lease, or the one that it had.
    pub(crate) fn may_be_extended(&mut self, at: usize, token: u64, lease: Lease) {
        self.jobs[at].may_turn(|stand| match stand {
            Stand::Held(hold) if hold.token == Some(token) => {
                Some(Stand::Held(Hold { lease, ..hold }))
            }
            _ => None,
        });
    }

    /// A dead job became a new one, or may have. It keeps its unique key.
    pub(crate) fn revived(&mut self, at: usize, id: Option<JobId>, now: Now) {
        let new = NewJob { in_ms: 0, ..self.jobs[at].new.clone() };
        let stands: &[Stand] = match id {
            Some(_) => &[Stand::Waiting],
            None => &[Stand::Absent, Stand::Waiting],
        };
        let was = id.is_none().then_some(at);
        let revived = self.enqueued(id, &new, stands, now);
        (revived.in_order, revived.was) = (false, was);
        self.jobs[at].remove(id.is_some());
    }
}

pub(crate) fn queue_name(queue: usize) -> QueueName {
    QueueName::new(QUEUES[queue]).unwrap()
}

pub(crate) fn unique_key(key: u8) -> UniqueKey {
    UniqueKey::new(&format!("key{key}")).unwrap()
}
