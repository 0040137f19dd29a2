//! The worker protocol as users have it.
//!
//! The server's own jobs are worked by its own workers alone. Users who know their ids can neither act for these workers, nor take or
//! finish what they hold.

use std::time::Duration;

use telltale_engine::TimestampMs;

use super::open::Jobs;
use super::{Round, State};
use crate::jobs::error::JobsError;
use crate::jobs::ledger::Asker;
use crate::jobs::model::{Failed, FailureReport, Heard, JobId, Vitals, WorkerId, WorkerStatus};
use crate::jobs::waiting::Granted;

/// The worker protocol as users have it.
#[derive(Clone, Copy, Debug)]
pub struct UsersDesk<'a>(&'a Jobs);

impl Jobs {
    /// The worker protocol for users.
    pub fn for_users(&self) -> UsersDesk<'_> {
        UsersDesk(self)
    }
}

impl UsersDesk<'_> {
    /// [`Jobs::heartbeat`]
    pub async fn heartbeat(self, id: WorkerId, vitals: Vitals) -> Result<Heard, JobsError> {
        self.ask_of_worker(id, move |state, round| state.heartbeat(id, vitals, round)).await
    }

    /// [`Jobs::deregister`]
    pub async fn deregister(self, id: WorkerId) -> Result<(), JobsError> {
        self.ask_of_worker(id, move |state, round| state.deregister(id, round)).await
    }

    /// [`Jobs::restrict`]
    pub async fn restrict(self, id: WorkerId, to: WorkerStatus) -> Result<WorkerStatus, JobsError> {
        self.ask_of_worker(id, move |state, round| Ok(state.restrict(id, to, round)?.0)).await
    }

    /// [`Jobs::fetch`]
    pub async fn fetch(
        self,
        worker: WorkerId,
        limit: u32,
        wait: Duration,
    ) -> Result<Granted, JobsError> {
        self.0.fetch_for(Asker::User, worker, limit, wait).await
    }

    /// [`Jobs::ack`]
    pub async fn ack(self, id: JobId, token: Option<u64>) -> Result<(), JobsError> {
        self.ask_of_held_job(id, move |state, round| state.ack(id, token, round)).await
    }

    /// [`Jobs::fail`]
    pub async fn fail(
        self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
    ) -> Result<Failed, JobsError> {
        self.ask_of_held_job(id, move |state, round| state.fail(id, token, report, round)).await
    }

    /// [`Jobs::extend`]
    pub async fn extend(
        self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
    ) -> Result<TimestampMs, JobsError> {
        self.ask_of_held_job(id, move |state, round| state.extend(id, token, seconds, round)).await
    }

    /// Does what a user wants of a worker, unless it is the server's own.
    async fn ask_of_worker<T: Send + 'static>(
        self,
        id: WorkerId,
        work: impl FnOnce(&mut State, &mut Round) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        self.0
            .ask(move |state, round| {
                state.check_users_worker(id)?;
                work(state, round)
            })
            .await
    }

    /// Does what a user says of a job that a worker holds, unless only the server's own workers hold it.
    async fn ask_of_held_job<T: Send + 'static>(
        self,
        id: JobId,
        work: impl FnOnce(&mut State, &mut Round) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        self.0
            .ask(move |state, round| {
                state.check_users_job(id)?;
                work(state, round)
            })
            .await
    }
}
