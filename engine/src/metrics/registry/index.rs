//! The in-memory index of the registry: metrics, series, tags and postings, and the queries on
//! them. It knows nothing of locks, the log or the disk.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use roaring::RoaringBitmap;
use xxhash_rust::xxh3::xxh3_64;

use super::aliases::Aliases;
use super::measured_set::MeasuredSet;
use super::postings::Postings;
use super::strings::Strings;
use super::table::{SeriesTable, Tag};
use crate::limits;
use crate::log::{MetricDefined, SeriesDefined};
use crate::model::{MetricId, MetricName, MetricType, SeriesId, StringId, Tags, TimestampMs};

/// The number of points of a metric and their time range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MetricStats {
    pub(crate) first: TimestampMs,
    pub(crate) last: TimestampMs,
    pub(crate) points: u64,
}

impl MetricStats {
    pub(crate) const EMPTY: Self =
        Self { first: TimestampMs(i64::MAX), last: TimestampMs(i64::MIN), points: 0 };

    pub(crate) fn merge(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.points += other.points;
    }

    /// Returns the stats without points that later ones replaced. The time range stays the same,
    /// because the last written point of each time remains.
    pub(crate) fn without(self, replaced: u64) -> Self {
        Self { points: self.points.saturating_sub(replaced), ..self }
    }
}

/// A metric of the registry.
#[derive(Debug)]
pub(crate) struct MetricEntry {
    pub(crate) id: MetricId,
    pub(crate) name: MetricName,
    pub(crate) kind: MetricType,
    pub(super) series: MeasuredSet,
    pub(super) postings: Postings,
}

/// Bytes of a metric besides its name, set and postings: its entries in two maps whose nodes are at
/// least half full, and the reference counts of the shared name.
const ENTRY_BYTES: usize = 2 * size_of::<(u32, MetricEntry)>()
    + 2 * size_of::<(MetricName, MetricId)>()
    + 2 * size_of::<usize>();

impl MetricEntry {
    pub(crate) fn series(&self) -> u64 {
        self.series.len()
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        ENTRY_BYTES + self.name.as_str().len() + self.series.bytes() + self.postings.bytes()
    }
}

#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) strings: Strings,
    metrics: BTreeMap<u32, MetricEntry>,
    /// Bytes of all metrics.
    metric_bytes: usize,
    by_name: BTreeMap<MetricName, MetricId>,
    pub(super) series: SeriesTable,
    /// By metric and tags. Of several series with the same metric and tags only the newest: the
    /// others have no data and are about to retire.
    by_tags: HashTable<u32>,
    pub(super) aliases: Aliases,
    /// The tags of the series that was defined last: those of the next one are mostly the same.
    last_tags: Vec<Tag>,
    /// Series that retire unless they are looked up before.
    retiring: MeasuredSet,
    next_metric: u32,
    next_series: u32,
    live_series: usize,
    /// The number of metrics without series.
    empty_metrics: usize,
}

impl Index {
    pub(super) fn metric(&self, id: MetricId) -> Option<&MetricEntry> {
        self.metrics.get(&id.0)
    }

    /// Returns the string with this number, of a tag key or value.
    pub(super) fn string(&self, id: StringId) -> &str {
        self.strings.string(id)
    }

    /// Returns the number of a tag key or value.
    pub(super) fn string_id(&self, string: &str) -> Option<StringId> {
        self.strings.get(string)
    }

    pub(super) fn metric_named(&self, name: &str) -> Option<&MetricEntry> {
        self.by_name.get(name).and_then(|id| self.metric(*id))
    }

    /// Iterates over the metrics in name order, starting at `prefix`.
    pub(super) fn metrics_from(&self, prefix: &str) -> impl Iterator<Item = &MetricEntry> {
        use std::ops::Bound::{Included, Unbounded};
        self.by_name
            .range::<str, _>((Included(prefix), Unbounded))
            .filter_map(|(_, id)| self.metric(*id))
    }

    pub(super) fn metric_count(&self) -> usize {
        self.metrics.len()
    }

    /// Returns the number of series of existing metrics.
    pub(super) fn live_series(&self) -> usize {
        self.live_series
    }

    pub(super) fn next_metric(&self) -> MetricId {
        MetricId(self.next_metric)
    }

    /// Returns the number of metrics without series, which take as much memory as series do.
    pub(super) fn empty_metrics(&self) -> usize {
        self.empty_metrics
    }

    pub(super) fn next_series(&self) -> SeriesId {
        SeriesId(self.next_series)
    }

