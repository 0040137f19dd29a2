//! Does what a step says, and tells the model what was answered.

use std::time::Duration;

use futures_util::FutureExt;
use telltale_engine::{Receipt, TimestampMs};
use telltale_server::jobs::{
    ClassName, Drafted, Enqueued, FailureReport, Granted, JobId, JobStatus, JobsError, NewWorker,
    Vitals, WorkerId,
};
use telltale_simulation::{Driver as _, Outcome, fail};

use super::due::{Lease, Retry};
use super::model::{Batch, Job, Stand, queue_name, unique_key};
use super::steps::{NewJob, Step};
use crate::driver::Driver;

/// How long receipts are kept: longer than a history, unless a clock that is years ahead is believed at its end.
const RECEIPT_MS: i64 = 365 * 86_400_000;
/// How long a worker would wait for a job.
const WAIT: Duration = Duration::from_secs(60);

/// What was answered.
pub(crate) enum Heard<T> {
    Yes(T),
    /// It was refused, and nothing has changed.
    No(JobsError),
    /// Nobody knows.
    Nothing,
}

impl Driver {
    pub(crate) fn act_on_jobs(&mut self, step: &Step) -> Outcome {
        self.pass_jobs();
        match step {
            Step::Enqueue(new) => self.enqueue(new),
            Step::EnqueueAll(new, receipt) => self.enqueue_all(new, *receipt),
            Step::Delete(pick) => self.delete(*pick),
            Step::Register(queues) => self.register(queues).map(|_| ()),
            Step::Heartbeat(pick) => self.heartbeat(*pick),
            Step::Deregister(pick) => self.deregister(*pick),
            Step::Fetch { worker, limit } => match self.pick_worker(*worker) {
                Some(worker) => self.fetch(worker, *limit).map(|_| ()),
                None => Ok(()),
            },
            Step::FetchAndGo { worker, limit } => self.fetch_and_go(*worker, *limit),
            Step::Await { worker, new } => self.wait_for(*worker, new),
            Step::Ack { job, stale } => match self.pick_held(*job, *stale) {
                Some((at, token)) => self.ack(at, token),
                None => Ok(()),
            },
            Step::Fail { job, stale } => self.fail_job(*job, *stale),
            Step::Extend { job, seconds } => self.extend(*job, *seconds),
            Step::Purge(queue) => self.purge(*queue),
            Step::Pause(queue) => self.pause(*queue),
            Step::Resume(queue) => self.resume(*queue),
            Step::Revive(pick) => self.revive(*pick),
            Step::Forget(pick) => self.forget(*pick),
            Step::HistoryRecorder => self.recorder(),
            Step::Trim => self.trim_dead(),
            Step::Stall { worker, ms } => self.stall(*worker, *ms),
        }
    }

    /// The model knows what time it is. To be called before and after a clock moves.
    pub(crate) fn pass_jobs(&mut self) {
        let now = self.now();
        if self.is_troubled() {
            self.jobs.may_be_reread(now);
        }
        self.jobs.pass(now);
    }

    pub(crate) fn hear<T>(
        &self,
        kind: &'static str,
        outcome: Result<T, JobsError>,
    ) -> Outcome<Heard<T>> {
        match outcome {
            Ok(done) => Ok(Heard::Yes(done)),
            Err(
                error @ (JobsError::Unavailable(_)
                | JobsError::Failed(_)
                | JobsError::Engine(_)
                | JobsError::Overloaded),
            ) => {
                if self.is_troubled() {
                    Ok(Heard::Nothing)
                } else {
                    fail(kind, error)
                }
            }
            Err(refused) => Ok(Heard::No(refused)),
        }
    }

    pub(super) fn pick_worker(&self, pick: u64) -> Option<WorkerId> {
        let at = pick.checked_rem(self.jobs.workers.len() as u64)?;
        self.jobs.workers.keys().nth(at as usize).copied()
    }

    /// A job with a token that somebody had: the newest one, of one that may be held, or any.
    fn pick_held(&self, pick: u64, stale: bool) -> Option<(usize, u64)> {
        let newest = |job: &Job| {
            let token = job.tokens.last().copied()?;
            (stale || job.may(|stand| stand.is_held_with(token))).then_some(token)
        };
        let held = self.jobs.jobs.iter().enumerate().filter(|(_, job)| newest(job).is_some());
        let held: Vec<usize> = held.map(|(at, _)| at).collect();
        let at = *held.get(pick.checked_rem(held.len() as u64)? as usize)?;
        let tokens = &self.jobs.jobs[at].tokens;
        let token =
            if stale { tokens[pick as usize / 7 % tokens.len()] } else { *tokens.last()? };
        Some((at, token))
    }

