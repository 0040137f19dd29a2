//! The errors of the area and their codes.

use telltale_engine::{Error, MetricName, MetricType, Refusal};

use crate::http::{ApiError, ErrorCode, PathParam};
use crate::limits;
use crate::platform::json::InvalidJson;
use crate::platform::telemetry::batch::InvalidBatch;
use crate::platform::telemetry::query_params::InvalidQueryParams;
use crate::platform::time::InvalidTime;

/// The reason for which a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The body cannot be parsed.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The body is not an object.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// The body is not a batch.
    #[error(transparent)]
    Batch(#[from] InvalidBatch),
    /// A single sample is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A query is invalid.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// No metric has this name.
    #[error("there is no metric {0:?}")]
    NotFound(String),
    /// The engine failed or refused the request.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// The reason for which a sample is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InputError {
    /// The item is not an object.
    #[error("a metric must be an object")]
    NotAnObject,
    /// A field is given more than once.
    #[error("{0} must be given only once")]
    Twice(Field),
    /// The name is absent or empty.
    #[error("name is required")]
    NameMissing,
    /// The name is not a string.
    #[error("name must be a string")]
    NameForm,
    /// The type is absent or unknown.
    #[error("type must be one of gauge, counter, distribution, set")]
    Type,
    /// The value is absent or does not fit the type.
    #[error("{rule}", rule = value_rule(*.0))]
    Value(MetricType),
    /// The timestamp is not a string.
    #[error("timestamp must be a string")]
    TimeForm,
    /// The timestamp cannot be parsed or is out of range.
    #[error("timestamp {0}")]
    Time(InvalidTime),
    /// The tags are not an object.
    #[error("tags must be an object")]
    TagsForm,
    /// The value of the tag with this key is not a string, number or boolean.
    #[error("the value of tag {0:?} must be a string, a number or a boolean")]
    TagValue(String),
    /// The engine refuses the name, the tags, the type or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The fields of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `name`
    Name,
    /// `type`
    Type,
    /// `value`
    Value,
    /// `timestamp`
    Timestamp,
    /// `tags`
    Tags,
}

/// The reason for which a query is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The range, the interval, a tag filter or another parameter is invalid.
    #[error(transparent)]
    Parameter(#[from] InvalidQueryParams),
    /// The aggregation is not supported by metrics of this type.
    #[error("aggregation must be one of {all} for type {0}", all = aggregations_of(*.0))]
    Aggregation(MetricType),
    /// The interval is finer than the samples of this type are kept.
    #[error(
        "interval must be a whole number of minutes for type {0}, whose samples are kept by the minute"
    )]
    FineInterval(MetricType),
    /// `type` is unknown.
    #[error("type must be one of gauge, counter, distribution, set")]
    Type,
}

impl Field {
    /// Returns the name of the field in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Type => "type",
            Self::Value => "value",
            Self::Timestamp => "timestamp",
            Self::Tags => "tags",
        }
    }

    fn code(self) -> ErrorCode {
        match self {
            Self::Name => ErrorCode::InvalidName,
            Self::Type => ErrorCode::InvalidType,
            Self::Value => ErrorCode::InvalidValue,
            Self::Timestamp => ErrorCode::InvalidTimestamp,
            Self::Tags => ErrorCode::InvalidTags,
        }
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<MetricsError> for ApiError {
    fn from(error: MetricsError) -> Self {
        let message = error.to_string();
        match error {
            MetricsError::Body(error) => error.into(),
            MetricsError::NotAnObject => Self::new(ErrorCode::InvalidJson, message),
            MetricsError::Batch(error) => error.into(),
            MetricsError::Input(error) => error.into(),
            MetricsError::Query(error) => error.into(),
            MetricsError::NotFound(name) => Self::missing(MetricName::RESOURCE, &name),
            MetricsError::Engine(error) => error.into(),
        }
    }
}

impl From<InputError> for ApiError {
    fn from(error: InputError) -> Self {
        let message = error.to_string();
        let (code, field) = match error {
            InputError::NotAnObject => return Self::new(ErrorCode::InvalidValue, message),
            InputError::Refused(refusal) => return refusal.into(),
            InputError::NameMissing => (ErrorCode::MissingName, Field::Name),
            InputError::Twice(field) => (field.code(), field),
            InputError::NameForm => (ErrorCode::InvalidName, Field::Name),
            InputError::Type => (ErrorCode::InvalidType, Field::Type),
            InputError::Value(_) => (ErrorCode::InvalidValue, Field::Value),
            InputError::TimeForm | InputError::Time(_) => {
                (ErrorCode::InvalidTimestamp, Field::Timestamp)
            }
            InputError::TagsForm | InputError::TagValue(_) => (ErrorCode::InvalidTags, Field::Tags),
        };
        Self::new(code, message).field(field.as_str())
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        let message = error.to_string();
        let (code, field) = match error {
            QueryError::Parameter(invalid) => return invalid.into(),
            QueryError::Aggregation(_) => (ErrorCode::InvalidAggregation, "aggregation"),
            QueryError::FineInterval(_) => (ErrorCode::InvalidInterval, "interval"),
            QueryError::Type => (ErrorCode::InvalidType, "type"),
        };
        Self::new(code, message).field(field)
    }
}

fn value_rule(kind: MetricType) -> String {
    match kind {
        MetricType::Set => {
            format!(
                "value must be a string of 1 to {} characters for type set",
                limits::MEMBER_CHARS_MAX
            )
        }
        MetricType::Gauge | MetricType::Counter | MetricType::Distribution => {
            format!("value must be a finite number for type {kind}")
        }
    }
}

fn aggregations_of(kind: MetricType) -> String {
    let names: Vec<&str> =
        telltale_engine::Aggregation::of(kind).iter().map(|a| a.as_str()).collect();
    names.join(", ")
}