    pub(super) fn all_series(&self) -> Vec<(SeriesId, MetricId)> {
        let entries = self.metrics.values();
        entries.flat_map(|m| m.series.iter().map(|series| (SeriesId(series), m.id))).collect()
    }

    /// Marks all metric ids below `next` as used.
    pub(super) fn reserve_metrics(&mut self, next: u32) {
        self.next_metric = self.next_metric.max(next);
    }

    /// Marks all series ids below `next` as used; ids without a definition are never assigned.
    pub(super) fn reserve_series(&mut self, next: u32) {
        self.next_series = self.next_series.max(next);
    }

    pub(super) fn define_metric(&mut self, defined: &MetricDefined) {
        self.reserve_metrics(defined.id.0.saturating_add(1));
        if self.metrics.contains_key(&defined.id.0) {
            return;
        }
        self.by_name.insert(defined.name.clone(), defined.id);
        let entry = MetricEntry {
            id: defined.id,
            name: defined.name.clone(),
            kind: defined.kind,
            series: MeasuredSet::default(),
            postings: Postings::default(),
        };
        self.metric_bytes += entry.bytes();
        self.metrics.insert(defined.id.0, entry);
        self.empty_metrics += 1;
    }

    /// Adds a series and marks all ids up to its id as used. An existing series is left unchanged;
    /// a series of an unknown metric is ignored.
    pub(super) fn define_series(&mut self, defined: &SeriesDefined) {
        let id = defined.id;
        self.reserve_series(id.0.saturating_add(1));
        let Some(metric) = self.metrics.get_mut(&defined.metric.0) else { return };
        if self.series.get(id).is_some() {
            return;
        }
        let Self { strings, last_tags, .. } = self;
        let mut likely = last_tags.iter();
        let tags: Vec<Tag> = defined
            .tags
            .iter()
            .map(|(key, value)| {
                let likely = likely.next();
                let key = strings.acquire_likely(key, likely.map(|tag| tag.0));
                (key, strings.acquire_likely(value, likely.map(|tag| tag.1)))
            })
            .collect();
        self.series.insert(id, defined.metric, &tags);
        if metric.series.is_empty() {
            self.empty_metrics -= 1;
        }
        let bytes_before = metric.bytes();
        metric.series.insert(id.0);
        tags.iter().for_each(|(key, value)| metric.postings.insert(*key, *value, id.0));
        self.metric_bytes = self.metric_bytes + metric.bytes() - bytes_before;
        self.live_series += 1;
        self.add_by_tags(id, hash_series(defined.metric, &tags));
        self.last_tags = tags;
    }

    /// Adds a series whose strings are counted, except to its metric and to those found by tags.
    /// Returns false, changing nothing, if it is present.
    pub(super) fn add_restored(&mut self, id: SeriesId, metric: MetricId, tags: &[Tag]) -> bool {
        let is_new = self.series.insert(id, metric, tags);
        self.live_series += usize::from(is_new);
        is_new
    }

    /// Makes series found by their metric and tags, given the hash of each.
    pub(super) fn add_all_by_tags(&mut self, series: Vec<(u64, SeriesId)>) {
        let table = &self.series;
        self.by_tags.reserve(series.len(), |id| hash_of(table, *id));
        for (hash, id) in series {
            self.add_by_tags(id, hash);
        }
    }

    pub(super) fn release_tags(&mut self, tags: &[Tag]) {
        for (key, value) in tags {
            self.strings.release(*key);
            self.strings.release(*value);
        }
    }

    /// Returns a metric to be changed, the tags of all series, and the bytes of all metrics.
    pub(super) fn metric_to_change(
        &mut self,
        id: MetricId,
    ) -> Option<(&mut MetricEntry, &SeriesTable, &mut usize)> {
        let metric = self.metrics.get_mut(&id.0)?;
        Some((metric, &self.series, &mut self.metric_bytes))
    }

    /// Returns all metrics, to be changed.
    pub(super) fn metrics_mut(&mut self) -> impl Iterator<Item = &mut MetricEntry> {
        self.metrics.values_mut()
    }

    /// Returns whether the posting lists of a metric are complete. A metric that does not exist has
    /// none, so they are.
    pub(super) fn has_postings(&self, metric: MetricId) -> bool {
        self.metric(metric).is_none_or(|metric| metric.postings.is_complete())
    }

