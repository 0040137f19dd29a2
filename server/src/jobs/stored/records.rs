//! The values of the tables.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use telltale_engine::Error;

/// The version of every value, and the only one that is read.
const VERSION: u8 = 1;

/// A job that is not dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredJob {
    /// The number of its queue.
    pub(in crate::jobs) queue: u32,
    /// Attempts that failed or were lost.
    pub(in crate::jobs) failures: u16,
    pub(in crate::jobs) max_attempts: u16,
    /// 0 for the configured lease.
    pub(in crate::jobs) timeout_seconds: u32,
    /// 0 if it never failed.
    pub(in crate::jobs) first_failed_ms: i64,
    /// The hash of its unique key.
    pub(in crate::jobs) unique: Option<u128>,
    pub(in crate::jobs) status: StoredStatus,
}

/// The status of a job with its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) enum StoredStatus {
    /// Waiting in its queue, in ascending order of `order`.
    Ready {
        since_ms: i64,
        order: i64,
    },
    Scheduled {
        due_ms: i64,
    },
    Retrying {
        due_ms: i64,
    },
    Running {
        worker: u128,
        token: u64,
        started_ms: i64,
        /// In trusted time, not wall clock time.
        lease_ends_ms: i64,
    },
    Completed {
        at_ms: i64,
        token: u64,
    },
}

/// The body of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredBody<'a> {
    pub(in crate::jobs) class: &'a str,
    pub(in crate::jobs) arguments: &'a str,
    pub(in crate::jobs) enqueued_ms: i64,
}

/// A failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredFailure {
    pub(in crate::jobs) failed_ms: i64,
    pub(in crate::jobs) error_class: String,
    pub(in crate::jobs) message: String,
    pub(in crate::jobs) backtrace: Vec<String>,
}

/// Follows the record of a deleted queue whose number is still in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredQueueDeleted {
    pub(in crate::jobs) is_deleted: bool,
}

/// Follows the record of a dead job that had a unique key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredDeadUnique {
    /// The hash of the key.
    pub(in crate::jobs) key: u128,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredQueue {
    pub(in crate::jobs) name: String,
    pub(in crate::jobs) paused_ms: Option<i64>,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredWorker {
    pub(in crate::jobs) hostname: String,
    pub(in crate::jobs) pid: Option<u32>,
    /// The numbers of its queues, in order of priority.
    pub(in crate::jobs) queues: Vec<u32>,
    pub(in crate::jobs) concurrency: u32,
    /// 0 active, 1 quiet, 2 stopping.
    pub(in crate::jobs) status: u8,
    pub(in crate::jobs) started_ms: i64,
    pub(in crate::jobs) heard_ms: i64,
    pub(in crate::jobs) processed: u64,
    pub(in crate::jobs) failed: u64,
    pub(in crate::jobs) busy_threads: Option<u32>,
    pub(in crate::jobs) memory_mb: Option<f64>,
    pub(in crate::jobs) cpu_percent: Option<f64>,
}

/// A dead job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::jobs) struct StoredDead {
    pub(in crate::jobs) job: u128,
    pub(in crate::jobs) class: String,
    /// The number of its queue.
    pub(in crate::jobs) queue: u32,
    pub(in crate::jobs) error_class: String,
    pub(in crate::jobs) attempts: u16,
    pub(in crate::jobs) max_attempts: u16,
    pub(in crate::jobs) timeout_seconds: u32,
    pub(in crate::jobs) first_failed_ms: i64,
    pub(in crate::jobs) died_ms: i64,
}

/// Why stored bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::jobs) enum Damage {
    /// The version is not supported.
    #[error("version {0:?} is not supported")]
    Version(Option<u8>),
    /// The bytes are not a valid record.
    #[error("{0}")]
    Content(String),
}

/// Encodes a record.
pub(in crate::jobs) fn encode<T: Serialize>(record: &T) -> Vec<u8> {
    match postcard::to_extend(record, vec![VERSION]) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("plain data always encodes into a growing buffer: {error}"),
    }
}

/// Encodes a record followed by another one, which earlier versions ignore.
pub(in crate::jobs) fn encode_with<T: Serialize, U: Serialize>(
    record: &T,
    more: Option<&U>,
) -> Vec<u8> {
    let bytes = encode(record);
    let Some(more) = more else { return bytes };
    match postcard::to_extend(more, bytes) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("plain data always encodes into a growing buffer: {error}"),
    }
}

/// Decodes a record and the one that follows it, if any.
pub(in crate::jobs) fn decode_with<T: DeserializeOwned, U: DeserializeOwned>(
    stored: &[u8],
) -> Result<(T, Option<U>), Damage> {
    let content = |error: postcard::Error| Damage::Content(error.to_string());
    match stored.split_first() {
        Some((&VERSION, body)) => {
            let (record, rest) = postcard::take_from_bytes(body).map_err(content)?;
            let more = (!rest.is_empty()).then(|| postcard::from_bytes(rest)).transpose();
            Ok((record, more.map_err(content)?))
        }
        other => Err(Damage::Version(other.map(|(version, _)| *version))),
    }
}

/// Decodes the body of a job as it was read, or returns why it cannot be.
pub(in crate::jobs) fn decode_body(
    read: &Result<Option<Vec<u8>>, Error>,
) -> Result<StoredBody<'_>, String> {
    match read {
        Ok(Some(stored)) => decode(stored).map_err(|damage| damage.to_string()),
        Ok(None) => Err("its record is missing".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Decodes a record.
pub(in crate::jobs) fn decode<'a, T: Deserialize<'a>>(stored: &'a [u8]) -> Result<T, Damage> {
    match stored.split_first() {
        Some((&VERSION, body)) => {
            postcard::from_bytes(body).map_err(|error| Damage::Content(error.to_string()))
        }
        other => Err(Damage::Version(other.map(|(version, _)| *version))),
    }
}
