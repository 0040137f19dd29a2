//! What is refused about jobs, and what can fail.

use telltale_engine::Error;

use super::model::JobId;
use crate::limits;
use crate::platform::plural::count;

/// Why something about jobs was not done.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// No queue has this name.
    #[error("there is no queue {0:?}")]
    QueueNotFound(String),
    /// No job has this id, or it has been finished for too long.
    #[error("there is no job {0:?}")]
    JobNotFound(String),
    /// No worker has this id: it never was, or it was gone and lost its jobs.
    #[error("there is no worker {0:?}")]
    WorkerNotFound(String),
    /// No dead job has this id.
    #[error("there is no dead job {0:?}")]
    DeadJobNotFound(String),
    /// Somebody else holds the job, or nobody: the token is not the holder's.
    #[error(
        "the reservation is lost: reservation_token is not that of the current holder of the job"
    )]
    ReservationLost,
    /// Another job that is not finished has the unique key.
    #[error("unique_key is in use by the unfinished job {0}")]
    NotUnique(JobId),
    /// The queue is not paused.
    #[error("the queue is not paused")]
    NotPaused,
    /// Jobs of the queue wait or run.
    #[error("the queue has waiting or running jobs; delete or finish them first")]
    QueueNotEmpty,
    /// The job runs or is over.
    #[error("the job is {0}; only a scheduled or retrying job can be made ready")]
    NotRunnable(&'static str),
    /// The job has begun or is over.
    #[error("the job is {0}; only a job that has not started can be deleted")]
    NotDeletable(&'static str),
    /// The worker is the server's own.
    #[error("the worker belongs to the server; it cannot be used, quieted or stopped")]
    OwnWorker,
    /// There are as many queues as there can be.
    #[error("the limit of {max} queues is reached", max = limits::QUEUES_MAX)]
    TooManyQueues,
    /// There are as many workers as there can be.
    #[error("the limit of {max} workers is reached", max = limits::WORKERS_MAX)]
    TooManyWorkers,
    /// Too many requests of workers wait for jobs.
    #[error("too many requests are waiting for jobs (jobs.waiting_fetches_max)")]
    TooManyWaiting,
    /// As many jobs of the queue wait as may.
    #[error("the queue {queue:?} is full: it has {} (jobs.queue_waiting_max)", count(*max, "waiting job"))]
    QueueFull {
        /// The queue.
        queue: String,
        /// The limit.
        max: usize,
    },
    /// As many jobs wait as may.
    #[error("the queues are full: they have {} (jobs.waiting_max)", count(*max, "waiting job"))]
    TooManyJobs {
        /// The limit.
        max: usize,
    },
    /// The jobs that wait take as much memory as they may.
    #[error("the queues are full: waiting jobs take {} of memory (jobs.waiting_bytes_max)", count(*max, "byte"))]
    TooManyJobBytes {
        /// The limit.
        max: usize,
    },
    /// Something about a job breaks a rule.
    #[error(transparent)]
    Invalid(#[from] InvalidJob),
    /// More was asked at once than can be done.
    #[error("too many changes to jobs at once; try again soon")]
    Overloaded,
    /// The ledger has ended, or takes no writes.
    #[error("the ledger of jobs takes no writes: {0}")]
    Unavailable(String),
    /// What was done could not be stored.
    #[error("the ledger of jobs failed: {0}")]
    Failed(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl JobsError {
    /// Whether too many jobs wait, in one queue or in all.
    pub fn is_full(&self) -> bool {
        matches!(
            self,
            Self::QueueFull { .. } | Self::TooManyJobs { .. } | Self::TooManyJobBytes { .. }
        )
    }

    /// The error as one of the engine, for background work that knows no other.
    pub fn into_engine(self) -> Error {
        match self {
            Self::Engine(error) => error,
            other => Error::Unavailable(other.to_string()),
        }
    }
}

/// A rule that something sent breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJob {
    /// A name of a queue has a form.
    #[error("must have 1 to {max} characters from A-Z, a-z, 0-9, _, ., : and -", max = limits::QUEUE_NAME_CHARS_MAX)]
    Queue,
    /// Some names of queues are the server's.
    #[error("is reserved: names that begin with {prefix} belong to the server", prefix = limits::OWN_QUEUES_PREFIX)]
    QueueReserved,
    /// The same of one of the queues of a worker.
    #[error("must not name queues of the server, whose names begin with {prefix}", prefix = limits::OWN_QUEUES_PREFIX)]
    QueuesReserved,
    /// A name of a class has a form.
    #[error("must have 1 to {max} characters and no control characters", max = limits::JOB_CLASS_CHARS_MAX)]
    Class,
    /// A unique key has a length.
    #[error("must have 1 to {max} characters", max = limits::UNIQUE_KEY_CHARS_MAX)]
    UniqueKey,
    /// Arguments are an object.
    #[error("must be an object")]
    ArgumentsForm,
    /// Arguments have a size.
    #[error("must have at most {max} bytes", max = limits::JOB_ARGUMENTS_BYTES_MAX)]
    ArgumentsSize,
    /// Attempts have a range.
    #[error("must be an integer from 1 to {max}", max = limits::JOB_ATTEMPTS_MAX)]
    Attempts,
    /// Timeouts have a range.
    #[error("must be an integer from 1 to {max}", max = limits::JOB_TIMEOUT_SECONDS_MAX)]
    Timeout,
    /// A worker works some queues.
    #[error("must have 1 to {max} names of queues, each only once", max = limits::WORKER_QUEUES_MAX)]
    Queues,
    /// A worker does some things at once.
    #[error("must be an integer from 1 to {max}", max = limits::WORKER_CONCURRENCY_MAX)]
    Concurrency,
    /// A worker runs somewhere.
    #[error("must have 1 to {max} characters", max = limits::HOSTNAME_CHARS_MAX)]
    Hostname,
}

impl InvalidJob {
    /// The field that the rule is about.
    pub fn field(self) -> &'static str {
        match self {
            Self::Queue | Self::QueueReserved => "queue",
            Self::Class => "class_name",
            Self::UniqueKey => "unique_key",
            Self::ArgumentsForm | Self::ArgumentsSize => "arguments",
            Self::Attempts => "max_attempts",
            Self::Timeout => "timeout_seconds",
            Self::Queues | Self::QueuesReserved => "queues",
            Self::Concurrency => "concurrency",
            Self::Hostname => "hostname",
        }
    }
}
