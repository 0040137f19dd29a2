//! Why a session could not be opened or ended, and the error codes.

use std::time::Duration;

use super::wire::SessionId;
use crate::http::{ApiError, ErrorCode, PathParam};

/// Why an operation on sessions failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    /// One message for all keys that are not valid.
    #[error("the key is not valid, or was revoked")]
    InvalidKey,
    /// One message for all codes that are not valid.
    #[error("the code is not valid: it was used, has expired, or its key was revoked")]
    InvalidCode,
    /// The key may not read.
    #[error("the key lacks the scope \"read\", which the console needs")]
    NotAllowed,
    /// The address has tried too often.
    #[error("too many attempts to sign in from this address")]
    TooManyAttempts(Duration),
    /// No session of the caller has this id.
    #[error("there is no session {0:?}")]
    NotFound(String),
    /// No key that the caller may use has this id.
    #[error("there is no valid key {0:?}")]
    NoSuchKey(String),
    /// The request was made without a session.
    #[error("the request was made with a key, not in a session")]
    NoSession,
    /// A session would outlive its maximum age by codes that it makes for itself.
    #[error("a session cannot make codes; use a key, or `telltale login`")]
    CodeForSession,
    /// The system provides no randomness.
    #[error("no random numbers available: {0}")]
    Randomness(#[from] std::io::Error),
    /// Reading or writing failed.
    #[error(transparent)]
    Engine(#[from] telltale_engine::Error),
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        match error {
            SessionError::InvalidKey | SessionError::InvalidCode => {
                Self::new(ErrorCode::Unauthorized, message)
            }
            SessionError::NotAllowed | SessionError::CodeForSession => {
                Self::new(ErrorCode::Forbidden, message)
            }
            SessionError::TooManyAttempts(wait) => {
                let seconds = u32::try_from(wait.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX);
                Self::new(ErrorCode::RateLimited, message).retry_after(seconds.max(1))
            }
            SessionError::NotFound(id) => Self::missing(SessionId::RESOURCE, &id),
            SessionError::NoSuchKey(_) => {
                Self::new(ErrorCode::InvalidField, message).field("key_id")
            }
            SessionError::NoSession => Self::new(ErrorCode::InvalidState, message),
            SessionError::Randomness(error) => Self::internal(error),
            SessionError::Engine(error) => error.into(),
        }
    }
}
