//! The bytes of jobs on disk: one table each for what is small and read at the start, and for what is large and read when
//! it is asked for.
//!
//! ```text
//! table            key                          value: version (1 byte), then postcard
//! 1 jobs_meta      `tokens`                     u64: every token given so far is smaller
//! 2 jobs_state     job                          status, timer, counts, holder
//! 3 jobs_body      job                          class, arguments, when enqueued
//! 4 jobs_failure   job, attempt (2 bytes)       when, error, backtrace
//! 5 jobs_queue     number of the queue (4)      name, since when paused
//! 6 jobs_worker    worker                       what it said, status, counts
//! 7 jobs_dead      dead job                     which job, classes, counts, times
//! ```
//!
//! `docs/FORMAT.md` has the fields. A job is in `jobs_state` or in `jobs_dead`; its body and failures lie beside it under
//! the id of the job until it goes.

mod records;
mod tables;

#[cfg(test)]
mod tests;

pub(super) use records::{
    Damage, StoredBody, StoredDead, StoredDeadUnique, StoredFailure, StoredJob, StoredQueue,
    StoredQueueDeleted, StoredStatus, StoredWorker, decode, decode_with, encode, encode_with,
};
pub(super) use tables::{
    BODIES, DEAD, FAILURES, META, QUEUES, STATES, TOKENS_KEY, WORKERS, failure_key,
};
