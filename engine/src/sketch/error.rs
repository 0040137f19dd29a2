//! Why stored sketches are refused.

use crate::codec::CodecError;

/// Stored content is not what a sketch writes: the cell is damaged, read it from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SketchError {
    /// The bytes end early, go on too long or hold a number out of range.
    #[error(transparent)]
    Bytes(#[from] CodecError),
    /// The bytes were written by a newer engine.
    #[error("a sketch of version {0} is not known here")]
    Version(u8),
    /// The parts contradict one another.
    #[error("inconsistent sketch: {0}")]
    Inconsistent(&'static str),
}

pub(crate) type SketchResult<T> = Result<T, SketchError>;
