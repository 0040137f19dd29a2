//! Bulk operations on jobs, in steps.
//!
//! An operation covers only jobs that existed when it started, so that it ends, and a job that is
//! retried and dies again is not retried forever.

use telltale_engine::MemoryShare;

use super::open::Jobs;
use crate::jobs::error::JobsError;
use crate::jobs::model::{DeadFilter, DeadId, DeadJob, DeadJobId, JobId, QueueOwner, Selection};
use crate::jobs::names::QueueName;
use crate::jobs::state::{DeadRetry, PurgeCursor};
use crate::limits;

impl Jobs {
    /// Removes all waiting jobs of a queue. Returns their number.
    pub async fn purge(&self, name: QueueName) -> Result<usize, JobsError> {
        let end = JobId(self.ids.next_number());
        let (mut from, mut removed) = (PurgeCursor::START, 0);
        loop {
            let name = name.clone();
            let step = move |state: &mut super::State, cycle: &mut super::Cycle| {
                state.purge_step(&name, from, end, cycle)
            };
            let (count, next) = self.change(step).await?;
            removed += count;
            match next {
                Some(next) => from = next,
                None => return Ok(removed),
            }
        }
    }

    /// Retries a dead job as a new job. Returns the dead job and the id of the new one.
    pub async fn retry(&self, id: DeadJobId) -> Result<(DeadJob, JobId), JobsError> {
        let dead = self.find_dead(id).await?;
        let (mut dead_retries, _memory) = self.dead_retries(vec![dead]).await?;
        let Some(retry) = dead_retries.pop() else {
            // Another request may have retried or deleted it meanwhile.
            self.find_dead(id).await?;
            return Err(JobsError::Failed(format!("dead job {id} cannot be read")));
        };
        let new = retry.new;
        let retried = self.change(move |state, cycle| state.retry_dead(retry, cycle)).await?;
        Ok((retried.ok_or(JobsError::DeadJobNotFound(id.to_string()))?, new))
    }

    /// Retries dead jobs as new jobs. Returns how many were retried, and how many could not be.
    pub async fn retry_all(&self, selection: Selection) -> Result<(usize, usize), JobsError> {
        let filter = match selection {
            Selection::Filter(filter) => filter,
            Selection::Ids(ids, whose) => {
                let (found, unknown) =
                    self.query(move |state, _| Ok(state.dead_named(&ids, whose))).await?;
                let (retried, failed) = self.retry_dead(found).await?;
                return Ok((retried, failed + unknown));
            }
        };
        let end = self.dead_end();
        let (mut from, mut retried, mut failed) = (DeadId(0), 0, 0);
        loop {
            let filter = filter.clone();
            let query = move |state: &super::State, _| Ok(state.dead_step(&filter, from, end));
            let (found, next) = self.query(query).await?;
            let (more, not) = self.retry_dead(found).await?;
            (retried, failed) = (retried + more, failed + not);
            match next {
                Some(next) => from = next,
                None => return Ok((retried, failed)),
            }
        }
    }

    /// Deletes a dead job.
    pub async fn forget(&self, id: DeadJobId) -> Result<DeadId, JobsError> {
        self.change(move |state, cycle| {
            let dead = state.dead_job(id)?;
            state.forget(dead.id, cycle);
            Ok(dead.id)
        })
        .await
    }

    /// Deletes dead jobs. Returns their number.
    pub async fn forget_all(&self, selection: Selection) -> Result<usize, JobsError> {
        match selection {
            Selection::Filter(filter) => self.forget_fitting(filter).await,
            Selection::Ids(ids, whose) => {
                self.change(move |state, cycle| {
                    let (found, _) = state.dead_named(&ids, whose);
                    Ok(found.iter().filter(|dead| state.forget(dead.id, cycle)).count())
                })
                .await
            }
        }
    }

    /// Deletes dead jobs that are older than the retention. Returns their number.
    pub async fn trim_dead(&self) -> Result<usize, JobsError> {
        let now = self.engine.trusted_time().expiry;
        let oldest_ms = now.0.saturating_sub(self.settings.dead_keep.ms());
        let older_than = Some(telltale_engine::TimestampMs(oldest_ms));
        let whose = QueueOwner::All;
        self.forget_fitting(DeadFilter { older_than, whose, ..DeadFilter::default() }).await
    }

    async fn forget_fitting(&self, filter: DeadFilter) -> Result<usize, JobsError> {
        let end = self.dead_end();
        let (mut from, mut forgotten) = (DeadId(0), 0);
        loop {
            let filter = filter.clone();
            let step = move |state: &mut super::State, cycle: &mut super::Cycle| {
                Ok(state.forget_step(&filter, from, end, cycle))
            };
            let (count, next) = self.change(step).await?;
            forgotten += count;
            match next {
                Some(next) => from = next,
                None => return Ok(forgotten),
            }
        }
    }

    /// Retries these jobs. Returns how many were retried, and how many could not be.
    async fn retry_dead(&self, found: Vec<DeadJob>) -> Result<(usize, usize), JobsError> {
        let (wanted, mut retried) = (found.len(), 0);
        // Limits the number of bodies in memory.
        for part in found.chunks(limits::DEAD_PAGE_MAX) {
            let (dead_retries, _memory) = self.dead_retries(part.to_vec()).await?;
            let retry_part = move |state: &mut super::State, cycle: &mut super::Cycle| {
                let back = dead_retries.into_iter().map(|one| state.retry_dead(one, cycle));
                Ok(back.filter(|one| matches!(one, Ok(Some(_)))).count())
            };
            retried += self.change(retry_part).await?;
        }
        Ok((retried, wanted - retried))
    }

    /// Reads what is needed to retry these jobs, except those that cannot be read, and returns it
    /// with the memory charged for it.
    async fn dead_retries(
        &self,
        found: Vec<DeadJob>,
    ) -> Result<(Vec<DeadRetry>, MemoryShare), JobsError> {
        let (bodies, memory) = self.bodies(found.iter().map(|dead| dead.job).collect()).await?;
        let retry = |(dead, body): (DeadJob, Option<super::records_read::Body>)| {
            let (new, body) = (JobId(self.ids.next_number()), body?);
            Some(DeadRetry { dead: dead.id, new, class: body.class, arguments: body.arguments })
        };
        Ok((found.into_iter().zip(bodies).filter_map(retry).collect(), memory))
    }

    /// Returns an id greater than that of every existing dead job.
    fn dead_end(&self) -> DeadId {
        DeadId(self.ids.next_number())
    }
}
