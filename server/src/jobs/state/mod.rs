//! The machine of jobs: everything that can happen to them, in memory, without threads and without a disk.
//!
//! Every change is a method that is given the time, changes the machine, and adds what the disk must know to the batch of
//! its round. The ledger writes that batch before anybody hears of the change, and reads the machine anew from disk should
//! that fail.
//!
//! A million waiting jobs are what its shapes are for: a job is forty bytes in a tree ordered by id, and sixteen more in
//! the order of its queue. Names, arguments and stories stay on disk. Jobs that leave the middle of a queue leave their id in
//! its order, where it is passed over until there are too many of them: no id comes to wait there twice.
//!
//! Leases, the silence of workers, the delays of retries and the time that finished jobs are kept are measured on a clock that is
//! never set, so that a jump of the wall clock takes no job away from anybody, forgets none and holds none up. Only schedules are times
//! of day.

mod dead;
mod enqueue;
mod holding;
mod job;
mod list;
mod load;
mod machine;
mod purge;
mod queues;
mod round;
mod show;
mod sweep;
mod timers;
mod vacancies;
mod workers;

#[cfg(test)]
pub(super) mod tests;

pub(super) use dead::Revival;
pub(super) use enqueue::Draft;
pub(super) use holding::Grant;
pub(super) use list::JobStep;
pub(super) use load::Loaded;
pub(super) use machine::State;
pub(super) use purge::PurgePlace;
pub(super) use round::{Now, Round};
pub(super) use show::JobView;
