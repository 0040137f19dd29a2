//! Internal work of the server, executed through the same job queues that clients use.
//!
//! An area declares the name and item type of a kind of work ([`WorkKind`]) and enqueues items. A
//! [`WorkerPool`] maps kinds to handlers and executes them in this process as a worker, which is
//! listed under `/workers?internal=true` with its host, process, memory and CPU use, and which only
//! the server can use or stop. When the server stops, it finishes running items and returns the
//! others. So an item survives a crash, is retried when it fails, and becomes a dead job when it
//! fails for good; every kind must be safe to execute twice.

mod kind;
mod worker;
mod worker_pool;

pub use kind::{WorkError, WorkKind};
pub use worker_pool::WorkerPool;

#[cfg(test)]
mod tests;
