//! Executes steps, and updates the model with the replies.

use std::time::Duration;

use futures_util::FutureExt;
use telltale_engine::{Receipt, TimestampMs};
use telltale_server::jobs::{
    ClassName, Drafted, Enqueued, FailureReport, GrantedJobs, JobId, JobStatus, JobsError,
    NewWorker, WorkerId, WorkerUsage,
};
use telltale_simulation::{Driver as _, Outcome, fail};

use super::due::{Lease, Retry};
use super::model::{Batch, Job, JobState, queue_name, unique_key};
use super::steps::{NewJob, Step};
use crate::driver::Driver;

/// The lifetime of receipts: longer than a history, unless a clock years ahead becomes trusted at
/// its end.
const RECEIPT_MS: i64 = 365 * 86_400_000;
/// How long a worker would wait for a job.
const WAIT: Duration = Duration::from_secs(60);

/// The reply to an operation.
pub(crate) enum Reply<T> {
    Accepted(T),
    /// It was refused, without any change.
    Refused(JobsError),
    /// Its outcome is unknown.
    Unknown,
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
            Step::RetryDead(pick) => self.retry_dead(*pick),
            Step::DeleteDead(pick) => self.delete_dead(*pick),
            Step::WriteHistory => self.write_history(),
            Step::Trim => self.trim_dead(),
            Step::Stall { worker, ms } => self.stall(*worker, *ms),
        }
    }

    /// Updates the time of the model. Must be called before and after a clock changes.
    pub(crate) fn pass_jobs(&mut self) {
        let now = self.now();
        if self.has_failed_calls() {
            self.jobs.may_be_reloaded(now);
        }
        self.jobs.pass(now);
    }

    pub(crate) fn classify<T>(
        &self,
        kind: &'static str,
        outcome: Result<T, JobsError>,
    ) -> Outcome<Reply<T>> {
        match outcome {
            Ok(done) => Ok(Reply::Accepted(done)),
            Err(
                error @ (JobsError::Unavailable(_)
                | JobsError::Failed(_)
                | JobsError::Engine(_)
                | JobsError::Overloaded),
            ) => {
                if self.has_failed_calls() {
                    Ok(Reply::Unknown)
                } else {
                    fail(kind, error)
                }
            }
            Err(refused) => Ok(Reply::Refused(refused)),
        }
    }

    pub(super) fn pick_worker(&self, pick: u64) -> Option<WorkerId> {
        let at = pick.checked_rem(self.jobs.workers.len() as u64)?;
        self.jobs.workers.keys().nth(at as usize).copied()
    }

    /// Selects a job with a token: the newest one of a job that may be held, or a stale one.
    fn pick_held(&self, pick: u64, stale: bool) -> Option<(usize, u64)> {
        let newest = |job: &Job| {
            let token = job.tokens.last().copied()?;
            (stale || job.may(|state| state.is_held_with(token))).then_some(token)
        };
        let held = self.jobs.jobs.iter().enumerate().filter(|(_, job)| newest(job).is_some());
        let held: Vec<usize> = held.map(|(at, _)| at).collect();
        let at = *held.get(pick.checked_rem(held.len() as u64)? as usize)?;
        let tokens = &self.jobs.jobs[at].tokens;
        let token =
            if stale { tokens[pick as usize / 7 % tokens.len()] } else { *tokens.last()? };
        Some((at, token))
    }

    /// Selects a job with a known id for which `is_it` holds.
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
        self.service().jobs().draft(telltale_server::jobs::NewJob {
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
        let outcome = self.runtime.block_on(self.service().jobs().enqueue(drafted, None));
        let reply = self.classify("a job could not be enqueued", outcome)?;
        self.record_enqueued(id, new, reply)
    }

    /// Records the outcome of enqueuing a job.
    fn record_enqueued(&mut self, id: JobId, new: &NewJob, reply: Reply<Enqueued>) -> Outcome {
        let now = self.now();
        match reply {
            Reply::Accepted(answer) => {
                let expected = if new.in_ms > 0 { JobStatus::Scheduled } else { JobStatus::Ready };
                if answer.id != id || answer.status != expected {
                    return fail("the reply for a new job differs from its draft", new.name);
                }
                self.holds_alone(new)?;
                self.jobs.enqueued(Some(id), new, &[JobState::Cancellation], now);
            }
            Reply::Refused(JobsError::NotUnique(holder)) => {
                self.may_be_held(new, holder)?;
            }
            Reply::Refused(error) => return fail("a new job was refused", error),
            Reply::Unknown => {
                self.jobs.enqueued(Some(id), new, &[JobState::Absent, JobState::Cancellation], now);
            }
        }
        Ok(())
    }

    /// Checks that no other job certainly has the unique key of an accepted job.
    pub(super) fn holds_alone(&self, new: &NewJob) -> Outcome {
        let mut holders = new.unique.into_iter().flat_map(|key| self.jobs.holders_of(key));
        match holders.find(|job| job.must(JobState::is_unfinished)) {
            Some(holder) => fail("two jobs have one unique key", format!("{new:?}; {holder:?}")),
            None => Ok(()),
        }
    }

    /// Checks that a job refused for its unique key names a job that may have the key.
    pub(super) fn may_be_held(&self, new: &NewJob, holder: JobId) -> Outcome {
        let mut holders = new.unique.into_iter().flat_map(|key| self.jobs.holders_of(key));
        match holders.any(|job| job.id == Some(holder)) {
            true => Ok(()),
            false => fail("a unique key is held by no job", format!("{new:?}: {holder:?}")),
        }
    }

    fn enqueue_all(&mut self, new: &[NewJob], receipt: Option<u128>) -> Outcome {
        let drafted: Vec<Drafted> = new.iter().map(|new| self.draft(new)).collect();
        let ids: Vec<JobId> = drafted.iter().map(|drafted| drafted.answer().id).collect();
        let expires_at = self.service().engine().trusted_time().expires_after(RECEIPT_MS);
        let with =
            receipt.map(|id| Receipt { id, fingerprint: 7, answer: b"jobs".to_vec(), expires_at });
        let enqueued = self.service().jobs().enqueue_all(drafted, move |outcomes| (outcomes, with));
        let outcome = self.runtime.block_on(enqueued);
        let reply = self.classify("jobs could not be enqueued together", outcome)?;
        let batch = self.jobs.batches.len();
        let there = matches!(reply, Reply::Accepted(_)).then_some(true);
        let receipt = receipt.map(|id| (id, expires_at.0));
        self.jobs.batches.push(Batch { receipt, may_be_forgotten: false, there });
        let outcomes: Vec<Reply<Enqueued>> = match reply {
            Reply::Accepted(outcomes) => {
                let taken = outcomes.into_iter();
                taken.map(|one| one.map_or_else(Reply::Refused, Reply::Accepted)).collect()
            }
            Reply::Refused(error) => return fail("jobs were refused", error),
            Reply::Unknown => ids.iter().map(|_| Reply::Unknown).collect(),
        };
        for ((id, new), reply) in ids.into_iter().zip(new).zip(outcomes) {
            // After a failed batch it is unknown which of its jobs would have been refused.
            let is_lost = matches!(reply, Reply::Unknown);
            if is_lost && new.unique.is_some_and(|key| self.jobs.holders_of(key).next().is_some()) {
                let now = self.now();
                self.jobs.enqueued(Some(id), new, &[JobState::Absent, JobState::Cancellation], now);
                continue;
            }
            let before = self.jobs.jobs.len();
            self.record_enqueued(id, new, reply)?;
            if let Some(job) = self.jobs.jobs.get_mut(before) {
                job.batch = Some(batch);
            }
        }
        Ok(())
    }

    fn delete(&mut self, pick: u64) -> Outcome {
        let Some(at) = self.pick_job(pick, |_| true) else { return Ok(()) };
        let outcome = self.runtime.block_on(self.service().jobs().delete(self.id_of(at)));
        let reply = self.classify("a job could not be deleted", outcome)?;
        let job = &mut self.jobs.jobs[at];
        let gone = |state| (state == JobState::Cancellation).then_some(JobState::Absent);
        let may = match &reply {
            Reply::Accepted(()) => job.may(|state| state == JobState::Cancellation),
            Reply::Refused(JobsError::NotDeletable(status)) => job.may(|state| match state {
                JobState::Held(_) => *status == JobStatus::Running.as_str(),
                JobState::Done(_) => *status == JobStatus::Completed.as_str(),
                JobState::Dead => *status == JobStatus::Dead.as_str(),
                JobState::Absent | JobState::Cancellation => false,
            }),
            Reply::Refused(JobsError::JobNotFound(_)) => job.may(|state| state == JobState::Absent),
            Reply::Refused(_) => false,
            Reply::Unknown => {
                job.may_turn(gone);
                job.batch = None;
                job.in_order = false;
                true
            }
        };
        match reply {
            _ if !may => fail("the reply to a deletion does not fit the job", format!("{job:?}")),
            Reply::Accepted(()) => {
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
        let outcome = self.runtime.block_on(self.service().jobs().register(about));
        match self.classify("a worker could not be registered", outcome)? {
            Reply::Accepted(worker) => {
                self.jobs.registered(worker.id, queues, self.now());
                Ok(Some(worker.id))
            }
            Reply::Refused(error) => fail("a worker was refused", error),
            Reply::Unknown => Ok(None),
        }
    }

    fn heartbeat(&mut self, pick: u64) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let vitals = WorkerUsage { busy_threads: Some(pick as u32 % 5), ..WorkerUsage::default() };
        let outcome = self.runtime.block_on(self.service().jobs().heartbeat(worker, vitals));
        match self.classify("a heartbeat failed", outcome)? {
            Reply::Accepted(_) => self.jobs.heartbeat_received(worker, self.now()),
            Reply::Refused(JobsError::WorkerNotFound(_)) => {
                self.jobs.not_found(worker, self.now())?
            }
            Reply::Refused(error) => return fail("a heartbeat was refused", error),
            Reply::Unknown => {}
        }
        Ok(())
    }

    fn deregister(&mut self, pick: u64) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let outcome = self.runtime.block_on(self.service().jobs().deregister(worker));
        match self.classify("a worker could not deregister", outcome)? {
            Reply::Accepted(()) => self.jobs.deregistered(worker),
            Reply::Refused(JobsError::WorkerNotFound(_)) => {
                self.jobs.not_found(worker, self.now())?
            }
            Reply::Refused(error) => return fail("a deregistration was refused", error),
            Reply::Unknown => {
                if let Some(worker) = self.jobs.workers.get_mut(&worker) {
                    worker.may_have_left = true;
                }
            }
        }
        Ok(())
    }

    /// Returns the number of granted jobs.
    pub(super) fn fetch(&mut self, worker: WorkerId, limit: u32) -> Outcome<usize> {
        let fetched = self.service().jobs().fetch(worker, limit, Duration::ZERO);
        let outcome = self.runtime.block_on(fetched);
        self.record_fetched(worker, limit, outcome)
    }

    fn record_fetched(
        &mut self,
        worker: WorkerId,
        limit: u32,
        outcome: Result<GrantedJobs, JobsError>,
    ) -> Outcome<usize> {
        let now = self.now();
        match self.classify("jobs could not be fetched", outcome)? {
            Reply::Accepted(granted) => {
                self.jobs.heartbeat_received(worker, now);
                let held = granted.keep();
                if held.len() > limit as usize {
                    return fail("more jobs were granted than requested", held.len());
                }
                for one in &held {
                    self.jobs.granted(worker, one, now)?;
                }
                match self.jobs.passed_over(worker) {
                    Some(job) if held.len() < limit as usize && !self.has_failed_calls() => {
                        fail("a waiting job was not granted", format!("{job:?}"))
                    }
                    _ => Ok(held.len()),
                }
            }
            Reply::Refused(JobsError::WorkerNotFound(_)) => {
                self.jobs.not_found(worker, now)?;
                Ok(0)
            }
            Reply::Refused(error) => fail("a fetch was refused", error),
            Reply::Unknown => {
                self.jobs.fetch_failed(worker, now);
                Ok(0)
            }
        }
    }

    fn fetch_and_go(&mut self, pick: u64, limit: u32) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let fetched = self.service().jobs().fetch(worker, limit, Duration::ZERO);
        let outcome = self.runtime.block_on(fetched);
        let now = self.now();
        match self.classify("jobs could not be fetched", outcome)? {
            Reply::Accepted(granted) => {
                for one in granted.jobs() {
                    self.jobs.granted(worker, one, now)?;
                    self.jobs.returned(one);
                }
                self.jobs.heartbeat_received(worker, now);
            }
            Reply::Refused(JobsError::WorkerNotFound(_)) => self.jobs.not_found(worker, now)?,
            Reply::Refused(error) => return fail("a fetch was refused", error),
            Reply::Unknown => self.jobs.fetch_failed(worker, now),
        }
        self.jobs.pass(now);
        Ok(())
    }

    /// Lets a worker wait while a job is enqueued.
    fn wait_for(&mut self, pick: u64, new: &NewJob) -> Outcome {
        let Some(worker) = self.pick_worker(pick) else { return Ok(()) };
        let drafted = self.draft(new);
        let id = drafted.answer().id;
        let jobs = self.service().jobs();
        let (enqueued, fetched) = self.runtime.block_on(async {
            let mut waiting = Box::pin(jobs.fetch(worker, 1, WAIT));
            let answered = (&mut waiting).now_or_never();
            let enqueued = jobs.enqueue(drafted, None).await;
            // After another cycle, a waiting fetch that can be served was served.
            drop(jobs.queues().await);
            (enqueued, answered.or_else(|| waiting.now_or_never()))
        });
        let reply = self.classify("a job could not be enqueued", enqueued)?;
        self.record_enqueued(id, new, reply)?;
        if let Some(fetched) = fetched {
            return self.record_fetched(worker, 1, fetched).map(|_| ());
        }
        match self.jobs.passed_over(worker) {
            Some(job) if !self.has_failed_calls() => {
                fail("a waiting fetch was not granted the new job", format!("{job:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether a request with this token may be refused with this error.
    fn may_be_refused(job: &Job, token: u64, error: &JobsError) -> bool {
        job.may(|state| match state {
            JobState::Absent => matches!(error, JobsError::JobNotFound(_)),
            JobState::Held(hold) if hold.token == Some(token) => false,
            JobState::Done(by) if by == token => false,
            _ => matches!(error, JobsError::ReservationLost),
        })
    }

    pub(super) fn ack(&mut self, at: usize, token: u64) -> Outcome {
        let outcome = self.runtime.block_on(self.service().jobs().ack(self.id_of(at), Some(token)));
        let reply = self.classify("a job could not be finished", outcome)?;
        let job = &mut self.jobs.jobs[at];
        let is_its = |state: JobState| state.is_held_with(token) || state == JobState::Done(token);
        match reply {
            Reply::Accepted(()) if !job.may(is_its) => {
                fail("a job was finished with a lost token", format!("{token} {job:?}"))
            }
            Reply::Accepted(()) => {
                job.states = vec![JobState::Done(token)];
                Ok(())
            }
            Reply::Refused(error) if !Self::may_be_refused(job, token, &error) => {
                fail("a holder could not finish its job", format!("{token} {job:?}: {error}"))
            }
            Reply::Refused(_) => Ok(()),
            Reply::Unknown => {
                job.may_turn(|state| state.is_held_with(token).then_some(JobState::Done(token)));
                Ok(())
            }
        }
    }

    fn fail_job(&mut self, pick: u64, stale: bool) -> Outcome {
        let Some((at, token)) = self.pick_held(pick, stale) else { return Ok(()) };
        let message = format!("attempt {token}");
        let report = FailureReport::new("Boom", &message, Vec::new());
        let failed = self.service().jobs().fail(self.id_of(at), Some(token), report);
        let outcome = self.runtime.block_on(failed);
        let reply = self.classify("a failure could not be reported", outcome)?;
        let now = self.now();
        let job = &mut self.jobs.jobs[at];
        let details = |job: &Job| format!("{token} {job:?}");
        match reply {
            Reply::Accepted(_) if !job.may(|state| state.is_held_with(token)) => {
                fail("a job failed with a lost token", details(job))
            }
            Reply::Accepted(failed) => {
                job.failures = (job.failures.0 + 1, job.failures.1 + 1);
                job.reports.push(message);
                let (least, most) = job.failures;
                let max = job.new.max_attempts;
                let is_dead = failed.status == JobStatus::Dead;
                if (is_dead && most < max) || (!is_dead && least >= max) {
                    return fail("a job died too early or too late", details(job));
                }
                job.states = vec![if is_dead { JobState::Dead } else { JobState::Cancellation }];
                job.retry = failed.next_run_at.map(|at| Retry::new(at.0 - now.wall, now));
                Ok(())
            }
            Reply::Refused(error) if !Self::may_be_refused_to_fail(job, token, &error) => {
                fail("a holder could not report a failure", format!("{}: {error}", details(job)))
            }
            Reply::Refused(_) => Ok(()),
            Reply::Unknown => {
                if job.may(|state| state.is_held_with(token)) {
                    job.retry = None;
                    job.add(JobState::Cancellation);
                    job.may_fail();
                }
                Ok(())
            }
        }
    }

    /// Returns whether a failure may be refused: also if the job is already finished.
    fn may_be_refused_to_fail(job: &Job, token: u64, error: &JobsError) -> bool {
        let is_done = job.may(|state| state == JobState::Done(token));
        Self::may_be_refused(job, token, error)
            || (is_done && matches!(error, JobsError::ReservationLost))
    }

    fn extend(&mut self, pick: u64, seconds: u32) -> Outcome {
        let Some((at, token)) = self.pick_held(pick, false) else { return Ok(()) };
        let extended = self.service().jobs().extend(self.id_of(at), Some(token), seconds);
        let outcome = self.runtime.block_on(extended);
        let reply = self.classify("a lease could not be extended", outcome)?;
        let lease = Lease::new(i64::from(seconds) * 1_000, self.now());
        let job = &mut self.jobs.jobs[at];
        match reply {
            Reply::Accepted(_) if !job.may(|state| state.is_held_with(token)) => {
                fail("a lease was extended with a lost token", format!("{token} {job:?}"))
            }
            Reply::Accepted(_) => {
                job.states.retain(|state| state.is_held_with(token));
                self.jobs.extended(at, token, lease);
                Ok(())
            }
            Reply::Refused(error) if !Self::may_be_refused_to_fail(job, token, &error) => {
                fail("a holder could not extend its lease", format!("{token} {job:?}: {error}"))
            }
            Reply::Refused(_) => Ok(()),
            Reply::Unknown => {
                self.jobs.may_be_extended(at, token, lease);
                Ok(())
            }
        }
    }
}