    /// One of the jobs that are known by their ids and for which this is so.
    pub(super) fn pick_job(&self, pick: u64, is_it: impl Fn(&Job) -> bool) -> Option<usize> {
        let fits = |(_, job): &(usize, &Job)| job.id.is_some() && is_it(job);
        let fitting: Vec<usize> =
            self.jobs.jobs.iter().enumerate().filter(fits).map(|(at, _)| at).collect();
        fitting.get(pick.checked_rem(fitting.len() as u64)? as usize).copied()
    }

    pub(super) fn id_of(&self, at: usize) -> JobId {
        self.jobs.jobs[at].id.expect("only jobs with ids are chosen")
    }

    fn draft(&self, new: &NewJob) -> Drafted {
        self.house().jobs().draft(telltale_server::jobs::NewJob {
            class: ClassName::new(&new.class()).unwrap(),
            queue: queue_name(new.queue),
            arguments: new.arguments().into(),
            run_at: (new.in_ms > 0).then(|| TimestampMs(self.now().wall + new.in_ms)),
            max_attempts: new.max_attempts,
            unique: new.unique.map(unique_key),
            timeout_seconds: new.timeout_s,
        })
    }

    fn enqueue(&mut self, new: &NewJob) -> Outcome {
        let drafted = self.draft(new);
        let id = drafted.answer().id;
        let outcome = self.runtime.block_on(self.house().jobs().enqueue(drafted, None));
        let heard = self.hear("a job cannot be enqueued", outcome)?;
        self.was_enqueued(id, new, heard)
    }

    /// Notes what became of a new job.
    fn was_enqueued(&mut self, id: JobId, new: &NewJob, heard: Heard<Enqueued>) -> Outcome {
        let now = self.now();
        match heard {
            Heard::Yes(answer) => {
                let expected = if new.in_ms > 0 { JobStatus::Scheduled } else { JobStatus::Ready };
                if answer.id != id || answer.status != expected {
                    return fail("a new job is answered otherwise than it was drafted", new.name);
                }
                self.holds_alone(new)?;
                self.jobs.enqueued(Some(id), new, &[Stand::Waiting], now);
            }
            Heard::No(JobsError::NotUnique(holder)) => {
                self.may_be_held(new, holder)?;
            }
            Heard::No(error) => return fail("a new job is refused", error),
            Heard::Nothing => {
                self.jobs.enqueued(Some(id), new, &[Stand::Absent, Stand::Waiting], now);
            }
        }
        Ok(())
    }

    /// Nobody else certainly holds the unique key of a job that was taken.
    pub(super) fn holds_alone(&self, new: &NewJob) -> Outcome {
        let mut holders = new.unique.into_iter().flat_map(|key| self.jobs.holders_of(key));
        match holders.find(|job| job.must(Stand::is_unfinished)) {
            Some(holder) => fail("two jobs have one unique key", format!("{new:?}; {holder:?}")),
            None => Ok(()),
        }
    }

    /// A job that was refused for its unique key names another that may hold it.
    pub(super) fn may_be_held(&self, new: &NewJob, holder: JobId) -> Outcome {
        let mut holders = new.unique.into_iter().flat_map(|key| self.jobs.holders_of(key));
        match holders.any(|job| job.id == Some(holder)) {
            true => Ok(()),
            false => fail("a unique key is held by nobody", format!("{new:?}: {holder:?}")),
        }
    }

