//! Queues as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use crate::http::{ApiError, ApiResult, ErrorCode, Query};
use crate::jobs::{Period, QueueMoment, QueueThroughput, QueueToday, QueueView, Resolution};
use crate::platform::json::Plain;
use crate::platform::plural::count;
use crate::platform::time::IsoTime;

/// A page of queues.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueList {
    pub(super) queues: Vec<QueueSummary>,
    /// How many there are in all.
    pub(super) total: usize,
}

/// A queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueSummary {
    name: String,
    /// Jobs that could run now.
    size: usize,
    /// How long the oldest of them has waited.
    latency_seconds: Plain,
    /// `paused`, `degraded` when the oldest job has waited too long, else `healthy`.
    status: &'static str,
    throughput: Throughput,
    /// Active workers that work it.
    workers: usize,
    /// Jobs whose time has not come.
    scheduled: usize,
    /// Jobs that wait for their next attempt.
    retrying: usize,
    /// Jobs that workers hold.
    running: usize,
    paused_at: Option<IsoTime>,
}

/// Attempts that ended lately.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QueueThroughput")]
struct Throughput {
    per_minute: u64,
    per_hour: u64,
}

/// A queue with what happened in it today.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueDetail {
    #[serde(flatten)]
    summary: QueueSummary,
    stats: QueueStats,
    /// The classes of which most attempts ended today.
    top_job_classes: Vec<ClassCount>,
}

/// What happened in a queue since midnight in UTC.
#[derive(Debug, Serialize, JsonSchema)]
struct QueueStats {
    /// Attempts that ended, those that failed included.
    processed_today: u64,
    failed_today: u64,
    /// Failed attempts among all, from 0 to 1.
    failure_rate: Plain,
    /// Of attempts that succeeded.
    avg_job_duration_ms: u64,
}

/// How many attempts of a class ended.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QueueClassCount")]
struct ClassCount {
    class: String,
    count: u64,
}

/// The history of a queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueHistory {
    queue: String,
    period: &'static str,
    resolution: &'static str,
    metrics: Vec<QueuePoint>,
}

/// A queue in one bucket of its history.
#[derive(Debug, Serialize, JsonSchema)]
struct QueuePoint {
    /// The start of the bucket.
    timestamp: IsoTime,
    /// Jobs that waited at its end; null when the server was down.
    size: Option<Plain>,
    /// Seconds that the oldest had waited at its end; null when the server was down.
    latency: Option<Plain>,
    /// Attempts that ended.
    throughput: u64,
    failures: u64,
}

/// A queue that was paused.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PausedQueue")]
pub(super) struct Paused {
    queue: String,
    /// `paused`.
    status: &'static str,
    paused_at: IsoTime,
}

/// A queue that was resumed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ResumedQueue")]
pub(super) struct Resumed {
    queue: String,
    /// `active`.
    status: &'static str,
    resumed_at: IsoTime,
}

/// That jobs shall really be deleted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QueuePurgeInput")]
pub(super) struct PurgeInput {
    /// Must be true, here or in the query string.
    confirm: Option<bool>,
}

/// A queue whose waiting jobs were deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PurgedQueue")]
pub(super) struct Purged {
    queue: String,
    jobs_deleted: usize,
    message: String,
}

impl QueueSummary {
    pub(super) fn new(queue: QueueView, throughput: QueueThroughput) -> Self {
        Self {
            size: queue.ready,
            latency_seconds: Plain(queue.latency_ms as f64 / 1_000.0),
            status: match (queue.paused_at, queue.degraded) {
                (Some(_), _) => "paused",
                (None, true) => "degraded",
                (None, false) => "healthy",
            },
            throughput: Throughput {
                per_minute: throughput.per_minute,
                per_hour: throughput.per_hour,
            },
            workers: queue.workers,
            scheduled: queue.scheduled,
            retrying: queue.retrying,
            running: queue.running,
            paused_at: queue.paused_at.map(IsoTime),
            name: queue.name.to_string(),
        }
    }
}

impl QueueDetail {
    pub(super) fn new(queue: QueueView, throughput: QueueThroughput, today: QueueToday) -> Self {
        let failure_rate = match today.processed {
            0 => 0.0,
            processed => today.failed as f64 / processed as f64,
        };
        let count = |(class, count)| ClassCount { class, count };
        Self {
            summary: QueueSummary::new(queue, throughput),
            stats: QueueStats {
                processed_today: today.processed,
                failed_today: today.failed,
                failure_rate: Plain(failure_rate),
                avg_job_duration_ms: today.avg_duration_ms.round().max(0.0) as u64,
            },
            top_job_classes: today.top_classes.into_iter().map(count).collect(),
        }
    }
}

impl QueueHistory {
    pub(super) fn new(
        queue: String,
        period: Period,
        resolution: Resolution,
        moments: Vec<QueueMoment>,
    ) -> Self {
        let point = |moment: QueueMoment| QueuePoint {
            timestamp: IsoTime(moment.start),
            size: moment.size.map(Plain),
            latency: moment.latency_seconds.map(Plain),
            throughput: moment.throughput,
            failures: moment.failures,
        };
        Self {
            queue,
            period: period.as_str(),
            resolution: resolution.as_str(),
            metrics: moments.into_iter().map(point).collect(),
        }
    }
}

impl Paused {
    pub(super) fn new(queue: String, paused_at: TimestampMs) -> Self {
        Self { queue, status: "paused", paused_at: IsoTime(paused_at) }
    }
}

impl Resumed {
    pub(super) fn new(queue: String, resumed_at: TimestampMs) -> Self {
        Self { queue, status: "active", resumed_at: IsoTime(resumed_at) }
    }
}

impl PurgeInput {
    /// Refuses unless the caller says that they mean it.
    pub(super) fn check(self, query: &Query) -> ApiResult<()> {
        let asked = query.flag("confirm")?;
        if self.confirm == Some(true) || asked == Some(true) {
            return Ok(());
        }
        let message = "confirm must be true: the jobs are deleted for good";
        Err(ApiError::new(ErrorCode::MissingField, message).field("confirm"))
    }
}

impl Purged {
    pub(super) fn new(queue: String, jobs_deleted: usize) -> Self {
        let were = if jobs_deleted == 1 { "was" } else { "were" };
        let jobs = count(jobs_deleted, "waiting job");
        let message = format!("{jobs} {were} deleted; running jobs were not");
        Self { queue, jobs_deleted, message }
    }
}
