//! The errors of the area and their codes.

use crate::http::{ApiError, ErrorCode};
use crate::limits;
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::batch::InvalidBatch;

/// The reason for which a combined batch is refused. None of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The body cannot be parsed.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The body is not a batch.
    #[error(transparent)]
    Batch(#[from] InvalidBatch),
    /// Both lists together have too many items: this number.
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
