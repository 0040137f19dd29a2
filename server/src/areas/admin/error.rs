//! The errors of the area and their codes.

use crate::http::{ApiError, ErrorCode};

/// The reason for which a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum AdminError {
    /// The target of a copy is a relative path, which the client cannot resolve.
    #[error("target must be an absolute path on the server")]
    TargetRelative,
    /// The target exists.
    #[error("target exists already")]
    TargetExists,
    /// The target cannot be written.
    #[error("target cannot be used: {0}")]
    TargetRefused(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] telltale_engine::Error),
}

impl From<AdminError> for ApiError {
    fn from(error: AdminError) -> Self {
        let message = error.to_string();
        let code = match error {
            AdminError::TargetRelative | AdminError::TargetRefused(_) => ErrorCode::InvalidField,
            AdminError::TargetExists => ErrorCode::Conflict,
            AdminError::Engine(error) => return error.into(),
        };
        Self::new(code, message).field("target")
    }
}
