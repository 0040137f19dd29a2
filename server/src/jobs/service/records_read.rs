//! Reads the parts of jobs that are on disk.

use std::sync::Arc;

use telltale_engine::{Engine, Error, MemoryOwner, MemoryShare, TimestampMs};

use super::open::Jobs;
use crate::jobs::error::JobsError;
use crate::jobs::listing::JobFilter;
use crate::jobs::model::{
    DeadDetail, DeadFilter, DeadId, DeadJob, DeadJobId, DeadPage, FailureReport, JobDetail, JobId,
    PastFailure,
};
use crate::jobs::names::ClassName;
use crate::jobs::state::JobView;
use crate::jobs::stored::{self, StoredBody, StoredFailure};
use crate::limits;
use crate::platform::connection_thread;

/// The body of a job.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) class: ClassName,
    pub(super) arguments: Box<str>,
    pub(super) enqueued_at: TimestampMs,
}

/// The body of a job, its failures, and the memory charged for both.
type Detail = (Option<Body>, Result<Vec<PastFailure>, JobsError>, MemoryShare);
/// A dead job in a list, its body, and its last failure.
pub(super) type DeadRow = (DeadJob, Option<Body>, Option<PastFailure>);

impl Jobs {
    /// Returns the details of a job, and the memory charged for them.
    pub async fn job(&self, id: JobId) -> Result<(JobDetail, MemoryShare), JobsError> {
        let view = self.query(move |state, _| Ok(state.job(id))).await?;
        let not_found = || JobsError::JobNotFound(id.to_string());
        let view = view.ok_or_else(not_found)?;
        let counted = view.attempts;
        let memory = self.engine.memory().share(MemoryOwner::Answers);
        let read = self.blocking(move |engine| read_detail(engine, id, counted, memory));
        let (body, failures, memory) = read.await?;
        let Some(body) = body else {
            // Removed between the query and the read, so not found.
            self.query(move |state, _| Ok(state.job(id))).await?.ok_or_else(not_found)?;
            return Err(JobsError::Failed(format!("job {id} cannot be read")));
        };
        Ok((job_detail(id, view, body, failures?), memory))
    }

    /// Returns the details of a dead job, and the memory charged for them.
    pub async fn dead_job(&self, id: DeadJobId) -> Result<(DeadDetail, MemoryShare), JobsError> {
        let dead = self.find_dead(id).await?;
        let (job, attempts) = (dead.job, dead.attempts);
        let memory = self.engine.memory().share(MemoryOwner::Answers);
        let read = self.blocking(move |engine| read_detail(engine, job, attempts, memory));
        let (body, failures, memory) = read.await?;
        if body.is_none() {
            // If it was retried or deleted between the query and the read, it is not found.
            self.find_dead(id).await?;
        }
        Ok((detail(dead, body, failures?), memory))
    }

    /// Returns the in-memory part of a dead job.
    pub(super) async fn find_dead(&self, id: DeadJobId) -> Result<DeadJob, JobsError> {
        self.query(move |state, _| state.dead_job(id)).await
    }

    /// Returns a page of matching dead jobs, the latest death first, each with its last failure
    /// without the backtrace.
    pub async fn dead_jobs(
        &self,
        filter: DeadFilter,
        offset: usize,
        limit: usize,
    ) -> Result<DeadPage, JobsError> {
        let (page, total) = self.dead_page(filter, offset, limit).await?;
        let memory = self.engine.memory().share(MemoryOwner::Answers);
        let read = self.blocking(move |engine| read_dead_rows(engine, page, memory, |_| true));
        let (rows, memory) = read.await?;
        Ok(DeadPage { jobs: self.dead_details(rows).await?, total, memory })
    }

    /// Returns the details of dead jobs, without those that were retried or deleted since they were
    /// selected.
    pub(super) async fn dead_details(
        &self,
        rows: Vec<DeadRow>,
    ) -> Result<Vec<DeadDetail>, JobsError> {
        let unread = rows.iter().filter(|(_, body, _)| body.is_none());
        let gone = self.gone(unread.map(|(dead, ..)| dead.id).collect()).await?;
        let there = rows.into_iter().filter(|(dead, ..)| !gone.contains(&dead.id));
        let details =
            there.map(|(dead, body, failure)| detail(dead, body, failure.into_iter().collect()));
        Ok(details.collect())
    }

    /// Selects a page of matching dead jobs step by step. Also returns the number of all matching
    /// ones.
    async fn dead_page(
        &self,
        filter: DeadFilter,
        offset: usize,
        limit: usize,
    ) -> Result<(Vec<DeadJob>, usize), JobsError> {
        let (mut page, mut total) = (Vec::new(), 0_usize);
        let mut below = DeadId(u128::MAX);
        loop {
            let filter = filter.clone();
            let (skip, take) = (offset.saturating_sub(total), limit.saturating_sub(page.len()));
            let query =
                move |state: &super::State, _| Ok(state.dead_page_step(&filter, below, skip, take));
            let step = self.query(query).await?;
            total += step.fitting;
            page.extend(step.jobs);
            match step.next {
                Some(next) => below = next,
                None => return Ok((page, total)),
            }
        }
    }

