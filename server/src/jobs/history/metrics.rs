//! The names of the history metrics.

use telltale_engine::MetricType::{self, Counter, Distribution, Gauge};

use crate::jobs::model::QueueOwner;

/// All of them, with their types.
pub const HISTORY_METRICS: &[(&str, MetricType)] = &[
    (ENQUEUED, Counter),
    (PROCESSED, Counter),
    (FAILED, Counter),
    (DIED, Counter),
    (DURATION, Distribution),
    (SIZE, Gauge),
    (LATENCY, Gauge),
    (USERS.workers, Gauge),
    (USERS.threads, Gauge),
    (USERS.busy, Gauge),
    (USERS.memory, Gauge),
    (USERS.memory_max, Gauge),
    (ALL.workers, Gauge),
    (ALL.threads, Gauge),
    (ALL.busy, Gauge),
    (ALL.memory, Gauge),
    (ALL.memory_max, Gauge),
];

/// Jobs enqueued, by `queue`.
pub(super) const ENQUEUED: &str = "telltale.jobs.enqueued";
/// Ended attempts, by `queue` and `class`.
pub(super) const PROCESSED: &str = "telltale.jobs.processed";
/// Attempts that failed or were lost, by `queue` and `class`.
pub(super) const FAILED: &str = "telltale.jobs.failed";
/// Jobs that died, by `queue`, `class` and `error_class`.
pub(super) const DIED: &str = "telltale.jobs.died";
/// Duration of successful attempts in milliseconds, by `queue` and `class`.
pub(super) const DURATION: &str = "telltale.jobs.duration_ms";
/// Ready jobs, by `queue`.
pub(super) const SIZE: &str = "telltale.jobs.size";
/// Waiting time of the oldest ready job in seconds, by `queue`.
pub(super) const LATENCY: &str = "telltale.jobs.latency_seconds";
/// Gauges of a set of workers.
pub(super) struct WorkerGauges {
    /// Workers.
    pub(super) workers: &'static str,
    /// Number of jobs they can execute concurrently.
    pub(super) threads: &'static str,
    /// Busy threads.
    pub(super) busy: &'static str,
    /// Mean memory of a worker, in megabytes.
    pub(super) memory: &'static str,
    /// Memory of the largest worker, in megabytes.
    pub(super) memory_max: &'static str,
}

/// Gauges of the workers of clients.
const USERS: WorkerGauges = WorkerGauges {
    workers: "telltale.jobs.workers",
    threads: "telltale.jobs.threads",
    busy: "telltale.jobs.threads.busy",
    memory: "telltale.jobs.worker.memory_mb",
    memory_max: "telltale.jobs.worker.memory_max_mb",
};

/// Gauges of all workers.
const ALL: WorkerGauges = WorkerGauges {
    workers: "telltale.jobs.workers.all",
    threads: "telltale.jobs.threads.all",
    busy: "telltale.jobs.threads.busy.all",
    memory: "telltale.jobs.worker.memory_mb.all",
    memory_max: "telltale.jobs.worker.memory_max_mb.all",
};

impl WorkerGauges {
    pub(super) const fn of(whose: QueueOwner) -> &'static Self {
        match whose {
            QueueOwner::Users => &USERS,
            QueueOwner::All => &ALL,
        }
    }
}

/// The tag keys.
pub(super) const QUEUE: &str = "queue";
pub(super) const CLASS: &str = "class";
pub(super) const ERROR_CLASS: &str = "error_class";

/// The tag value of classes beyond the limit of distinct ones.
pub(super) const OTHER: &str = "other";
