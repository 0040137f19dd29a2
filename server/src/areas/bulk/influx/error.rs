//! What the protocol refuses of a line, and the code of each refusal.

use telltale_engine::Refusal;

use crate::http::{ApiError, ErrorCode};
use crate::limits::BULK_LINE_BYTES_MAX;
use crate::platform::time::InvalidTime;

/// Why a line is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LineError {
    /// The line is longer than [`BULK_LINE_BYTES_MAX`].
    #[error("a line may have at most {BULK_LINE_BYTES_MAX} bytes")]
    TooLong,
    /// A name, a tag or a text is not UTF-8.
    #[error("the line must be UTF-8")]
    NotUtf8,
    /// The line begins with a comma.
    #[error("a measurement is required")]
    MeasurementMissing,
    /// What stands between two commas is no tag.
    #[error(
        "a tag must be key=value with neither of them empty, and with `,`, `=` and spaces in them escaped"
    )]
    TagForm,
    /// Nothing follows the measurement and its tags.
    #[error("a field is required")]
    FieldsMissing,
    /// What stands between two commas is no field.
    #[error(
        "a field must be key=value with neither of them empty, and with `,`, `=` and spaces in its key escaped"
    )]
    FieldForm,
    /// The value of the field with this key is nothing that the protocol knows.
    #[error(
        "the value of field {0:?} must be a finite number, an integer `1i` or `1u`, a boolean or a string in quotes"
    )]
    Value(String),
    /// The string of the field with this key does not end.
    #[error("the string of field {0:?} has no closing quote")]
    Unterminated(String),
    /// What follows the fields is no timestamp.
    #[error("the timestamp must be an integer at the end of the line")]
    TimeForm,
    /// The timestamp is out of range.
    #[error("the timestamp {0}")]
    Time(#[from] InvalidTime),
    /// The engine refuses the name, the tags or a new series.
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
