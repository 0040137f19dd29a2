//! Conversion of errors of jobs to API errors, by exhaustive matches.

use crate::http::{ApiError, ErrorCode, PathParam};
use crate::jobs::{DeadJobId, InvalidJob, JobId, JobsError, QueueName, WorkerId};
use crate::limits;

/// The code of a token that is not that of the job's current lease.
pub(super) const RESERVATION_LOST: ErrorCode = ErrorCode::AreaConflict("reservation_lost");

/// The code of a bulk request that selects another number of jobs than its caller expects.
pub(super) const COUNT_CHANGED: ErrorCode = ErrorCode::AreaConflict("count_changed");

impl From<JobsError> for ApiError {
    fn from(error: JobsError) -> Self {
        let message = error.to_string();
        match error {
            JobsError::QueueNotFound(name) => Self::missing(QueueName::RESOURCE, &name),
            JobsError::JobNotFound(id) => Self::missing(JobId::RESOURCE, &id),
            JobsError::WorkerNotFound(id) => Self::missing(WorkerId::RESOURCE, &id),
            JobsError::DeadJobNotFound(id) => Self::missing(DeadJobId::RESOURCE, &id),
            JobsError::ReservationLost => Self::new(RESERVATION_LOST, message),
            JobsError::NotUnique(holder) => {
                Self::new(ErrorCode::Conflict, message).field("unique_key").id(holder.to_string())
            }
            JobsError::OtherCount { .. } => {
                Self::new(COUNT_CHANGED, message).field("expected_count")
            }
            JobsError::NotPaused
            | JobsError::NotDeletable(_)
            | JobsError::NotRunnable(_)
            | JobsError::QueueNotEmpty
            | JobsError::OwnWorker => Self::new(ErrorCode::InvalidState, message),
            JobsError::TooManyQueues | JobsError::TooManyWorkers => {
                Self::new(ErrorCode::Conflict, message)
            }
            JobsError::Invalid(invalid) => invalid.into(),
            JobsError::QueueFull { .. }
            | JobsError::TooManyJobs { .. }
            | JobsError::TooManyJobBytes { .. } => Self::new(ErrorCode::Overloaded, message)
                .retry_after(limits::JOBS_FULL_RETRY_SECONDS),
            JobsError::TooManyWaiting | JobsError::Overloaded => {
                Self::new(ErrorCode::Overloaded, message)
                    .retry_after(limits::OVERLOADED_RETRY_SECONDS)
            }
            JobsError::Unavailable(why) | JobsError::Failed(why) => Self::new(
                ErrorCode::Unavailable,
                "jobs cannot be changed at the moment; try again later",
            )
            .retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
            .caused_by(why),
            JobsError::Engine(error) => error.into(),
        }
    }
}

impl From<InvalidJob> for ApiError {
    fn from(invalid: InvalidJob) -> Self {
        let field = invalid.field();
        let code = match invalid {
            InvalidJob::QueueReserved | InvalidJob::QueuesReserved => ErrorCode::ReservedName,
            _ => ErrorCode::InvalidField,
        };
        Self::new(code, format!("{field} {invalid}")).field(field)
    }
}
