//! The errors of requests and data points, and their error codes.

use telltale_engine::{InvalidHistogram, Refusal};

use crate::areas::bulk::protobuf::Malformed;
use crate::http::{ApiError, ErrorCode};
use crate::limits::OTLP_VALUE_DEPTH_MAX;
use crate::platform::time::InvalidTime;

/// Why a request or one of its data points is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OtlpError {
    /// The message or a nested message is malformed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The body is not valid JSON, or a field has a value of the wrong type.
    #[error("{0}")]
    Json(String),
    /// The content type is neither protobuf nor JSON.
    #[error("Content-Type must be application/x-protobuf or application/json")]
    MediaType,
    /// A name or an attribute is not UTF-8.
    #[error("names and attributes must be UTF-8")]
    NotUtf8,
    /// The lists or maps of an attribute are nested too deeply.
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
    /// The value is infinite or NaN.
    #[error("the value must be a finite number")]
    Value,
    /// The counts and bounds do not form a valid histogram.
    #[error(transparent)]
    Histogram(#[from] InvalidHistogram),
    /// The time of a data point is out of range.
    #[error("time_unix_nano {0}")]
    Time(#[from] InvalidTime),
    /// The engine refused the name, the tags, the type or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<OtlpError> for ApiError {
    fn from(error: OtlpError) -> Self {
        let code = match error {
            OtlpError::Refused(refusal) => return refusal.into(),
            OtlpError::Malformed(_) => ErrorCode::InvalidParameter,
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
