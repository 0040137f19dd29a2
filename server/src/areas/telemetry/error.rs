//! What the area refuses, and the code of each refusal.

use crate::http::{ApiError, ErrorCode};
use crate::limits;
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::batch::InvalidBatch;

/// Why a combined batch is refused. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The body cannot be read.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The body is no batch.
    #[error(transparent)]
    Batch(#[from] InvalidBatch),
    /// Both lists together are too long: this many items.
    #[error("a batch may have at most {max} events and metrics together; this one has {0}", max = limits::BATCH_ITEMS_MAX)]
    TooLong(usize),
}

impl From<TelemetryError> for ApiError {
    fn from(error: TelemetryError) -> Self {
        match error {
            TelemetryError::Body(error) => error.into(),
            TelemetryError::Batch(error) => error.into(),
            TelemetryError::TooLong(_) => Self::new(ErrorCode::BatchTooLarge, error.to_string()),
        }
    }
}
