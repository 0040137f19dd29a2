//! What programs of users say of workers and of the jobs that these hold.
//!
//! The workers of the server's own work are worked by the server alone: whoever learns their ids can neither speak for them nor take
//! or finish what they hold.

use std::time::Duration;

use telltale_engine::TimestampMs;

use super::open::Jobs;
use crate::platform::jobs::error::JobsError;
use crate::platform::jobs::ledger::Asker;
use crate::platform::jobs::model::{
    Failed, FailureReport, Heard, JobId, Vitals, WorkerId, WorkerStatus,
};
use crate::platform::jobs::waiting::Granted;

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
        self.0
            .ask(move |state, round| {
                state.check_users_worker(id)?;
                state.heartbeat(id, vitals, round)
            })
            .await
    }

    /// [`Jobs::deregister`]
    pub async fn deregister(self, id: WorkerId) -> Result<(), JobsError> {
        self.0
            .ask(move |state, round| {
                state.check_users_worker(id)?;
                state.deregister(id, round)
            })
            .await
    }

    /// [`Jobs::restrict`]
    pub async fn restrict(self, id: WorkerId, to: WorkerStatus) -> Result<WorkerStatus, JobsError> {
        self.0
            .ask(move |state, round| {
                state.check_users_worker(id)?;
                Ok(state.restrict(id, to, round)?.0)
            })
            .await
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
        self.0
            .ask(move |state, round| {
                state.check_users_job(id)?;
                state.ack(id, token, round)
            })
            .await
    }

    /// [`Jobs::fail`]
    pub async fn fail(
        self,
        id: JobId,
        token: Option<u64>,
        report: FailureReport,
    ) -> Result<Failed, JobsError> {
        self.0
            .ask(move |state, round| {
                state.check_users_job(id)?;
                state.fail(id, token, report, round)
            })
            .await
    }

    /// [`Jobs::extend`]
    pub async fn extend(
        self,
        id: JobId,
        token: Option<u64>,
        seconds: u32,
    ) -> Result<TimestampMs, JobsError> {
        self.0
            .ask(move |state, round| {
                state.check_users_job(id)?;
                state.extend(id, token, seconds, round)
            })
            .await
    }
}
