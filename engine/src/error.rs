//! What can go wrong, named by what the caller must do about it.

use std::path::PathBuf;

use crate::memory::MemoryFull;
use crate::model::{Aggregation, MetricType};

/// An engine operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller asked for something that cannot be: change the request.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Nothing can be written now: try again later. Reads go on.
    #[error("storage takes no writes: {0}")]
    Unavailable(String),
    /// The caller sends faster than the engine can store: slow down and try again.
    #[error("the engine is overloaded: {0}")]
    Overloaded(String),
    /// The memory that the operation needs is taken: ask for less at once, or try again later.
    #[error(transparent)]
    MemoryFull(#[from] MemoryFull),
    /// Stored bytes are damaged; the part named could not be read.
    #[error("damaged data: {0}")]
    Corrupt(String),
    /// What was just encoded does not read back. It is thrown away, and what it was made from stays.
    #[error("a fault of the encoder: {0}")]
    Encoder(String),
    /// The data directory cannot be opened as it is.
    #[error("cannot open {path}: {reason}")]
    Open {
        /// The data directory.
        path: PathBuf,
        /// What is in the way.
        reason: String,
    },
    /// The operating system refused.
    #[error("{context}: {source}")]
    Io {
        /// What was being done.
        context: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// RocksDB refused.
    #[error("storage: {0}")]
    Storage(String),
}

/// Why a request cannot be answered as it stands.
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
        /// The type of the refused point.
        wanted: MetricType,
    },
    /// A new series would go over a limit.
    #[error("{0}")]
    CardinalityLimit(String),
    /// Metrics with such names are written by the program itself.
    #[error("name {0:?} is reserved: names that begin with {prefix} belong to the server", prefix = crate::limits::RESERVED_PREFIX)]
    NameReserved(String),
    /// The name breaks its rules.
    #[error(transparent)]
    Name(#[from] crate::model::InvalidName),
    /// The tags break their rules.
    #[error(transparent)]
    Tags(#[from] crate::model::InvalidTags),
    /// The metric's type does not have the aggregation.
    #[error("aggregation {} is not available for type {kind}", aggregation.as_str())]
    Aggregation {
        /// The metric's type.
        kind: MetricType,
        /// What was asked for.
        aggregation: Aggregation,
    },
    /// The range is empty or gives too many buckets or points.
    #[error("{0}")]
    Range(String),
    /// A document is not in the state that the caller expects, or the receipt of a write exists: read it again.
    #[error("another request changed the same thing at the same time; try again")]
    Conflict,
    /// More group keys than [`crate::limits::GROUP_KEYS_MAX`], or one stands twice.
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
