//! The tables and their keys.

use telltale_engine::Table;

use crate::jobs::model::JobId;

/// Values that concern all jobs.
pub(in crate::jobs) const META: Table = Table::new(1, "jobs_meta");
/// Status and timer of jobs that are not dead.
pub(in crate::jobs) const STATES: Table = Table::new(2, "jobs_state");
/// Bodies of jobs.
pub(in crate::jobs) const BODIES: Table = Table::new(3, "jobs_body");
/// Failures of attempts.
pub(in crate::jobs) const FAILURES: Table = Table::new(4, "jobs_failure");
/// Queues by number.
pub(in crate::jobs) const QUEUES: Table = Table::new(5, "jobs_queue");
/// Workers.
pub(in crate::jobs) const WORKERS: Table = Table::new(6, "jobs_worker");
/// Dead jobs.
pub(in crate::jobs) const DEAD: Table = Table::new(7, "jobs_dead");

/// The key in [`META`] of the end of the reserved tokens.
pub(in crate::jobs) const TOKENS_KEY: &[u8] = b"tokens";

/// Returns the key of the failure of an attempt.
pub(in crate::jobs) fn failure_key(job: JobId, attempt: u16) -> [u8; 18] {
    let mut key = [0; 18];
    let (id, number) = key.split_at_mut(16);
    id.copy_from_slice(&job.key());
    number.copy_from_slice(&attempt.to_be_bytes());
    key
}
