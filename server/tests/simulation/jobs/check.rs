//! Compares what the ledger shows with what is promised, and learns from it what became of calls that failed.

use std::time::Duration;

use telltale_server::jobs::{JobDetail, JobStatus, JobsError};
use telltale_server::limits::JOB_FAILURES_KEPT;
use telltale_simulation::{Driver as _, Outcome, fail};

use super::act::Heard;
use super::model::{Batch, Hold, Job, Now, Paused, Stand};
use super::steps::QUEUES;
use crate::driver::Driver;

/// How often the clock is moved on at the end, and by how much: whatever may be due is due then.
const LAST_PASSES: usize = 4;
const LAST_PASS: Duration = Duration::from_secs(6 * 3_600);
/// Jobs that are fetched at once at the end.
const LAST_FETCH: u32 = 100;

impl Driver {
    /// Looks at everything. Where calls have failed since the start, what is shown must be possible, and is not taken for certain.
    pub(crate) fn check_jobs(&mut self) -> Outcome {
        self.pass_jobs();
        for at in 0..self.jobs.jobs.len() {
            let Some(id) = self.jobs.jobs[at].id else { continue };
            let looked = self.runtime.block_on(self.house().jobs().job(id));
            let detail = match self.hear("a job cannot be looked at", looked)? {
                Heard::Yes((detail, _)) => Some(detail),
                Heard::No(JobsError::JobNotFound(_)) => None,
                Heard::No(error) => return fail("a job is refused to be looked at", error),
                Heard::Nothing => continue,
            };
            self.observed(at, detail.as_ref())?;
        }
        self.settle_revivals();
        self.check_batches()?;
        self.check_queues()?;
        self.check_workers()
    }

