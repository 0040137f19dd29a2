//! The errors of the engine, classified by what the caller must do.

use std::path::PathBuf;

use crate::memory::MemoryFull;
use crate::model::{Aggregation, MetricType};

/// An engine operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is invalid: change it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Nothing can be written now: try again later. Reads are not affected.
    #[error("storage accepts no writes: {0}")]
    Unavailable(String),
    /// The caller sends faster than the engine can store, or a query was abandoned or took too
    /// long: slow down and try again.
    #[error("the engine is overloaded: {0}")]
    Overloaded(String),
    /// The memory that the operation needs is in use: request less at once, or try again later.
    #[error(transparent)]
    MemoryFull(#[from] MemoryFull),
    /// Stored bytes are corrupt; the part named in the message could not be read.
    #[error("damaged data: {0}")]
    Corrupt(String),
    /// Newly encoded bytes do not decode to their input. They are discarded, and the input is kept.
    #[error("encoder fault: {0}")]
    Encoder(String),
    /// The data directory cannot be opened in its current state.
    #[error("cannot open {path}: {reason}")]
    Open {
        /// The data directory.
        path: PathBuf,
        /// Why it cannot be opened.
        reason: String,
    },
    /// A system call failed.
    #[error("{context}: {source}")]
    Io {
        /// What was being done.
        context: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// RocksDB failed.
    #[error("storage: {0}")]
    Storage(String),
}

/// Why a request is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No metric has this name.
    #[error("there is no metric {0:?}")]
    MetricNotFound(String),
    /// The metric exists with another type.
    #[error("metric {name:?} is a {is}, not a {wanted}")]
    TypeConflict {
        /// The metric.
        name: String,
        /// Its type.
        is: MetricType,
        /// The type of the rejected sample.
        wanted: MetricType,
    },
    /// A new series would exceed a limit.
    #[error("{0}")]
    CardinalityLimit(String),
    /// Metrics with such names are written by the program itself.
    #[error("name {0:?} is reserved: names that begin with {prefix} belong to the server", prefix = crate::limits::RESERVED_PREFIX)]
    NameReserved(String),
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] crate::model::InvalidName),
    /// The tags are invalid.
    #[error(transparent)]
    Tags(#[from] crate::model::InvalidTags),
    /// The aggregation is not available for the type of the metric.
    #[error("aggregation {} is not available for type {kind}", aggregation.as_str())]
    Aggregation {
        /// The metric's type.
        kind: MetricType,
        /// The requested aggregation.
        aggregation: Aggregation,
    },
    /// The time range is empty, or the query exceeds a limit on buckets, samples or memory.
    #[error("{0}")]
    Range(String),
    /// A document is not in the state that the caller expects, or the receipt of a write already
    /// exists: read it again.
    #[error("another request changed the same thing at the same time; try again")]
    Conflict,
    /// More group keys than [`crate::limits::GROUP_KEYS_MAX`], or a duplicate key.
    #[error("{0}")]
    GroupBy(String),
}

impl From<crate::codec::CodecError> for Error {
    fn from(error: crate::codec::CodecError) -> Self {
        if error.is_encoder() {
            Self::Encoder(error.to_string())
        } else {
            Self::Corrupt(error.to_string())
        }
    }
}

/// The result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;
