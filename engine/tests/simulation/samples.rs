//! The names and tags of samples in histories, and their form for the engine and the model.

use telltale_engine::{MetricType, StartTime};

use super::bucketed_values::BucketedValues;

/// The metric whose samples mark which writes without a receipt are stored.
pub(crate) const MARKER: &str = "marker";
/// Number of metrics. Each has a type until it is deleted; then it may get another one.
pub(crate) const METRICS: u8 = 7;
/// The metric with an excessive number of series.
pub(crate) const FLOOD: u8 = METRICS;
/// From this series on, series have the maximum number and length of tags.
const LONG_FROM: u32 = 60;

/// A sample as it is written: with its absolute time and cumulative value.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) metric: String,
    pub(crate) kind: MetricType,
    pub(crate) series: u32,
    pub(crate) time: i64,
    pub(crate) payload: Payload,
}

#[derive(Clone, Debug)]
pub(crate) enum Payload {
    Number(f64),
    Member(u32),
    /// In hundredths.
    Total(u64, StartTime),
    Delta(BucketedValues),
    Cumulative(BucketedValues, StartTime),
    /// Bounds of a histogram that has one value between each two of them.
    Dense(Vec<f64>),
}

pub(crate) fn metric_name(metric: u8) -> String {
    format!("metric-{metric}")
}

pub(crate) fn member_name(member: u32) -> String {
    format!("member-{member}")
}

/// Returns the tags of a series. All series differ in `host` or `zone`; zone 0 means no tag.
pub(crate) fn tags_of(metric: &str, series: u32) -> Vec<(String, String)> {
    if metric == MARKER {
        return vec![("write".into(), series.to_string())];
    }
    let mut tags = vec![("host".to_owned(), format!("host-{}", series / 3))];
    if !series.is_multiple_of(3) {
        tags.push(("zone".to_owned(), format!("zone-{}", series % 3)));
    }
    if series >= LONG_FROM && metric != metric_name(FLOOD) {
        tags.extend((0..30).map(|n| (format!("{n:0>100}"), format!("{n:-<200}"))));
    }
    tags
}

/// Returns the value of a tag of a series, empty where it has none.
pub(crate) fn tag_of(metric: &str, series: u32, key: &str) -> String {
    let tags = tags_of(metric, series);
    tags.into_iter().find(|(k, _)| k == key).map(|(_, value)| value).unwrap_or_default()
}

/// Returns the values that represent the buckets of a dense histogram.
pub(crate) fn dense_values(bounds: &[f64]) -> Vec<f64> {
    bounds.windows(2).map(|pair| pair[0] / 2.0 + pair[1] / 2.0).collect()
}