    /// Counts the bytes of the metrics, and those without series, after all of them changed.
    pub(super) fn recount_metrics(&mut self) {
        self.metric_bytes = self.metrics.values().map(MetricEntry::bytes).sum();
        let is_empty = |metric: &&MetricEntry| metric.series.is_empty();
        self.empty_metrics = self.metrics.values().filter(is_empty).count();
    }

    /// Makes a series of the table the newest with its metric and tags, whose hash is given.
    fn add_by_tags(&mut self, id: SeriesId, hash: u64) {
        let series = &self.series;
        let same = |other: &u32| series.get(SeriesId(*other)) == series.get(id);
        match self.by_tags.entry(hash, same, |id| hash_of(series, *id)) {
            // The older one has retired, but its removal is not on disk yet.
            Entry::Occupied(mut other) => *other.get_mut() = id.0.max(*other.get()),
            Entry::Vacant(vacant) => drop(vacant.insert(id.0)),
        }
    }

    /// Removes a metric and returns its series. Its ids stay used.
    pub(super) fn drop_metric(&mut self, id: MetricId) -> Option<RoaringBitmap> {
        let entry = self.metrics.remove(&id.0)?;
        // A new metric of the same name may exist already.
        if self.by_name.get(&entry.name) == Some(&id) {
            self.by_name.remove(&entry.name);
        }
        self.empty_metrics -= usize::from(entry.series.is_empty());
        self.metric_bytes -= entry.bytes();
        let series = entry.series.into_bitmap();
        for id in &series {
            self.remove(id, |_, _, _| ());
        }
        self.retiring -= &series;
        self.aliases.forget(&series);
        Some(series)
    }

    /// Removes series that have retired. Their ids stay used, and their metrics are kept.
    pub(super) fn remove_series(&mut self, series: &RoaringBitmap) {
        for id in series {
            self.remove(id, |index, metric, tags| {
                let Some(metric) = index.metrics.get_mut(&metric.0) else { return };
                index.metric_bytes -= metric.bytes();
                metric.series.remove(id);
                tags.iter().for_each(|(key, value)| metric.postings.remove(*key, *value, id));
                index.metric_bytes += metric.bytes();
                index.empty_metrics += usize::from(metric.series.is_empty());
            });
        }
        self.retiring -= series;
    }

    /// Removes a series from everything but its metric, from which `of_metric` removes it.
    fn remove(&mut self, id: u32, of_metric: impl FnOnce(&mut Self, MetricId, &[Tag])) {
        let hash = hash_of(&self.series, id);
        let Some((metric, tags)) = self.series.remove(SeriesId(id)) else { return };
        if let Ok(found) = self.by_tags.find_entry(hash, |other| *other == id) {
            found.remove();
        }
        of_metric(self, metric, &tags);
        self.release_tags(&tags);
        self.live_series -= 1;
    }

    /// Marks series that retire unless they are looked up. Their aliases are removed, so a lookup
    /// reaches them by their tags only, which clears the mark.
    pub(super) fn mark_retiring(&mut self, series: &RoaringBitmap) {
        self.retiring |= series;
        self.aliases.forget(series);
    }

    /// Returns the marked series.
    pub(super) fn retiring(&self) -> &RoaringBitmap {
        &self.retiring
    }

    /// Returns those of `series` that have not been looked up since they were marked.
    pub(super) fn still_retiring(&self, series: &RoaringBitmap) -> RoaringBitmap {
        &*self.retiring & series
    }

    /// Clears all marks: series that were not removed are kept.
    pub(super) fn clear_marks(&mut self) {
        self.retiring.clear();
    }

    /// Clears the mark of a series that was looked up.
    pub(super) fn clear_mark(&mut self, series: SeriesId) {
        self.retiring.remove(series.0);
    }

    /// Returns the metric of a series.
    pub(super) fn metric_of(&self, series: SeriesId) -> Option<MetricId> {
        self.series.get(series).map(|(metric, _)| metric)
    }

    /// Returns the definition of a series, `None` when it or its metric does not exist.
    pub(super) fn describe(&self, id: SeriesId) -> Option<SeriesDefined> {
        let (metric, pairs) = self.series.get(id)?;
        let string = |id: &StringId| self.strings.string(*id);
        let strings: Vec<(&str, &str)> =
            pairs.iter().map(|(k, v)| (string(k), string(v))).collect();
        let Ok(tags) = Tags::new(&strings) else {
            unreachable!("tags of the index were validated when they were added")
        };
        Some(SeriesDefined { id, metric, tags })
    }

