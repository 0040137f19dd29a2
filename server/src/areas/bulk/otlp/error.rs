//! What the protocol refuses of a request and of its data points, and the code of each refusal.

use telltale_engine::{InvalidHistogram, Refusal};

use crate::areas::bulk::protobuf::Damaged;
use crate::http::{ApiError, ErrorCode};
use crate::limits::OTLP_VALUE_DEPTH_MAX;
use crate::platform::time::InvalidTime;

/// Why a request or one of its data points is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OtlpError {
    /// The message, or one inside it, cannot be read.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The body is no JSON, or a field of it does not fit.
    #[error("{0}")]
    Json(String),
    /// The content type is neither of the two.
    #[error("Content-Type must be application/x-protobuf or application/json")]
    MediaType,
    /// A name or an attribute is not UTF-8.
    #[error("names and attributes must be UTF-8")]
    NotUtf8,
    /// An attribute holds lists or maps inside each other without end.
    #[error(
        "the value of an attribute must not be nested more than {OTLP_VALUE_DEPTH_MAX} levels deep"
    )]
    TooDeep,
    /// A sum or histogram is neither delta nor cumulative.
    #[error("the aggregation temporality must be delta or cumulative")]
    Temporality,
    /// The data point has no value.
    #[error("a data point must have a value")]
    ValueMissing,
    /// The value is infinite or no number.
    #[error("the value must be a finite number")]
    Value,
    /// The numbers of a histogram are no histogram.
    #[error(transparent)]
    Histogram(#[from] InvalidHistogram),
    /// The time of a data point is out of range.
    #[error("time_unix_nano {0}")]
    Time(#[from] InvalidTime),
    /// The engine refuses the name, the tags, the type or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<OtlpError> for ApiError {
    fn from(error: OtlpError) -> Self {
        let code = match error {
            OtlpError::Refused(refusal) => return refusal.into(),
            OtlpError::Damaged(_) => ErrorCode::InvalidParameter,
            OtlpError::Json(_) => ErrorCode::InvalidJson,
            OtlpError::MediaType => ErrorCode::UnsupportedMediaType,
            OtlpError::NotUtf8 | OtlpError::TooDeep => ErrorCode::InvalidTags,
            OtlpError::Temporality => ErrorCode::InvalidType,
            OtlpError::ValueMissing | OtlpError::Value | OtlpError::Histogram(_) => {
                ErrorCode::InvalidValue
            }
            OtlpError::Time(_) => ErrorCode::InvalidTimestamp,
        };
        Self::new(code, error.to_string())
    }
}
