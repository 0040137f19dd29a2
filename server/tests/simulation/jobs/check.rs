//! Compares the ledger with the model, and resolves the outcomes of failed calls.

use std::time::Duration;

use telltale_server::jobs::{JobDetail, JobStatus, JobsError};
use telltale_server::limits::JOB_FAILURES_KEPT;
use telltale_simulation::{Driver as _, Outcome, fail};

use super::act::Reply;
use super::model::{Batch, Hold, Job, JobState, Now, Paused};
use super::steps::QUEUES;
use crate::driver::Driver;

/// How often and by how much the clock is advanced at the end, so that everything becomes due.
const LAST_PASSES: usize = 4;
const LAST_PASS: Duration = Duration::from_secs(6 * 3_600);
/// The number of jobs per fetch at the end.
const LAST_FETCH: u32 = 100;

impl Driver {
    /// Checks everything. If calls have failed since the start, results must be possible, but are
    /// not taken as certain.
    pub(crate) fn check_jobs(&mut self) -> Outcome {
        self.pass_jobs();
        for at in 0..self.jobs.jobs.len() {
            let Some(id) = self.jobs.jobs[at].id else { continue };
            let queried = self.runtime.block_on(self.service().jobs().job(id));
            let detail = match self.classify("a job could not be queried", queried)? {
                Reply::Accepted((detail, _)) => Some(detail),
                Reply::Refused(JobsError::JobNotFound(_)) => None,
                Reply::Refused(error) => return fail("a query of a job was refused", error),
                Reply::Unknown => continue,
            };
            self.observed(at, detail.as_ref())?;
        }
        self.settle_retries();
        self.check_batches()?;
        self.check_queues()?;
        self.check_workers()
    }

    fn observed(&mut self, at: usize, detail: Option<&JobDetail>) -> Outcome {
        let (is_settled, now) = (!self.has_failed_calls(), self.now());
        let job = &mut self.jobs.jobs[at];
        let fits = |state: &JobState| match (detail, state) {
            (None, state) => *state == JobState::Absent,
            (Some(detail), JobState::Cancellation) => matches!(
                detail.status,
                JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying
            ),
            (Some(detail), JobState::Held(Hold { worker, .. })) => {
                detail.status == JobStatus::Running
                    && detail.held.is_some_and(|(holder, _)| holder == *worker)
            }
            (Some(detail), JobState::Done(_)) => detail.status == JobStatus::Completed,
            (Some(detail), JobState::Dead) => detail.status == JobStatus::Dead,
            (Some(_), JobState::Absent) => false,
        };
        let details = |job: &Job| format!("{detail:?}; {job:?}");
        if !job.states.iter().any(fits) {
            let kind = match (detail, &job.states[..]) {
                (None, _) => "a job is lost",
                (_, [JobState::Done(_)]) => "a finished job is not finished",
                (_, [JobState::Absent]) => "a deleted job is present again",
                (_, [JobState::Held(_)]) => "a job was taken from its holder",
                _ => "a job has an impossible state",
            };
            return fail(kind, details(job));
        }
        let failed = detail.map(|detail| check_detail(job, detail)).transpose()?;
        if is_settled {
            if let Some(detail) = detail {
                check_timers(job, detail, now)?;
            }
            job.seen(fits, failed);
        }
        Ok(())
    }

    /// Resolves retries of dead jobs with unknown outcome: they succeeded if the dead job no longer
    /// exists.
    fn settle_retries(&mut self) {
        if self.has_failed_calls() {
            return;
        }
        for at in 0..self.jobs.jobs.len() {
            let Some(was) = self.jobs.jobs[at].was.take() else { continue };
            let is_back = self.jobs.jobs[was].must(|state| state == JobState::Absent);
            let state = if is_back { JobState::Cancellation } else { JobState::Absent };
            self.jobs.jobs[at].states = vec![state];
        }
    }

    fn receipt(&self, id: u128) -> Outcome<Option<bool>> {
        match self.service().engine().receipt(id) {
            Ok(found) => Ok(Some(found.is_some())),
            Err(_) if self.has_failed_calls() => Ok(None),
            Err(error) => fail("a receipt could not be read", error),
        }
    }

    /// Checks that receipts exist together with their jobs until they expire, and that jobs of a
    /// batch exist together.
    fn check_batches(&mut self) -> Outcome {
        for at in 0..self.jobs.batches.len() {
            let Batch { receipt, may_be_forgotten, there } = self.jobs.batches[at];
            let found = receipt.map(|(id, _)| self.receipt(id)).transpose()?.flatten();
            // A missing receipt that may have expired says nothing about its jobs.
            let found = found.filter(|found| *found || !may_be_forgotten);
            if let (Some(found), Some(there)) = (found, there)
                && found != there
            {
                return fail("a receipt differs from its jobs", format!("batch {at}: {found}"));
            }
            if self.has_failed_calls() {
                continue;
            }
            let present = |job: &&Job| !job.must(|state| state == JobState::Absent);
            let its: Vec<&Job> =
                self.jobs.jobs.iter().filter(|job| job.batch == Some(at)).collect();
            let count = its.iter().copied().filter(present).count();
            let expected = found.or(there).unwrap_or(count > 0);
            if count != if expected { its.len() } else { 0 } {
                let details = format!("{expected} {found:?} {its:?}");
                return fail("only some of the jobs of a batch exist", details);
            }
            self.jobs.batches[at].there = Some(expected);
        }
        Ok(())
    }