    fn observed(&mut self, at: usize, detail: Option<&JobDetail>) -> Outcome {
        let (is_settled, now) = (!self.is_troubled(), self.now());
        let job = &mut self.jobs.jobs[at];
        let fits = |stand: &Stand| match (detail, stand) {
            (None, stand) => *stand == Stand::Absent,
            (Some(detail), Stand::Waiting) => matches!(
                detail.status,
                JobStatus::Ready | JobStatus::Scheduled | JobStatus::Retrying
            ),
            (Some(detail), Stand::Held(Hold { worker, .. })) => {
                detail.status == JobStatus::Running
                    && detail.held.is_some_and(|(holder, _)| holder == *worker)
            }
            (Some(detail), Stand::Done(_)) => detail.status == JobStatus::Completed,
            (Some(detail), Stand::Dead) => detail.status == JobStatus::Dead,
            (Some(_), Stand::Absent) => false,
        };
        let details = |job: &Job| format!("{detail:?}; {job:?}");
        if !job.stands.iter().any(fits) {
            let kind = match (detail, &job.stands[..]) {
                (None, _) => "a job is lost",
                (_, [Stand::Done(_)]) => "a job that was done is not done",
                (_, [Stand::Absent]) => "a job that was deleted is back",
                (_, [Stand::Held(_)]) => "a job is taken from its holder",
                _ => "a job stands where it cannot stand",
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

    /// What may have come back from the dead did, where the dead job is gone.
    fn settle_revivals(&mut self) {
        if self.is_troubled() {
            return;
        }
        for at in 0..self.jobs.jobs.len() {
            let Some(was) = self.jobs.jobs[at].was.take() else { continue };
            let is_back = self.jobs.jobs[was].must(|stand| stand == Stand::Absent);
            let stand = if is_back { Stand::Waiting } else { Stand::Absent };
            self.jobs.jobs[at].stands = vec![stand];
        }
    }

    fn receipt(&self, id: u128) -> Outcome<Option<bool>> {
        match self.house().engine().receipt(id) {
            Ok(found) => Ok(Some(found.is_some())),
            Err(_) if self.is_troubled() => Ok(None),
            Err(error) => fail("a receipt cannot be read", error),
        }
    }

    /// Receipts are there exactly with their jobs until they expire, and jobs that were enqueued together are there together.
    fn check_batches(&mut self) -> Outcome {
        for at in 0..self.jobs.batches.len() {
            let Batch { receipt, may_be_forgotten, there } = self.jobs.batches[at];
            let found = receipt.map(|(id, _)| self.receipt(id)).transpose()?.flatten();
            // That one is gone which may be forgotten says nothing of its jobs.
            let found = found.filter(|found| *found || !may_be_forgotten);
            if let (Some(found), Some(there)) = (found, there)
                && found != there
            {
                return fail("a receipt differs from its jobs", format!("batch {at}: {found}"));
            }
            if self.is_troubled() {
                continue;
            }
            let present = |job: &&Job| !job.must(|stand| stand == Stand::Absent);
            let its: Vec<&Job> =
                self.jobs.jobs.iter().filter(|job| job.batch == Some(at)).collect();
            let count = its.iter().copied().filter(present).count();
            let expected = found.or(there).unwrap_or(count > 0);
            if count != if expected { its.len() } else { 0 } {
                let details = format!("{expected} {found:?} {its:?}");
                return fail("jobs that were enqueued together are not there together", details);
            }
            self.jobs.batches[at].there = Some(expected);
        }
        Ok(())
    }

    fn check_queues(&mut self) -> Outcome {
        let looked = self.runtime.block_on(self.house().jobs().queues());
        let Heard::Yes(views) = self.hear("queues cannot be looked at", looked)? else {
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
                return fail("a queue is paused or resumed by nobody", format!("{view:?}"));
            }
            let its = || self.jobs.jobs.iter().filter(|job| job.new.queue == queue);
            let waits = |stand| stand == Stand::Waiting;
            let least = its().filter(|job| job.must(waits)).count();
            let most = its().filter(|job| job.may(waits)).count();
            let waiting = view.ready + view.scheduled + view.retrying;
            if !(least..=most).contains(&waiting) {
                let details = format!("{least}..={most} {view:?}");
                return fail("another number of jobs waits", details);
            }
            if !self.is_troubled() {
                self.jobs.paused[queue] = Paused { may_be: is_paused, may_not_be: !is_paused };
            }
        }
        Ok(())
    }

    fn check_workers(&mut self) -> Outcome {
        let looked = self.runtime.block_on(self.house().jobs().workers());
        let Heard::Yes(views) = self.hear("workers cannot be looked at", looked)? else {
            return Ok(());
        };
        let now = self.now();
        let known: Vec<_> = self.jobs.workers.keys().copied().collect();
        for id in known {
            let is_there = views.iter().any(|view| view.id == id);
            if !is_there {
                self.jobs.not_found(id, now)?;
            } else if let Some(worker) = self.jobs.workers.get_mut(&id)
                && self.disk.strikes() == self.struck_before
            {
                worker.may_have_left = false;
            }
        }
        Ok(())
    }

    /// Lets all time pass that may be waited for, and has a worker do all that is left: nothing may be left then.
    pub(crate) fn work_off(&mut self) -> Outcome {
        // Whatever day jobs were scheduled for while the clock was ahead comes.
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
        let is_left = |job: &&Job| job.may(Stand::is_unfinished);
        match self.jobs.jobs.iter().find(is_left) {
            Some(job) => fail("a job is never worked", format!("{job:?}")),
            None => Ok(()),
        }
    }

    /// Finishes every job that is held for certain.
    fn finish_held(&mut self) -> Outcome {
        for at in 0..self.jobs.jobs.len() {
            if let [Stand::Held(Hold { token: Some(token), .. })] = self.jobs.jobs[at].stands[..] {
                self.ack(at, token)?;
            }
        }
        Ok(())
    }
}

/// Whatever clocks did: nothing is held up whose time has come, and nothing is ready whose time has not.
fn check_timers(job: &Job, detail: &JobDetail, now: Now) -> Outcome {
    let kind = match detail.status {
        JobStatus::Scheduled if now.wall >= job.not_before => "a scheduled job is held up",
        JobStatus::Ready if !job.is_due => "a job is ready before its time",
        JobStatus::Ready if job.retry.is_some_and(|retry| retry.must_wait(now)) => {
            "a job is tried again before its time"
        }
        JobStatus::Retrying if job.retry.is_some_and(|retry| retry.is_over(now)) => {
            "a job that failed is held up"
        }
        JobStatus::Running if job.must(|stand| has_lease_over(stand, now)) => "a lease never ends",
        _ => return Ok(()),
    };
    fail(kind, format!("{detail:?}; {job:?}; {now:?}"))
}

/// Whether a job that stands there is not held any more.
fn has_lease_over(stand: Stand, now: Now) -> bool {
    match stand {
        Stand::Held(hold) => hold.lease.must_be_over(now),
        Stand::Absent | Stand::Waiting | Stand::Done(_) | Stand::Dead => true,
    }
}

/// Compares all that a job is besides where it stands. Answers how many attempts have failed.
fn check_detail(job: &Job, detail: &JobDetail) -> Outcome<u16> {
    let details = || format!("{detail:?}; {job:?}");
    let is_same = *detail.class == *job.new.class()
        && *detail.arguments == *job.new.arguments()
        && *detail.queue == *QUEUES[job.new.queue]
        && detail.max_attempts == job.new.max_attempts
        && detail.enqueued_at.0 == job.enqueued_at;
    if !is_same || Some(detail.id) != job.id {
        return fail("a job is not what was enqueued", details());
    }
    let begun = matches!(detail.status, JobStatus::Running | JobStatus::Completed);
    let (least, most) = job.failures;
    let failed = detail.attempts - u16::from(begun);
    if !(least..=most).contains(&failed) {
        return fail("attempts are miscounted", details());
    }
    let told = |said: &String| detail.failures.iter().any(|past| past.report.message == *said);
    if failed <= JOB_FAILURES_KEPT && !job.reports.iter().all(told) {
        return fail("a failure that was told is forgotten", details());
    }
    Ok(failed)
}
