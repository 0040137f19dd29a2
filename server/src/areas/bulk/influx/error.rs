//! The errors of the line protocol and their error codes.

use telltale_engine::Refusal;

use crate::http::{ApiError, ErrorCode};
use crate::limits::BULK_LINE_BYTES_MAX;
use crate::platform::time::InvalidTime;

/// Why a line is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LineError {
    /// The line is longer than [`BULK_LINE_BYTES_MAX`].
    #[error("a line may have at most {BULK_LINE_BYTES_MAX} bytes")]
    TooLong,
    /// A name, a tag or a string is not UTF-8.
    #[error("the line must be UTF-8")]
    NotUtf8,
    /// The line starts with a comma.
    #[error("a measurement is required")]
    MeasurementMissing,
    /// A tag is malformed.
    #[error(
        "a tag must be key=value with a non-empty key and value, and with `,`, `=` and spaces escaped"
    )]
    TagForm,
    /// No field follows the measurement and its tags.
    #[error("a field is required")]
    FieldsMissing,
    /// A field is malformed.
    #[error(
        "a field must be key=value with a non-empty key and value, and with `,`, `=` and spaces in the key escaped"
    )]
    FieldForm,
    /// The value of the field with this key has none of the types of the protocol.
    #[error(
        "the value of field {0:?} must be a finite number, an integer `1i` or `1u`, a boolean or a string in quotes"
    )]
    Value(String),
    /// The string value of the field with this key is not terminated.
    #[error("the string of field {0:?} has no closing quote")]
    Unterminated(String),
    /// The fields are followed by something other than a timestamp.
    #[error("the timestamp must be an integer at the end of the line")]
    TimeForm,
    /// The timestamp is out of range.
    #[error("the timestamp {0}")]
    Time(#[from] InvalidTime),
    /// The engine refused the name, the tags or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<LineError> for ApiError {
    fn from(error: LineError) -> Self {
        let code = match error {
            LineError::Refused(refusal) => return refusal.into(),
            LineError::TooLong | LineError::NotUtf8 => ErrorCode::InvalidParameter,
            LineError::MeasurementMissing => ErrorCode::MissingName,
            LineError::TagForm => ErrorCode::InvalidTags,
            LineError::FieldsMissing => ErrorCode::MissingField,
            LineError::FieldForm => ErrorCode::InvalidField,
            LineError::Value(_) | LineError::Unterminated(_) => ErrorCode::InvalidValue,
            LineError::TimeForm | LineError::Time(_) => ErrorCode::InvalidTimestamp,
        };
        Self::new(code, error.to_string())
    }
}
