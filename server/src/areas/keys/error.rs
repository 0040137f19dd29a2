//! Conversion of errors of keys to API errors, by exhaustive matches.

use super::wire::KeyId;
use crate::http::{ApiError, ErrorCode, PathParam, precondition_failed};
use crate::platform::keys::{InvalidKey, KeyError};

impl From<KeyError> for ApiError {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Invalid(invalid) => invalid.into(),
            KeyError::NotFound(id) => Self::missing(KeyId::RESOURCE, &id),
            KeyError::Changed => precondition_failed(),
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
