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

/// The jobs that a bulk operation changed, and those that it could not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkCount {
    /// The number of changed jobs.
    pub done: usize,
    /// The number of jobs that could not be changed.
    pub failed: usize,
}

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

    /// Retries dead jobs as new jobs, if as many are selected as the caller expects.
    pub async fn retry_all(
        &self,
        selection: Selection,
        expected: Option<usize>,
    ) -> Result<BulkCount, JobsError> {
        let (end, mut count) = (self.dead_end(), BulkCount::default());
        self.check_count(&selection, end, expected).await?;
        let filter = match selection {
            Selection::Filter(filter) => filter,
            Selection::Ids(ids, whose) => {
                let (found, unknown) =
                    self.query(move |state, _| Ok(state.dead_named(&ids, whose))).await?;
                count = self.retry_dead(found).await?;
                return Ok(BulkCount { failed: count.failed + unknown, ..count });
            }
        };
        let mut from = DeadId(0);
        loop {
            let (found, next) = self.dead_matches(&filter, from, end).await?;
            let more = self.retry_dead(found).await?;
            count.done += more.done;
            count.failed += more.failed;
            match next {
                Some(next) => from = next,
                None => return Ok(count),
            }
        }
    }

    /// Returns how many dead jobs are selected.
    pub async fn count_dead(&self, selection: &Selection) -> Result<usize, JobsError> {
        self.count_before(selection, self.dead_end()).await
    }

    /// Fails if another number of dead jobs with ids less than `end` is selected than the caller
    /// expects. Jobs that die later are not part of the operation, so it changes no more jobs.
    async fn check_count(
        &self,
        selection: &Selection,
        end: DeadId,
        expected: Option<usize>,
    ) -> Result<(), JobsError> {
        let Some(expected) = expected else { return Ok(()) };
        let selected = self.count_before(selection, end).await?;
        if selected == expected {
            return Ok(());
        }
        Err(JobsError::OtherCount { selected, expected })
    }

    async fn count_before(&self, selection: &Selection, end: DeadId) -> Result<usize, JobsError> {
        let filter = match selection {
            Selection::Filter(filter) => filter,
            Selection::Ids(ids, whose) => {
                let (ids, whose) = (ids.clone(), *whose);
                return self.query(move |state, _| Ok(state.dead_named(&ids, whose).0.len())).await;
            }
        };
        let (mut from, mut count) = (DeadId(0), 0);
        loop {
            let (found, next) = self.dead_matches(filter, from, end).await?;
            count += found.len();
            match next {
                Some(next) => from = next,
                None => return Ok(count),
            }
        }
    }

    /// Selects matching dead jobs with ids from `from` to, not including, `end`. One step; also
    /// returns where the next step begins.
    async fn dead_matches(
        &self,
        filter: &DeadFilter,
        from: DeadId,
        end: DeadId,
    ) -> Result<(Vec<DeadJob>, Option<DeadId>), JobsError> {
        let standing = filter.clone();
        let query = move |state: &super::State, _| Ok(state.dead_step(&standing, from, end));
        let (found, next) = self.query(query).await?;
        Ok((self.search_dead(filter, found).await?, next))
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

    /// Deletes dead jobs, if as many are selected as the caller expects. Returns their number.
    pub async fn forget_all(
        &self,
        selection: Selection,
        expected: Option<usize>,
    ) -> Result<usize, JobsError> {
        let end = self.dead_end();
        self.check_count(&selection, end, expected).await?;
        match selection {
            Selection::Filter(filter) if filter.search.is_some() => {
                self.forget_found(filter, end).await
            }
            Selection::Filter(filter) => self.forget_fitting(filter, end).await,
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
        let filter = DeadFilter { older_than, whose, ..DeadFilter::default() };
        self.forget_fitting(filter, self.dead_end()).await
    }

    /// Deletes the dead jobs that a search finds.
    async fn forget_found(&self, filter: DeadFilter, end: DeadId) -> Result<usize, JobsError> {
        let (mut from, mut forgotten) = (DeadId(0), 0);
        loop {
            let (found, next) = self.dead_matches(&filter, from, end).await?;
            let forget = move |state: &mut super::State, cycle: &mut super::Cycle| {
                Ok(found.iter().filter(|dead| state.forget(dead.id, cycle)).count())
            };
            forgotten += self.change(forget).await?;
            match next {
                Some(next) => from = next,
                None => return Ok(forgotten),
            }
        }
    }

    /// Deletes the dead jobs that match a filter without a search string.
    async fn forget_fitting(&self, filter: DeadFilter, end: DeadId) -> Result<usize, JobsError> {
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

    /// Retries these jobs.
    async fn retry_dead(&self, found: Vec<DeadJob>) -> Result<BulkCount, JobsError> {
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
        Ok(BulkCount { done: retried, failed: wanted - retried })
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
