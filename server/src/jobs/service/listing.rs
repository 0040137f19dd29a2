//! Pages of unfinished jobs: the ledger selects them step by step, and this module reads their
//! bodies.

use std::sync::Arc;

use telltale_engine::MemoryOwner;

use super::open::Jobs;
use super::records_read::{Body, job_detail};
use crate::jobs::error::JobsError;
use crate::jobs::listing::{JobFilter, JobPage};
use crate::jobs::model::JobId;
use crate::jobs::state::JobStep;
use crate::limits;

/// What a request may still do.
struct Budget {
    inspected: usize,
    reads: usize,
    bytes: usize,
}

impl Jobs {
    /// Returns a page of matching jobs with ids less than `below`, the newest first. A request that
    /// reaches its limits returns what it has found so far.
    pub async fn list(
        &self,
        filter: JobFilter,
        below: Option<JobId>,
        limit: usize,
    ) -> Result<JobPage, JobsError> {
        let filter = Arc::new(filter);
        let mut page = JobPage {
            jobs: Vec::new(),
            memory: self.engine.memory().share(MemoryOwner::Answers),
            next: Some(below.unwrap_or(JobId(u128::MAX))),
        };
        let mut budget = Budget {
            inspected: limits::JOB_LIST_INSPECTED_MAX,
            reads: limits::JOB_LIST_READS_MAX.max(limit),
            bytes: limits::JOB_LIST_BYTES_MAX,
        };
        while let Some(from) = page.next
            && page.jobs.len() < limit
            && !budget.is_spent()
        {
            let free = limit - page.jobs.len();
            let wanted = if filter.reads_nothing() { free } else { budget.reads };
            let max = wanted.min(limits::JOB_LIST_STEP_JOBS);
            let standing = filter.standing.clone();
            let step =
                self.query(move |state, _| Ok(state.jobs_step(&standing, from, max))).await?;
            let ids = step.jobs.iter().map(|(id, _)| *id).collect();
            let memory = page.memory.take_all();
            let (bodies, memory) = self.fitting_bodies(ids, Arc::clone(&filter), memory).await?;
            page.memory = memory;
            budget.inspected = budget.inspected.saturating_sub(step.inspected);
            budget.reads = budget.reads.saturating_sub(bodies.len());
            page.take(step, bodies, limit, &mut budget);
        }
        let kept: usize = page.jobs.iter().map(|job| job.arguments.len()).sum();
        page.memory.shrink_to(kept as u64);
        Ok(page)
    }
}

impl Budget {
    fn is_spent(&self) -> bool {
        self.inspected == 0 || self.reads == 0 || self.bytes == 0
    }
}

impl JobPage {
    /// Adds the jobs of a step until the page is full. A job without a body does not match, no
    /// longer exists, or cannot be read.
    fn take(
        &mut self,
        step: JobStep,
        bodies: Vec<Option<Body>>,
        limit: usize,
        budget: &mut Budget,
    ) {
        let last = step.jobs.last().map(|(id, _)| *id);
        for ((id, view), body) in step.jobs.into_iter().zip(bodies) {
            if self.jobs.len() == limit || budget.bytes == 0 {
                return;
            }
            // If the page ends here, the next one begins after this job.
            self.next = if Some(id) == last { step.next } else { Some(id) };
            let Some(body) = body else { continue };
            budget.bytes = budget.bytes.saturating_sub(body.arguments.len());
            self.jobs.push(job_detail(id, view, body, Vec::new()));
        }
        self.next = step.next;
    }
}
