//! The error of decoding a stored sketch.

use crate::codec::CodecError;

/// Stored bytes or columns that no sketch writes: they are corrupt, or from a newer version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SketchError {
    /// The bytes are truncated, too long, or contain a number out of range.
    #[error(transparent)]
    Bytes(#[from] CodecError),
    /// The bytes were written by a newer engine.
    #[error("sketch version {0} is not supported")]
    Version(u8),
    /// The parts contradict each other.
    #[error("inconsistent sketch: {0}")]
    Inconsistent(&'static str),
}

pub(crate) type SketchResult<T> = Result<T, SketchError>;
