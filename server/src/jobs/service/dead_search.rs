//! Searches dead jobs: the ledger selects candidates step by step, and this module reads what they
//! were about and what they died of.

use telltale_engine::MemoryOwner;

use super::open::Jobs;
use super::records_read::{DeadRow, read_dead_rows};
use crate::jobs::error::JobsError;
use crate::jobs::model::{DeadFilter, DeadFound, DeadId, DeadJob};
use crate::jobs::search::JobSearch;
use crate::limits;

impl Jobs {
    /// Returns a page of matching dead jobs with ids less than `below`, the latest death first. A
    /// request that reaches its limits returns what it has found so far.
    pub async fn find_dead_jobs(
        &self,
        filter: DeadFilter,
        below: Option<DeadId>,
        limit: usize,
    ) -> Result<DeadFound, JobsError> {
        let mut page = DeadFound {
            jobs: Vec::new(),
            memory: self.engine.memory().share(MemoryOwner::Answers),
            next: Some(below.unwrap_or(DeadId(u128::MAX))),
        };
        let (mut reads, mut bytes) =
            (limits::JOB_LIST_READS_MAX.max(limit), limits::JOB_LIST_BYTES_MAX);
        while let Some(from) = page.next
            && page.jobs.len() < limit
            && reads > 0
            && bytes > 0
        {
            let (standing, max) = (filter.clone(), reads.min(limits::JOB_LIST_STEP_JOBS));
            let step =
                move |state: &super::State, _| Ok(state.dead_step_back(&standing, from, max));
            let (candidates, next) = self.query(step).await?;
            // A step that only skips jobs of other queues or classes costs as much as one read.
            reads = reads.saturating_sub(candidates.len().max(1));
            let (memory, matches) = (page.memory.take_all(), matcher(&filter));
            let read = move |engine: &_| read_dead_rows(engine, candidates, memory, matches);
            let (mut rows, memory) = self.blocking(read).await?;
            page.memory = memory;
            page.next = next;
            if rows.len() > limit - page.jobs.len() {
                rows.truncate(limit - page.jobs.len());
                page.next = rows.last().map(|(dead, ..)| dead.id);
            }
            let found = self.dead_details(rows).await?;
            let size = |job: &crate::jobs::model::DeadDetail| job.arguments.len();
            bytes = bytes.saturating_sub(found.iter().map(size).sum());
            page.jobs.extend(found);
        }
        Ok(page)
    }

    /// Returns those of the jobs that have the search string of the filter, if it has one.
    pub(super) async fn search_dead(
        &self,
        filter: &DeadFilter,
        found: Vec<DeadJob>,
    ) -> Result<Vec<DeadJob>, JobsError> {
        if filter.search.is_none() {
            return Ok(found);
        }
        let mut matching = Vec::new();
        // Limits what is read before a client that left is noticed.
        for part in found.chunks(limits::JOB_LIST_STEP_JOBS) {
            let memory = self.engine.memory().share(MemoryOwner::Jobs);
            let (part, matches) = (part.to_vec(), matcher(filter));
            let read = move |engine: &_| read_dead_rows(engine, part, memory, matches);
            let (rows, _memory) = self.blocking(read).await?;
            matching.extend(rows.into_iter().map(|(dead, ..)| dead));
        }
        Ok(matching)
    }
}

/// Returns a predicate on a dead job and what was read of it.
fn matcher(filter: &DeadFilter) -> impl Fn(&DeadRow) -> bool + Send + 'static {
    let wanted = JobSearch::new(filter.search.as_deref().unwrap_or_default());
    move |(dead, body, failure)| {
        wanted.is_in(&dead.class)
            || wanted.is_in(&dead.error_class)
            || body.as_ref().is_some_and(|body| wanted.is_in_arguments(&body.arguments))
            || failure.as_ref().is_some_and(|failure| wanted.is_in(&failure.report.message))
    }
}
