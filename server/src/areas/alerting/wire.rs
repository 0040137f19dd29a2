//! The JSON that several resources have in common.

use schemars::JsonSchema;
use serde::Serialize;

use super::notice::Severity;
use crate::http::{ApiError, ApiResult};

/// A deleted resource that others referred to.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeletedTarget")]
pub(super) struct DeletedTargetView {
    id: String,
    deleted: bool,
    /// The ids of the resources that referred to it and do not any more.
    removed_from: Vec<String>,
}

impl DeletedTargetView {
    pub(super) fn new(id: String, removed_from: Vec<String>) -> Self {
        Self { id, deleted: true, removed_from }
    }
}

/// Parses the parameter `severity` of a list.
pub(super) fn severity_parameter(text: &str) -> ApiResult<Severity> {
    Severity::parse(text).ok_or_else(|| ApiError::parameter("severity", one_severity()))
}

/// Returns what is expected of a severity.
pub(super) fn one_severity() -> String {
    format!("must be one of {}", Severity::ALL.map(Severity::as_str).join(", "))
}
