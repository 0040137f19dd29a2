//! The errors of the area, and the HTTP code of each.

use telltale_engine::{Error, InvalidEvent};

use super::model::{GroupId, OccurrenceId};
use super::sentry::EnvelopeError;
use crate::http::{ApiError, ErrorCode, PathParam};
use crate::limits;
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::query_params::{InvalidQueryParams, TIME_RULE};

/// Reasons for which a request of this area fails.
#[derive(Debug, thiserror::Error)]
pub enum ErrorsError {
    /// No group has this id.
    #[error("there is no error {0:?}")]
    NotFound(String),
    /// The error has no occurrence with this id.
    #[error("the error has no occurrence {0:?}")]
    OccurrenceNotFound(String),
    /// The body is not a valid envelope.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// An event of an SDK is too large.
    #[error("an event may have at most {max} bytes", max = limits::ERROR_EVENT_BYTES_MAX)]
    EventTooLarge,
    /// The body is not valid JSON of the expected form.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The project in the path is not a number.
    #[error("there is nothing at this path")]
    Project,
    /// A required field is absent.
    #[error("{0} is required")]
    Missing(&'static str),
    /// None of several alternative fields is present: the field to name in the response, and the
    /// message.
    #[error("{1}")]
    MissingOneOf(&'static str, &'static str),
    /// A field has an invalid value.
    #[error("{field} {expected}")]
    Field {
        /// The path of the field.
        field: String,
        /// The rule that the value violates.
        expected: String,
    },
    /// The timestamp is unreadable or out of range.
    #[error("timestamp {0}")]
    Time(crate::platform::time::InvalidTime),
    /// A time in the filter of a bulk action is unreadable: the path of the field.
    #[error("{0} {TIME_RULE}")]
    FilterTime(String),
    /// The range in the filter of a bulk action is empty.
    #[error("filter.from must be before filter.to")]
    FilterRange,
    /// The tags are not an object of strings.
    #[error("tags must be an object of strings")]
    Tags,
    /// A merge would put too many groups into one.
    #[error("at most {max} errors can be merged into one", max = limits::ERRORS_MERGED_MAX)]
    MergedTooMany,
    /// A query parameter is invalid.
    #[error(transparent)]
    QueryParams(#[from] InvalidQueryParams),
    /// A concurrent request with the same occurrence failed to store it.
    #[error("a concurrent request failed to store the same occurrence; try again")]
    NotStored,
    /// The group of an occurrence is being merged or deleted, and the limit of deferred occurrences
    /// is reached.
    #[error(
        "the error is being merged or deleted, and too many of its occurrences are waiting; try again"
    )]
    GroupBusy,
    /// The engine rejected an event built by this area. The area keeps the engine's limits, so this
    /// is a bug.
    #[error(transparent)]
    Refused(#[from] InvalidEvent),
    /// The engine failed or rejected the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl ErrorsError {
    /// Returns the error of an invalid field.
    pub(super) fn field(field: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Field { field: field.into(), expected: expected.into() }
    }
}

impl From<ErrorsError> for ApiError {
    fn from(error: ErrorsError) -> Self {
        let message = error.to_string();
        match error {
            ErrorsError::NotFound(id) => Self::missing(GroupId::RESOURCE, &id),
            ErrorsError::OccurrenceNotFound(id) => Self::missing(OccurrenceId::RESOURCE, &id),
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
