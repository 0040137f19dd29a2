//! Why bytes could not be decoded, or encoded.

/// Bytes that are not what an encoder here writes, or a value whose encoding does not read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CodecError {
    reason: String,
    fault: Fault,
}

/// What is at fault. Stored bytes that are damaged are quarantined; bytes that were just encoded are thrown away, and
/// what they were made from stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Stored,
    Encoder,
}

impl CodecError {
    /// Stored bytes are damaged.
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), fault: Fault::Stored }
    }

    /// New bytes do not read back as what they were made from.
    pub(crate) fn encoder(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), fault: Fault::Encoder }
    }

    /// Whether stored bytes are not to blame.
    pub(crate) fn is_encoder(&self) -> bool {
        self.fault == Fault::Encoder
    }
}

impl From<pco::errors::PcoError> for CodecError {
    fn from(error: pco::errors::PcoError) -> Self {
        Self::new(format!("pco: {error}"))
    }
}

pub(crate) type CodecResult<T> = Result<T, CodecError>;
