//! Queries over one metric, and their results.

use std::ops::Deref;

use super::{Interval, MetricName, MetricType, TimeRange, TimestampMs};
use crate::memory::ResultMemory;

/// An aggregation: one number per bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// The latest sample of the bucket over all matching series; of equal times, the one of the
    /// larger series id.
    Last,
    /// The sum divided by the number of samples.
    Avg,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The sum.
    Sum,
    /// The sum divided by the seconds of the time range that the bucket covers.
    Rate,
    /// The 50th percentile, nearest rank.
    P50,
    /// The 90th percentile, nearest rank.
    P90,
    /// The 95th percentile, nearest rank.
    P95,
    /// The 99th percentile, nearest rank.
    P99,
    /// Distributions: the number of samples. Sets: the number of distinct members.
    Count,
}

impl Aggregation {
    /// All aggregations, in the order used by the API.
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

    /// Returns the name used in the API.
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

    /// Returns the aggregation with the name `text`, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.as_str() == text)
    }

    /// Returns the aggregations available for a metric type; the first is the default.
    pub fn of(kind: MetricType) -> &'static [Self] {
        use Aggregation::*;
        match kind {
            MetricType::Gauge => &[Avg, Last, Min, Max],
            MetricType::Counter => &[Sum, Rate],
            MetricType::Distribution => &[Avg, Sum, Min, Max, P50, P90, P95, P99, Count],
            MetricType::Set => &[Count],
        }
    }

    /// Returns the quantile of a percentile aggregation, between 0 and 1, or `None` for others.
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

/// A condition on the value of one tag. A missing tag has the empty value, as in `group_by`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagCondition {
    /// The value is one of these.
    AnyOf(TagValues),
    /// The value is none of these.
    NoneOf(TagValues),
    /// The tag exists and its value has this prefix.
    Prefix(String),
}

impl TagCondition {
    /// Returns whether a tag with this value matches.
    pub(crate) fn matches(&self, value: &str) -> bool {
        match self {
            Self::AnyOf(values) => values.contains(value),
            Self::NoneOf(values) => !values.contains(value),
            Self::Prefix(prefix) => value.starts_with(prefix.as_str()),
        }
    }

    /// Returns whether a series or an event without the tag matches.
    pub fn matches_absent(&self) -> bool {
        match self {
            Self::AnyOf(values) => values.contains(""),
            Self::NoneOf(values) => !values.contains(""),
            Self::Prefix(_) => false,
        }
    }
}

/// The values of a condition: sorted once for all lookups, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagValues(Vec<String>);

impl TagValues {
    /// Returns whether `value` is one of the values.
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

/// A condition on one tag that a series must match. All filters of a query must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFilter {
    /// The tag key.
    pub key: String,
    /// The condition on its value.
    pub condition: TagCondition,
}

/// A query over one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricQuery {
    /// The metric.
    pub metric: MetricName,
    /// The half-open time range. For distributions and sets it is widened to whole minutes.
    pub range: TimeRange,
    /// The width of the buckets, aligned to the epoch.
    pub interval: Interval,
    /// The aggregations to compute; at least one, each available for the metric's type.
    pub aggregations: Vec<Aggregation>,
    /// Conditions on the series; empty means all series.
    pub filters: Vec<TagFilter>,
    /// The tag keys to group by; empty means one group of all series.
    pub group_by: Vec<String>,
}

#[cfg(test)]
impl MetricQuery {
    /// Returns a query over all series of a metric, as one group.
    pub(crate) fn of_all(
        metric: &str,
        range: TimeRange,
        interval: Interval,
        aggregations: &[Aggregation],
    ) -> Self {
        let (metric, aggregations) = (MetricName::new(metric).unwrap(), aggregations.to_vec());
        Self { metric, range, interval, aggregations, filters: Vec::new(), group_by: Vec::new() }
    }

    /// Adds grouping by a tag.
    pub(crate) fn by(self, tag: &str) -> Self {
        Self { group_by: vec![tag.to_owned()], ..self }
    }
}

/// The result of a query: groups sorted by key, each with its non-empty buckets in time order.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResult {
    /// The type of the metric.
    pub kind: MetricType,
    /// The time range of the result, after widening.
    pub range: TimeRange,
    /// The parts of the range for which only rollup cells are left, if those are wider than the
    /// requested buckets or if the range was widened to whole cells. In time order. A cell counts
    /// in the bucket that contains its start.
    pub coarse: Vec<CoarseRange>,
    /// The groups with at least one bucket, sorted by key.
    pub groups: Vec<Group>,
    /// The cost of the query.
    pub stats: QueryStats,
    /// The memory of the result.
    pub memory: ResultMemory,
}

/// A part of the range that is covered only by cells of one width, because finer data has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoarseRange {
    /// The part of the range; it consists of whole cells.
    pub range: TimeRange,
    /// The width of the cells.
    pub width: Interval,
}

/// The buckets of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// One value per key of `group_by`; `""` if the series does not have the tag. Empty without
    /// `group_by`.
    pub key: Vec<String>,
    /// The start times of non-empty buckets, ascending.
    pub starts: Vec<TimestampMs>,
    /// One column per requested aggregation, each as long as `starts`.
    pub columns: Vec<Vec<f64>>,
}

/// The cost of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryStats {
    /// Series that matched the filters.
    pub series: u64,
    /// Raw samples read from blocks and the head.
    pub points: u64,
    /// Rollup cells read.
    pub cells: u64,
    /// Blocks read.
    pub blocks: u64,
    /// Blocks in the time range that were skipped because they are quarantined.
    pub quarantined: u64,
}
