//! The names of the metrics, all in one place.

use telltale_engine::MetricType::{self, Counter, Distribution, Gauge};

use crate::jobs::model::Whose;

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
/// Attempts ended, by `queue` and `class`.
pub(super) const PROCESSED: &str = "telltale.jobs.processed";
/// Attempts among them that failed or were lost, by `queue` and `class`.
pub(super) const FAILED: &str = "telltale.jobs.failed";
/// Jobs that died, by `queue`, `class` and `error_class`.
pub(super) const DIED: &str = "telltale.jobs.died";
/// Milliseconds that attempts took that succeeded, by `queue` and `class`.
pub(super) const DURATION: &str = "telltale.jobs.duration_ms";
/// Jobs that are ready, by `queue`.
pub(super) const SIZE: &str = "telltale.jobs.size";
/// Seconds that the oldest ready job has waited, by `queue`.
pub(super) const LATENCY: &str = "telltale.jobs.latency_seconds";
/// Gauges of the workers of some.
pub(super) struct WorkerGauges {
    /// Workers.
    pub(super) workers: &'static str,
    /// Jobs that all of them can do at once.
    pub(super) threads: &'static str,
    /// Threads of them that work.
    pub(super) busy: &'static str,
    /// Megabytes of one, on average.
    pub(super) memory: &'static str,
    /// Megabytes of the largest.
    pub(super) memory_max: &'static str,
}

/// Those of users.
const USERS: WorkerGauges = WorkerGauges {
    workers: "telltale.jobs.workers",
    threads: "telltale.jobs.threads",
    busy: "telltale.jobs.threads.busy",
    memory: "telltale.jobs.worker.memory_mb",
    memory_max: "telltale.jobs.worker.memory_max_mb",
};

/// Those of the server's own too.
const ALL: WorkerGauges = WorkerGauges {
    workers: "telltale.jobs.workers.all",
    threads: "telltale.jobs.threads.all",
    busy: "telltale.jobs.threads.busy.all",
    memory: "telltale.jobs.worker.memory_mb.all",
    memory_max: "telltale.jobs.worker.memory_max_mb.all",
};

impl WorkerGauges {
    pub(super) const fn of(whose: Whose) -> &'static Self {
        match whose {
            Whose::Users => &USERS,
            Whose::All => &ALL,
        }
    }
}

/// The tags.
pub(super) const QUEUE: &str = "queue";
pub(super) const CLASS: &str = "class";
pub(super) const ERROR_CLASS: &str = "error_class";

/// What stands for every class beyond those that are told apart.
pub(super) const OTHER: &str = "other";
