//! The public model of jobs, workers and dead jobs.

use telltale_engine::{MemoryShare, TimestampMs};

pub use super::ids::{DeadId, DeadJobId, JobId, WorkerId};
use super::names::{ClassName, QueueName, UniqueKey};
use crate::limits;

/// A job to enqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// The kind of the job: workers select their code by it.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// Its arguments: a JSON object.
    pub arguments: Box<str>,
    /// The earliest start; at once if absent.
    pub run_at: Option<TimestampMs>,
    /// The maximum number of attempts.
    pub max_attempts: u16,
    /// A key that only one unfinished job may have.
    pub unique: Option<UniqueKey>,
    /// The lease in seconds; the configured one if absent.
    pub timeout_seconds: Option<u32>,
}

/// The status of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// Waiting in its queue.
    Ready,
    /// Waiting for its start time.
    Scheduled,
    /// Held by a worker.
    Running,
    /// Failed, and waiting for its next attempt.
    Retrying,
    /// Finished.
    Completed,
    /// Failed for the last time.
    Dead,
}

impl JobStatus {
    /// Returns the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Scheduled => "scheduled",
            Self::Running => "running",
            Self::Retrying => "retrying",
            Self::Completed => "completed",
            Self::Dead => "dead",
        }
    }
}

/// An enqueued job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// Its id.
    pub id: JobId,
    /// Its queue.
    pub queue: QueueName,
    /// Ready or scheduled.
    pub status: JobStatus,
}

/// A job held by a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldJob {
    /// The job.
    pub id: JobId,
    /// Its class.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// Its arguments: a JSON object.
    pub arguments: Box<str>,
    /// The number of this attempt, from 1.
    pub attempt: u16,
    /// The token of the reservation.
    pub token: u64,
    /// The end of the lease.
    pub expires_at: TimestampMs,
    /// The length of the lease in milliseconds, independent of later wall clock changes.
    pub lease_ms: i64,
}

/// A worker's report of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureReport {
    /// The class of the error.
    pub error_class: ClassName,
    /// The error message.
    pub message: String,
    /// The backtrace, innermost call first.
    pub backtrace: Vec<String>,
}

impl FailureReport {
    /// Truncates what is too long: a worker must not be refused because its error is verbose.
    pub fn new(error_class: &str, message: &str, backtrace: Vec<String>) -> Self {
        let cut = |text: &str, max: usize| -> String { text.chars().take(max).collect() };
        Self {
            error_class: ClassName::of_error(error_class),
            message: cut(message, limits::JOB_ERROR_MESSAGE_CHARS_MAX),
            backtrace: backtrace
                .iter()
                .take(limits::BACKTRACE_LINES_MAX)
                .map(|line| cut(line, limits::BACKTRACE_LINE_CHARS_MAX))
                .collect(),
        }
    }
}

/// The result of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Retrying or dead.
    pub status: JobStatus,
    /// The time of the next attempt.
    pub next_run_at: Option<TimestampMs>,
}

/// A past failure of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFailure {
    /// The number of the failed attempt, from 1.
    pub attempt: u16,
    /// When it failed.
    pub failed_at: TimestampMs,
    /// The worker's report.
    pub report: FailureReport,
}

impl PastFailure {
    /// Returns the approximate size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        let lines = self.report.backtrace.iter().map(|line| size_of::<String>() + line.len());
        size_of::<Self>() + self.report.message.len() + lines.sum::<usize>()
    }
}

/// The details of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDetail {
    /// The job.
    pub id: JobId,
    /// Its class.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// Its arguments: a JSON object.
    pub arguments: Box<str>,
    /// Its status.
    pub status: JobStatus,
    /// The number of attempts that count, the current one included.
    pub attempts: u16,
    /// The maximum number of attempts.
    pub max_attempts: u16,
    /// When it was enqueued.
    pub enqueued_at: TimestampMs,
    /// The start or retry time of a waiting job; otherwise when it became ready, started, finished
    /// or died.
    pub at: TimestampMs,
    /// The holder and the end of its lease.
    pub held: Option<(WorkerId, TimestampMs)>,
    /// Its id as a dead job.
    pub dead_id: Option<DeadId>,
    /// Its newest failures, in chronological order.
    pub failures: Vec<PastFailure>,
}