    /// Returns the series of `metric` that has exactly these tags.
    pub(super) fn find(&self, metric: MetricId, tags: &Tags) -> Option<SeriesId> {
        let mut likely = self.last_tags.iter();
        let number = |(key, value): (&str, &str)| {
            let likely = likely.next();
            let key = self.strings.get_likely(key, likely.map(|tag| tag.0))?;
            Some((key, self.strings.get_likely(value, likely.map(|tag| tag.1))?))
        };
        let wanted = tags.iter().map(number).collect::<Option<Vec<Tag>>>()?;
        let hash = hash_series(metric, &wanted);
        let same = |id: &u32| self.series.get(SeriesId(*id)) == Some((metric, wanted.as_slice()));
        self.by_tags.find(hash, same).map(|id| SeriesId(*id))
    }

    /// Returns the number of distinct tag keys that the metric would have with a series of these
    /// tags.
    pub(super) fn tag_keys_with(&self, metric: &MetricEntry, tags: &Tags) -> usize {
        let is_new = |key: &str| {
            let key = self.strings.get(key);
            key.is_none_or(|key| metric.postings.values(key).is_none())
        };
        metric.postings.keys().len() + tags.iter().filter(|(key, _)| is_new(key)).count()
    }

    /// Returns the tag keys of a metric, sorted.
    pub(super) fn key_names(&self, metric: &MetricEntry) -> Vec<String> {
        let names = metric.postings.keys().map(|(key, _)| self.strings.string(key).to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    /// Returns the tag keys of a metric with their number of values, sorted.
    pub(super) fn keys(&self, metric: &MetricEntry) -> Vec<(String, u64)> {
        let mut keys: Vec<(String, u64)> = metric
            .postings
            .keys()
            .map(|(key, values)| (self.strings.string(key).to_owned(), values.len() as u64))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// Returns the values of a tag key with their number of series, sorted.
    pub(super) fn values(&self, metric: &MetricEntry, key: &str) -> Vec<(String, u64)> {
        let values = self.strings.get(key).and_then(|key| metric.postings.values(key));
        let mut values: Vec<(String, u64)> = values
            .into_iter()
            .flatten()
            .map(|(value, posting)| (self.strings.string(*value).to_owned(), posting.len()))
            .collect();
        values.sort_unstable();
        values
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.strings.bytes()
            + self.aliases.bytes()
            + self.metric_bytes
            + self.series.bytes()
            + self.by_tags.allocation_size()
            + self.retiring.bytes()
    }
}

#[cfg(test)]
impl Index {
    /// Recomputes [`Self::bytes`] from the contents.
    pub(super) fn walked_bytes(&self) -> usize {
        use super::measured_set::bitmap_bytes;
        let of_metric = |metric: &MetricEntry| {
            let MetricEntry { name, series, postings, .. } = metric;
            let name = name.as_str().len();
            ENTRY_BYTES + name + bitmap_bytes(series) + postings.walked_bytes()
        };
        self.strings.walked_bytes()
            + self.aliases.bytes()
            + self.metrics.values().map(of_metric).sum::<usize>()
            + self.series.walked_bytes()
            + self.by_tags.allocation_size()
            + bitmap_bytes(&self.retiring)
    }
}

fn hash_of(series: &SeriesTable, id: u32) -> u64 {
    series.get(SeriesId(id)).map_or(0, |(metric, tags)| hash_series(metric, tags))
}

fn hash_series(metric: MetricId, tags: &[Tag]) -> u64 {
    with_metric(hash_tags(tags), metric)
}

/// An odd number whose bits look random, so that adjacent metrics differ in all bits of a hash.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the hash of a metric and tags, given that of the tags: many metrics have the same.
pub(super) fn with_metric(hash_of_tags: u64, metric: MetricId) -> u64 {
    hash_of_tags ^ u64::from(metric.0).wrapping_mul(SPREAD)
}

/// Bytes of the hashed tags of a series with as many tags as allowed.
const HASHED_BYTES_MAX: usize = size_of::<u32>() * 2 * limits::TAGS_MAX;

/// Returns the hash of tags.
pub(super) fn hash_tags(tags: &[Tag]) -> u64 {
    let mut bytes = [0; HASHED_BYTES_MAX];
    let numbers = tags.iter().flat_map(|(k, v)| [k.0, v.0]);
    let mut length = 0;
    for (to, number) in bytes.chunks_exact_mut(size_of::<u32>()).zip(numbers) {
        to.copy_from_slice(&number.to_le_bytes());
        length += to.len();
    }
    xxh3_64(bytes.get(..length).unwrap_or_default())
}
