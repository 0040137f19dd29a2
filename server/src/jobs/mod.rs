//! Jobs: durable queues that any program may fill and work, and that the service's own background work runs through.
//!
//! What it keeps true:
//!
//! - A job that was acknowledged to whoever enqueued it is worked at least once, or dies in the open, or is deleted by
//!   somebody; a crash of a worker or of the server changes nothing about it.
//! - A job has at most one holder. Whoever holds it has a token that is larger than all tokens before it, and only the
//!   holder's token finishes the job: one that comes back late is refused.
//! - Queues are first in, first out. A job that comes back from a worker that was lost goes to the front, and the lost
//!   attempt counts, so that a job that kills its workers dies as others do. One that was handed back goes to the front
//!   and nothing counts.
//! - Queues whose names begin with `telltale` are of the server's own work: users neither fill nor work them, and lists and sums leave them
//!   out unless they are asked for.
//! - A status and its timer are one small record, so they change together; whatever is due fires after a restart, in the
//!   order of time.
//! - Memory never says what the disk does not: see `ledger.rs`.
//!
//! What it refuses to know: HTTP, and what the jobs are about.
//!
//! `state` is the machine, without threads and disk; `stored` are its bytes; `ledger` runs it, at the `pace` of its rounds; `desk` is the face to
//! everybody else; `history` makes telemetry of what happened and answers questions about the past.

mod bodies;
mod desk;
mod error;
mod figures;
mod history;
mod ledger;
mod listing;
mod model;
mod names;
mod pace;
mod settings;
mod state;
mod stored;
mod waiting;
mod waiting_fetches;

pub use desk::{Drafted, Granted, Jobs, UsersDesk};
pub use error::{InvalidJob, JobsError};
pub use figures::LedgerFigures;
pub use history::{
    DeathCounts, Deaths, HISTORY_METRICS, History, Period, QueueMoment, QueueThroughput,
    QueueToday, Resolution, WorkerMoment, WorkerTotals, WorkersPast,
};
pub use listing::{JobFilter, JobPage, JobStanding};
pub use model::{
    DeadDetail, DeadFilter, DeadId, DeadJob, DeadPage, Enqueued, Failed, FailureReport, Heard,
    Holding, JobDetail, JobId, JobStatus, NewJob, NewWorker, PastFailure, QueuePage, QueueView,
    Registered, Selection, Vitals, Whose, WorkerId, WorkerPage, WorkerStatus, WorkerView,
};
pub use names::{ClassName, QueueName, UniqueKey};
pub use settings::JobsSettings;
pub use waiting_fetches::WaitPermit;

#[cfg(test)]
mod internal_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod tests;
