//! The types of the area: a received sample, the outcome of a batch, and a parsed query.

/// The name of a metric: the rules of names are those of the engine.
pub(super) use telltale_engine::MetricName;
use telltale_engine::{MetricQuery, MetricType, TimestampMs};

use super::error::InputError;
use crate::platform::telemetry::batch;
use crate::platform::telemetry::buckets::BucketWidth;

/// A sample that was parsed and validated except for the engine's rules: name, tags and type are
/// not checked yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point<'a> {
    /// The name of the metric.
    pub name: &'a str,
    /// The type that the client sent.
    pub kind: MetricType,
    /// The value: a member for sets, a number for every other type.
    pub value: Measured<'a>,
    /// The timestamp; the time of receipt if the client sent none.
    pub time: TimestampMs,
    /// The tags, in the order sent.
    pub tags: &'a [(&'a str, &'a str)],
}

/// The value of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured<'a> {
    /// A finite number, never negative zero.
    Number(f64),
    /// A member of a set.
    Member(&'a str),
}

/// The outcome of a batch.
pub type Outcome = batch::Outcome<InputError>;

/// A query of one metric, and the form of its response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParsedQuery {
    /// The engine query.
    pub(super) query: MetricQuery,
    /// The width of the buckets.
    pub(super) width: BucketWidth,
    /// The value of buckets without samples.
    pub(super) fill: Fill,
    /// The form of the response.
    pub(super) form: Form,
    /// The groups to show; all if absent.
    pub(super) top: Option<Top>,
}

/// The form in which a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each point is an object.
    Points,
    /// One array of times, and one of values for each group and aggregation.
    Columns,
}

/// The number of groups to show, and what they are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Top {
    /// The number of groups, at least 1.
    pub(super) count: usize,
    /// What makes a group the larger one.
    pub(super) by: TopBy,
}

/// A measure of the values of a group: of the first aggregation, one for each bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TopBy {
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Their mean.
    Avg,
    /// Their sum.
    Sum,
    /// The latest.
    Last,
}

/// How many groups a result had, and how many are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupCounts {
    pub(super) groups: usize,
    pub(super) shown: usize,
}

/// The value of buckets without samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// The bucket is omitted.
    None,
    /// `null`
    Null,
    /// 0
    Zero,
    /// The value of the preceding bucket; `null` before the first.
    Previous,
}

impl TopBy {
    /// All measures.
    pub(super) const ALL: [Self; 5] = [Self::Max, Self::Min, Self::Avg, Self::Sum, Self::Last];

    /// Returns the name in requests.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Min => "min",
            Self::Avg => "avg",
            Self::Sum => "sum",
            Self::Last => "last",
        }
    }

    /// Parses the name of a measure; `None` if it is unknown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.as_str() == text)
    }
}

impl Form {
    /// Parses the name of a form; `None` if it is unknown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "points" => Some(Self::Points),
            "columns" => Some(Self::Columns),
            _ => None,
        }
    }
}

#[cfg(test)]
impl GroupCounts {
    /// Returns the counts of a result of which all groups are shown.
    pub(super) fn of(result: &telltale_engine::QueryResult) -> Self {
        Self { groups: result.groups.len(), shown: result.groups.len() }
    }
}

impl Fill {
    /// Parses the name of a fill; `None` if it is unknown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "null" => Some(Self::Null),
            "zero" => Some(Self::Zero),
            "previous" => Some(Self::Previous),
            _ => None,
        }
    }
}
