//! Jobs over HTTP: enqueueing, the worker protocol, queues, workers and dead jobs.
//!
//! The state and rules of jobs are in `jobs`; this area only defines their HTTP
//! interface. Each resource has a folder with its request and response bodies (`wire.rs`) and its
//! routes. Enqueueing requires an API key with the scope `ingest`, the worker protocol `work`,
//! administration `write`. The server's own queues and workers are listed only on request and
//! cannot be used by clients.

mod arguments;
mod background;
mod by_name;
mod dead_jobs;
mod error;
mod fields;
mod period;
mod queues;
mod single;
mod workers;

pub use background::{TRIM_DEAD, TrimDead, add_work, sweeps, trim_dead};
pub(super) use by_name::{offer_job_classes, offer_queues};
pub use dead_jobs::ROUTES as DEAD_JOB_ROUTES;
pub use queues::ROUTES as QUEUE_ROUTES;
pub use single::ROUTES as JOB_ROUTES;
pub use workers::ROUTES as WORKER_ROUTES;

#[cfg(test)]
mod tests;
