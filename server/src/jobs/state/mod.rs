//! The state machine of jobs, in memory, without threads and disk.
//!
//! Every change is a method that takes the time from its cycle, changes the state, and adds the
//! records to the batch of the cycle. The ledger writes that batch before anyone learns of the
//! change, and reloads the state from disk if the write fails.
//!
//! The data structures are designed for a million waiting jobs: a job takes forty bytes in a tree
//! ordered by id, and sixteen more in the order of its queue. Names, arguments and failures stay on
//! disk. A job that leaves the middle of a queue leaves its id in the order, where it is skipped
//! until there are too many of them; no id waits in the same order twice.
//!
//! Leases, the timeouts of workers, retry delays and the retention of finished jobs are measured on
//! the monotonic clock, so that a jump of the wall clock neither expires nor delays anything. Only
//! scheduled starts are wall clock times.

mod cycle;
mod dead;
mod enqueue;
mod job;
mod leases;
mod list;
mod load;
mod machine;
mod purge;
mod queues;
mod show;
mod sweep;
mod timers;
mod unused_queues;
mod workers;

#[cfg(test)]
pub(super) mod tests;

pub(super) use cycle::{Cycle, Now};
pub(super) use dead::DeadRetry;
pub(super) use enqueue::Draft;
pub(super) use leases::Grant;
pub(super) use list::JobStep;
pub(super) use machine::State;
pub(super) use purge::PurgeCursor;
pub(super) use show::JobView;
