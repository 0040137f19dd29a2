//! What can fail, named by what the caller can do about it.

use thiserror::Error;

/// Why an operation did not succeed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The command line or an address cannot be understood.
    #[error("{0}")]
    Usage(String),
    /// Another owner has opened the shard: this one must drop it.
    #[error("fenced by a newer owner")]
    Fenced,
    /// The database cannot go on; the outcome of writes in flight is unknown.
    #[error("database: {0}")]
    Database(slatedb::Error),
    /// The task that commits has ended, for this reason.
    #[error("stopped: {0}")]
    Stopped(String),
    /// The object store did not do what was asked.
    #[error("object store: {0}")]
    Store(#[from] object_store::Error),
    /// Bytes that were read back are not those of a record or a pack.
    #[error("damaged: {0}")]
    Damaged(String),
    /// A file, a process or a connection failed.
    #[error("system: {0}")]
    System(#[from] std::io::Error),
    /// A line between processes is not JSON of the expected form.
    #[error("message: {0}")]
    Message(#[from] serde_json::Error),
}

impl Failure {
    /// Returns whether a shard that fails in this way fails at every attempt: what it contains is
    /// not what it should be. Other failures are those of a store that is slow or down.
    pub(crate) fn is_damage(&self) -> bool {
        use slatedb::ErrorKind::{Data, Internal, Invalid};
        match self {
            Self::Damaged(_) => true,
            Self::Database(error) => matches!(error.kind(), Data | Internal | Invalid),
            _ => false,
        }
    }
}

impl From<slatedb::Error> for Failure {
    fn from(error: slatedb::Error) -> Self {
        match error.kind() {
            slatedb::ErrorKind::Closed(slatedb::CloseReason::Fenced) => Self::Fenced,
            _ => Self::Database(error),
        }
    }
}

/// The result of an operation.
pub(crate) type Outcome<T> = Result<T, Failure>;