/// A worker to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWorker {
    /// Its host.
    pub hostname: Box<str>,
    /// Its process id.
    pub pid: Option<u32>,
    /// The queues it works, in order of priority.
    pub queues: Vec<QueueName>,
    /// The number of jobs it executes concurrently.
    pub concurrency: u32,
}

/// What a worker may do. Changes only in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerStatus {
    /// Fetch and execute jobs.
    Active,
    /// Finish the jobs it holds.
    Quiet,
    /// Finish the jobs it holds, and leave.
    Stopping,
}

impl WorkerStatus {
    /// Returns the name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Quiet => "quiet",
            Self::Stopping => "stopping",
        }
    }
}

/// A registered worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registered {
    /// Its id.
    pub id: WorkerId,
    /// The interval at which it should send heartbeats.
    pub heartbeat_seconds: f64,
    /// The lease of jobs without their own.
    pub lease_seconds: f64,
}

/// The resource usage that a worker reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkerUsage {
    /// Busy threads.
    pub busy_threads: Option<u32>,
    /// Memory in megabytes.
    pub memory_mb: Option<f64>,
    /// CPU use in percent of a core.
    pub cpu_percent: Option<f64>,
}

/// The response to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// What the worker may do.
    pub status: WorkerStatus,
    /// Jobs that it lost since its last heartbeat.
    pub lost: Vec<JobId>,
}

/// A worker in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerView {
    /// The worker.
    pub id: WorkerId,
    /// What it registered with.
    pub about: NewWorker,
    /// What it may do.
    pub status: WorkerStatus,
    /// Its reported usage; if it reports no busy threads, the number of jobs it holds.
    pub vitals: WorkerUsage,
    /// When it registered.
    pub started_at: TimestampMs,
    /// Its last heartbeat.
    pub last_heartbeat: TimestampMs,
    /// The number of attempts it ended.
    pub processed: u64,
    /// The number of those that failed.
    pub failed: u64,
    /// The jobs it holds: id, class, start time.
    pub current: Vec<(JobId, ClassName, TimestampMs)>,
}

/// The current state of a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueView {
    /// Its name.
    pub name: QueueName,
    /// Jobs that are ready.
    pub ready: usize,
    /// Jobs waiting for their start time.
    pub scheduled: usize,
    /// Jobs waiting for their next attempt.
    pub retrying: usize,
    /// Jobs held by workers.
    pub running: usize,
    /// The waiting time of the oldest ready job, in milliseconds.
    pub latency_ms: i64,
    /// When it was paused, if it is.
    pub paused_at: Option<TimestampMs>,
    /// Active workers of the queue.
    pub workers: usize,
    /// Whether the oldest ready job has waited too long.
    pub degraded: bool,
}

/// The summary of a dead job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    /// Its id.
    pub id: DeadId,
    /// Its id as a job.
    pub job: JobId,
    /// Its class.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// The class of its last error.
    pub error_class: ClassName,
    /// The number of failed attempts.
    pub attempts: u16,
    /// The time of the first failure.
    pub first_failed_at: TimestampMs,
    /// The time of the last failure.
    pub died_at: TimestampMs,
}

/// A dead job with the details read from disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadDetail {
    /// The summary.
    pub dead: DeadJob,
    /// Its arguments: a JSON object.
    pub arguments: Box<str>,
    /// When the job was enqueued.
    pub enqueued_at: TimestampMs,
    /// Its newest failures, in chronological order; only the last one in a list.
    pub failures: Vec<PastFailure>,
}

/// Whose queues, workers and dead jobs to include.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOwner {
    /// Those of clients.
    #[default]
    Users,
    /// Those of the server, too.
    All,
}

/// A page of queues.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePage {
    /// The page, ordered by name.
    pub queues: Vec<QueueView>,
    /// The total number of queues.
    pub total: usize,
}

