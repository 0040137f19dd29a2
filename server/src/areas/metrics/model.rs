//! What the area works with: a point as it came in, what became of a batch, and a question about a metric.

use telltale_engine::{MetricQuery, MetricType, TimestampMs};

use super::error::InputError;
use crate::platform::telemetry::batch;
use crate::platform::telemetry::buckets::Width;

/// A point that passed every rule but those of the engine: name, tags and type are not checked yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point<'a> {
    /// The metric.
    pub name: &'a str,
    /// The type that the caller gave.
    pub kind: MetricType,
    /// What was measured; a member for sets and a number for every other type.
    pub value: Measured<'a>,
    /// When; the time of receipt unless the caller said.
    pub time: TimestampMs,
    /// The tags, in the order they were sent.
    pub tags: &'a [(&'a str, &'a str)],
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured<'a> {
    /// A finite number, never negative zero.
    Number(f64),
    /// A member of a set.
    Member(&'a str),
}

/// What became of a batch.
pub type Outcome = batch::Outcome<InputError>;

/// A question about one metric, and how the answer shall look.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// What the engine is asked.
    pub(super) query: MetricQuery,
    /// The width of the buckets by its name.
    pub(super) width: Width,
    /// What stands for a bucket without points.
    pub(super) fill: Fill,
}

/// What stands for a bucket without points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Nothing: the bucket is left out.
    None,
    /// `null`
    Null,
    /// 0
    Zero,
    /// What the bucket before it has; `null` before the first.
    Previous,
}

impl Fill {
    /// The fill called `text`, if there is one.
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
