//! Jobs: durable queues for any client, which also run the server's own background work.
//!
//! Invariants:
//!
//! - An acknowledged job is executed at least once, becomes dead, or is deleted by a user; a crash
//!   of a worker or of the server does not change that.
//! - A job has at most one holder. Each grant has a larger token than all before it, and only the
//!   current holder's token finishes the job, so a late worker is refused.
//! - Queues are first in, first out. A job of a lost worker returns to the front, and the lost
//!   attempt counts, so that a job that crashes its workers eventually dies. A job that was handed
//!   back returns to the front without counting.
//! - Queues whose names begin with `telltale` belong to the server: clients can neither fill nor
//!   work them, and lists and sums exclude them by default.
//! - The status of a job and its timer are one small record, so they change together; due timers
//!   fire after a restart, in order of time.
//! - The in-memory state never contains anything that is not durable: see `ledger.rs`.
//!
//! This module knows nothing of HTTP, nor of what the jobs do.
//!
//! `state` is the in-memory state machine, without threads and disk; `stored` is its format on
//! disk; `ledger` runs it in cycles, timed by `pace`; `service` is the interface for callers;
//! `history` writes metrics of what happened and queries them.

mod bodies;
mod error;
mod figures;
mod history;
mod ids;
mod ledger;
mod listing;
mod model;
mod names;
mod pace;
mod search;
mod service;
mod settings;
mod state;
mod stored;
mod waiting;
pub mod work;

pub use error::{InvalidJob, JobsError};
pub use figures::LedgerFigures;
pub use history::{
    DeathCounts, Deaths, HISTORY_METRICS, History, Period, QueueBucket, QueueThroughput,
    QueueToday, Resolution, WorkerBucket, WorkerTotals, WorkersPast,
};
pub use listing::{JobFilter, JobPage, JobStateFilter};
pub use model::{
    DeadDetail, DeadFilter, DeadFound, DeadId, DeadJob, DeadJobId, DeadPage, Enqueued, Failed,
    FailureReport, HeartbeatReply, HeldJob, JobDetail, JobId, JobStatus, NewJob, NewWorker,
    PastFailure, QueueOwner, QueuePage, QueueView, Registered, Selection, WorkerId, WorkerPage,
    WorkerStatus, WorkerUsage, WorkerView,
};
pub use names::{ClassName, QueueName, UniqueKey};
pub use service::{BulkCount, ClientJobs, Drafted, EnqueuedPrefix, GrantedJobs, Jobs};
pub use settings::JobsSettings;

#[cfg(test)]
mod internal_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod tests;
