//! Columns in, bytes out, and back: the lossless encodings that blocks and log records are made of.
//!
//! Nothing here knows what a column means. Every decoder takes bytes that a checksum has vouched for and is
//! still total: damaged input gives [`CodecError`], never a panic and never an allocation larger than the
//! rows it claims, which the caller bounds.

pub(crate) mod bytes;
pub(crate) mod floats;
pub(crate) mod frame;
pub(crate) mod integers;

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
