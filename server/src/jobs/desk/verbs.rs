//! What programs do with single jobs, and with queues and workers.

use std::time::Duration;

use telltale_engine::{Receipt, TimestampMs};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::open::{Jobs, unheard};
use crate::jobs::error::JobsError;
use crate::jobs::ledger::{Asker, Command};
use crate::jobs::model::{
    Enqueued, Failed, FailureReport, Heard, JobId, JobStatus, NewJob, NewWorker, QueuePage,
    QueueView, Registered, Vitals, Whose, WorkerId, WorkerPage, WorkerStatus, WorkerView,
};
use crate::jobs::state::Draft;
use crate::jobs::waiting::Granted;

/// A job that has its id and is not enqueued yet, so that its answer can be made before.
#[derive(Clone, Debug)]
pub struct Drafted {
    draft: Draft,
    status: JobStatus,
}

impl Drafted {
    /// What is answered once the job is enqueued.
    pub fn answer(&self) -> Enqueued {
        let queue = self.draft.job.queue.clone();
        Enqueued { id: self.draft.id, queue, status: self.status }
    }
}

impl Jobs {
    /// Gives a job its id.
    pub fn draft(&self, job: NewJob) -> Drafted {
        let now_ms = self.clock.now().0;
        let draft = Draft::new(JobId(self.ids.next_number()), job, now_ms);
        let status = draft.status(now_ms);
        Drafted { draft, status }
    }

    /// Enqueues a job, and stores with it the receipt of the request that asked for it.
    pub async fn enqueue(
        &self,
        drafted: Drafted,
        receipt: Option<Receipt>,
    ) -> Result<Enqueued, JobsError> {
        self.check_room()?;
        let answer = drafted.answer();
        self.ask(move |state, round| {
            state.enqueue(drafted.draft, drafted.status, round)?;
            if let Some(receipt) = receipt {
                round.batch.receipt(&receipt);
            }
            Ok(())
        })
        .await?;
        Ok(answer)
    }

    /// The same for threads that may block.
    pub fn enqueue_blocking(&self, drafted: Drafted) -> Result<Enqueued, JobsError> {
        self.check_room()?;
        let answer = drafted.answer();
        self.ask_blocking(move |state, round| state.enqueue(drafted.draft, drafted.status, round))?;
        Ok(answer)
    }

