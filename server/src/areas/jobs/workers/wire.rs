//! Request and response bodies of workers.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use telltale_engine::TimestampMs;

use crate::areas::jobs::arguments::Arguments;
use crate::areas::jobs::fields::{invalid, missing};
use crate::http::{ApiResult, PathParam, Resource};
use crate::jobs::{
    HeartbeatReply, HeldJob, InvalidJob, NewWorker, Period, QueueName, Registered, WorkerBucket,
    WorkerId, WorkerPage, WorkerStatus, WorkerUsage, WorkerView, WorkersPast,
};
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::{Plain, integer_or_null};
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A worker to be registered.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WorkerInput {
    /// The host on which it runs.
    #[schemars(required, length(min = 1, max = limits::HOSTNAME_CHARS_MAX))]
    hostname: Option<String>,
    #[schemars(range(max = u32::MAX))]
    #[serde(default, deserialize_with = "integer_or_null")]
    pid: Option<u32>,
    /// The queues it serves, the most urgent first.
    #[schemars(schema_with = "queues_schema", required)]
    queues: Option<AtMost<String, { limits::WORKER_QUEUES_MAX }>>,
    /// The number of jobs it runs concurrently; defaults to 1.
    #[schemars(range(min = 1, max = limits::WORKER_CONCURRENCY_MAX))]
    #[serde(default, deserialize_with = "integer_or_null")]
    concurrency: Option<i64>,
}

/// A registered worker.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RegisteredWorker")]
pub(super) struct RegisteredView {
    id: String,
    /// The interval of heartbeats, in seconds.
    heartbeat_seconds: Plain,
    /// The duration of reservations of jobs without `timeout_seconds`, in seconds.
    lease_seconds: Plain,
}

/// The vitals of a worker.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "WorkerVitalsInput")]
pub(super) struct VitalsInput {
    #[schemars(range(max = u32::MAX))]
    #[serde(default, deserialize_with = "integer_or_null")]
    busy_threads: Option<u32>,
    /// In megabytes, from 0 to 1000000000.
    #[schemars(range(min = 0, max = limits::WORKER_VITAL_MAX))]
    memory_mb: Option<f64>,
    /// In percent, from 0 to 1000000000.
    #[schemars(range(min = 0, max = limits::WORKER_VITAL_MAX))]
    cpu_percent: Option<f64>,
}

/// The response to a heartbeat.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeardWorker")]
pub(super) struct HeartbeatView {
    /// The status the worker must comply with: `active`, `quiet` or `stopping`.
    status: &'static str,
    /// The jobs whose reservation it lost since its last contact; finishing them has no effect.
    lost_jobs: Vec<String>,
}

/// The parameters of a fetch.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "JobFetchInput")]
pub(super) struct FetchInput {
    /// The maximum number of jobs, from 1 to 100; defaults to 1.
    #[schemars(range(min = 1, max = limits::JOB_FETCH_MAX))]
    #[serde(default, deserialize_with = "integer_or_null")]
    limit: Option<i64>,
    /// How long to wait for the first job, in seconds, up to 30; defaults to 0.
    #[schemars(range(min = 0, max = limits::JOB_WAIT_SECONDS_MAX))]
    wait_seconds: Option<f64>,
}

/// The fetched jobs, which the worker now holds.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FetchedJobs")]
pub(super) struct Fetched {
    jobs: Vec<HoldingView>,
}

/// A fetched job, which the worker now holds.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FetchedJob")]
struct HoldingView {
    job_id: String,
    class_name: String,
    queue: String,
    arguments: Arguments,
    /// The number of this attempt, from 1.
    attempt: u16,
    /// The token that proves that the worker holds the job.
    reservation_token: String,
    /// When the reservation expires.
    expires_at: IsoTime,
}

/// A page of workers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkerList {
    workers: Vec<WorkerSummary>,
    summary: Threads,
}

/// The thread counts of all workers.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "WorkerThreads")]
struct Threads {
    total_workers: usize,
    total_threads: u64,
    busy_threads: u64,
    idle_threads: u64,
}

/// A worker.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkerSummary {
    id: String,
    hostname: String,
    pid: Option<u32>,
    /// `active`, `quiet` or `stopping`.
    status: &'static str,
    queues: Vec<String>,
    concurrency: u32,
    busy_threads: u32,
    started_at: IsoTime,
    last_heartbeat: IsoTime,
    /// The number of attempts that it ended, including failed ones.
    processed_count: u64,
    failed_count: u64,
    /// Null until reported in a heartbeat.
    memory_mb: Option<Plain>,
    /// Null until reported in a heartbeat.
    cpu_percent: Option<Plain>,
}

/// A worker with its current jobs.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkerDetail {
    #[serde(flatten)]
    summary: WorkerSummary,
    current_jobs: Vec<CurrentJob>,
}

