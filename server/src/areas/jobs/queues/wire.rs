//! Request and response bodies of queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use crate::http::{ApiError, ApiResult, ErrorCode, Query};
use crate::jobs::{
    Period, QueueBucket, QueueName, QueueThroughput, QueueToday, QueueView, Resolution,
};
use crate::platform::json::Plain;
use crate::platform::plural::count;
use crate::platform::time::IsoTime;

/// A page of queues.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueList {
    pub(super) queues: Vec<QueueSummary>,
    /// The number of queues on all pages.
    pub(super) total: usize,
}

/// A queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueSummary {
    name: String,
    /// The number of jobs that are ready.
    size: usize,
    /// How long the oldest of them has waited, in seconds.
    latency_seconds: Plain,
    /// `paused`; `degraded` if the oldest job has waited too long; otherwise `healthy`.
    status: &'static str,
    throughput: Throughput,
    /// The number of active workers that serve the queue.
    workers: usize,
    /// The number of jobs that are scheduled for later.
    scheduled: usize,
    /// The number of jobs that wait for their next attempt.
    retrying: usize,
    /// The number of jobs that workers hold.
    running: usize,
    paused_at: Option<IsoTime>,
}

/// The number of attempts that ended recently.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QueueThroughput")]
struct Throughput {
    per_minute: u64,
    per_hour: u64,
}

/// A queue with today's statistics.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueueDetail {
    #[serde(flatten)]
    summary: QueueSummary,
    stats: QueueStats,
    /// The classes with the most attempts that ended today.
    top_job_classes: Vec<ClassCount>,
}

/// The statistics of a queue since midnight in UTC.
#[derive(Debug, Serialize, JsonSchema)]
struct QueueStats {
    /// The number of attempts that ended, including failed ones.
    processed_today: u64,
    failed_today: u64,
    /// The fraction of failed attempts, from 0 to 1.
    failure_rate: Plain,
    /// The average duration of successful attempts, in milliseconds.
    avg_job_duration_ms: u64,
}

/// The number of attempts of a class that ended.
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

/// One bucket of a queue's history.
#[derive(Debug, Serialize, JsonSchema)]
struct QueuePoint {
    /// The start of the bucket.
    timestamp: IsoTime,
    /// The number of waiting jobs at its end; null if the server was down.
    size: Option<Plain>,
    /// How long the oldest job had waited at its end, in seconds; null if the server was down.
    latency: Option<Plain>,
    /// The number of attempts that ended.
    throughput: u64,
    failures: u64,
}

/// A paused queue.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PausedQueue")]
pub(super) struct Paused {
    queue: String,
    /// Always `paused`.
    status: &'static str,
    paused_at: IsoTime,
}

/// A resumed queue.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ResumedQueue")]
pub(super) struct Resumed {
    queue: String,
    /// Always `active`.
    status: &'static str,
    resumed_at: IsoTime,
}

/// The confirmation of a purge.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QueuePurgeInput")]
pub(super) struct PurgeInput {
    /// Must be true, here or in the query string.
    confirm: Option<bool>,
}

/// The result of a purge.
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
        queue: &QueueName,
        period: Period,
        resolution: Resolution,
        moments: Vec<QueueBucket>,
    ) -> Self {
        let point = |moment: QueueBucket| QueuePoint {
            timestamp: IsoTime(moment.start),
            size: moment.size.map(Plain),
            latency: moment.latency_seconds.map(Plain),
            throughput: moment.throughput,
            failures: moment.failures,
        };
        Self {
            queue: queue.to_string(),
            period: period.as_str(),
            resolution: resolution.as_str(),
            metrics: moments.into_iter().map(point).collect(),
        }
    }
}

impl Paused {
    pub(super) fn new(queue: &QueueName, paused_at: TimestampMs) -> Self {
        Self { queue: queue.to_string(), status: "paused", paused_at: IsoTime(paused_at) }
    }
}

impl Resumed {
    pub(super) fn new(queue: &QueueName, resumed_at: TimestampMs) -> Self {
        Self { queue: queue.to_string(), status: "active", resumed_at: IsoTime(resumed_at) }
    }
}

impl PurgeInput {
    /// Fails unless `confirm` is true in the body or in the query string.
    pub(super) fn check(self, query: &Query) -> ApiResult<()> {
        let confirm = query.flag("confirm")?;
        if self.confirm == Some(true) || confirm == Some(true) {
            return Ok(());
        }
        let message = "confirm must be true: the jobs are deleted for good";
        Err(ApiError::new(ErrorCode::MissingField, message).field("confirm"))
    }
}

impl Purged {
    pub(super) fn new(queue: &QueueName, jobs_deleted: usize) -> Self {
        let were = if jobs_deleted == 1 { "was" } else { "were" };
        let jobs = count(jobs_deleted, "waiting job");
        let message = format!("{jobs} {were} deleted; running jobs were not");
        Self { queue: queue.to_string(), jobs_deleted, message }
    }
}
