//! The tables and their keys.

use telltale_engine::Table;

use crate::jobs::model::JobId;
use crate::platform::tables::RecordTable;

/// Values that concern all jobs.
pub(in crate::jobs) const META: Table = RecordTable::JobsMeta.table();
/// Status and timer of jobs that are not dead.
pub(in crate::jobs) const STATES: Table = RecordTable::JobStates.table();
/// Bodies of jobs.
pub(in crate::jobs) const BODIES: Table = RecordTable::JobBodies.table();
/// Failures of attempts.
pub(in crate::jobs) const FAILURES: Table = RecordTable::JobFailures.table();
/// Queues by number.
pub(in crate::jobs) const QUEUES: Table = RecordTable::JobQueues.table();
/// Workers.
pub(in crate::jobs) const WORKERS: Table = RecordTable::JobWorkers.table();
/// Dead jobs.
pub(in crate::jobs) const DEAD: Table = RecordTable::DeadJobs.table();

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
