//! The JSON that requests and responses of the area have in common.

use schemars::JsonSchema;
use serde::Serialize;

use super::ids::RepositoryId;
use super::repository::SyncFailure;
use crate::http::{ApiError, PathParam};
use crate::platform::fields::Invalid;
use crate::platform::time::IsoTime;

/// Why a sync failed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SyncFailure")]
pub(super) struct FailureView {
    /// Such as `authentication_failed`, `branch_not_found`, `repository_not_found`,
    /// `empty_repository`, `unreachable`, `too_large`, `timed_out` or `git_failed`.
    code: String,
    message: String,
    at: IsoTime,
}

impl FailureView {
    pub(super) fn new(failure: &SyncFailure) -> Self {
        Self {
            code: failure.code.clone(),
            message: failure.message.clone(),
            at: IsoTime(failure.at),
        }
    }
}

/// Parses the id of a repository in a body.
pub(super) fn repository_id(sent: Option<String>) -> Result<RepositoryId, ApiError> {
    let text = sent.ok_or_else(|| Invalid::missing("repository"))?;
    RepositoryId::parse(&text).ok_or_else(|| ApiError::missing(RepositoryId::RESOURCE, &text))
}