/// A job that a worker holds.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WorkerJob")]
struct CurrentJob {
    job_id: String,
    class_name: String,
    started_at: IsoTime,
    run_time_seconds: Plain,
}

/// A worker whose status was changed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ToldWorker")]
pub(super) struct StatusView {
    id: String,
    status: &'static str,
    message: &'static str,
}

/// Workers whose status was changed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QuietedWorkers")]
pub(super) struct QuietedAll {
    workers_quieted: usize,
    message: String,
}

/// The history of all workers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WorkerHistory {
    period: &'static str,
    stats: WorkerStats,
    timeline: Vec<WorkerPoint>,
}

/// The statistics of a period.
#[derive(Debug, Serialize, JsonSchema)]
struct WorkerStats {
    avg_workers: Plain,
    max_workers: Plain,
    min_workers: Plain,
    /// The fraction of busy threads, from 0 to 1.
    avg_utilization: Plain,
    total_processed: u64,
    total_failed: u64,
    avg_memory_mb: Plain,
    max_memory_mb: Plain,
}

/// One bucket of a period.
#[derive(Debug, Serialize, JsonSchema)]
struct WorkerPoint {
    timestamp: IsoTime,
    /// The average number of workers; null if the server was down.
    workers: Option<Plain>,
    /// The fraction of busy threads, from 0 to 1; null if the server was down.
    utilization: Option<Plain>,
    /// The number of attempts that ended.
    throughput: u64,
}

fn queues_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "maxItems": limits::WORKER_QUEUES_MAX,
        "uniqueItems": true,
        "items": { "type": "string", "pattern": patterns::QUEUE, "maxLength": limits::QUEUE_NAME_CHARS_MAX },
    })
}

impl WorkerInput {
    pub(super) fn into_worker(self) -> ApiResult<NewWorker> {
        let hostname = self.hostname.filter(|name| !name.is_empty());
        let hostname = hostname.ok_or_else(|| missing("hostname"))?;
        if hostname.chars().count() > limits::HOSTNAME_CHARS_MAX {
            return Err(InvalidJob::Hostname.into());
        }
        let names = self.queues.ok_or_else(|| missing("queues"))?;
        let names = names.all().map_err(|_| InvalidJob::Queues)?;
        let mut queues = Vec::with_capacity(names.len());
        for name in &names {
            let name = QueueName::new(name).map_err(|rule| match rule {
                InvalidJob::QueueReserved => InvalidJob::QueuesReserved,
                _ => InvalidJob::Queues,
            })?;
            if queues.contains(&name) {
                return Err(InvalidJob::Queues.into());
            }
            queues.push(name);
        }
        if queues.is_empty() {
            return Err(InvalidJob::Queues.into());
        }
        let concurrency = u32::try_from(self.concurrency.unwrap_or(1)).ok();
        let concurrency = concurrency.filter(|n| (1..=limits::WORKER_CONCURRENCY_MAX).contains(n));
        let concurrency = concurrency.ok_or(InvalidJob::Concurrency)?;
        Ok(NewWorker { hostname: hostname.into(), pid: self.pid, queues, concurrency })
    }
}

impl From<Registered> for RegisteredView {
    fn from(worker: Registered) -> Self {
        Self {
            id: worker.id.to_string(),
            heartbeat_seconds: Plain(worker.heartbeat_seconds),
            lease_seconds: Plain(worker.lease_seconds),
        }
    }
}

impl VitalsInput {
    pub(super) fn into_vitals(self) -> ApiResult<WorkerUsage> {
        Ok(WorkerUsage {
            busy_threads: self.busy_threads,
            memory_mb: vital("memory_mb", self.memory_mb)?,
            cpu_percent: vital("cpu_percent", self.cpu_percent)?,
        })
    }
}

impl From<HeartbeatReply> for HeartbeatView {
    fn from(heartbeat: HeartbeatReply) -> Self {
        Self {
            status: heartbeat.status.as_str(),
            lost_jobs: heartbeat.lost.iter().map(ToString::to_string).collect(),
        }
    }
}

impl FetchInput {
    /// Returns the maximum number of jobs, and how long to wait.
    pub(super) fn read(self) -> ApiResult<(u32, std::time::Duration)> {
        let max = limits::JOB_FETCH_MAX;
        let limit = u32::try_from(self.limit.unwrap_or(1)).ok();
        let limit = limit
            .filter(|n| (1..=max).contains(n))
            .ok_or_else(|| invalid("limit", format!("limit must be an integer from 1 to {max}")))?;
        let (seconds, max) = (self.wait_seconds.unwrap_or(0.0), limits::JOB_WAIT_SECONDS_MAX);
        if !(0.0..=f64::from(max)).contains(&seconds) {
            return Err(invalid(
                "wait_seconds",
                format!("wait_seconds must be a number from 0 to {max}"),
            ));
        }
        Ok((limit, std::time::Duration::from_secs_f64(seconds)))
    }
}

