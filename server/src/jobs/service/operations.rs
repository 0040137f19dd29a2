//! Operations on single jobs, queues and workers.

use std::time::Duration;

use telltale_engine::{Receipt, TimestampMs};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::open::{Jobs, no_response};
use crate::jobs::error::JobsError;
use crate::jobs::ledger::{Command, FetchCaller};
use crate::jobs::model::{
    Enqueued, Failed, FailureReport, HeartbeatReply, JobId, JobStatus, NewJob, NewWorker,
    QueueOwner, QueuePage, QueueView, Registered, WorkerId, WorkerPage, WorkerStatus, WorkerUsage,
    WorkerView,
};
use crate::jobs::names::QueueName;
use crate::jobs::state::Draft;
use crate::jobs::waiting::GrantedJobs;

/// A job that has an id and is not enqueued yet, so that its response can be built first.
#[derive(Clone, Debug)]
pub struct Drafted {
    draft: Draft,
    status: JobStatus,
}

/// What became of jobs of the server that were enqueued in one write.
#[derive(Debug, Default)]
pub struct EnqueuedPrefix {
    /// How many jobs at the beginning were accepted, those included whose unique key is in use.
    pub accepted: usize,
    /// How many of these are new.
    pub new: usize,
    /// Why the next job was refused; `None` if all were accepted. The jobs after it were not tried.
    pub refused: Option<JobsError>,
}

impl EnqueuedPrefix {
    /// Returns that no job was accepted, for this reason.
    pub fn none_because(error: JobsError) -> Self {
        Self { refused: Some(error), ..Self::default() }
    }
}

impl Drafted {
    /// Returns the response to the request once the job is enqueued.
    pub fn answer(&self) -> Enqueued {
        let queue = self.draft.job.queue.clone();
        Enqueued { id: self.draft.id, queue, status: self.status }
    }
}

impl Jobs {
    /// Assigns an id to a job.
    pub fn draft(&self, job: NewJob) -> Drafted {
        let now_ms = self.clock.now().0;
        let draft = Draft::new(JobId(self.ids.next_number()), job, now_ms);
        let status = draft.status(now_ms);
        Drafted { draft, status }
    }

    /// Enqueues a job. Stores the receipt of the request, if any, with it.
    pub async fn enqueue(
        &self,
        drafted: Drafted,
        receipt: Option<Receipt>,
    ) -> Result<Enqueued, JobsError> {
        self.check_capacity()?;
        let answer = drafted.answer();
        self.change(move |state, cycle| {
            state.enqueue(drafted.draft, drafted.status, cycle)?;
            if let Some(receipt) = receipt {
                cycle.batch.receipt(&receipt);
            }
            Ok(())
        })
        .await?;
        Ok(answer)
    }

    /// Enqueues jobs of the server in one write, up to the first one that is refused for another
    /// reason than that its unique key is in use. For threads that may block.
    pub fn enqueue_own_blocking(&self, drafted: Vec<Drafted>) -> Result<EnqueuedPrefix, JobsError> {
        self.change_blocking(move |state, cycle| {
            let mut prefix = EnqueuedPrefix::default();
            for Drafted { draft, status } in drafted {
                match state.enqueue(draft, status, cycle) {
                    Ok(()) => prefix.new += 1,
                    Err(JobsError::NotUnique(_)) => {}
                    Err(error) => {
                        prefix.refused = Some(error);
                        break;
                    }
                }
                prefix.accepted += 1;
            }
            Ok(prefix)
        })
    }

