//! What the area refuses, and the code of each refusal.

use telltale_engine::{Error, InvalidEvent};

use super::sentry::EnvelopeError;
use crate::http::{ApiError, ErrorCode, Resource};
use crate::limits;
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::question::{InvalidQuestion, TIME_RULE};

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum ErrorsError {
    /// No group has this id.
    #[error("there is no error {0:?}")]
    NotFound(String),
    /// The bytes are no envelope.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// An event of an SDK is too large.
    #[error("an event may have at most {max} bytes", max = limits::ERROR_EVENT_BYTES_MAX)]
    EventTooLarge,
    /// The body cannot be read.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The project is no number.
    #[error("there is nothing at this path")]
    Project,
    /// A required field is absent.
    #[error("{0} is required")]
    Missing(&'static str),
    /// One of several fields is required: the one to name first, and what is expected of them.
    #[error("{1}")]
    MissingOneOf(&'static str, &'static str),
    /// A field breaks a rule: which one, and what was expected.
    #[error("{field} {expected}")]
    Field {
        /// The field.
        field: String,
        /// What was expected.
        expected: String,
    },
    /// The time is unreadable or out of range.
    #[error("timestamp {0}")]
    Time(crate::platform::time::InvalidTime),
    /// A time of the filter of a bulk action is unreadable: which field.
    #[error("{0} {TIME_RULE}")]
    FilterTime(String),
    /// The range of that filter is empty.
    #[error("filter.from must be before filter.to")]
    FilterRange,
    /// Tags are no texts.
    #[error("tags must be an object of strings")]
    Tags,
    /// More groups would become one than can be.
    #[error("at most {max} errors can be merged into one", max = limits::ERRORS_MERGED_MAX)]
    MergedTooMany,
    /// A question cannot be answered as it is asked.
    #[error(transparent)]
    QueryParams(#[from] InvalidQuestion),
    /// Another request had the same occurrence and did not get it stored.
    #[error("the same occurrence could not be stored by another request; try again")]
    NotStored,
    /// The group of an occurrence is being merged or deleted, and too many occurrences wait until that is done.
    #[error(
        "the error is being merged or deleted, and too many of its occurrences wait for that; try again"
    )]
    GroupBusy,
    /// The engine refuses what was made for it, which keeps its rules.
    #[error(transparent)]
    Refused(#[from] InvalidEvent),
    /// The engine failed or refused.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl ErrorsError {
    /// A field breaks a rule.
    pub(super) fn field(field: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Field { field: field.into(), expected: expected.into() }
    }
}

impl From<ErrorsError> for ApiError {
    fn from(error: ErrorsError) -> Self {
        let message = error.to_string();
        match error {
            ErrorsError::NotFound(id) => Self::missing(Resource::ErrorGroup, &id),
            ErrorsError::Envelope(EnvelopeError::HeadersTooLong | EnvelopeError::TooManyItems)
            | ErrorsError::EventTooLarge => Self::new(ErrorCode::PayloadTooLarge, message),
            ErrorsError::Envelope(_) => Self::new(ErrorCode::InvalidJson, message),
            ErrorsError::Body(error) => error.into(),
            ErrorsError::Project => Self::new(ErrorCode::NotFound, message),
            ErrorsError::Missing(field) | ErrorsError::MissingOneOf(field, _) => {
                Self::new(ErrorCode::MissingField, message).field(field)
            }
            ErrorsError::Field { field, .. } => {
                Self::new(ErrorCode::InvalidField, message).field(field)
            }
            ErrorsError::Time(_) => {
                Self::new(ErrorCode::InvalidTimestamp, message).field("timestamp")
            }
            ErrorsError::FilterTime(field) => {
                Self::new(ErrorCode::InvalidTimestamp, message).field(field)
            }
            ErrorsError::FilterRange => {
                Self::new(ErrorCode::InvalidRange, message).field("filter.from")
            }
            ErrorsError::Tags => Self::new(ErrorCode::InvalidTags, message).field("tags"),
            ErrorsError::MergedTooMany => Self::new(ErrorCode::InvalidField, message).field("ids"),
            ErrorsError::QueryParams(invalid) => invalid.into(),
            ErrorsError::NotStored => Self::new(ErrorCode::Unavailable, message)
                .retry_after(limits::UNAVAILABLE_RETRY_SECONDS),
            ErrorsError::GroupBusy => Self::new(ErrorCode::Overloaded, message)
                .retry_after(limits::OVERLOADED_RETRY_SECONDS),
            ErrorsError::Refused(_) => Self::internal(message),
            ErrorsError::Engine(error) => error.into(),
        }
    }
}
