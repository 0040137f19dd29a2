//! Where the series come from: counts by metric, by tag key and by tag value, from the registry
//! alone.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::Metrics;
use super::registry::{KeySeries, TagKeyUse};
use crate::error::{Refusal, Result};
use crate::memory::ResultMemory;
use crate::model::TextSearch;
use crate::query_in_progress::QueryInProgress;

/// What series are counted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardinalityBy {
    /// Metrics, by their number of series; with a key, of series that have the tag.
    Metric {
        /// The tag key.
        key: Option<String>,
    },
    /// Tag keys, by their number of distinct values.
    TagKey,
    /// The values of a tag key, by their number of series.
    TagValue {
        /// The tag key.
        key: String,
    },
}

/// A question about the number of series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardinalityQuery {
    /// What series are counted by.
    pub by: CardinalityBy,
    /// Counts only series of this metric.
    pub metric: Option<String>,
    /// Returns only rows whose name matches.
    pub search: Option<TextSearch>,
    /// The number of rows to skip.
    pub offset: usize,
    /// The maximum number of rows to return.
    pub limit: usize,
}

/// The rows with the largest counts; rows with equal counts are in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardinalityPage {
    /// The number of matching rows on all pages.
    pub total: usize,
    /// The number of series counted, of all rows that match. A series with several tags counts once
    /// for each of them if rows are tag keys.
    pub series: u64,
    /// The rows of the page.
    pub rows: Vec<CardinalityRow>,
    /// The memory of the page.
    pub memory: ResultMemory,
}

/// The counts of a metric, a tag key or a tag value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardinalityRow {
    /// The name of the metric or of the key, or the value.
    pub name: String,
    /// The number of its series.
    pub series: u64,
    /// The number of distinct values: of a tag key, or of the key that a query by metric names.
    pub values: Option<u64>,
    /// The number of metrics that have it; 1 for a metric.
    pub metrics: u64,
}

/// Approximate bytes of a row besides its name.
const ROW_BYTES: usize = 2 * size_of::<CardinalityRow>();

impl Metrics {
    /// Returns a page of counts. Takes time proportional to the number of metrics, keys or values
    /// that are counted; the registry is locked for one metric at a time.
    pub(crate) fn cardinality(&self, query: &CardinalityQuery) -> Result<CardinalityPage> {
        let in_progress =
            QueryInProgress::begin(&self.options().memory, self.options().query_bytes);
        if let Some(name) = &query.metric
            && self.registry.with_metric(name, |_| ()).is_none()
        {
            return Err(Refusal::MetricNotFound(name.clone()).into());
        }
        let rows = match &query.by {
            CardinalityBy::Metric { key } => self.by_metric(query, key.as_deref(), &in_progress)?,
            CardinalityBy::TagKey => self.by_key(query, &in_progress)?,
            CardinalityBy::TagValue { key } => self.by_value(query, key, &in_progress)?,
        };
        let page = page(rows, query);
        in_progress
            .take_for_result(page.rows.iter().map(|row| ROW_BYTES + row.name.len()).sum())?;
        Ok(CardinalityPage { memory: in_progress.into_memory(), ..page })
    }

    fn by_metric(
        &self,
        query: &CardinalityQuery,
        key: Option<&str>,
        in_progress: &QueryInProgress,
    ) -> Result<Vec<CardinalityRow>> {
        let mut rows = Rows::new(query, in_progress);
        self.registry.each_use(query.metric.as_deref(), key, |name, metric_series, of_key| {
            let (series, values) = match (key, of_key) {
                (None, _) => (metric_series, None),
                (Some(_), Some(KeySeries { series, values })) => (series, Some(values)),
                (Some(_), None) => return Ok(()),
            };
            if series == 0 {
                return Ok(());
            }
            rows.add(name, |name| CardinalityRow { name, series, values, metrics: 1 })
        })?;
        Ok(rows.rows)
    }

