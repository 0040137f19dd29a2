//! The registry's data and what can be read from it. Knows no locks, no log and no disk.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use roaring::RoaringBitmap;
use xxhash_rust::xxh3::xxh3_64;

use super::aliases::Aliases;
use super::postings::{Posting, Postings};
use crate::log::{MetricDefined, SeriesDefined};
use crate::model::{Interner, TextId};
use crate::model::{
    MetricId, MetricName, MetricType, SeriesId, TagCondition, TagFilter, Tags, TimestampMs,
};

/// How much a metric has been given, and when.
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
}

/// A metric of the registry.
#[derive(Debug)]
pub(crate) struct MetricEntry {
    pub(crate) id: MetricId,
    pub(crate) name: MetricName,
    pub(crate) kind: MetricType,
    pub(super) series: RoaringBitmap,
    pub(super) postings: Postings,
}

impl MetricEntry {
    pub(crate) fn series(&self) -> u64 {
        self.series.len()
    }
}

/// Series that match a query, in groups.
#[derive(Debug)]
pub(crate) struct Selection {
    /// The series, ascending.
    pub(crate) series: RoaringBitmap,
    /// The group of each series, in the same order; empty when there is one group.
    pub(crate) group_of: Vec<u32>,
    /// The keys of the groups.
    pub(crate) groups: Vec<Vec<String>>,
}

#[derive(Clone, Copy, Debug)]
struct SeriesEntry {
    metric: MetricId,
    tags_from: u32,
    tags: u8,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    strings: Interner,
    metrics: BTreeMap<u32, MetricEntry>,
    by_name: BTreeMap<MetricName, MetricId>,
    series: Vec<SeriesEntry>,
    tags: Vec<(TextId, TextId)>,
    by_tags: HashTable<u32>,
    pub(super) aliases: Aliases,
    next_metric: u32,
    live_series: usize,
}

impl Index {
    pub(super) fn metric(&self, id: MetricId) -> Option<&MetricEntry> {
        self.metrics.get(&id.0)
    }

    pub(super) fn metric_named(&self, name: &str) -> Option<&MetricEntry> {
        self.by_name.get(name).and_then(|id| self.metric(*id))
    }

    /// The metrics in the order of their names, from `prefix` on.
    pub(super) fn metrics_from(&self, prefix: &str) -> impl Iterator<Item = &MetricEntry> {
        use std::ops::Bound::{Included, Unbounded};
        self.by_name
            .range::<str, _>((Included(prefix), Unbounded))
            .filter_map(|(_, id)| self.metric(*id))
    }

    pub(super) fn metric_count(&self) -> usize {
        self.metrics.len()
    }

    /// Series of metrics that exist.
    pub(super) fn live_series(&self) -> usize {
        self.live_series
    }

    pub(super) fn next_metric(&self) -> MetricId {
        MetricId(self.next_metric)
    }

    pub(super) fn next_series(&self) -> SeriesId {
        SeriesId(self.series.len() as u32)
    }

    pub(super) fn all_series(&self) -> Vec<(SeriesId, MetricId)> {
        let entries = self.metrics.values();
        entries.flat_map(|m| m.series.iter().map(|series| (SeriesId(series), m.id))).collect()
    }

    /// Marks the metric ids below `next` as used.
    pub(super) fn reserve_metrics(&mut self, next: u32) {
        self.next_metric = self.next_metric.max(next);
    }

    /// Marks the series ids below `next` as used: those that nothing defines belong to nobody.
    pub(super) fn reserve_series(&mut self, next: u32) {
        let nobody = SeriesEntry { metric: MetricId(u32::MAX), tags_from: 0, tags: 0 };
        if self.series.len() < next as usize {
            self.series.resize(next as usize, nobody);
        }
    }

    pub(super) fn define_metric(&mut self, defined: &MetricDefined) {
        self.reserve_metrics(defined.id.0.saturating_add(1));
        self.by_name.insert(defined.name.clone(), defined.id);
        let entry = MetricEntry {
            id: defined.id,
            name: defined.name.clone(),
            kind: defined.kind,
            series: RoaringBitmap::new(),
            postings: Postings::default(),
        };
        self.metrics.insert(defined.id.0, entry);
    }

