//! Counts of series by metric, tag key and tag value, and pages of tag values.

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use super::index::{Index, MetricEntry};
use super::postings::Posting;
use super::series::Registry;
use crate::error::Result;
use crate::model::{MetricId, SearchRank, TagFilter, TextSearch};

/// The series of one metric that have a tag key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeySeries {
    pub(crate) series: u64,
    /// The number of distinct values.
    pub(crate) values: u64,
}

/// The use of a tag key over several metrics.
#[derive(Debug, Default)]
pub(crate) struct TagKeyUse {
    pub(crate) series: u64,
    pub(crate) metrics: u64,
    /// The numbers of the distinct values.
    pub(crate) values: RoaringBitmap,
}

/// A filter over the values of a tag.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TagValueFilter {
    /// Returns only values that match, the best matches first. Without it, values are sorted.
    pub search: Option<TextSearch>,
    /// Counts only series that match all of these, and returns only values of such series.
    pub filters: Vec<TagFilter>,
    /// The number of values to skip.
    pub offset: usize,
    /// The maximum number of values to return.
    pub limit: usize,
}

/// A page of the values of a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagValuePage {
    /// The number of matching values on all pages.
    pub total: usize,
    /// The values of the page, each with its number of series.
    pub values: Vec<(String, u64)>,
}

/// Approximate bytes of an entry of a map by key, at least half full.
const ENTRY_BYTES: usize = 2 * size_of::<(String, TagKeyUse)>();
/// Values that are collected beyond twice the end of the page before the worse ones are dropped.
const PAGE_SLACK: usize = 1_024;

impl Registry {
    /// Returns a page of the values of a tag of the metric named `name`; `None` if it does not
    /// exist.
    pub(crate) fn tag_value_page(
        &self,
        name: &str,
        key: &str,
        filter: &TagValueFilter,
    ) -> Option<TagValuePage> {
        let index = self.index_with_postings(name);
        index.metric_named(name).map(|metric| index.value_page(metric, key, filter))
    }

    /// Returns the ids of all metrics, or of the one that is named.
    pub(crate) fn metric_ids(&self, only: Option<&str>) -> Vec<MetricId> {
        let index = self.index().read();
        match only {
            Some(name) => index.metric_named(name).map(|metric| metric.id).into_iter().collect(),
            None => index.metrics_from("").map(|metric| metric.id).collect(),
        }
    }

    /// Calls `read` with every metric, or the one that is named: its name, its number of series,
    /// and the use of `key` in it.
    pub(crate) fn each_use(
        &self,
        only: Option<&str>,
        key: Option<&str>,
        mut read: impl FnMut(&str, u64, Option<KeySeries>) -> Result<()>,
    ) -> Result<()> {
        for id in self.metric_ids(only) {
            let index = self.index_with_postings_of(|_| key.map(|_| id));
            // A metric may have been deleted meanwhile.
            let Some(metric) = index.metric(id) else { continue };
            let of_key = key.and_then(|key| index.key_series(metric, key));
            read(metric.name.as_str(), metric.series(), of_key)?;
        }
        Ok(())
    }

    /// Adds the tag keys of a metric to `keys`. Returns the approximate bytes by which that grew.
    pub(crate) fn add_keys(
        &self,
        metric: MetricId,
        keys: &mut HashMap<String, TagKeyUse>,
    ) -> usize {
        let index = self.index_with_postings_of(|_| Some(metric));
        let Some(metric) = index.metric(metric) else { return 0 };
        let mut grown = 0;
        for (key, values) in metric.postings.keys() {
            let key = index.string(key);
            if !keys.contains_key(key) {
                grown += ENTRY_BYTES + key.len();
            }
            let known = keys.entry_ref(key).or_default();
            let before = known.values.serialized_size();
            known.series += values.values().map(Posting::len).sum::<u64>();
            known.metrics += 1;
            known.values.extend(values.keys().map(|value| value.0));
            grown += known.values.serialized_size().saturating_sub(before);
        }
        grown
    }

    /// Calls `read` with every value of a tag key in a metric, and its number of series. Names are
    /// passed, as the numbers of strings are reused once the lock is released.
    pub(crate) fn each_value(
        &self,
        metric: MetricId,
        key: &str,
        mut read: impl FnMut(&str, u64) -> Result<()>,
    ) -> Result<()> {
        let index = self.index_with_postings_of(|_| Some(metric));
        // A metric may have been deleted meanwhile.
        let Some(metric) = index.metric(metric) else { return Ok(()) };
        let values = index.string_id(key).and_then(|key| metric.postings.values(key));
        let mut values = values.into_iter().flatten();
        values.try_for_each(|(value, posting)| read(index.string(*value), posting.len()))
    }
}

impl Index {
    fn key_series(&self, metric: &MetricEntry, key: &str) -> Option<KeySeries> {
        let values = metric.postings.values(self.string_id(key)?)?;
        let series = values.values().map(Posting::len).sum();
        Some(KeySeries { series, values: values.len() as u64 })
    }

    fn value_page(&self, metric: &MetricEntry, key: &str, filter: &TagValueFilter) -> TagValuePage {
        let TagValueFilter { search, filters, offset, limit } = filter;
        let end = offset.saturating_add(*limit);
        let among = (!filters.is_empty()).then(|| self.select(metric, filters, &[]).series);
        let mut lower = String::new();
        // Grows with the end of the page, not with the number of values.
        let mut found: Vec<(SearchRank, &str, u64)> = Vec::new();
        let mut total = 0;
        let values = self.string_id(key).and_then(|key| metric.postings.values(key));
        for (value, posting) in values.into_iter().flatten() {
            let value = self.string(*value);
            let rank = match search {
                None => Some(SearchRank::Exact),
                Some(search) => search.rank(value, &mut lower),
            };
            let Some(rank) = rank else { continue };
            let series =
                among.as_ref().map_or_else(|| posting.len(), |among| posting.len_in(among));
            if series > 0 {
                found.push((rank, value, series));
                total += 1;
            }
            if found.len() >= end.saturating_mul(2).saturating_add(PAGE_SLACK) {
                found.select_nth_unstable(end);
                found.truncate(end);
            }
        }
        if end < found.len() {
            found.select_nth_unstable(end);
            found.truncate(end);
        }
        found.sort_unstable();
        let page = found.into_iter().skip(*offset);
        let values = page.map(|(_, value, series)| (value.to_owned(), series)).collect();
        TagValuePage { total, values }
    }
}
