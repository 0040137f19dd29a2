//! How failures of the engine and the platform are told to callers: one exhaustive match each.

use telltale_engine::{Error, InvalidName, Refusal};

use super::error::{ApiError, ErrorCode, Resource};
use crate::limits;
use crate::platform::keys::{InvalidKey, KeyError};

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Unavailable(_) => Self::new(
                ErrorCode::Unavailable,
                "the storage takes no writes at the moment; try again later",
            )
            .retry_after(limits::UNAVAILABLE_RETRY_SECONDS)
            .caused_by(error),
            Error::Overloaded(_) => {
                Self::new(ErrorCode::Overloaded, "the storage cannot keep up; send more slowly")
                    .retry_after(limits::OVERLOADED_RETRY_SECONDS)
                    .caused_by(error)
            }
            Error::Corrupt(_) | Error::Open { .. } | Error::Io { .. } | Error::Storage(_) => {
                Self::internal(error)
            }
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let (code, field) = match &refusal {
            Refusal::MetricNotFound(name) => return Self::missing(Resource::Metric, name),
            Refusal::TypeConflict { .. } => (ErrorCode::TypeConflict, "type"),
            Refusal::CardinalityLimit(_) => (ErrorCode::CardinalityLimit, "tags"),
            Refusal::Name(InvalidName::Empty) => (ErrorCode::MissingName, "name"),
            Refusal::Name(InvalidName::TooLong | InvalidName::ControlCharacter) => {
                (ErrorCode::InvalidName, "name")
            }
            Refusal::Tags(_) => (ErrorCode::InvalidTags, "tags"),
            Refusal::Aggregation { .. } => (ErrorCode::InvalidAggregation, "aggregation"),
            Refusal::Range(_) => (ErrorCode::InvalidRange, "from"),
            Refusal::GroupBy(_) => (ErrorCode::InvalidParameter, "group_by"),
            // The areas compare `If-Match` themselves: what is left is two changes at the same moment.
            Refusal::Conflict => return Self::new(ErrorCode::Conflict, refusal.to_string()),
        };
        Self::new(code, refusal.to_string()).field(field)
    }
}

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Invalid(invalid) => invalid.into(),
            KeyError::NotFound(id) => Self::missing(Resource::Key, &id),
            KeyError::TooMany => Self::new(ErrorCode::Conflict, error.to_string()),
            KeyError::Engine(error) => error.into(),
            KeyError::Randomness(_) => Self::internal(error),
        }
    }
}

impl From<InvalidKey> for ApiError {
    fn from(invalid: InvalidKey) -> Self {
        let code = match invalid {
            InvalidKey::NameMissing => ErrorCode::MissingName,
            InvalidKey::Name => ErrorCode::InvalidName,
            InvalidKey::User | InvalidKey::Scopes | InvalidKey::PublicScopes => {
                ErrorCode::InvalidField
            }
        };
        Self::new(code, invalid.to_string()).field(invalid.field())
    }
}
