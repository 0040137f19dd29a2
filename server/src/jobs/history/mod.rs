//! The past of jobs, as telemetry: what happened is counted and written into the engine as metrics, and questions about the
//! past are queries of them.
//!
//! Histories are not the ledger: what was counted in the second before a crash may be missing from them.

mod ask;
mod metrics;
mod seen;
mod write;

pub use ask::{
    DeathCounts, Deaths, History, Period, QueueMoment, QueueThroughput, QueueToday, Resolution,
    WorkerMoment, WorkerTotals, WorkersPast,
};
pub use metrics::HISTORY_METRICS;
pub(super) use seen::Seen;
pub(super) use write::{HistoryRecorder, sample};