    fn check_queues(&mut self) -> Outcome {
        let queried = self.runtime.block_on(self.service().jobs().queues());
        let Reply::Accepted(views) = self.classify("queues could not be queried", queried)? else {
            return Ok(());
        };
        for (queue, name) in QUEUES.iter().enumerate() {
            let Some(view) = views.iter().find(|view| *view.name == **name) else {
                if self.jobs.made[queue] {
                    return fail("a queue is lost", name);
                }
                continue;
            };
            let paused = &mut self.jobs.paused[queue];
            let is_paused = view.paused_at.is_some();
            if !(if is_paused { paused.may_be } else { paused.may_not_be }) {
                return fail(
                    "a queue was paused or resumed without a request",
                    format!("{view:?}"),
                );
            }
            let its = || self.jobs.jobs.iter().filter(|job| job.new.queue == queue);
            let waits = |state| state == JobState::Cancellation;
            let least = its().filter(|job| job.must(waits)).count();
            let most = its().filter(|job| job.may(waits)).count();
            let waiting = view.ready + view.scheduled + view.retrying;
            if !(least..=most).contains(&waiting) {
                let details = format!("{least}..={most} {view:?}");
                return fail("another number of jobs is waiting", details);
            }
            if !self.has_failed_calls() {
                self.jobs.paused[queue] = Paused { may_be: is_paused, may_not_be: !is_paused };
            }
        }
        Ok(())
    }

    fn check_workers(&mut self) -> Outcome {
        let queried = self.runtime.block_on(self.service().jobs().workers());
        let Reply::Accepted(views) = self.classify("workers could not be queried", queried)? else {
            return Ok(());
        };
        let now = self.now();
        let known: Vec<_> = self.jobs.workers.keys().copied().collect();
        for id in known {
            let is_there = views.iter().any(|view| view.id == id);
            if !is_there {
                self.jobs.not_found(id, now)?;
            } else if let Some(worker) = self.jobs.workers.get_mut(&id)
                && self.disk.faults_struck() == self.faults_before
            {
                worker.may_have_left = false;
            }
        }
        Ok(())
    }

    /// Advances time until everything is due, and lets a worker execute all jobs: none may be left.
    pub(crate) fn work_off(&mut self) -> Outcome {
        // Includes starts that were scheduled while the clock was ahead.
        let last_day = self.jobs.jobs.iter().map(|job| job.not_before).max().unwrap_or_default();
        self.set_clock(last_day.max(self.true_time()))?;
        for _ in 0..LAST_PASSES {
            self.pass(LAST_PASS)?;
            (0..QUEUES.len()).try_for_each(|queue| self.resume(queue))?;
            let all: Vec<usize> = (0..QUEUES.len()).collect();
            let Some(worker) = self.register(&all)? else { continue };
            while self.fetch(worker, LAST_FETCH)? > 0 {
                self.finish_held()?;
            }
        }
        self.check_jobs()?;
        let is_left = |job: &&Job| job.may(JobState::is_unfinished);
        match self.jobs.jobs.iter().find(is_left) {
            Some(job) => fail("a job was never executed", format!("{job:?}")),
            None => Ok(()),
        }
    }

    /// Finishes every job that is certainly held.
    fn finish_held(&mut self) -> Outcome {
        for at in 0..self.jobs.jobs.len() {
            if let [JobState::Held(Hold { token: Some(token), .. })] = self.jobs.jobs[at].states[..]
            {
                self.ack(at, token)?;
            }
        }
        Ok(())
    }
}

/// Checks that nothing is late, and nothing is ready early, whatever the clocks did.
fn check_timers(job: &Job, detail: &JobDetail, now: Now) -> Outcome {
    let kind = match detail.status {
        JobStatus::Scheduled if now.wall >= job.not_before => "a scheduled job is late",
        JobStatus::Ready if !job.is_due => "a job is ready before its time",
        JobStatus::Ready if job.retry.is_some_and(|retry| retry.must_wait(now)) => {
            "a job is retried before its time"
        }
        JobStatus::Retrying if job.retry.is_some_and(|retry| retry.is_over(now)) => {
            "a retry is late"
        }
        JobStatus::Running if job.must(|state| has_lease_over(state, now)) => "a lease never ends",
        _ => return Ok(()),
    };
    fail(kind, format!("{detail:?}; {job:?}; {now:?}"))
}

/// Returns whether a job in this state must no longer be held.
fn has_lease_over(state: JobState, now: Now) -> bool {
    match state {
        JobState::Held(hold) => hold.lease.must_be_over(now),
        JobState::Absent | JobState::Cancellation | JobState::Done(_) | JobState::Dead => true,
    }
}

/// Compares the details of a job. Returns the number of failed attempts.
fn check_detail(job: &Job, detail: &JobDetail) -> Outcome<u16> {
    let details = || format!("{detail:?}; {job:?}");
    let is_same = *detail.class == *job.new.class()
        && *detail.arguments == *job.new.arguments()
        && *detail.queue == *QUEUES[job.new.queue]
        && detail.max_attempts == job.new.max_attempts
        && detail.enqueued_at.0 == job.enqueued_at;
    if !is_same || Some(detail.id) != job.id {
        return fail("a job differs from what was enqueued", details());
    }
    let begun = matches!(detail.status, JobStatus::Running | JobStatus::Completed);
    let (least, most) = job.failures;
    let failed = detail.attempts - u16::from(begun);
    if !(least..=most).contains(&failed) {
        return fail("attempts are miscounted", details());
    }
    let is_present =
        |message: &String| detail.failures.iter().any(|past| past.report.message == *message);
    if failed <= JOB_FAILURES_KEPT && !job.reports.iter().all(is_present) {
        return fail("a reported failure is missing", details());
    }
    Ok(failed)
}
