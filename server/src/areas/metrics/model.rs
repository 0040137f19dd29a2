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