    /// Enqueues jobs in one write. `answer` builds the response from their outcomes, one per job in
    /// order, and the receipt that is stored with them.
    pub async fn enqueue_all<A: Send + 'static>(
        &self,
        drafted: Vec<Drafted>,
        answer: impl FnOnce(Vec<Result<Enqueued, JobsError>>) -> (A, Option<Receipt>) + Send + 'static,
    ) -> Result<A, JobsError> {
        self.check_capacity()?;
        self.change(move |state, cycle| {
            let enqueue = |drafted: Drafted| {
                let answer = drafted.answer();
                state.enqueue(drafted.draft, drafted.status, cycle).map(|()| answer)
            };
            let mut outcomes: Vec<_> = drafted.into_iter().map(enqueue).collect();
            // If no job was accepted, the request may be repeated later, so no receipt is stored.
            let is_full =
                |outcome: &Result<_, JobsError>| outcome.as_ref().is_err_and(JobsError::is_full);
            if !outcomes.is_empty()
                && outcomes.iter().all(is_full)
                && let Some(Err(full)) = outcomes.pop()
            {
                return Err(full);
            }
            let (answer, receipt) = answer(outcomes);
            if let Some(receipt) = receipt {
                cycle.batch.receipt(&receipt);
            }
            Ok(answer)
        })
        .await
    }

    /// Deletes a job that has not started.
    pub async fn delete(&self, id: JobId) -> Result<(), JobsError> {
        self.change(move |state, cycle| state.delete(id, cycle)).await
    }

    /// Makes a scheduled or retrying job ready at once.
    pub async fn run_now(&self, id: JobId) -> Result<(), JobsError> {
        self.change(move |state, cycle| state.run_now(id, cycle)).await
    }

    /// Finishes a job.
    pub async fn ack(&self, id: JobId, token: Option<u64>) -> Result<(), JobsError> {
        self.change(move |state, cycle| state.ack(id, token, cycle)).await
    }

    /// Records a failed attempt.
    pub async fn fail(
        &self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
    ) -> Result<Failed, JobsError> {
        self.change(move |state, cycle| state.fail(id, token, report, cycle)).await
    }

    /// Extends the lease of a job to this many seconds from now. Returns its end.
    pub async fn extend(
        &self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
    ) -> Result<TimestampMs, JobsError> {
        self.change(move |state, cycle| state.extend(id, token, seconds, cycle)).await
    }

    /// Registers a worker.
    pub async fn register(&self, worker: NewWorker) -> Result<Registered, JobsError> {
        self.change(move |state, cycle| state.register(worker, cycle)).await
    }

    /// Records a heartbeat of a worker.
    pub async fn heartbeat(
        &self,
        id: WorkerId,
        vitals: WorkerUsage,
    ) -> Result<HeartbeatReply, JobsError> {
        self.change(move |state, cycle| state.heartbeat(id, vitals, cycle)).await
    }

    /// Removes a worker. The jobs it holds return to their queues.
    pub async fn deregister(&self, id: WorkerId) -> Result<(), JobsError> {
        self.change(move |state, cycle| state.deregister(id, cycle)).await
    }

    /// Grants up to `limit` jobs to a worker; if there is none, waits up to `wait` for the first
    /// one. No job is lost if the caller stops waiting.
    pub async fn fetch(
        &self,
        worker: WorkerId,
        limit: u32,
        wait: Duration,
    ) -> Result<GrantedJobs, JobsError> {
        self.fetch_for(FetchCaller::Server, worker, limit, wait).await
    }

    /// The same on behalf of a client or the server.
    pub(super) async fn fetch_for(
        &self,
        caller: FetchCaller,
        worker: WorkerId,
        limit: u32,
        wait: Duration,
    ) -> Result<GrantedJobs, JobsError> {
        let (reply, answer) = oneshot::channel();
        let waits = !wait.is_zero();
        self.send(Command::Fetch { caller, worker, limit, wait: waits, reply })?;
        if !waits {
            return answer.await.unwrap_or_else(|_| Err(no_response()));
        }
        let mut answer = answer;
        match timeout(wait, &mut answer).await {
            Ok(reply) => reply.unwrap_or_else(|_| Err(no_response())),
            // Jobs granted just now are returned, because the channel is dropped.
            Err(_) => self.fetch_at_once(caller, worker, limit, answer).await,
        }
    }

    /// Stops waiting, and fetches what is ready now.
    async fn fetch_at_once(
        &self,
        caller: FetchCaller,
        worker: WorkerId,
        limit: u32,
        answer: oneshot::Receiver<Result<GrantedJobs, JobsError>>,
    ) -> Result<GrantedJobs, JobsError> {
        drop(answer);
        let (reply, answer) = oneshot::channel();
        self.send(Command::Fetch { caller, worker, limit, wait: false, reply })?;
        answer.await.unwrap_or_else(|_| Err(no_response()))
    }

    /// Restricts a worker to this status. Returns its status.
    pub async fn restrict(
        &self,
        id: WorkerId,
        to: WorkerStatus,
    ) -> Result<WorkerStatus, JobsError> {
        self.change(move |state, cycle| Ok(state.restrict(id, to, cycle)?.0)).await
    }

    /// Makes every active worker of clients quiet. Returns their number.
    pub async fn quiet_all(&self) -> Result<usize, JobsError> {
        self.change(|state, cycle| Ok(state.quiet_all(cycle))).await
    }

    /// Returns all workers, newest first.
    pub async fn workers(&self) -> Result<Vec<WorkerView>, JobsError> {
        self.query(|state, _| Ok(state.worker_views())).await
    }

    /// Returns a page of the workers, newest first, and totals of all workers.
    pub async fn worker_page(
        &self,
        whose: QueueOwner,
        offset: usize,
        limit: usize,
    ) -> Result<WorkerPage, JobsError> {
        self.query(move |state, _| Ok(state.worker_page(whose, offset, limit))).await
    }

    /// Returns a worker.
    pub async fn worker(&self, id: WorkerId) -> Result<WorkerView, JobsError> {
        self.query(move |state, _| state.worker(id)).await
    }

    /// Returns all queues, ordered by name.
    pub async fn queues(&self) -> Result<Vec<QueueView>, JobsError> {
        self.query(|state, now| Ok(state.queue_views(now))).await
    }

    /// Returns a page of the queues, ordered by name.
    pub async fn queue_page(
        &self,
        whose: QueueOwner,
        offset: usize,
        limit: usize,
    ) -> Result<QueuePage, JobsError> {
        self.query(move |state, now| Ok(state.queue_page(whose, offset, limit, now))).await
    }

    /// Returns all queues of an owner, ordered by name. For threads that may block.
    pub fn queues_blocking(&self, whose: QueueOwner) -> Result<Vec<QueueView>, JobsError> {
        let page =
            self.send_query(move |state, now| Ok(state.queue_page(whose, 0, usize::MAX, now)))?;
        Ok(page.blocking_recv().unwrap_or_else(|_| Err(no_response()))?.queues)
    }

    /// Returns a queue.
    pub async fn queue(&self, name: QueueName) -> Result<QueueView, JobsError> {
        self.query(move |state, now| state.queue(&name, now)).await
    }

    /// The same for threads that may block.
    pub fn queue_blocking(&self, name: QueueName) -> Result<QueueView, JobsError> {
        let view = self.send_query(move |state, now| state.queue(&name, now))?;
        view.blocking_recv().unwrap_or_else(|_| Err(no_response()))
    }

    /// Deletes a queue without waiting and running jobs.
    pub async fn delete_queue(&self, name: QueueName) -> Result<(), JobsError> {
        self.change(move |state, cycle| state.delete_queue(&name, cycle)).await
    }

    /// Pauses a queue. Returns when it was paused.
    pub async fn pause(&self, name: QueueName) -> Result<TimestampMs, JobsError> {
        self.change(move |state, cycle| state.pause(&name, cycle).map(TimestampMs)).await
    }

    /// Resumes a queue. Returns when it was resumed.
    pub async fn resume(&self, name: QueueName) -> Result<TimestampMs, JobsError> {
        self.change(move |state, cycle| state.resume(&name, cycle).map(TimestampMs)).await
    }

    /// Refuses new jobs while the disk is nearly full, so that existing jobs can be finished.
    fn check_capacity(&self) -> Result<(), JobsError> {
        self.engine.trouble().map_or(Ok(()), |why| Err(JobsError::Unavailable(why)))
    }
}