    fn enqueue_all(&mut self, new: &[NewJob], receipt: Option<u128>) -> Outcome {
        let drafted: Vec<Drafted> = new.iter().map(|new| self.draft(new)).collect();
        let ids: Vec<JobId> = drafted.iter().map(|drafted| drafted.answer().id).collect();
        let expires_at = self.house().engine().trusted_time().expires_after(RECEIPT_MS);
        let with =
            receipt.map(|id| Receipt { id, fingerprint: 7, answer: b"jobs".to_vec(), expires_at });
        let asked = self.house().jobs().enqueue_all(drafted, move |outcomes| (outcomes, with));
        let outcome = self.runtime.block_on(asked);
        let heard = self.hear("jobs cannot be enqueued together", outcome)?;
        let batch = self.jobs.batches.len();
        let there = matches!(heard, Heard::Yes(_)).then_some(true);
        let receipt = receipt.map(|id| (id, expires_at.0));
        self.jobs.batches.push(Batch { receipt, may_be_forgotten: false, there });
        let outcomes: Vec<Heard<Enqueued>> = match heard {
            Heard::Yes(outcomes) => {
                let taken = outcomes.into_iter();
                taken.map(|one| one.map_or_else(Heard::No, Heard::Yes)).collect()
            }
            Heard::No(error) => return fail("jobs are refused", error),
            Heard::Nothing => ids.iter().map(|_| Heard::Nothing).collect(),
        };
        for ((id, new), heard) in ids.into_iter().zip(new).zip(outcomes) {
            // Of a batch that failed nobody knows which of its jobs would have been refused.
            let is_lost = matches!(heard, Heard::Nothing);
            if is_lost && new.unique.is_some_and(|key| self.jobs.holders_of(key).next().is_some()) {
                let now = self.now();
                self.jobs.enqueued(Some(id), new, &[Stand::Absent, Stand::Waiting], now);
                continue;
            }
            let before = self.jobs.jobs.len();
            self.was_enqueued(id, new, heard)?;
            if let Some(job) = self.jobs.jobs.get_mut(before) {
                job.batch = Some(batch);
            }
        }
        Ok(())
    }

    fn delete(&mut self, pick: u64) -> Outcome {
        let Some(at) = self.pick_job(pick, |_| true) else { return Ok(()) };
        let outcome = self.runtime.block_on(self.house().jobs().delete(self.id_of(at)));
        let heard = self.hear("a job cannot be deleted", outcome)?;
        let job = &mut self.jobs.jobs[at];
        let gone = |stand| (stand == Stand::Waiting).then_some(Stand::Absent);
        let may = match &heard {
            Heard::Yes(()) => job.may(|stand| stand == Stand::Waiting),
            Heard::No(JobsError::NotDeletable(status)) => job.may(|stand| match stand {
                Stand::Held(_) => *status == JobStatus::Running.as_str(),
                Stand::Done(_) => *status == JobStatus::Completed.as_str(),
                Stand::Dead => *status == JobStatus::Dead.as_str(),
                Stand::Absent | Stand::Waiting => false,
            }),
            Heard::No(JobsError::JobNotFound(_)) => job.may(|stand| stand == Stand::Absent),
            Heard::No(_) => false,
            Heard::Nothing => {
                job.may_turn(gone);
                job.batch = None;
                job.in_order = false;
                true
            }
        };
        match heard {
            _ if !may => fail("a job is deleted as if it stood elsewhere", format!("{job:?}")),
            Heard::Yes(()) => {
                job.remove(true);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn register(&mut self, queues: &[usize]) -> Outcome<Option<WorkerId>> {
        let about = NewWorker {
            hostname: "h".into(),
            pid: None,
            queues: queues.iter().map(|queue| queue_name(*queue)).collect(),
            concurrency: 1,
        };
        let outcome = self.runtime.block_on(self.house().jobs().register(about));
        match self.hear("a worker cannot be registered", outcome)? {
            Heard::Yes(worker) => {
                self.jobs.registered(worker.id, queues, self.now());
                Ok(Some(worker.id))
            }
            Heard::No(error) => fail("a worker is refused", error),
            Heard::Nothing => Ok(None),
        }
    }

    fn heartbeat(&mut self, pick: u64) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let vitals = Vitals { busy_threads: Some(pick as u32 % 5), ..Vitals::default() };
        let outcome = self.runtime.block_on(self.house().jobs().heartbeat(worker, vitals));
        match self.hear("a worker is not heard", outcome)? {
            Heard::Yes(_) => self.jobs.heard(worker, self.now()),
            Heard::No(JobsError::WorkerNotFound(_)) => self.jobs.not_found(worker, self.now())?,
            Heard::No(error) => return fail("a heartbeat is refused", error),
            Heard::Nothing => {}
        }
        Ok(())
    }

    fn deregister(&mut self, pick: u64) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let outcome = self.runtime.block_on(self.house().jobs().deregister(worker));
        match self.hear("a worker cannot leave", outcome)? {
            Heard::Yes(()) => self.jobs.deregistered(worker),
            Heard::No(JobsError::WorkerNotFound(_)) => self.jobs.not_found(worker, self.now())?,
            Heard::No(error) => return fail("a worker may not leave", error),
            Heard::Nothing => {
                if let Some(worker) = self.jobs.workers.get_mut(&worker) {
                    worker.may_have_left = true;
                }
            }
        }
        Ok(())
    }

    /// Answers how many jobs were handed out.
    pub(super) fn fetch(&mut self, worker: WorkerId, limit: u32) -> Outcome<usize> {
        let fetched = self.house().jobs().fetch(worker, limit, Duration::ZERO);
        let outcome = self.runtime.block_on(fetched);
        self.was_fetched(worker, limit, outcome)
    }

    fn was_fetched(
        &mut self,
        worker: WorkerId,
        limit: u32,
        outcome: Result<Granted, JobsError>,
    ) -> Outcome<usize> {
        let now = self.now();
        match self.hear("jobs cannot be fetched", outcome)? {
            Heard::Yes(granted) => {
                self.jobs.heard(worker, now);
                let held = granted.keep();
                if held.len() > limit as usize {
                    return fail("more jobs are handed out than were asked for", held.len());
                }
                for one in &held {
                    self.jobs.granted(worker, one, now)?;
                }
                match self.jobs.passed_over(worker) {
                    Some(job) if held.len() < limit as usize && !self.is_troubled() => {
                        fail("a job that waits is not handed out", format!("{job:?}"))
                    }
                    _ => Ok(held.len()),
                }
            }
            Heard::No(JobsError::WorkerNotFound(_)) => {
                self.jobs.not_found(worker, now)?;
                Ok(0)
            }
            Heard::No(error) => fail("a fetch is refused", error),
            Heard::Nothing => {
                self.jobs.fetch_failed(worker, now);
                Ok(0)
            }
        }
    }

    fn fetch_and_go(&mut self, pick: u64, limit: u32) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let fetched = self.house().jobs().fetch(worker, limit, Duration::ZERO);
        let outcome = self.runtime.block_on(fetched);
        let now = self.now();
        match self.hear("jobs cannot be fetched", outcome)? {
            Heard::Yes(granted) => {
                for one in granted.jobs() {
                    self.jobs.granted(worker, one, now)?;
                    self.jobs.returned(one);
                }
                self.jobs.heard(worker, now);
            }
            Heard::No(JobsError::WorkerNotFound(_)) => self.jobs.not_found(worker, now)?,
            Heard::No(error) => return fail("a fetch is refused", error),
            Heard::Nothing => self.jobs.fetch_failed(worker, now),
        }
        self.jobs.pass(now);
        Ok(())
    }

