//! The names of the metrics, all in one place.

use telltale_engine::MetricType::{self, Counter, Distribution, Gauge};

/// All of them, with their types.
pub const HISTORY_METRICS: &[(&str, MetricType)] = &[
    (ENQUEUED, Counter),
    (PROCESSED, Counter),
    (FAILED, Counter),
    (DIED, Counter),
    (DURATION, Distribution),
    (SIZE, Gauge),
    (LATENCY, Gauge),
    (WORKERS, Gauge),
    (THREADS, Gauge),
    (BUSY, Gauge),
    (MEMORY, Gauge),
    (MEMORY_MAX, Gauge),
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
/// Workers.
pub(super) const WORKERS: &str = "telltale.jobs.workers";
/// Jobs that all workers can do at once.
pub(super) const THREADS: &str = "telltale.jobs.threads";
/// Threads of workers that work.
pub(super) const BUSY: &str = "telltale.jobs.threads.busy";
/// Megabytes of a worker, on average.
pub(super) const MEMORY: &str = "telltale.jobs.worker.memory_mb";
/// Megabytes of the largest worker.
pub(super) const MEMORY_MAX: &str = "telltale.jobs.worker.memory_max_mb";

/// The tags.
pub(super) const QUEUE: &str = "queue";
pub(super) const CLASS: &str = "class";
pub(super) const ERROR_CLASS: &str = "error_class";

/// What stands for every class beyond those that are told apart.
pub(super) const OTHER: &str = "other";
