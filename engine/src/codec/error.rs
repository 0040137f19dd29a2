//! The error of decoders and encoders.

/// Bytes that are corrupt, or an encoding that does not decode to the value it was made from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CodecError {
    reason: String,
    fault: Fault,
}

/// The origin of an error. Corrupt stored bytes are quarantined; a faulty new encoding is
/// discarded, and the data it was made from is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Stored,
    Encoder,
}

impl CodecError {
    /// Creates an error for corrupt stored bytes.
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), fault: Fault::Stored }
    }

    /// Creates an error for newly encoded bytes that do not decode to what they were made from.
    pub(crate) fn encoder(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), fault: Fault::Encoder }
    }

    /// Returns whether the error is in a new encoding, not in stored bytes.
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