    /// Enqueues jobs together: those that are taken are all on disk, or none is. `answer` makes the answer of their outcomes,
    /// one for each job in their order, and the receipt that is stored with them.
    pub async fn enqueue_all<A: Send + 'static>(
        &self,
        drafted: Vec<Drafted>,
        answer: impl FnOnce(Vec<Result<Enqueued, JobsError>>) -> (A, Option<Receipt>) + Send + 'static,
    ) -> Result<A, JobsError> {
        self.check_room()?;
        self.ask(move |state, round| {
            let enqueue = |drafted: Drafted| {
                let answer = drafted.answer();
                state.enqueue(drafted.draft, drafted.status, round).map(|()| answer)
            };
            let mut outcomes: Vec<_> = drafted.into_iter().map(enqueue).collect();
            // Where no job was taken, the same may be sent again later: no answer is kept.
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
                round.batch.receipt(&receipt);
            }
            Ok(answer)
        })
        .await
    }

    /// Removes a job that has not started.
    pub async fn delete(&self, id: JobId) -> Result<(), JobsError> {
        self.ask(move |state, round| state.delete(id, round)).await
    }

    /// A job that waits for its time is ready at once.
    pub async fn run_now(&self, id: JobId) -> Result<(), JobsError> {
        self.ask(move |state, round| state.run_now(id, round)).await
    }

    /// The job is done.
    pub async fn ack(&self, id: JobId, token: Option<u64>) -> Result<(), JobsError> {
        self.ask(move |state, round| state.ack(id, token, round)).await
    }

    /// The attempt failed.
    pub async fn fail(
        &self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
    ) -> Result<Failed, JobsError> {
        self.ask(move |state, round| state.fail(id, token, report, round)).await
    }

    /// The holder keeps the job for so many seconds from now. Answers until when.
    pub async fn extend(
        &self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
    ) -> Result<TimestampMs, JobsError> {
        self.ask(move |state, round| state.extend(id, token, seconds, round)).await
    }

    /// Makes a worker known.
    pub async fn register(&self, worker: NewWorker) -> Result<Registered, JobsError> {
        self.ask(move |state, round| state.register(worker, round)).await
    }

    /// A worker is alive.
    pub async fn heartbeat(&self, id: WorkerId, vitals: Vitals) -> Result<Heard, JobsError> {
        self.ask(move |state, round| state.heartbeat(id, vitals, round)).await
    }

    /// A worker leaves. What it holds goes back.
    pub async fn deregister(&self, id: WorkerId) -> Result<(), JobsError> {
        self.ask(move |state, round| state.deregister(id, round)).await
    }

    /// Hands up to `limit` jobs to a worker; when there is none, the first that comes within `wait`. Whoever stops waiting
    /// for the answer gets nothing, and nothing is lost.
    pub async fn fetch(
        &self,
        worker: WorkerId,
        limit: u32,
        wait: Duration,
    ) -> Result<Granted, JobsError> {
        self.fetch_for(Asker::Server, worker, limit, wait).await
    }

    /// The same for whoever asks.
    pub(super) async fn fetch_for(
        &self,
        asker: Asker,
        worker: WorkerId,
        limit: u32,
        wait: Duration,
    ) -> Result<Granted, JobsError> {
        let (reply, answer) = oneshot::channel();
        let waits = !wait.is_zero();
        self.send(Command::Fetch { asker, worker, limit, wait: waits, reply })?;
        if !waits {
            return answer.await.unwrap_or_else(|_| Err(unheard()));
        }
        let mut answer = answer;
        match timeout(wait, &mut answer).await {
            Ok(heard) => heard.unwrap_or_else(|_| Err(unheard())),
            // What comes just now goes back: nobody hears of it.
            Err(_) => self.fetch_at_once(asker, worker, limit, answer).await,
        }
    }

    /// Stops waiting, and takes what has come meanwhile.
    async fn fetch_at_once(
        &self,
        asker: Asker,
        worker: WorkerId,
        limit: u32,
        answer: oneshot::Receiver<Result<Granted, JobsError>>,
    ) -> Result<Granted, JobsError> {
        drop(answer);
        let (reply, answer) = oneshot::channel();
        self.send(Command::Fetch { asker, worker, limit, wait: false, reply })?;
        answer.await.unwrap_or_else(|_| Err(unheard()))
    }

    /// Tells a worker that it may do no more than this. Answers what it may do now.
    pub async fn restrict(
        &self,
        id: WorkerId,
        to: WorkerStatus,
    ) -> Result<WorkerStatus, JobsError> {
        self.ask(move |state, round| Ok(state.restrict(id, to, round)?.0)).await
    }

    /// Tells every worker to begin nothing more. Answers how many had not been told.
    pub async fn quiet_all(&self) -> Result<usize, JobsError> {
        self.ask(|state, round| Ok(state.quiet_all(round))).await
    }

    /// All workers, the newest first.
    pub async fn workers(&self) -> Result<Vec<WorkerView>, JobsError> {
        self.look(|state, _| Ok(state.worker_views())).await
    }

    /// A page of the workers, the newest first, and what all of them are together.
    pub async fn worker_page(
        &self,
        whose: Whose,
        offset: usize,
        limit: usize,
    ) -> Result<WorkerPage, JobsError> {
        self.look(move |state, _| Ok(state.worker_page(whose, offset, limit))).await
    }

    /// One worker.
    pub async fn worker(&self, id: WorkerId) -> Result<WorkerView, JobsError> {
        self.look(move |state, _| state.worker(id)).await
    }

    /// All queues, by name.
    pub async fn queues(&self) -> Result<Vec<QueueView>, JobsError> {
        self.look(|state, now| Ok(state.queue_views(now))).await
    }

    /// A page of the queues, by name.
    pub async fn queue_page(
        &self,
        whose: Whose,
        offset: usize,
        limit: usize,
    ) -> Result<QueuePage, JobsError> {
        self.look(move |state, now| Ok(state.queue_page(whose, offset, limit, now))).await
    }

    /// One queue.
    pub async fn queue(&self, name: String) -> Result<QueueView, JobsError> {
        self.look(move |state, now| state.queue(&name, now)).await
    }

    /// Deletes a queue in which no job waits or runs.
    pub async fn delete_queue(&self, name: String) -> Result<(), JobsError> {
        self.ask(move |state, round| state.delete_queue(&name, round)).await
    }

    /// The queue hands out nothing until it is resumed. Answers since when.
    pub async fn pause(&self, name: String) -> Result<TimestampMs, JobsError> {
        self.ask(move |state, round| state.pause(&name, round).map(TimestampMs)).await
    }

    /// The queue hands out jobs again. Answers since when.
    pub async fn resume(&self, name: String) -> Result<TimestampMs, JobsError> {
        self.ask(move |state, round| state.resume(&name, round).map(TimestampMs)).await
    }

    /// New jobs are refused while the disk is nearly full, so that those that are there can be finished.
    fn check_room(&self) -> Result<(), JobsError> {
        self.engine.trouble().map_or(Ok(()), |why| Err(JobsError::Unavailable(why)))
    }
}