    /// A worker waits while a job is enqueued.
    fn wait_for(&mut self, pick: u64, new: &NewJob) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let drafted = self.draft(new);
        let id = drafted.answer().id;
        let jobs = self.house().jobs();
        let (enqueued, fetched) = self.runtime.block_on(async {
            let mut waiting = Box::pin(jobs.fetch(worker, 1, WAIT));
            let answered = (&mut waiting).now_or_never();
            let enqueued = jobs.enqueue(drafted, None).await;
            // After another round whoever was to be served was.
            drop(jobs.queues().await);
            (enqueued, answered.or_else(|| waiting.now_or_never()))
        });
        let heard = self.hear("a job cannot be enqueued", enqueued)?;
        self.was_enqueued(id, new, heard)?;
        if let Some(fetched) = fetched {
            return self.was_fetched(worker, 1, fetched).map(|_| ());
        }
        match self.jobs.passed_over(worker) {
            Some(job) if !self.is_troubled() => {
                fail("who waits is not handed the job that comes", format!("{job:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Whether somebody may be told that a token holds a job no more.
    fn may_be_refused(job: &Job, token: u64, error: &JobsError) -> bool {
        job.may(|stand| match stand {
            Stand::Absent => matches!(error, JobsError::JobNotFound(_)),
            Stand::Held(hold) if hold.token == Some(token) => false,
            Stand::Done(by) if by == token => false,
            _ => matches!(error, JobsError::ReservationLost),
        })
    }

    pub(super) fn ack(&mut self, at: usize, token: u64) -> Outcome {
        let outcome = self.runtime.block_on(self.house().jobs().ack(self.id_of(at), Some(token)));
        let heard = self.hear("a job cannot be finished", outcome)?;
        let job = &mut self.jobs.jobs[at];
        let is_its = |stand: Stand| stand.is_held_with(token) || stand == Stand::Done(token);
        match heard {
            Heard::Yes(()) if !job.may(is_its) => {
                fail("a job is finished with a token that lost it", format!("{token} {job:?}"))
            }
            Heard::Yes(()) => {
                job.stands = vec![Stand::Done(token)];
                Ok(())
            }
            Heard::No(error) if !Self::may_be_refused(job, token, &error) => {
                fail("a holder may not finish its job", format!("{token} {job:?}: {error}"))
            }
            Heard::No(_) => Ok(()),
            Heard::Nothing => {
                job.may_turn(|stand| stand.is_held_with(token).then_some(Stand::Done(token)));
                Ok(())
            }
        }
    }

    fn fail_job(&mut self, pick: u64, stale: bool) -> Outcome {
        let Some((at, token)) = self.pick_held(pick, stale) else { return Ok(()) };
        let said = format!("attempt {token}");
        let report = FailureReport::new("Boom", &said, Vec::new());
        let failed = self.house().jobs().fail(self.id_of(at), Some(token), report);
        let outcome = self.runtime.block_on(failed);
        let heard = self.hear("a failure cannot be told", outcome)?;
        let now = self.now();
        let job = &mut self.jobs.jobs[at];
        let details = |job: &Job| format!("{token} {job:?}");
        match heard {
            Heard::Yes(_) if !job.may(|stand| stand.is_held_with(token)) => {
                fail("a job fails with a token that lost it", details(job))
            }
            Heard::Yes(failed) => {
                job.failures = (job.failures.0 + 1, job.failures.1 + 1);
                job.reports.push(said);
                let (least, most) = job.failures;
                let max = job.new.max_attempts;
                let is_dead = failed.status == JobStatus::Dead;
                if (is_dead && most < max) || (!is_dead && least >= max) {
                    return fail("a job dies too soon or too late", details(job));
                }
                job.stands = vec![if is_dead { Stand::Dead } else { Stand::Waiting }];
                job.retry = failed.next_run_at.map(|at| Retry::new(at.0 - now.wall, now));
                Ok(())
            }
            Heard::No(error) if !Self::may_be_refused_to_fail(job, token, &error) => {
                fail("a holder may not fail", format!("{}: {error}", details(job)))
            }
            Heard::No(_) => Ok(()),
            Heard::Nothing => {
                if job.may(|stand| stand.is_held_with(token)) {
                    job.retry = None;
                    job.add(Stand::Waiting);
                    job.may_fail();
                }
                Ok(())
            }
        }
    }

    /// A job that was finished cannot fail any more, whoever finished it.
    fn may_be_refused_to_fail(job: &Job, token: u64, error: &JobsError) -> bool {
        let is_done = job.may(|stand| stand == Stand::Done(token));
        Self::may_be_refused(job, token, error)
            || (is_done && matches!(error, JobsError::ReservationLost))
    }

    fn extend(&mut self, pick: u64, seconds: u32) -> Outcome {
        let Some((at, token)) = self.pick_held(pick, false) else { return Ok(()) };
        let extended = self.house().jobs().extend(self.id_of(at), Some(token), seconds);
        let outcome = self.runtime.block_on(extended);
        let heard = self.hear("a lease cannot be extended", outcome)?;
        let lease = Lease::new(i64::from(seconds) * 1_000, self.now());
        let job = &mut self.jobs.jobs[at];
        match heard {
            Heard::Yes(_) if !job.may(|stand| stand.is_held_with(token)) => {
                fail("a lease is extended with a token that lost it", format!("{token} {job:?}"))
            }
            Heard::Yes(_) => {
                job.stands.retain(|stand| stand.is_held_with(token));
                self.jobs.extended(at, token, lease);
                Ok(())
            }
            Heard::No(error) if !Self::may_be_refused_to_fail(job, token, &error) => {
                fail("a holder may not extend its lease", format!("{token} {job:?}: {error}"))
            }
            Heard::No(_) => Ok(()),
            Heard::Nothing => {
                self.jobs.may_be_extended(at, token, lease);
                Ok(())
            }
        }
    }
}
