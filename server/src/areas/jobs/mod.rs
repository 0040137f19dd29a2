//! Jobs over HTTP: enqueueing and the protocol of workers, queues, workers, and the dead jobs.
//!
//! What jobs are and what happens to them is `jobs`; here are only the forms in which they are asked about. Each
//! resource has a room of its own: what it reads and answers (`wire.rs`), and its routes. Programs that enqueue need a key with the
//! scope `ingest`, those that work one with `work`; whoever changes what others do needs `write`. Queues and workers of the server's own
//! work are shown to those who ask for them, and used by the server alone.

mod arguments;
mod dead_jobs;
mod fields;
mod period;
mod queues;
mod single;
mod upkeep;
mod workers;

pub use dead_jobs::ROUTES as DEAD_JOB_ROUTES;
pub use queues::ROUTES as QUEUE_ROUTES;
pub use single::ROUTES as JOB_ROUTES;
pub use upkeep::{TRIM_DEAD, TrimDead, trim_dead};
pub use workers::ROUTES as WORKER_ROUTES;

#[cfg(test)]
mod tests;
