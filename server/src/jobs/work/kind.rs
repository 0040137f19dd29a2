//! Kinds of internal work, and their items.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use telltale_engine::TimestampMs;

use crate::jobs::{
    ClassName, Enqueued, EnqueuedPrefix, FailureReport, Jobs, JobsError, NewJob, QueueName,
    UniqueKey,
};
use crate::limits;

/// Seconds that the lease of an item exceeds its timeout, so that a timeout is reported before the
/// lease ends.
pub(super) const SPARE_SECONDS: u32 = 10;

/// A kind of work with items of type `T`.
#[derive(Debug)]
pub struct WorkKind<T> {
    /// The class of its jobs.
    pub class: &'static str,
    /// The queue of its jobs.
    pub queue: &'static str,
    /// The maximum number of attempts of an item.
    pub max_attempts: u16,
    /// The timeout of an attempt in seconds.
    pub timeout_seconds: u32,
    item: PhantomData<fn(T)>,
}

/// Why an item failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct WorkError {
    class: String,
    message: String,
}

impl<T: Serialize + DeserializeOwned> WorkKind<T> {
    /// Returns a kind with five attempts of five minutes each.
    pub const fn new(class: &'static str, queue: &'static str) -> Self {
        Self { class, queue, max_attempts: 5, timeout_seconds: 300, item: PhantomData }
    }

    /// Sets the maximum number of attempts.
    #[must_use]
    pub const fn attempts(mut self, max_attempts: u16) -> Self {
        self.max_attempts = max_attempts;
        self
    }

    /// Sets the timeout of an attempt.
    #[must_use]
    pub const fn timeout_seconds(mut self, seconds: u32) -> Self {
        self.timeout_seconds = seconds;
        self
    }

    /// Enqueues an item. Durable when this returns.
    pub async fn enqueue_work(&self, jobs: &Jobs, item: &T) -> Result<Enqueued, JobsError> {
        let job = self.job(item, None, None)?;
        jobs.enqueue(jobs.draft(job), None).await
    }

    /// Enqueues an item to be executed at a time.
    pub async fn enqueue_at(
        &self,
        jobs: &Jobs,
        item: &T,
        run_at: TimestampMs,
    ) -> Result<Enqueued, JobsError> {
        let job = self.job(item, Some(run_at), None)?;
        jobs.enqueue(jobs.draft(job), None).await
    }

    /// Enqueues an item unless an unfinished one has the same key. Returns whether it did. Blocks.
    pub fn enqueue_once(&self, jobs: &Jobs, item: &T, key: &str) -> Result<bool, JobsError> {
        Ok(self.enqueue_all_once(jobs, [(item, key)])? == 1)
    }

    /// The same for many items, in one write. Returns how many were enqueued, or why one was
    /// refused, with all after it. Also while the disk is nearly full: internal work is little, and
    /// may be to say just that.
    pub fn enqueue_all_once<'a>(
        &self,
        jobs: &Jobs,
        items: impl IntoIterator<Item = (&'a T, &'a str)>,
    ) -> Result<usize, JobsError>
    where
        T: 'a,
    {
        let EnqueuedPrefix { new, refused, .. } = self.enqueue_prefix_once(jobs, items)?;
        refused.map_or(Ok(new), Err)
    }

    /// The same, for callers that continue after the items that were accepted.
    pub fn enqueue_prefix_once<'a>(
        &self,
        jobs: &Jobs,
        items: impl IntoIterator<Item = (&'a T, &'a str)>,
    ) -> Result<EnqueuedPrefix, JobsError>
    where
        T: 'a,
    {
        let mut drafted = Vec::new();
        for (item, key) in items {
            drafted.push(jobs.draft(self.job(item, None, Some(UniqueKey::new(key)?))?));
        }
        match drafted.is_empty() {
            true => Ok(EnqueuedPrefix::default()),
            false => jobs.enqueue_own_blocking(drafted),
        }
    }

    fn job(
        &self,
        item: &T,
        run_at: Option<TimestampMs>,
        unique: Option<UniqueKey>,
    ) -> Result<NewJob, JobsError> {
        let arguments = serde_json::to_string(item)
            .map_err(|error| JobsError::Failed(format!("{}: {error}", self.class)))?;
        if arguments.len() > limits::JOB_ARGUMENTS_BYTES_MAX || !arguments.starts_with('{') {
            let message = format!("an item of {} is not an object of at most 64 KiB", self.class);
            return Err(JobsError::Failed(message));
        }
        Ok(NewJob {
            class: ClassName::new(self.class)?,
            queue: QueueName::own(self.queue)?,
            arguments: arguments.into(),
            run_at,
            max_attempts: self.max_attempts,
            unique,
            timeout_seconds: Some(self.timeout_seconds.saturating_add(SPARE_SECONDS)),
        })
    }
}

impl WorkError {
    /// Returns an error of this class.
    pub fn new(class: &str, message: impl std::fmt::Display) -> Self {
        Self { class: class.to_owned(), message: message.to_string() }
    }

    pub(super) fn report(&self) -> FailureReport {
        FailureReport::new(&self.class, &self.message, Vec::new())
    }
}

impl From<JobsError> for WorkError {
    fn from(error: JobsError) -> Self {
        Self::new("Jobs", error)
    }
}
