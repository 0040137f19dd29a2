//! Metric metadata: names, types, tag keys and values, point counts and time ranges.

use super::Metrics;
use super::compact::{Source, merge_scan};
use super::registry::{MetricEntry, TagValueFilter, TagValuePage};
use crate::error::{Refusal, Result};
use crate::model::{
    MetricName, MetricType, RankedPage, SearchRank, TextSearch, TimeRange, TimestampMs,
};
use crate::query_in_progress::Cancellation;

/// A filter over metric definitions.
#[derive(Clone, Debug, Default)]
pub struct DefinitionFilter {
    /// Returns only names with this prefix.
    pub prefix: Option<String>,
    /// Returns only names that match, the best matches first.
    pub search: Option<TextSearch>,
    /// Returns only metrics of this type.
    pub kind: Option<MetricType>,
    /// The number of matching definitions to skip.
    pub offset: usize,
    /// The maximum number of definitions to return.
    pub limit: usize,
}

/// A page of definitions, sorted by name; with a search, by rank, then by name.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionPage {
    /// The number of matching definitions on all pages.
    pub total: usize,
    /// The definitions of the page.
    pub definitions: Vec<MetricDefinition>,
}

/// The metadata of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricDefinition {
    /// Its name.
    pub name: MetricName,
    /// Its type.
    pub kind: MetricType,
    /// The tag keys of its series, sorted.
    pub tag_keys: Vec<String>,
    /// The time of its earliest point.
    pub first_seen: TimestampMs,
    /// The time of its latest point.
    pub last_seen: TimestampMs,
    /// The number of points accepted since the metric was created, expired ones included. A gauge
    /// point replaced by a later one at the same time is no longer counted: immediately if it is
    /// still in memory, otherwise once its window has been compacted.
    pub data_points: u64,
    /// The number of its series.
    pub series: u64,
}

impl Metrics {
    pub(crate) fn definitions(&self, filter: &DefinitionFilter) -> DefinitionPage {
        let mut page = RankedPage::new(filter.offset.saturating_add(filter.limit));
        let mut lower = String::new();
        self.registry.each_metric(filter.prefix.as_deref().unwrap_or(""), |metric| {
            // A metric is visible once it has a durable point.
            if filter.kind.is_some_and(|kind| kind != metric.kind) {
                return;
            }
            let rank = match &filter.search {
                None => Some(SearchRank::Exact),
                Some(search) => search.rank(metric.name.as_str(), &mut lower),
            };
            if let Some(rank) = rank.filter(|_| self.view.stats(metric.id).points > 0) {
                page.add(rank, || metric.name.clone());
            }
        });
        let (total, names) = page.finish(filter.offset);
        let definitions = names.iter().filter_map(|n| self.describe(n.as_str())).collect();
        DefinitionPage { total, definitions }
    }

    /// Calls `visit` with the name and the type of every metric that has points, in no particular
    /// order. The registry is locked for one metric at a time, never during `visit`. Stops when the
    /// client for which this thread works no longer waits.
    pub(crate) fn visit(&self, mut visit: impl FnMut(&MetricName, MetricType)) -> Result<()> {
        for (number, id) in self.registry.metric_ids(None).into_iter().enumerate() {
            if number.is_multiple_of(1_024) {
                Cancellation::check_current()?;
            }
            let Some((name, kind)) = self.registry.name_and_type(id) else { continue };
            if self.view.stats(id).points > 0 {
                visit(&name, kind);
            }
        }
        Ok(())
    }

    pub(crate) fn definition(&self, name: &str) -> Result<Option<MetricDefinition>> {
        let Some(mut definition) = self.describe(name) else { return Ok(None) };
        let metric = self.registry.with_metric(name, |metric| metric.id);
        if let (Some(metric), MetricType::Gauge) = (metric, definition.kind) {
            let (stats, runs) = self.view.stats_and_runs(metric);
            let mut sources: Vec<Source<'_>> = runs.into_iter().map(Source::Run).collect();
            let all = (TimeRange::ALL.start.0, TimeRange::ALL.end.0);
            let replaced = merge_scan(&mut sources, definition.kind, None, all, |_, _, _| Ok(()))?;
            definition.data_points = stats.without(replaced).points;
        }
        Ok(Some(definition))
    }

    /// Returns the metadata of a metric without scanning its points: points replaced in memory are
    /// still counted. `None` when the metric does not exist or has no points.
    fn describe(&self, name: &str) -> Option<MetricDefinition> {
        let entry =
            |metric: &MetricEntry| (metric.id, metric.kind, metric.name.clone(), metric.series());
        let (id, kind, name, series) = self.registry.with_metric(name, entry)?;
        let stats = self.view.stats(id);
        if stats.points == 0 {
            return None;
        }
        Some(MetricDefinition {
            kind,
            tag_keys: self.registry.tag_key_names(name.as_str()).unwrap_or_default(),
            first_seen: stats.first,
            last_seen: stats.last,
            data_points: stats.points,
            series,
            name,
        })
    }

    pub(crate) fn tag_keys(&self, name: &str) -> Result<Vec<(String, u64)>> {
        let keys = self.registry.tag_keys(name);
        keys.ok_or_else(|| Refusal::MetricNotFound(name.to_owned()).into())
    }

    pub(crate) fn tag_value_page(
        &self,
        name: &str,
        key: &str,
        filter: &TagValueFilter,
    ) -> Result<TagValuePage> {
        let page = self.registry.tag_value_page(name, key, filter);
        page.ok_or_else(|| Refusal::MetricNotFound(name.to_owned()).into())
    }

    pub(crate) fn tag_values(&self, name: &str, key: &str) -> Result<Vec<(String, u64)>> {
        let values = self.registry.tag_values(name, key);
        values.ok_or_else(|| Refusal::MetricNotFound(name.to_owned()).into())
    }
}