impl Fetched {
    pub(super) fn new(jobs: &[HeldJob]) -> Self {
        let view = |job: &HeldJob| HoldingView {
            job_id: job.id.to_string(),
            class_name: job.class.to_string(),
            queue: job.queue.to_string(),
            arguments: Arguments(job.arguments.clone()),
            attempt: job.attempt,
            reservation_token: job.id.reservation(job.token),
            expires_at: IsoTime(job.expires_at),
        };
        Self { jobs: jobs.iter().map(view).collect() }
    }
}

impl From<WorkerPage> for WorkerList {
    fn from(page: WorkerPage) -> Self {
        let summary = Threads {
            total_workers: page.total,
            total_threads: page.threads,
            busy_threads: page.busy_threads,
            idle_threads: page.threads.saturating_sub(page.busy_threads),
        };
        Self { workers: page.workers.into_iter().map(WorkerSummary::from).collect(), summary }
    }
}

impl From<WorkerView> for WorkerSummary {
    fn from(worker: WorkerView) -> Self {
        Self {
            id: worker.id.to_string(),
            hostname: worker.about.hostname.into(),
            pid: worker.about.pid,
            status: worker.status.as_str(),
            queues: worker.about.queues.iter().map(ToString::to_string).collect(),
            concurrency: worker.about.concurrency,
            // A view always contains them.
            busy_threads: worker.vitals.busy_threads.unwrap_or(0),
            started_at: IsoTime(worker.started_at),
            last_heartbeat: IsoTime(worker.last_heartbeat),
            processed_count: worker.processed,
            failed_count: worker.failed,
            memory_mb: worker.vitals.memory_mb.map(Plain),
            cpu_percent: worker.vitals.cpu_percent.map(Plain),
        }
    }
}

impl WorkerDetail {
    pub(super) fn new(mut worker: WorkerView, now: TimestampMs) -> Self {
        let current = std::mem::take(&mut worker.current);
        let job = |(id, class, since): (_, _, TimestampMs)| CurrentJob {
            job_id: crate::jobs::JobId::to_string(&id),
            class_name: crate::jobs::ClassName::to_string(&class),
            started_at: IsoTime(since),
            run_time_seconds: Plain((now.0 - since.0).max(0) as f64 / 1_000.0),
        };
        let current_jobs = current.into_iter().map(job).collect();
        Self { summary: worker.into(), current_jobs }
    }
}

impl StatusView {
    pub(super) fn new(id: WorkerId, status: WorkerStatus) -> Self {
        let message = match status {
            WorkerStatus::Active => "The worker accepts jobs",
            WorkerStatus::Quiet => "The worker finishes its current jobs and accepts no new ones",
            WorkerStatus::Stopping => "The worker stops after its current jobs finish",
        };
        Self { id: id.to_string(), status: status.as_str(), message }
    }
}

impl QuietedAll {
    pub(super) fn new(workers_quieted: usize) -> Self {
        let message = match workers_quieted {
            1 => "1 worker finishes its current jobs and accepts no new ones".to_owned(),
            n => format!("{n} workers finish their current jobs and accept no new ones"),
        };
        Self { workers_quieted, message }
    }
}

impl WorkerHistory {
    pub(super) fn new(period: Period, past: WorkersPast) -> Self {
        let point = |moment: WorkerBucket| WorkerPoint {
            timestamp: IsoTime(moment.start),
            workers: moment.workers.map(Plain),
            utilization: moment.utilization.map(Plain),
            throughput: moment.throughput,
        };
        let totals = past.totals;
        Self {
            period: period.as_str(),
            stats: WorkerStats {
                avg_workers: Plain(totals.avg_workers),
                max_workers: Plain(totals.max_workers),
                min_workers: Plain(totals.min_workers),
                avg_utilization: Plain(totals.avg_utilization),
                total_processed: totals.processed,
                total_failed: totals.failed,
                avg_memory_mb: Plain(totals.avg_memory_mb),
                max_memory_mb: Plain(totals.max_memory_mb),
            },
            timeline: past.timeline.into_iter().map(point).collect(),
        }
    }
}

fn vital(field: &'static str, value: Option<f64>) -> ApiResult<Option<f64>> {
    let max = limits::WORKER_VITAL_MAX;
    if value.is_some_and(|value| !(0.0..=max).contains(&value)) {
        return Err(invalid(field, format!("{field} must be a number from 0 to {max}")));
    }
    Ok(value)
}

impl PathParam for WorkerId {
    const RESOURCE: &'static Resource = &Resource::new("worker_not_found", "worker");

    fn from_path(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}
