//! The in-memory part of a job.

use crate::jobs::model::{JobStatus, WorkerId};
use crate::jobs::names::ClassName;
use crate::jobs::stored::{StoredJob, StoredStatus};

/// A job that is not dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// Ready since, due at, running since, or completed at, depending on the status.
    pub(super) at_ms: i64,
    /// 0 if it never failed.
    pub(super) first_failed_ms: i64,
    /// The number of its queue.
    pub(super) queue: u32,
    /// 0 for the configured lease.
    pub(super) timeout_seconds: u32,
    /// Attempts that failed or were lost.
    pub(super) failures: u16,
    pub(super) max_attempts: u16,
    pub(super) status: JobStatus,
    /// Whether it has a unique key.
    pub(super) is_unique: bool,
}

// There may be millions of them.
const _: () = assert!(size_of::<Job>() <= 32);

/// The reservation of a held job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) worker: WorkerId,
    pub(super) token: u64,
    /// The end of the lease, on the monotonic clock.
    pub(super) ends_steady_ms: i64,
    /// The same in wall clock time, as of the grant or the last restart.
    pub(super) ends_wall_ms: i64,
    /// Known once the body was read.
    pub(super) class: Option<ClassName>,
}

impl Job {
    /// Decodes a job from its record.
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

    /// Returns the record of the job.
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
