//! Why bytes could not be decoded.

/// Bytes that are not what an encoder here writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub(crate) String);

impl CodecError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<pco::errors::PcoError> for CodecError {
    fn from(error: pco::errors::PcoError) -> Self {
        Self(format!("pco: {error}"))
    }
}

pub(crate) type CodecResult<T> = Result<T, CodecError>;
