//! Changes of many jobs, step by step.
//!
//! A step takes what was there when the whole change began: jobs that come meanwhile are not looked at, so every change
//! ends, and a job that is brought back and dies again is not brought back for ever.

use telltale_engine::MemoryShare;

use super::open::Jobs;
use crate::jobs::error::JobsError;
use crate::jobs::model::{DeadFilter, DeadId, DeadJob, JobId, Selection, Whose};
use crate::jobs::state::{PurgePlace, Revival};
use crate::limits;

impl Jobs {
    /// Removes all jobs of a queue that wait. Answers how many.
    pub async fn purge(&self, name: String) -> Result<usize, JobsError> {
        let end = JobId(self.ids.next_number());
        let (mut from, mut removed) = (PurgePlace::START, 0);
        loop {
            let name = name.clone();
            let step = move |state: &mut super::State, round: &mut super::Round| {
                state.purge_step(&name, from, end, round)
            };
            let (count, next) = self.ask(step).await?;
            removed += count;
            match next {
                Some(next) => from = next,
                None => return Ok(removed),
            }
        }
    }

    /// A dead job becomes a new job. Answers what it was and the id of the new one.
    pub async fn retry(&self, id: String) -> Result<(DeadJob, JobId), JobsError> {
        let dead = self.look_for_dead(id.clone()).await?;
        let (mut revivals, _memory) = self.revivals(vec![dead]).await?;
        let Some(revival) = revivals.pop() else {
            // Somebody else may have brought it back meanwhile.
            self.look_for_dead(id.clone()).await?;
            return Err(JobsError::Failed(format!("dead job {id} cannot be read")));
        };
        let new = revival.new;
        let revived = self.ask(move |state, round| state.revive(revival, round)).await?;
        Ok((revived.ok_or(JobsError::DeadJobNotFound(id))?, new))
    }

    /// Dead jobs become new jobs. Answers how many did, and how many could not.
    pub async fn retry_all(&self, selection: Selection) -> Result<(usize, usize), JobsError> {
        let filter = match selection {
            Selection::Filter(filter) => filter,
            Selection::Ids(ids, whose) => {
                let (found, unknown) =
                    self.look(move |state, _| Ok(state.dead_named(&ids, whose))).await?;
                let (retried, failed) = self.revive(found).await?;
                return Ok((retried, failed + unknown));
            }
        };
        let end = self.dead_end();
        let (mut from, mut retried, mut failed) = (DeadId(0), 0, 0);
        loop {
            let filter = filter.clone();
            let look = move |state: &super::State, _| Ok(state.dead_step(&filter, from, end));
            let (found, next) = self.look(look).await?;
            let (more, not) = self.revive(found).await?;
            (retried, failed) = (retried + more, failed + not);
            match next {
                Some(next) => from = next,
                None => return Ok((retried, failed)),
            }
        }
    }

    /// Forgets a dead job.
    pub async fn forget(&self, id: String) -> Result<DeadId, JobsError> {
        self.ask(move |state, round| {
            let dead = state.dead_job(&id)?;
            state.forget(dead.id, round);
            Ok(dead.id)
        })
        .await
    }

    /// Forgets dead jobs. Answers how many.
    pub async fn forget_all(&self, selection: Selection) -> Result<usize, JobsError> {
        match selection {
            Selection::Filter(filter) => self.forget_fitting(filter).await,
            Selection::Ids(ids, whose) => {
                self.ask(move |state, round| {
                    let (found, _) = state.dead_named(&ids, whose);
                    Ok(found.iter().filter(|dead| state.forget(dead.id, round)).count())
                })
                .await
            }
        }
    }

    /// Forgets dead jobs that died too long ago. Answers how many.
    pub async fn trim_dead(&self) -> Result<usize, JobsError> {
        let now = self.engine.trusted_time().expiry;
        let oldest_ms = now.0.saturating_sub(self.settings.dead_keep_ms);
        let older_than = Some(telltale_engine::TimestampMs(oldest_ms));
        let whose = Whose::All;
        self.forget_fitting(DeadFilter { older_than, whose, ..DeadFilter::default() }).await
    }

    async fn forget_fitting(&self, filter: DeadFilter) -> Result<usize, JobsError> {
        let end = self.dead_end();
        let (mut from, mut forgotten) = (DeadId(0), 0);
        loop {
            let filter = filter.clone();
            let step = move |state: &mut super::State, round: &mut super::Round| {
                Ok(state.forget_step(&filter, from, end, round))
            };
            let (count, next) = self.ask(step).await?;
            forgotten += count;
            match next {
                Some(next) => from = next,
                None => return Ok(forgotten),
            }
        }
    }

    /// Brings back what can be read of these. Answers how many came back, and how many did not.
    async fn revive(&self, found: Vec<DeadJob>) -> Result<(usize, usize), JobsError> {
        let (wanted, mut revived) = (found.len(), 0);
        // So many bodies are in memory at once.
        for part in found.chunks(limits::DEAD_PAGE_MAX) {
            let (revivals, _memory) = self.revivals(part.to_vec()).await?;
            let bring_back = move |state: &mut super::State, round: &mut super::Round| {
                let back = revivals.into_iter().map(|one| state.revive(one, round));
                Ok(back.filter(|one| matches!(one, Ok(Some(_)))).count())
            };
            revived += self.ask(bring_back).await?;
        }
        Ok((revived, wanted - revived))
    }

    /// What it takes to bring these back, but for those that cannot be read, and the memory that this counts as.
    async fn revivals(
        &self,
        found: Vec<DeadJob>,
    ) -> Result<(Vec<Revival>, MemoryShare), JobsError> {
        let (bodies, memory) = self.bodies(found.iter().map(|dead| dead.job).collect()).await?;
        let revival = |(dead, body): (DeadJob, Option<super::reading::Body>)| {
            let (new, body) = (JobId(self.ids.next_number()), body?);
            Some(Revival { dead: dead.id, new, class: body.class, arguments: body.arguments })
        };
        Ok((found.into_iter().zip(bodies).filter_map(revival).collect(), memory))
    }

    /// Above every dead job that there is now.
    fn dead_end(&self) -> DeadId {
        DeadId(self.ids.next_number())
    }
}
