//! The format of jobs on disk. Small records that are loaded at the start and large ones that are
//! read on demand have separate tables.
//!
//! ```text
//! table            key                          value: version (1 byte), then postcard
//! 1 jobs_meta      `tokens`                     u64: every token given so far is smaller
//! 2 jobs_state     job                          status, timer, counts, holder
//! 3 jobs_body      job                          class, arguments, enqueue time
//! 4 jobs_failure   job, attempt (2 bytes)       time, error, backtrace
//! 5 jobs_queue     number of the queue (4)      name, time of the pause
//! 6 jobs_worker    worker                       registration, status, counts
//! 7 jobs_dead      dead job                     job, classes, counts, times
//! ```
//!
//! `docs/FORMAT.md` describes the fields. A job is either in `jobs_state` or in `jobs_dead`; its
//! body and failures have the id of the job as key in both cases.

mod records;
mod tables;

#[cfg(test)]
mod tests;

pub(super) use records::{
    Damage, StoredBody, StoredDead, StoredDeadUnique, StoredFailure, StoredJob, StoredQueue,
    StoredQueueDeleted, StoredStatus, StoredWorker, decode, decode_body, decode_with, encode,
    encode_with,
};
pub(super) use tables::{
    BODIES, DEAD, FAILURES, META, QUEUES, STATES, TOKENS_KEY, WORKERS, failure_key,
};
