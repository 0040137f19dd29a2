//! A job in memory: what must be at hand of every one of them.

use crate::jobs::model::{JobStatus, WorkerId};
use crate::jobs::names::ClassName;
use crate::jobs::stored::{StoredJob, StoredStatus};

/// A job that is not dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// Ready since, due at, running since, completed at: whichever the status is.
    pub(super) at_ms: i64,
    /// 0: it never failed.
    pub(super) first_failed_ms: i64,
    /// The number of its queue.
    pub(super) queue: u32,
    /// 0: as the settings say.
    pub(super) timeout_seconds: u32,
    /// Attempts that failed or were lost.
    pub(super) failures: u16,
    pub(super) max_attempts: u16,
    pub(super) status: JobStatus,
    /// Whether a unique key is held for it.
    pub(super) is_unique: bool,
}

// A million of them are in memory.
const _: () = assert!(size_of::<Job>() <= 32);

/// Who holds a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) worker: WorkerId,
    pub(super) token: u64,
    /// When it is taken away, on the steady clock.
    pub(super) ends_steady_ms: i64,
    /// The same by the time of day, as it was told; after a start, as it was then.
    pub(super) ends_wall_ms: i64,
    /// Known once its body was read.
    pub(super) class: Option<ClassName>,
}

impl Job {
    /// The job as it was stored.
    pub(super) fn from_stored(stored: &StoredJob) -> Self {
        let (status, at_ms) = match stored.status {
            StoredStatus::Ready { since_ms, .. } => (JobStatus::Ready, since_ms),
            StoredStatus::Scheduled { due_ms } => (JobStatus::Scheduled, due_ms),
            StoredStatus::Retrying { due_ms } => (JobStatus::Retrying, due_ms),
            StoredStatus::Running { started_ms, .. } => (JobStatus::Running, started_ms),
            StoredStatus::Completed { at_ms, .. } => (JobStatus::Completed, at_ms),
        };
        Self {
            at_ms,
            first_failed_ms: stored.first_failed_ms,
            queue: stored.queue,
            timeout_seconds: stored.timeout_seconds,
            failures: stored.failures,
            max_attempts: stored.max_attempts,
            status,
            is_unique: stored.unique.is_some(),
        }
    }

    /// What is stored of it.
    pub(super) fn to_stored(self, status: StoredStatus, unique: Option<u128>) -> StoredJob {
        StoredJob {
            queue: self.queue,
            failures: self.failures,
            max_attempts: self.max_attempts,
            timeout_seconds: self.timeout_seconds,
            first_failed_ms: self.first_failed_ms,
            unique,
            status,
        }
    }
}
