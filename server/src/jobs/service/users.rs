//! The worker protocol for clients.
//!
//! Only the server's own workers execute the server's own jobs. Clients that know their ids can
//! neither act for these workers, nor take or finish the jobs they hold.

use std::time::Duration;

use telltale_engine::TimestampMs;

use super::open::Jobs;
use super::{Cycle, State};
use crate::jobs::error::JobsError;
use crate::jobs::ledger::FetchCaller;
use crate::jobs::model::{
    Failed, FailureReport, HeartbeatReply, JobId, WorkerId, WorkerStatus, WorkerUsage,
};
use crate::jobs::waiting::GrantedJobs;

/// The worker protocol for clients.
#[derive(Clone, Copy, Debug)]
pub struct ClientJobs<'a>(&'a Jobs);

impl Jobs {
    /// Returns the worker protocol for clients.
    pub fn for_clients(&self) -> ClientJobs<'_> {
        ClientJobs(self)
    }
}

impl ClientJobs<'_> {
    /// [`Jobs::heartbeat`]
    pub async fn heartbeat(
        self,
        id: WorkerId,
        vitals: WorkerUsage,
    ) -> Result<HeartbeatReply, JobsError> {
        self.change_worker(id, move |state, cycle| state.heartbeat(id, vitals, cycle)).await
    }

    /// [`Jobs::deregister`]
    pub async fn deregister(self, id: WorkerId) -> Result<(), JobsError> {
        self.change_worker(id, move |state, cycle| state.deregister(id, cycle)).await
    }

    /// [`Jobs::restrict`]
    pub async fn restrict(self, id: WorkerId, to: WorkerStatus) -> Result<WorkerStatus, JobsError> {
        self.change_worker(id, move |state, cycle| Ok(state.restrict(id, to, cycle)?.0)).await
    }

    /// [`Jobs::fetch`]
    pub async fn fetch(
        self,
        worker: WorkerId,
        limit: u32,
        wait: Duration,
    ) -> Result<GrantedJobs, JobsError> {
        self.0.fetch_for(FetchCaller::User, worker, limit, wait).await
    }

    /// [`Jobs::ack`]
    pub async fn ack(self, id: JobId, token: Option<u64>) -> Result<(), JobsError> {
        self.change_held_job(id, move |state, cycle| state.ack(id, token, cycle)).await
    }

    /// [`Jobs::fail`]
    pub async fn fail(
        self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
    ) -> Result<Failed, JobsError> {
        self.change_held_job(id, move |state, cycle| state.fail(id, token, report, cycle)).await
    }

    /// [`Jobs::extend`]
    pub async fn extend(
        self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
    ) -> Result<TimestampMs, JobsError> {
        self.change_held_job(id, move |state, cycle| state.extend(id, token, seconds, cycle)).await
    }

    /// Applies a client's change of a worker, unless the worker belongs to the server.
    async fn change_worker<T: Send + 'static>(
        self,
        id: WorkerId,
        change: impl FnOnce(&mut State, &mut Cycle) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        self.0
            .change(move |state, cycle| {
                state.check_users_worker(id)?;
                change(state, cycle)
            })
            .await
    }

    /// Applies a client's change of a held job, unless the job belongs to the server.
    async fn change_held_job<T: Send + 'static>(
        self,
        id: JobId,
        change: impl FnOnce(&mut State, &mut Cycle) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        self.0
            .change(move |state, cycle| {
                state.check_users_job(id)?;
                change(state, cycle)
            })
            .await
    }
}
