//! Errors of job operations.

use telltale_engine::Error;

use super::model::JobId;
use crate::limits;
use crate::platform::plural::count;

/// Why an operation on jobs failed.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// No queue has this name.
    #[error("there is no queue {0:?}")]
    QueueNotFound(String),
    /// No job has this id, or it finished too long ago.
    #[error("there is no job {0:?}")]
    JobNotFound(String),
    /// No worker has this id: it never existed, or it was considered dead and lost its jobs.
    #[error("there is no worker {0:?}")]
    WorkerNotFound(String),
    /// No dead job has this id.
    #[error("there is no dead job {0:?}")]
    DeadJobNotFound(String),
    /// The token is not that of the current holder of the job, if any.
    #[error(
        "the reservation is lost: reservation_token is not that of the current holder of the job"
    )]
    ReservationLost,
    /// Another unfinished job has the unique key.
    #[error("unique_key is in use by the unfinished job {0}")]
    NotUnique(JobId),
    /// The queue is not paused.
    #[error("the queue is not paused")]
    NotPaused,
    /// The queue has waiting or running jobs.
    #[error("the queue has waiting or running jobs; delete or finish them first")]
    QueueNotEmpty,
    /// The job is running or finished.
    #[error("the job is {0}; only a scheduled or retrying job can be made ready")]
    NotRunnable(&'static str),
    /// The job has started or is finished.
    #[error("the job is {0}; only a job that has not started can be deleted")]
    NotDeletable(&'static str),
    /// The worker belongs to the server.
    #[error("the worker belongs to the server; it cannot be used, quieted or stopped")]
    OwnWorker,
    /// The maximum number of queues is reached.
    #[error("the limit of {max} queues is reached", max = limits::QUEUES_MAX)]
    TooManyQueues,
    /// The maximum number of workers is reached.
    #[error("the limit of {max} workers is reached", max = limits::WORKERS_MAX)]
    TooManyWorkers,
    /// The caller expected another number of dead jobs to be selected.
    #[error("the request selects {}, not {expected}; nothing was changed", count(*selected, "dead job"))]
    OtherCount {
        /// The number of selected jobs.
        selected: usize,
        /// The number that the caller expected.
        expected: usize,
    },
    /// Too many fetches are waiting for jobs.
    #[error("too many requests are waiting for jobs (jobs.waiting_fetches_max)")]
    TooManyWaiting,
    /// The queue has the maximum number of waiting jobs.
    #[error("the queue {queue:?} is full: it has {} (jobs.queue_waiting_max)", count(*max, "waiting job"))]
    QueueFull {
        /// The queue.
        queue: String,
        /// The limit.
        max: usize,
    },
    /// All queues together have the maximum number of waiting jobs.
    #[error("the queues are full: they have {} (jobs.waiting_max)", count(*max, "waiting job"))]
    TooManyJobs {
        /// The limit.
        max: usize,
    },
    /// The waiting jobs take the maximum amount of memory.
    #[error("the queues are full: waiting jobs take {} of memory (jobs.waiting_bytes_max)", count(*max, "byte"))]
    TooManyJobBytes {
        /// The limit.
        max: usize,
    },
    /// A field of a request is not valid.
    #[error(transparent)]
    Invalid(#[from] InvalidJob),
    /// Too many operations are queued.
    #[error("too many changes to jobs at once; try again soon")]
    Overloaded,
    /// The ledger has ended, or refuses writes.
    #[error("the jobs ledger accepts no writes: {0}")]
    Unavailable(String),
    /// The changes could not be stored.
    #[error("the jobs ledger failed: {0}")]
    Failed(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl JobsError {
    /// Returns whether a queue is, or all queues together are, full.
    pub fn is_full(&self) -> bool {
        matches!(
            self,
            Self::QueueFull { .. } | Self::TooManyJobs { .. } | Self::TooManyJobBytes { .. }
        )
    }

    /// Converts to an error of the engine, for background work that has no other.
    pub fn into_engine(self) -> Error {
        match self {
            Self::Engine(error) => error,
            other => Error::Unavailable(other.to_string()),
        }
    }
}

/// A rule that a field of a request breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidJob {
    /// The form of a queue name.
    #[error("must have 1 to {max} characters from A-Z, a-z, 0-9, _, ., : and -", max = limits::QUEUE_NAME_CHARS_MAX)]
    Queue,
    /// Some queue names are reserved for the server.
    #[error("is reserved: names that begin with {prefix} belong to the server", prefix = limits::OWN_QUEUES_PREFIX)]
    QueueReserved,
    /// The same for one of the queues of a worker.
    #[error("must not name queues of the server, whose names begin with {prefix}", prefix = limits::OWN_QUEUES_PREFIX)]
    QueuesReserved,
    /// The form of a class name.
    #[error("must have 1 to {max} characters and no control characters", max = limits::JOB_CLASS_CHARS_MAX)]
    Class,
    /// The length of a unique key.
    #[error("must have 1 to {max} characters", max = limits::UNIQUE_KEY_CHARS_MAX)]
    UniqueKey,
    /// Arguments must be an object.
    #[error("must be an object")]
    ArgumentsForm,
    /// The size of the arguments.
    #[error("must have at most {max} bytes", max = limits::JOB_ARGUMENTS_BYTES_MAX)]
    ArgumentsSize,
    /// The range of attempts.
    #[error("must be an integer from 1 to {max}", max = limits::JOB_ATTEMPTS_MAX)]
    Attempts,
    /// The range of timeouts.
    #[error("must be an integer from 1 to {max}", max = limits::JOB_TIMEOUT_SECONDS_MAX)]
    Timeout,
    /// The number of queues of a worker.
    #[error("must have 1 to {max} queue names, each only once", max = limits::WORKER_QUEUES_MAX)]
    Queues,
    /// The range of a worker's concurrency.
    #[error("must be an integer from 1 to {max}", max = limits::WORKER_CONCURRENCY_MAX)]
    Concurrency,
    /// The length of a host name.
    #[error("must have 1 to {max} characters", max = limits::HOSTNAME_CHARS_MAX)]
    Hostname,
}

impl InvalidJob {
    /// Returns the field that the rule applies to.
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
