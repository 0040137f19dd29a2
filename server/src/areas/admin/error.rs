//! What the area refuses, and the code of each refusal.

use crate::http::{ApiError, ErrorCode};

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum AdminError {
    /// The target of a copy is relative: nobody but the server knows to what.
    #[error("target must be an absolute path on the server")]
    TargetRelative,
    /// There is something at the target already.
    #[error("target exists already")]
    TargetExists,
    /// Nothing can be copied there.
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
