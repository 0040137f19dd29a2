//! What can be asked of a metric, and the shape of the answer.

use std::ops::Deref;

use super::{Interval, MetricName, MetricType, TimeRange, TimestampMs};
use crate::memory::AnswerMemory;

/// One number per bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// The latest point of the bucket over all matching series; on a tie the larger series id wins.
    Last,
    /// The sum divided by the number of values.
    Avg,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The sum.
    Sum,
    /// The sum divided by the seconds of the range that the bucket covers.
    Rate,
    /// The 50th percentile, nearest rank.
    P50,
    /// The 90th percentile, nearest rank.
    P90,
    /// The 95th percentile, nearest rank.
    P95,
    /// The 99th percentile, nearest rank.
    P99,
    /// Distribution: how many values. Set: how many distinct members.
    Count,
}

impl Aggregation {
    /// All aggregations, as users name them.
    pub const ALL: [Self; 11] = [
        Self::Last,
        Self::Avg,
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Rate,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::Count,
    ];

    /// The name users write.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sum => "sum",
            Self::Rate => "rate",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Count => "count",
        }
    }

    /// The aggregation called `text`, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.as_str() == text)
    }

    /// What a metric of this type can be asked for; the first is the default.
    pub fn of(kind: MetricType) -> &'static [Self] {
        use Aggregation::*;
        match kind {
            MetricType::Gauge => &[Avg, Last, Min, Max],
            MetricType::Counter => &[Sum, Rate],
            MetricType::Distribution => &[Avg, Sum, Min, Max, P50, P90, P95, P99, Count],
            MetricType::Set => &[Count],
        }
    }

    /// The quantile of a percentile aggregation, between 0 and 1.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.50),
            Self::P90 => Some(0.90),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            _ => None,
        }
    }
}

/// A condition on the value of one tag. What lacks the tag has the empty value, as in groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagCondition {
    /// The value is one of these.
    AnyOf(TagValues),
    /// The value is none of these.
    NoneOf(TagValues),
    /// There is a value, and it begins with this text.
    Prefix(String),
}

impl TagCondition {
    /// Whether a series or an event without the tag matches.
    pub fn matches_absent(&self) -> bool {
        match self {
            Self::AnyOf(values) => values.contains(""),
            Self::NoneOf(values) => !values.contains(""),
            Self::Prefix(_) => false,
        }
    }
}

/// The values of a condition: sorted once, however many sources are searched for them, and each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagValues(Vec<String>);

impl TagValues {
    /// Whether `value` is one of them.
    pub fn contains(&self, value: &str) -> bool {
        self.0.binary_search_by(|own| own.as_str().cmp(value)).is_ok()
    }
}

impl From<Vec<String>> for TagValues {
    fn from(mut values: Vec<String>) -> Self {
        values.sort_unstable();
        values.dedup();
        Self(values)
    }
}

impl FromIterator<String> for TagValues {
    fn from_iter<I: IntoIterator<Item = String>>(values: I) -> Self {
        Self::from(Vec::from_iter(values))
    }
}

impl Deref for TagValues {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

/// One tag that a series must match. Several filters must all match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFilter {
    /// The tag key.
    pub key: String,
    /// What its value must be.
    pub condition: TagCondition,
}

/// A question about one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricQuery {
    /// The metric.
    pub metric: MetricName,
    /// The half-open range of time. For distributions and sets it is widened to whole minutes.
    pub range: TimeRange,
    /// The width of the buckets, aligned to the epoch.
    pub interval: Interval,
    /// What to compute; at least one, each one that the metric's type has.
    pub aggregations: Vec<Aggregation>,
    /// Which series count; all of them when empty.
    pub filters: Vec<TagFilter>,
    /// The tag keys whose values make the groups; one group of everything when empty.
    pub group_by: Vec<String>,
}

#[cfg(test)]
impl MetricQuery {
    /// A query of all series of a metric, as one group.
    pub(crate) fn of_all(
        metric: &str,
        range: TimeRange,
        interval: Interval,
        aggregations: &[Aggregation],
    ) -> Self {
        let (metric, aggregations) = (MetricName::new(metric).unwrap(), aggregations.to_vec());
        Self { metric, range, interval, aggregations, filters: Vec::new(), group_by: Vec::new() }
    }

    /// The same with a group for each value of a tag.
    pub(crate) fn by(self, tag: &str) -> Self {
        Self { group_by: vec![tag.to_owned()], ..self }
    }
}

/// The answer: groups sorted by key, in each the buckets that hold anything, in time order.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResult {
    /// The type of the metric.
    pub kind: MetricType,
    /// The range that was answered, after widening.
    pub range: TimeRange,
    /// The parts of the range of which only cells are left, where those are wider than the buckets asked for or where the range was
    /// widened to take in whole ones. In time order. A cell is in the bucket that its start lies in, which then covers all of it.
    pub coarse: Vec<CoarseRange>,
    /// The groups that hold any bucket, sorted by key.
    pub groups: Vec<Group>,
    /// What the answer cost.
    pub stats: QueryStats,
    /// What it takes.
    pub memory: AnswerMemory,
}

/// A part of the range that only cells of one width cover, because what was finer has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoarseRange {
    /// The part; it consists of whole cells.
    pub range: TimeRange,
    /// The width of the cells.
    pub width: Interval,
}

/// The buckets of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// One value per key of `group_by`; `""` where the series lacks the tag. Empty without `group_by`.
    pub key: Vec<String>,
    /// The starts of the buckets that hold anything, ascending.
    pub starts: Vec<TimestampMs>,
    /// One column per aggregation asked for, each as long as `starts`.
    pub columns: Vec<Vec<f64>>,
}

/// What a query touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryStats {
    /// Series that matched the filters.
    pub series: u64,
    /// Raw points read, from blocks and head.
    pub points: u64,
    /// Rollup cells read.
    pub cells: u64,
    /// Blocks read.
    pub blocks: u64,
    /// Blocks in the range that could not be read because they are quarantined.
    pub quarantined: u64,
}
