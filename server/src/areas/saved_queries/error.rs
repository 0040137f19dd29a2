//! Why a saved query is refused or fails.

use telltale_engine::Error;

use crate::areas::metrics::MetricsError;
use crate::http::{ApiError, ErrorCode};

/// A query that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {expected}")]
pub struct InvalidQuery {
    /// The path of the field: `query`, or `query.` and a field of the query.
    pub field: String,
    /// What is expected of the field.
    pub expected: String,
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum SavedQueryError {
    /// The metrics area failed or refused the query.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// The engine failed or refused the query.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl InvalidQuery {
    /// Returns the error of a field of the query, or of the query itself if `field` is empty.
    pub fn new(field: &str, expected: impl Into<String>) -> Self {
        let field = if field.is_empty() { "query".to_owned() } else { format!("query.{field}") };
        Self { field, expected: expected.into() }
    }
}

impl From<InvalidQuery> for ApiError {
    fn from(invalid: InvalidQuery) -> Self {
        Self::new(ErrorCode::InvalidQuery, invalid.to_string()).field(invalid.field)
    }
}

impl From<SavedQueryError> for ApiError {
    fn from(error: SavedQueryError) -> Self {
        match error {
            SavedQueryError::Metrics(error) => error.into(),
            SavedQueryError::Engine(error) => error.into(),
        }
    }
}
