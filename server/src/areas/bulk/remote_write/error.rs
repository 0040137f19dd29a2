//! What the protocol refuses of a request, and the code of each refusal.

use telltale_engine::{InvalidHistogram, Refusal};

use crate::areas::bulk::protobuf::Damaged;
use crate::http::{ApiError, ErrorCode};
use crate::limits::{
    REMOTE_WRITE_LABEL_BYTES_MAX, REMOTE_WRITE_LABELS_MAX, REMOTE_WRITE_RESOLVED_BYTES_MAX,
    REMOTE_WRITE_SYMBOLS_MAX,
};
use crate::platform::time::InvalidTime;

/// Why a request, a series or one of its values is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// The message, or one inside it, cannot be read.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The table of symbols is too long.
    #[error("a request may have at most {REMOTE_WRITE_SYMBOLS_MAX} symbols")]
    TooManySymbols,
    /// The series of the request name more bytes of symbols than are read.
    #[error(
        "the labels of a request may have at most {REMOTE_WRITE_RESOLVED_BYTES_MAX} bytes in all"
    )]
    TooManyBytes,
    /// A reference points beyond the table of symbols.
    #[error("a label refers to symbol {0}, which the request does not have")]
    NoSymbol(u64),
    /// A reference to a name has none to a value beside it.
    #[error("labels_refs must be pairs of a name and a value")]
    Unpaired,
    /// More labels than are looked at, with those that are empty.
    #[error("a series may have at most {REMOTE_WRITE_LABELS_MAX} labels")]
    TooManyLabels,
    /// The labels of a series are longer than any that could be kept.
    #[error("the labels of a series may have at most {REMOTE_WRITE_LABEL_BYTES_MAX} bytes")]
    LabelsTooLong,
    /// A label is not UTF-8.
    #[error("labels must be UTF-8")]
    NotUtf8,
    /// The series has no `__name__`, or an empty one.
    #[error("the label __name__ is required")]
    NameMissing,
    /// The series has two `__name__`.
    #[error("the label __name__ must be given only once")]
    NameTwice,
    /// A sample is infinite, or no number and no marker either.
    #[error("a sample must be a finite number")]
    Value,
    /// The time of a value is out of range.
    #[error("the timestamp {0}")]
    Time(#[from] InvalidTime),
    /// A series has values of both forms.
    #[error("a series must have samples or histograms, not both")]
    Mixed,
    /// The buckets of a histogram are none that the protocol describes.
    #[error("{0}")]
    Buckets(&'static str),
    /// The numbers of a histogram are no histogram.
    #[error(transparent)]
    Histogram(#[from] InvalidHistogram),
    /// The engine refuses the name, the labels, the type or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<WriteError> for ApiError {
    fn from(error: WriteError) -> Self {
        let code = match error {
            WriteError::Refused(refusal) => return refusal.into(),
            WriteError::TooManySymbols | WriteError::TooManyBytes => ErrorCode::PayloadTooLarge,
            WriteError::Damaged(_) | WriteError::NoSymbol(_) | WriteError::Unpaired => {
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
