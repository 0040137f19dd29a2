//! The errors of requests, series and values, and their error codes.

use telltale_engine::{InvalidHistogram, Refusal};

use crate::areas::bulk::protobuf::Malformed;
use crate::http::{ApiError, ErrorCode};
use crate::limits::{
    REMOTE_WRITE_LABEL_BYTES_MAX, REMOTE_WRITE_LABELS_MAX, REMOTE_WRITE_RESOLVED_BYTES_MAX,
    REMOTE_WRITE_SYMBOLS_MAX,
};
use crate::platform::time::InvalidTime;

/// Why a request, a series or one of its values is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// The message or a nested message is malformed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The symbol table is too long.
    #[error("a request may have at most {REMOTE_WRITE_SYMBOLS_MAX} symbols")]
    TooManySymbols,
    /// The series of the request refer to too many bytes of symbols in total.
    #[error(
        "the labels of a request may have at most {REMOTE_WRITE_RESOLVED_BYTES_MAX} bytes in total"
    )]
    TooManyBytes,
    /// A reference is outside the symbol table.
    #[error("a label refers to symbol {0}, which is not in the symbol table")]
    NoSymbol(u64),
    /// The number of references is odd, so the last name has no value.
    #[error("labels_refs must contain pairs of a name and a value")]
    Unpaired,
    /// The series has too many labels, empty ones included.
    #[error("a series may have at most {REMOTE_WRITE_LABELS_MAX} labels")]
    TooManyLabels,
    /// The labels of the series are longer than any that could be stored.
    #[error("the labels of a series may have at most {REMOTE_WRITE_LABEL_BYTES_MAX} bytes")]
    LabelsTooLong,
    /// A label is not UTF-8.
    #[error("labels must be UTF-8")]
    NotUtf8,
    /// The series has no `__name__` label, or an empty one.
    #[error("the label __name__ is required")]
    NameMissing,
    /// The series has two `__name__` labels.
    #[error("the label __name__ must be given only once")]
    NameTwice,
    /// A sample is infinite, or NaN but not a staleness marker.
    #[error("a sample must be a finite number")]
    Value,
    /// The timestamp of a value is out of range.
    #[error("the timestamp {0}")]
    Time(#[from] InvalidTime),
    /// A series has both samples and histograms.
    #[error("a series must have samples or histograms, not both")]
    Mixed,
    /// The buckets of a histogram violate the protocol.
    #[error("{0}")]
    Buckets(&'static str),
    /// The counts and bounds do not form a valid histogram.
    #[error(transparent)]
    Histogram(#[from] InvalidHistogram),
    /// The engine refused the name, the labels, the type or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<WriteError> for ApiError {
    fn from(error: WriteError) -> Self {
        let code = match error {
            WriteError::Refused(refusal) => return refusal.into(),
            WriteError::TooManySymbols | WriteError::TooManyBytes => ErrorCode::PayloadTooLarge,
            WriteError::Malformed(_) | WriteError::NoSymbol(_) | WriteError::Unpaired => {
                ErrorCode::InvalidParameter
            }
            WriteError::TooManyLabels | WriteError::LabelsTooLong | WriteError::NotUtf8 => {
                ErrorCode::InvalidTags
            }
            WriteError::NameMissing => ErrorCode::MissingName,
            WriteError::NameTwice => ErrorCode::InvalidName,
            WriteError::Value
            | WriteError::Mixed
            | WriteError::Buckets(_)
            | WriteError::Histogram(_) => ErrorCode::InvalidValue,
            WriteError::Time(_) => ErrorCode::InvalidTimestamp,
        };
        Self::new(code, error.to_string())
    }
}
