//! The history of jobs as telemetry: what happened is counted and written to the engine as metrics;
//! queries of the history are queries of these metrics.
//!
//! Histories are not the ledger: counts of the last second before a crash may be missing.

mod counts;
mod metrics;
mod query;
mod write;

pub(super) use counts::HistoryCounts;
pub use metrics::HISTORY_METRICS;
pub use query::{
    DeathCounts, Deaths, History, Period, QueueBucket, QueueThroughput, QueueToday, Resolution,
    WorkerBucket, WorkerTotals, WorkersPast,
};
pub(super) use write::{HistoryRecorder, sample};