/// A page of workers, and totals of all workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerPage {
    /// The page, newest first.
    pub workers: Vec<WorkerView>,
    /// The total number of workers.
    pub total: usize,
    /// The number of jobs they can execute concurrently.
    pub threads: u64,
    /// The number of busy threads.
    pub busy_threads: u64,
}

/// Selects dead jobs that match all given conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadFilter {
    /// Jobs of this class.
    pub class: Option<String>,
    /// Jobs with this error class.
    pub error_class: Option<String>,
    /// Jobs of this queue.
    pub queue: Option<String>,
    /// Jobs that died at this time or later.
    pub since: Option<TimestampMs>,
    /// Jobs that died before this time.
    pub older_than: Option<TimestampMs>,
    /// Whose queues to include.
    pub whose: QueueOwner,
    /// Jobs with this string in their class, arguments, error class or error message, ignoring
    /// case. [`Self::fits`] does not check it: that needs reads from disk.
    pub search: Option<String>,
}

impl QueueOwner {
    /// Returns whether the queue is included.
    pub(super) fn fits(self, queue: &QueueName) -> bool {
        self == Self::All || !queue.is_own()
    }
}

impl DeadFilter {
    /// Returns whether the filter selects everything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the filter selects this job, apart from the search string.
    pub fn fits(&self, dead: &DeadJob) -> bool {
        let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        self.whose.fits(&dead.queue)
            && same(&self.class, &dead.class)
            && same(&self.error_class, &dead.error_class)
            && same(&self.queue, &dead.queue)
            && self.since.is_none_or(|since| dead.died_at >= since)
            && self.older_than.is_none_or(|limit| dead.died_at < limit)
    }
}

/// The dead jobs of a bulk operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// These ids, of dead jobs or of the original jobs, if their queues are included.
    Ids(Vec<String>, QueueOwner),
    /// Those that the filter selects.
    Filter(DeadFilter),
}

/// A page of dead jobs, the latest death first.
#[derive(Debug)]
pub struct DeadPage {
    /// The page.
    pub jobs: Vec<DeadDetail>,
    /// The number of matching jobs.
    pub total: usize,
    /// The memory charged for the arguments and failures of these jobs.
    pub memory: MemoryShare,
}

/// A page of dead jobs that a search found, the latest death first. It may have fewer jobs than
/// requested although more follow, because the number of jobs that a request reads is limited.
#[derive(Debug)]
pub struct DeadFound {
    /// The page.
    pub jobs: Vec<DeadDetail>,
    /// The memory charged for the arguments and failures of these jobs.
    pub memory: MemoryShare,
    /// The next page has the jobs with ids less than this one; `None` at the end of the search.
    pub next: Option<DeadId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_string() {
        let id = JobId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let text = id.to_string();
        assert!(text.starts_with("job_") && text.len() == 30);
        assert_eq!(JobId::parse(&text), Some(id));
        assert_eq!(JobId::from_key(&id.key()), Some(id));
        for bad in ["", "job_", "job_x", &text.to_lowercase(), &text.replace("job_", "dead_")] {
            assert_eq!(JobId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_reservation_is_of_one_job() {
        let (id, other) = (JobId(0xabcd_efab_cdef), JobId(8));
        let text = id.reservation(0xabc);
        assert_eq!(id.token_in(&text), Some(0xabc));
        assert_eq!(other.token_in(&text), None);
        for bad in
            ["", ".", "abc", &text.to_lowercase(), &format!("{text}0x"), &text.replace('.', ".+")]
        {
            assert_eq!(id.token_in(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_report_is_truncated_and_never_refused() {
        let lines = vec!["l".repeat(2_000); 60];
        let report = FailureReport::new("", &"m".repeat(20_000), lines);
        assert_eq!(report.message.len(), limits::JOB_ERROR_MESSAGE_CHARS_MAX);
        assert_eq!(report.backtrace.len(), limits::BACKTRACE_LINES_MAX);
        assert!(report.backtrace.iter().all(|line| line.len() == limits::BACKTRACE_LINE_CHARS_MAX));
        assert_eq!(&*report.error_class, "Error");
    }
}
