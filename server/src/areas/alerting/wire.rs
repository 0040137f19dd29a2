//! The JSON that several resources have in common.

use schemars::JsonSchema;
use serde::Serialize;

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
