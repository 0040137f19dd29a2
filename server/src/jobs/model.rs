//! Jobs, workers and dead jobs as everybody else knows them.

use std::fmt;

use telltale_engine::{MemoryShare, TimestampMs};

use super::names::{ClassName, QueueName, UniqueKey};
use crate::limits;
use crate::platform::ids;

macro_rules! id {
    ($(#[doc = $doc:literal])+ $Id:ident, $prefix:literal) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Id(pub(super) u128);

        impl $Id {
            /// Reads what is printed.
            pub fn parse(text: &str) -> Option<Self> {
                let ulid = text.strip_prefix($prefix)?;
                // Only the spelling that we print: one id, one text.
                ids::parse_ulid(ulid).map(Self).filter(|id| id.to_string() == text)
            }

            /// The key of what is stored about it.
            pub(super) fn key(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            pub(super) fn from_key(key: &[u8]) -> Option<Self> {
                key.try_into().ok().map(u128::from_be_bytes).map(Self)
            }
        }

        impl fmt::Display for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                ids::with_ulid_text(self.0, |text| write!(f, "{}{text}", $prefix))
            }
        }

        impl fmt::Debug for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id! {
    /// The id of a job.
    JobId, "job_"
}
id! {
    /// The id of a worker.
    WorkerId, "worker_"
}
id! {
    /// The id of a dead job, which is not that of the job it was.
    DeadId, "dead_"
}

impl JobId {
    /// When the id was made, as it says itself.
    pub(super) fn made_at(self) -> TimestampMs {
        // The upper 48 bits of a ULID.
        TimestampMs(i64::try_from(self.0 >> 80).unwrap_or(0))
    }

    /// The text that proves that its holder holds the job.
    pub fn reservation(self, token: u64) -> String {
        ids::with_ulid_text(self.0, |text| format!("{text}.{token:x}"))
    }

    /// The token in what [`Self::reservation`] made for this job; none in any other text.
    pub fn token_in(self, reservation: &str) -> Option<u64> {
        let (_, token) = reservation.split_once('.')?;
        let token = u64::from_str_radix(token, 16).ok()?;
        (self.reservation(token) == reservation).then_some(token)
    }
}

/// A job to be enqueued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// What kind of job it is: what its workers choose their code by.
    pub class: ClassName,
    /// Where it waits.
    pub queue: QueueName,
    /// What it is to be done with: a JSON object, as text.
    pub arguments: Box<str>,
    /// When it may begin; at once when absent.
    pub run_at: Option<TimestampMs>,
    /// How often it is tried.
    pub max_attempts: u16,
    /// What of all unfinished jobs only this one may have.
    pub unique: Option<UniqueKey>,
    /// Seconds that it is reserved for; as the settings say when absent.
    pub timeout_seconds: Option<u32>,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// It waits in its queue.
    Ready,
    /// Its time has not come.
    Scheduled,
    /// A worker holds it.
    Running,
    /// It failed and waits for its next attempt.
    Retrying,
    /// It was done.
    Completed,
    /// It failed for the last time.
    Dead,
}

impl JobStatus {
    /// The name on the wire.
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

/// A job that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueued {
    /// Its id.
    pub id: JobId,
    /// Where it waits.
    pub queue: QueueName,
    /// Ready or scheduled.
    pub status: JobStatus,
}

/// A job in the hands of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The job.
    pub id: JobId,
    /// Its class.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// Its arguments: a JSON object, as text.
    pub arguments: Box<str>,
    /// Which attempt this is, from 1.
    pub attempt: u16,
    /// What proves that the worker holds it.
    pub token: u64,
    /// When it is taken away.
    pub expires_at: TimestampMs,
    /// Milliseconds from when it was handed out to then, whatever the time of day is set to meanwhile.
    pub lease_ms: i64,
}

/// What a worker says of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureReport {
    /// The class of the error.
    pub error_class: ClassName,
    /// What it says.
    pub message: String,
    /// Where it happened, the innermost call first.
    pub backtrace: Vec<String>,
}

impl FailureReport {
    /// Cuts what is too long: a worker must not be refused because its error is verbose.
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

/// What becomes of a job that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Retrying or dead.
    pub status: JobStatus,
    /// When it is tried again.
    pub next_run_at: Option<TimestampMs>,
}

/// A failure of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFailure {
    /// Which attempt failed, from 1.
    pub attempt: u16,
    /// When.
    pub failed_at: TimestampMs,
    /// How.
    pub report: FailureReport,
}

impl PastFailure {
    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        let lines = self.report.backtrace.iter().map(|line| size_of::<String>() + line.len());
        size_of::<Self>() + self.report.message.len() + lines.sum::<usize>()
    }
}

/// All that is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobDetail {
    /// The job.
    pub id: JobId,
    /// Its class.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// Its arguments: a JSON object, as text.
    pub arguments: Box<str>,
    /// Where it stands.
    pub status: JobStatus,
    /// Attempts begun so far that counted.
    pub attempts: u16,
    /// Attempts at most.
    pub max_attempts: u16,
    /// When it was enqueued.
    pub enqueued_at: TimestampMs,
    /// When it may run, while that has not come; when it began, ended or died.
    pub at: TimestampMs,
    /// Who holds it, and until when.
    pub held: Option<(WorkerId, TimestampMs)>,
    /// What it is as a dead job.
    pub dead_id: Option<DeadId>,
    /// Its newest failures, the oldest first.
    pub failures: Vec<PastFailure>,
}

/// A worker that wants to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWorker {
    /// Where it runs.
    pub hostname: Box<str>,
    /// Its process.
    pub pid: Option<u32>,
    /// What it works, the most urgent first.
    pub queues: Vec<QueueName>,
    /// Jobs that it does at once.
    pub concurrency: u32,
}

