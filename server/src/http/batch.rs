//! What is answered to a batch of telemetry, whichever area took it.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::ApiError;
use crate::platform::batch::{Outcome, Rejected};

/// What became of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BatchAnswer {
    accepted: usize,
    rejected: usize,
    /// The first 50 rejected items; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ItemError>,
}

/// A rejected item of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ItemError {
    index: usize,
    code: &'static str,
    message: String,
}

impl<E: Into<ApiError>> From<Outcome<E>> for BatchAnswer {
    fn from(outcome: Outcome<E>) -> Self {
        let errors = outcome.errors.into_iter().map(ItemError::from).collect();
        Self { accepted: outcome.accepted, rejected: outcome.rejected, errors }
    }
}

impl<E: Into<ApiError>> From<Rejected<E>> for ItemError {
    fn from(rejected: Rejected<E>) -> Self {
        let error: ApiError = rejected.error.into();
        Self {
            index: rejected.index,
            code: error.code().as_str(),
            message: error.message().to_owned(),
        }
    }
}