    /// Adds a series whose id is the next, or beyond it: ids between belong to nobody.
    pub(super) fn define_series(&mut self, defined: &SeriesDefined) {
        let id = defined.id.0;
        self.reserve_series(id);
        let tags_from = self.tags.len() as u32;
        for (key, value) in defined.tags.iter() {
            let pair = (self.strings.intern(key), self.strings.intern(value));
            self.tags.push(pair);
        }
        let tags = defined.tags.len() as u8;
        let entry = SeriesEntry { metric: defined.metric, tags_from, tags };
        match self.series.get_mut(id as usize) {
            Some(slot) => *slot = entry,
            None => self.series.push(entry),
        }
        let Some(metric) = self.metrics.get_mut(&defined.metric.0) else { return };
        metric.series.insert(id);
        for (key, value) in self.tags.get(tags_from as usize..).unwrap_or_default() {
            metric.postings.insert(*key, *value, id);
        }
        self.live_series += 1;
        let (series, tags) = (&self.series, &self.tags);
        let hash_of = |id: &u32| hash_tags(series, tags, *id);
        self.by_tags.insert_unique(hash_of(&id), id, hash_of);
    }

    /// Forgets a metric, and answers its series. Its ids stay used.
    pub(super) fn drop_metric(&mut self, id: MetricId) -> Option<RoaringBitmap> {
        let entry = self.metrics.remove(&id.0)?;
        // A metric of the same name may have come since.
        if self.by_name.get(&entry.name) == Some(&id) {
            self.by_name.remove(&entry.name);
        }
        self.live_series -= entry.series.len() as usize;
        for series in &entry.series {
            let hash = hash_tags(&self.series, &self.tags, series);
            if let Ok(found) = self.by_tags.find_entry(hash, |id| *id == series) {
                found.remove();
            }
        }
        self.aliases.forget(&entry.series);
        Some(entry.series)
    }

    /// A series with its tags, unless its metric is gone.
    pub(super) fn describe(&self, id: SeriesId) -> Option<SeriesDefined> {
        let metric = self.series.get(id.0 as usize)?.metric;
        self.metric(metric)?;
        let pairs = tags_of(&self.series, &self.tags, id.0);
        let texts: Vec<(&str, &str)> =
            pairs.iter().map(|(k, v)| (self.strings.text(*k), self.strings.text(*v))).collect();
        let Ok(tags) = Tags::new(&texts) else {
            unreachable!("tags of the index were checked when they came in")
        };
        Some(SeriesDefined { id, metric, tags })
    }

    /// The series of `metric` that has exactly these tags.
    pub(super) fn find(&self, metric: MetricId, tags: &Tags) -> Option<SeriesId> {
        let wanted: Option<Vec<(TextId, TextId)>> =
            tags.iter().map(|(k, v)| Some((self.strings.get(k)?, self.strings.get(v)?))).collect();
        let wanted = wanted?;
        let hash = hash_pairs(metric, &wanted);
        let same = |id: &u32| {
            self.series.get(*id as usize).is_some_and(|e| e.metric == metric)
                && tags_of(&self.series, &self.tags, *id) == wanted.as_slice()
        };
        self.by_tags.find(hash, same).map(|id| SeriesId(*id))
    }

    /// The series of `metric` that match all `filters`, in groups by the values of `keys`.
    pub(super) fn select(
        &self,
        metric: &MetricEntry,
        filters: &[TagFilter],
        keys: &[String],
    ) -> Selection {
        let mut series = metric.series.clone();
        for filter in filters {
            self.apply(metric, filter, &mut series);
        }
        if keys.is_empty() {
            return Selection { series, group_of: Vec::new(), groups: vec![Vec::new()] };
        }
        let keys: Vec<Option<TextId>> = keys.iter().map(|key| self.strings.get(key)).collect();
        let mut groups: hashbrown::HashMap<Vec<Option<TextId>>, u32> = hashbrown::HashMap::new();
        let mut names = Vec::new();
        let mut group_of = Vec::with_capacity(series.len() as usize);
        for id in &series {
            let tags = tags_of(&self.series, &self.tags, id);
            // A tag with the empty value and no tag at all are one group.
            let value = |key: &Option<TextId>| {
                key.and_then(|key| tags.iter().find_map(|(k, v)| (*k == key).then_some(*v)))
                    .filter(|v| !self.strings.text(*v).is_empty())
            };
            let values: Vec<Option<TextId>> = keys.iter().map(value).collect();
            let group = *groups.entry(values).or_insert_with_key(|values| {
                let text = |v: &Option<TextId>| v.map_or("", |v| self.strings.text(v)).to_owned();
                names.push(values.iter().map(text).collect());
                names.len() as u32 - 1
            });
            group_of.push(group);
        }
        Selection { series, group_of, groups: names }
    }

