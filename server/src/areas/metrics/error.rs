//! What the area refuses, and the code of each refusal.

use telltale_engine::{Error, MetricType, Refusal};

use crate::http::{ApiError, ErrorCode, Resource};
use crate::limits;
use crate::platform::json::InvalidJson;
use crate::platform::time::InvalidTime;

/// Why a request of this area failed.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The body cannot be read.
    #[error(transparent)]
    Body(#[from] InvalidJson),
    /// The body is not an object.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// The body of a batch has two lists of metrics.
    #[error("the body has the key \"metrics\" twice")]
    MetricsTwice,
    /// The body of a batch has no metrics.
    #[error("metrics is required")]
    MetricsMissing,
    /// The metrics of a batch are no list.
    #[error("metrics must be an array")]
    MetricsNotAnArray,
    /// The batch is too long: this many items.
    #[error("a batch has at most {max} metrics, this one has {0}", max = limits::BATCH_ITEMS_MAX)]
    BatchTooLarge(usize),
    /// A single point is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A question cannot be answered as it is asked.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// No metric has this name.
    #[error("there is no metric {0:?}")]
    NotFound(String),
    /// The engine failed or refused.
    #[error(transparent)]
    Engine(#[from] Error),
}

/// Why a point is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InputError {
    /// The item is not an object.
    #[error("a metric must be an object")]
    NotAnObject,
    /// A field stands twice: nobody can say which one counts.
    #[error("{0} stands twice")]
    Twice(Field),
    /// The name is absent or empty.
    #[error("name is required")]
    NameMissing,
    /// The name is not a text.
    #[error("name must be a string")]
    NameForm,
    /// The type is absent or unknown.
    #[error("type must be one of gauge, counter, distribution, set")]
    Type,
    /// The value is absent or does not fit the type.
    #[error("{rule}", rule = value_rule(*.0))]
    Value(MetricType),
    /// The timestamp is not a text.
    #[error("timestamp must be a string")]
    TimeForm,
    /// The timestamp is unreadable or out of range.
    #[error("timestamp {0}")]
    Time(InvalidTime),
    /// The tags are not an object.
    #[error("tags must be an object")]
    TagsForm,
    /// The value of the tag with this key is not a text, number or boolean.
    #[error("the value of tag {0:?} must be a string, a number or a boolean")]
    TagValue(String),
    /// The engine refuses the name, the tags, the type or a new series.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// The fields of a point.
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

/// Why a question cannot be answered as it is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    /// `from` or `to` is unreadable.
    #[error("{0} must be an ISO 8601 date-time or date such as 2026-01-02T03:04:05Z or 2026-01-02")]
    Time(&'static str),
    /// The range is empty.
    #[error("from must be before to")]
    RangeEmpty,
    /// The range gives too many buckets: this many.
    #[error("the range has {0} buckets of this interval, more than {max}", max = limits::QUERY_BUCKETS_MAX)]
    RangeTooLong(u64),
    /// The answer would have too many points: this many.
    #[error("the answer has {0} points over all groups, more than {max}", max = limits::ANSWER_POINTS_MAX)]
    AnswerTooLong(u64),
    /// The interval is unknown.
    #[error("interval must be one of 1m, 5m, 1h, 1d")]
    Interval,
    /// The aggregation is unknown.
    #[error("there is no aggregation {0:?}")]
    Aggregation(String),
    /// The type does not have the aggregation.
    #[error("a {kind} has no aggregation {aggregation:?}, only {all}", all = aggregations_of(*kind))]
    AggregationOfType {
        /// The type of the metric.
        kind: MetricType,
        /// What was asked for.
        aggregation: &'static str,
    },
    /// `type` is unknown.
    #[error("type must be one of gauge, counter, distribution, set")]
    Type,
    /// Another parameter has the wrong form: which one, and what was expected.
    #[error("{field} {expected}")]
    Parameter {
        /// The parameter.
        field: String,
        /// What was expected.
        expected: &'static str,
    },
}

impl Field {
    /// The name on the wire.
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
            MetricsError::Body(InvalidJson::TooManyValues) => {
                Self::new(ErrorCode::PayloadTooLarge, message)
            }
            MetricsError::Body(_) | MetricsError::NotAnObject | MetricsError::MetricsTwice => {
                Self::new(ErrorCode::InvalidJson, message)
            }
            MetricsError::MetricsMissing => {
                Self::new(ErrorCode::MissingField, message).field("metrics")
            }
            MetricsError::MetricsNotAnArray => {
                Self::new(ErrorCode::InvalidParameter, message).field("metrics")
            }
            MetricsError::BatchTooLarge(_) => {
                Self::new(ErrorCode::BatchTooLarge, message).field("metrics")
            }
            MetricsError::Input(error) => error.into(),
            MetricsError::Question(error) => error.into(),
            MetricsError::NotFound(name) => Self::missing(Resource::Metric, &name),
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

impl From<QuestionError> for ApiError {
    fn from(error: QuestionError) -> Self {
        let message = error.to_string();
        let (code, field) = match error {
            QuestionError::Time(field) => (ErrorCode::InvalidTimestamp, field.into()),
            QuestionError::RangeEmpty
            | QuestionError::RangeTooLong(_)
            | QuestionError::AnswerTooLong(_) => (ErrorCode::InvalidRange, "from".into()),
            QuestionError::Interval => (ErrorCode::InvalidInterval, "interval".into()),
            QuestionError::Aggregation(_) | QuestionError::AggregationOfType { .. } => {
                (ErrorCode::InvalidAggregation, "aggregation".into())
            }
            QuestionError::Type => (ErrorCode::InvalidType, "type".into()),
            QuestionError::Parameter { field, .. } => (ErrorCode::InvalidParameter, field),
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