    /// Returns which of these unreadable dead jobs were retried or deleted meanwhile.
    async fn gone(&self, unread: Vec<DeadId>) -> Result<Vec<DeadId>, JobsError> {
        if unread.is_empty() {
            return Ok(unread);
        }
        let gone = move |state: &super::State, _| {
            Ok(unread.into_iter().filter(|id| !state.is_dead(*id)).collect())
        };
        self.query(gone).await
    }

    /// Returns the bodies of jobs, `None` for those that cannot be read, and the memory charged for
    /// them.
    pub(super) async fn bodies(
        &self,
        ids: Vec<JobId>,
    ) -> Result<(Vec<Option<Body>>, MemoryShare), JobsError> {
        let memory = self.engine.memory().share(MemoryOwner::Jobs);
        self.blocking(move |engine| read_counted_bodies(engine, &ids, memory, |_| true)).await
    }

    /// Returns the bodies of the jobs that match, `None` for those that do not or cannot be read.
    /// Charges them to `memory`.
    pub(super) async fn fitting_bodies(
        &self,
        ids: Vec<JobId>,
        filter: Arc<JobFilter>,
        memory: MemoryShare,
    ) -> Result<(Vec<Option<Body>>, MemoryShare), JobsError> {
        self.blocking(move |engine| {
            let fits = filter.matcher();
            let is_wanted = |body: &Body| fits(&body.class, &body.arguments);
            read_counted_bodies(engine, &ids, memory, is_wanted)
        })
        .await
    }

    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Engine) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let engine = self.engine.clone();
        let read = connection_thread::spawn_blocking(move || read(&engine)).await;
        read.unwrap_or_else(|died| Err(JobsError::Failed(died.to_string())))
    }
}

impl Body {
    fn bytes(&self) -> usize {
        self.arguments.len()
    }
}

/// Combines a job with what was read of it.
pub(super) fn job_detail(
    id: JobId,
    view: JobView,
    body: Body,
    failures: Vec<PastFailure>,
) -> JobDetail {
    JobDetail {
        id,
        class: body.class,
        queue: view.queue,
        arguments: body.arguments,
        status: view.status,
        attempts: view.attempts,
        max_attempts: view.max_attempts,
        enqueued_at: body.enqueued_at,
        at: view.at,
        held: view.held,
        dead_id: view.dead_id,
        failures,
    }
}

/// Combines a dead job with what was read of it. One that cannot be read is still returned: that
/// may be what it died of.
fn detail(dead: DeadJob, body: Option<Body>, failures: Vec<PastFailure>) -> DeadDetail {
    let (arguments, enqueued_at) = match body {
        Some(body) => (body.arguments, body.enqueued_at),
        None => ("{}".into(), dead.job.made_at()),
    };
    DeadDetail { dead, arguments, enqueued_at, failures }
}

/// Returns how many jobs of at most `bytes_each` are read at once.
fn jobs_per_read(bytes_each: usize) -> usize {
    (limits::JOB_PAGE_READ_BYTES / bytes_each).max(1)
}

fn reserve_memory(memory: &mut MemoryShare, bytes: usize) -> Result<(), JobsError> {
    Ok(memory.grow(bytes as u64).map_err(Error::from)?)
}

/// Reads the list details of dead jobs that are wanted: bodies, and last failures without
/// backtraces. Charges them to `memory`.
pub(super) fn read_dead_rows(
    engine: &Engine,
    page: Vec<DeadJob>,
    mut memory: MemoryShare,
    is_wanted: impl Fn(&DeadRow) -> bool,
) -> Result<(Vec<DeadRow>, MemoryShare), JobsError> {
    const ROW_BYTES_MAX: usize = limits::JOB_ARGUMENTS_BYTES_MAX + limits::JOB_FAILURE_BYTES_MAX;
    let mut rows = Vec::with_capacity(page.len());
    for part in page.chunks(jobs_per_read(ROW_BYTES_MAX)) {
        let held = memory.bytes();
        reserve_memory(&mut memory, part.len() * ROW_BYTES_MAX)?;
        let ids: Vec<JobId> = part.iter().map(|dead| dead.job).collect();
        let last: Vec<_> = part.iter().map(|dead| (dead.job, dead.attempts)).collect();
        let (bodies, failures) = (read_bodies(engine, &ids), read_many_failures(engine, &last)?);
        let mut kept = 0;
        for ((dead, body), mut failure) in part.iter().cloned().zip(bodies).zip(failures) {
            if let Some(failure) = &mut failure {
                failure.report.backtrace = Vec::new();
            }
            let row = (dead, body, failure);
            if is_wanted(&row) {
                kept += row.1.as_ref().map_or(0, Body::bytes);
                kept += row.2.as_ref().map_or(0, |failure| failure.report.message.len());
                rows.push(row);
            }
        }
        memory.shrink_to(held + kept as u64);
    }
    Ok((rows, memory))
}