    fn by_key(
        &self,
        query: &CardinalityQuery,
        in_progress: &QueryInProgress,
    ) -> Result<Vec<CardinalityRow>> {
        let mut keys: HashMap<String, TagKeyUse> = HashMap::new();
        for metric in self.registry.metric_ids(query.metric.as_deref()) {
            in_progress.check()?;
            let new = self.registry.add_keys(metric, &mut keys);
            in_progress.take(new)?;
        }
        let mut rows = Rows::new(query, in_progress);
        for (name, TagKeyUse { series, metrics, values }) in &keys {
            let values = Some(values.len());
            let (series, metrics) = (*series, *metrics);
            rows.add(name, |name| CardinalityRow { name, series, values, metrics })?;
        }
        Ok(rows.rows)
    }

    fn by_value(
        &self,
        query: &CardinalityQuery,
        key: &str,
        in_progress: &QueryInProgress,
    ) -> Result<Vec<CardinalityRow>> {
        let mut rows = Rows::new(query, in_progress);
        let metrics = self.registry.metric_ids(query.metric.as_deref());
        if let [metric] = metrics.as_slice() {
            self.registry.each_value(*metric, key, |value, series| {
                rows.add(value, |name| CardinalityRow { name, series, values: None, metrics: 1 })
            })?;
            return Ok(rows.rows);
        }
        let mut values: HashMap<String, ValueUse> = HashMap::new();
        for metric in metrics {
            in_progress.check()?;
            self.registry.each_value(metric, key, |value, series| {
                if !rows.is_wanted(value) {
                    return Ok(());
                }
                if !values.contains_key(value) {
                    in_progress.take(VALUE_BYTES + value.len())?;
                }
                let known = values.entry_ref(value).or_default();
                known.series += series;
                known.metrics += 1;
                Ok(())
            })?;
        }
        for (name, ValueUse { series, metrics }) in &values {
            let (series, metrics) = (*series, *metrics);
            rows.add(name, |name| CardinalityRow { name, series, values: None, metrics })?;
        }
        Ok(rows.rows)
    }
}

/// The use of a tag value over several metrics.
#[derive(Clone, Copy, Debug, Default)]
struct ValueUse {
    series: u64,
    metrics: u64,
}

/// Approximate bytes of an entry of a map by value, at least half full.
const VALUE_BYTES: usize = 2 * size_of::<(String, ValueUse)>();

/// The rows that match, with their memory.
struct Rows<'a> {
    query: &'a CardinalityQuery,
    in_progress: &'a QueryInProgress,
    lower: String,
    rows: Vec<CardinalityRow>,
}

impl<'a> Rows<'a> {
    fn new(query: &'a CardinalityQuery, in_progress: &'a QueryInProgress) -> Self {
        Self { query, in_progress, lower: String::new(), rows: Vec::new() }
    }

    /// Returns whether the search finds a name.
    fn is_wanted(&mut self, name: &str) -> bool {
        let search = self.query.search.as_ref();
        search.is_none_or(|search| search.rank(name, &mut self.lower).is_some())
    }

    fn add(&mut self, name: &str, row: impl FnOnce(String) -> CardinalityRow) -> Result<()> {
        if !self.is_wanted(name) {
            return Ok(());
        }
        let Self { in_progress, rows, .. } = self;
        if rows.len().is_multiple_of(1_024) {
            in_progress.check()?;
        }
        in_progress.take(ROW_BYTES + name.len())?;
        rows.push(row(name.to_owned()));
        Ok(())
    }
}

/// Returns the page of the rows: only the rows up to its end are sorted.
fn page(mut rows: Vec<CardinalityRow>, query: &CardinalityQuery) -> CardinalityPage {
    let (total, series) = (rows.len(), rows.iter().map(|row| row.series).sum());
    let largest_first = |a: &CardinalityRow, b: &CardinalityRow| {
        let measure = |row: &CardinalityRow| match query.by {
            CardinalityBy::TagKey => (row.values.unwrap_or(0), row.series),
            CardinalityBy::Metric { .. } | CardinalityBy::TagValue { .. } => (row.series, 0),
        };
        (Reverse(measure(a)), &a.name).cmp(&(Reverse(measure(b)), &b.name))
    };
    let end = query.offset.saturating_add(query.limit);
    if end < rows.len() {
        rows.select_nth_unstable_by(end, largest_first);
        rows.truncate(end);
    }
    rows.sort_unstable_by(largest_first);
    let rows = rows.into_iter().skip(query.offset).collect();
    CardinalityPage { total, series, rows, memory: ResultMemory::default() }
}