    fn apply(&self, metric: &MetricEntry, filter: &TagFilter, series: &mut RoaringBitmap) {
        let values = self.strings.get(&filter.key).and_then(|key| metric.postings.values(key));
        let mut matching = RoaringBitmap::new();
        let mut add = |posting: Option<&Posting>| {
            if let Some(posting) = posting {
                posting.add_to(&mut matching);
            }
        };
        let posting_of = |text: &String| values?.get(&self.strings.get(text)?);
        match &filter.condition {
            TagCondition::AnyOf(texts) | TagCondition::NoneOf(texts) => {
                texts.iter().for_each(|text| add(posting_of(text)));
            }
            TagCondition::Prefix(prefix) => {
                let all = values.into_iter().flatten();
                all.filter(|(value, _)| self.strings.text(**value).starts_with(prefix.as_str()))
                    .for_each(|(_, posting)| add(Some(posting)));
            }
        }
        match filter.condition {
            TagCondition::NoneOf(_) => *series -= matching,
            _ => *series &= matching,
        }
    }

    /// The distinct tag keys that a metric would have with a series of these tags.
    pub(super) fn tag_keys_with(&self, metric: &MetricEntry, tags: &Tags) -> usize {
        let is_new = |key: &str| {
            let key = self.strings.get(key);
            key.is_none_or(|key| metric.postings.values(key).is_none())
        };
        metric.postings.keys().len() + tags.iter().filter(|(key, _)| is_new(key)).count()
    }

    /// The tag keys of a metric with their numbers of values, sorted.
    pub(super) fn keys(&self, metric: &MetricEntry) -> Vec<(String, u64)> {
        let mut keys: Vec<(String, u64)> = metric
            .postings
            .keys()
            .map(|(key, values)| (self.strings.text(key).to_owned(), values.len() as u64))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// The values of a tag key with their numbers of series, sorted.
    pub(super) fn values(&self, metric: &MetricEntry, key: &str) -> Vec<(String, u64)> {
        let values = self.strings.get(key).and_then(|key| metric.postings.values(key));
        let mut values: Vec<(String, u64)> = values
            .into_iter()
            .flatten()
            .map(|(value, posting)| (self.strings.text(*value).to_owned(), posting.len()))
            .collect();
        values.sort_unstable();
        values
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        let metrics: usize = self
            .metrics
            .values()
            .map(|m| 256 + m.series.serialized_size() + m.postings.bytes())
            .sum();
        self.strings.bytes()
            + self.aliases.bytes()
            + metrics
            + self.series.capacity() * size_of::<SeriesEntry>()
            + self.tags.capacity() * size_of::<(TextId, TextId)>()
            + self.by_tags.capacity() * 5
    }
}

fn tags_of<'a>(
    series: &[SeriesEntry],
    tags: &'a [(TextId, TextId)],
    id: u32,
) -> &'a [(TextId, TextId)] {
    let range = series.get(id as usize).map(|entry| {
        let from = entry.tags_from as usize;
        from..from + usize::from(entry.tags)
    });
    range.and_then(|range| tags.get(range)).unwrap_or_default()
}

fn hash_tags(series: &[SeriesEntry], tags: &[(TextId, TextId)], id: u32) -> u64 {
    let metric = series.get(id as usize).map_or(MetricId(u32::MAX), |entry| entry.metric);
    hash_pairs(metric, tags_of(series, tags, id))
}

fn hash_pairs(metric: MetricId, pairs: &[(TextId, TextId)]) -> u64 {
    let mut bytes = Vec::with_capacity(4 + pairs.len() * 8);
    bytes.extend_from_slice(&metric.0.to_le_bytes());
    for (key, value) in pairs {
        bytes.extend_from_slice(&key.0.to_le_bytes());
        bytes.extend_from_slice(&value.0.to_le_bytes());
    }
    xxh3_64(&bytes)
}