/// Reads the bodies of jobs, `None` for those that are not wanted or cannot be read. Charges them
/// to `memory`.
fn read_counted_bodies(
    engine: &Engine,
    ids: &[JobId],
    mut memory: MemoryShare,
    is_wanted: impl Fn(&Body) -> bool,
) -> Result<(Vec<Option<Body>>, MemoryShare), JobsError> {
    let mut bodies = Vec::with_capacity(ids.len());
    for part in ids.chunks(jobs_per_read(limits::JOB_ARGUMENTS_BYTES_MAX)) {
        let held = memory.bytes();
        reserve_memory(&mut memory, part.len() * limits::JOB_ARGUMENTS_BYTES_MAX)?;
        let mut kept = 0;
        for body in read_bodies(engine, part) {
            let body = body.filter(&is_wanted);
            kept += body.as_ref().map_or(0, Body::bytes);
            bodies.push(body);
        }
        memory.shrink_to(held + kept as u64);
    }
    Ok((bodies, memory))
}

fn read_bodies(engine: &Engine, ids: &[JobId]) -> Vec<Option<Body>> {
    let keys: Vec<[u8; 16]> = ids.iter().map(|id| id.key()).collect();
    let found = engine.records().get_many(stored::BODIES, &keys);
    ids.iter()
        .zip(found)
        .map(|(id, stored)| {
            let log_unreadable = |why: &dyn std::fmt::Display| {
                tracing::error!(job = %id, %why, "the body of a job cannot be read");
            };
            let stored = stored.inspect_err(|error| log_unreadable(error)).ok().flatten()?;
            let body = stored::decode::<StoredBody<'_>>(&stored);
            let body = body.inspect_err(|damage| log_unreadable(damage)).ok()?;
            Some(Body {
                class: ClassName::stored(body.class),
                arguments: body.arguments.into(),
                enqueued_at: TimestampMs(body.enqueued_ms),
            })
        })
        .collect()
}

/// Reads the body and the failures of a job. Charges them to `memory`.
fn read_detail(
    engine: &Engine,
    id: JobId,
    attempts: u16,
    memory: MemoryShare,
) -> Result<Detail, JobsError> {
    let (mut bodies, mut memory) = read_counted_bodies(engine, &[id], memory, |_| true)?;
    let failures = read_failures(engine, id, attempts, &mut memory);
    Ok((bodies.pop().flatten(), failures, memory))
}

/// Reads the failures of a job with this number of counted attempts, in chronological order.
/// Charges them to `memory`.
fn read_failures(
    engine: &Engine,
    id: JobId,
    attempts: u16,
    memory: &mut MemoryShare,
) -> Result<Vec<PastFailure>, JobsError> {
    let first = attempts.saturating_sub(limits::JOB_FAILURES_KEPT) + 1;
    let wanted: Vec<_> = (first..=attempts).map(|attempt| (id, attempt)).collect();
    let mut failures = Vec::new();
    for part in wanted.chunks(jobs_per_read(limits::JOB_FAILURE_BYTES_MAX)) {
        let held = memory.bytes();
        reserve_memory(memory, part.len() * limits::JOB_FAILURE_BYTES_MAX)?;
        let before = failures.len();
        failures.extend(read_many_failures(engine, part)?.into_iter().flatten());
        let kept: usize = failures.iter().skip(before).map(PastFailure::bytes).sum();
        memory.shrink_to(held + kept as u64);
    }
    Ok(failures)
}

/// Reads the failures of these attempts; `None` for one that did not fail or cannot be read.
fn read_many_failures(
    engine: &Engine,
    wanted: &[(JobId, u16)],
) -> Result<Vec<Option<PastFailure>>, JobsError> {
    let keys: Vec<[u8; 18]> =
        wanted.iter().map(|(id, attempt)| stored::failure_key(*id, *attempt)).collect();
    let mut failures = Vec::with_capacity(wanted.len());
    for ((id, attempt), stored) in
        wanted.iter().zip(engine.records().get_many(stored::FAILURES, &keys))
    {
        failures.push(match stored?.as_deref().map(stored::decode::<StoredFailure>) {
            None => None,
            Some(Ok(failure)) => Some(past(*attempt, failure)),
            Some(Err(damage)) => {
                tracing::error!(job = %id, attempt, %damage, "a failure cannot be read");
                None
            }
        });
    }
    Ok(failures)
}

fn past(attempt: u16, stored: StoredFailure) -> PastFailure {
    PastFailure {
        attempt,
        failed_at: TimestampMs(stored.failed_ms),
        report: FailureReport {
            error_class: ClassName::stored(&stored.error_class),
            message: stored.message,
            backtrace: stored.backtrace,
        },
    }
}
