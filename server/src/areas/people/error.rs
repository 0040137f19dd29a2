//! The errors of the area and their error codes.

use telltale_engine::Error;

use crate::areas::people::limits as own_limits;
use crate::http::{ApiError, ErrorCode, precondition_failed};

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The revision of the preferences does not match the caller's `If-Match`.
    #[error("the preferences have changed")]
    Changed,
    /// Every attempt to write conflicted with a concurrent change.
    #[error("too many changes of the preferences at once; try again")]
    Busy,
    /// The limit on users with preferences is reached.
    #[error("the limit of {max} users with preferences is reached", max = own_limits::PREFERENCES_MAX)]
    TooMany,
    /// `preferences` is absent.
    #[error("preferences is required")]
    Missing,
    /// `preferences` is invalid: the rule that it violates.
    #[error("preferences {0}")]
    Invalid(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl From<PeopleError> for ApiError {
    fn from(error: PeopleError) -> Self {
        let message = error.to_string();
        match error {
            PeopleError::Changed => precondition_failed(),
            PeopleError::Busy | PeopleError::TooMany => Self::new(ErrorCode::Conflict, message),
            PeopleError::Missing => {
                Self::new(ErrorCode::MissingField, message).field("preferences")
            }
            PeopleError::Invalid(_) => {
                Self::new(ErrorCode::InvalidField, message).field("preferences")
            }
            PeopleError::Engine(error) => error.into(),
        }
    }
}