/// What a worker may do. It never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerStatus {
    /// Anything.
    Active,
    /// End what it has begun.
    Quiet,
    /// End what it has begun, and leave.
    Stopping,
}

impl WorkerStatus {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Quiet => "quiet",
            Self::Stopping => "stopping",
        }
    }
}

/// A worker that is known now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registered {
    /// Its id.
    pub id: WorkerId,
    /// How often it should be heard of.
    pub heartbeat_seconds: f64,
    /// How long jobs are reserved that do not say.
    pub lease_seconds: f64,
}

/// How a worker is doing, as it says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vitals {
    /// Threads that work.
    pub busy_threads: Option<u32>,
    /// Memory.
    pub memory_mb: Option<f64>,
    /// Share of a core.
    pub cpu_percent: Option<f64>,
}

/// What a worker hears back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// What it may do.
    pub status: WorkerStatus,
    /// Jobs that it lost since it was last heard of.
    pub lost: Vec<JobId>,
}

/// A worker as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerView {
    /// The worker.
    pub id: WorkerId,
    /// What it said of itself.
    pub about: NewWorker,
    /// What it may do.
    pub status: WorkerStatus,
    /// How it is doing; as many threads are busy as it holds jobs while it does not say.
    pub vitals: Vitals,
    /// When it became known.
    pub started_at: TimestampMs,
    /// When it was last heard of.
    pub last_heartbeat: TimestampMs,
    /// Attempts that it ended.
    pub processed: u64,
    /// Those among them that failed.
    pub failed: u64,
    /// What it holds: job, class, since when.
    pub current: Vec<(JobId, ClassName, TimestampMs)>,
}

/// A queue as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueView {
    /// Its name.
    pub name: QueueName,
    /// Jobs that could run now.
    pub ready: usize,
    /// Jobs whose time has not come.
    pub scheduled: usize,
    /// Jobs that wait for their next attempt.
    pub retrying: usize,
    /// Jobs that workers hold.
    pub running: usize,
    /// How long the oldest ready job has waited.
    pub latency_ms: i64,
    /// Since when it hands out nothing.
    pub paused_at: Option<TimestampMs>,
    /// Active workers that work it.
    pub workers: usize,
    /// Whether the oldest job has waited too long.
    pub degraded: bool,
}

/// A dead job without its story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadJob {
    /// Its id.
    pub id: DeadId,
    /// The job that it was.
    pub job: JobId,
    /// Its class.
    pub class: ClassName,
    /// Its queue.
    pub queue: QueueName,
    /// The class of its last error.
    pub error_class: ClassName,
    /// Attempts that failed.
    pub attempts: u16,
    /// When the first one failed.
    pub first_failed_at: TimestampMs,
    /// When the last one did.
    pub died_at: TimestampMs,
}

/// A dead job with what is read of it from disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadDetail {
    /// What is in memory.
    pub dead: DeadJob,
    /// Its arguments: a JSON object, as text.
    pub arguments: Box<str>,
    /// When the job was enqueued.
    pub enqueued_at: TimestampMs,
    /// Its newest failures, the oldest first; only the last one in a list.
    pub failures: Vec<PastFailure>,
}

/// Whose queues, workers and dead jobs are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// Those of users.
    #[default]
    Users,
    /// Those of the server's own work too.
    All,
}

/// A page of a list, and how many there are in all.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePage {
    /// The page, by name.
    pub queues: Vec<QueueView>,
    /// How many there are.
    pub total: usize,
}

/// A page of workers, and what all of them are together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerPage {
    /// The page, the newest first.
    pub workers: Vec<WorkerView>,
    /// How many there are.
    pub total: usize,
    /// Jobs that they can do at once.
    pub threads: u64,
    /// Threads among them that work.
    pub busy_threads: u64,
}

/// Which dead jobs are meant: those that fit all that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadFilter {
    /// Of this class.
    pub class: Option<String>,
    /// With this class of error.
    pub error_class: Option<String>,
    /// Of this queue.
    pub queue: Option<String>,
    /// That died at this time or later.
    pub since: Option<TimestampMs>,
    /// That died before this time.
    pub older_than: Option<TimestampMs>,
    /// Of whose queues.
    pub whose: Whose,
}

impl Whose {
    /// Whether a queue of this name is meant.
    pub(super) fn fits(self, queue: &QueueName) -> bool {
        self == Self::All || !queue.is_own()
    }
}

impl DeadFilter {
    /// Whether it means all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it means this one.
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

/// Which dead jobs a bulk change is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// These, by their ids as dead jobs or as the jobs they were, where they are of such queues.
    Ids(Vec<String>, Whose),
    /// Those that fit.
    Filter(DeadFilter),
}

/// A page of dead jobs, the last to die first.
#[derive(Debug)]
pub struct DeadPage {
    /// The page.
    pub jobs: Vec<DeadDetail>,
    /// How many fit in all.
    pub total: usize,
    /// Of the account of memory, for the arguments and failures of these jobs.
    pub memory: MemoryShare,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text() {
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
    fn a_report_is_cut_and_never_refused() {
        let lines = vec!["l".repeat(2_000); 60];
        let report = FailureReport::new("", &"m".repeat(20_000), lines);
        assert_eq!(report.message.len(), limits::JOB_ERROR_MESSAGE_CHARS_MAX);
        assert_eq!(report.backtrace.len(), limits::BACKTRACE_LINES_MAX);
        assert!(report.backtrace.iter().all(|line| line.len() == limits::BACKTRACE_LINE_CHARS_MAX));
        assert_eq!(&*report.error_class, "Error");
    }
}
