//! The registry behind its locks: finds and creates series, and tracks what is not on disk yet.

use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::RwLock;
use roaring::RoaringBitmap;

use super::aliases::{AliasCursor, SeriesKeyHash};
use super::index::{Index, MetricEntry};
use super::lookup::Lookup;
use super::measured_set::MeasuredSet;
use super::restoring::Restored;
use super::retirement::{Grace, StoredRegistry};
use super::segment::Segment;
use super::selection::Selection;
use crate::error::Refusal;
use crate::limits::{NEW_METRIC_BYTES, NEW_SERIES_BYTES};
use crate::log::{Definitions, MetricDefined, SeriesDefined};
use crate::model::{MetricId, MetricName, MetricType, SeriesId, TagFilter, Tags};

/// The registry.
#[derive(Debug)]
pub(crate) struct Registry {
    // Lock order: `stored`, `index`, `changes`.
    pub(super) stored: parking_lot::Mutex<StoredRegistry>,
    pub(super) index: RwLock<Index>,
    pub(super) changes: parking_lot::Mutex<RegistryChanges>,
    pub(super) grace: Grace,
    /// Time in milliseconds of the newest cumulative sample whose series has retired.
    pub(super) newest_forgotten: AtomicI64,
    limits: CardinalityLimits,
    /// Bytes that new metrics and series may still take, as of the last [`Self::set_memory_left`].
    memory_left: AtomicI64,
}

/// The limits on metrics and series.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CardinalityLimits {
    pub(crate) per_metric: usize,
    /// Maximum number of distinct tag keys per metric.
    pub(crate) tag_keys: usize,
    pub(crate) total: usize,
}

/// Differences between memory and disk: what was created and is not on disk, and what was removed
/// and may still be on disk.
#[derive(Debug, Default)]
pub(super) struct RegistryChanges {
    /// Not in the log yet.
    unlogged: Definitions,
    /// Bytes of the names and tags of `unlogged`.
    unlogged_bytes: usize,
    /// In the log, not in the registry keyspace yet.
    unsealed: Unsealed,
    /// Series removed from the index that may still be on disk.
    pub(super) removed: MeasuredSet,
    /// Series removed before, in segments that cannot be rewritten: retried when other series of
    /// these segments are removed, or after a restart.
    pub(super) skipped: MeasuredSet,
}

/// Metrics and series that are in the log and not in the registry keyspace. Only their ids: the
/// strings are in the index.
#[derive(Debug, Default)]
pub(crate) struct Unsealed {
    pub(crate) metrics: Vec<MetricId>,
    pub(crate) series: Vec<SeriesId>,
}

impl Registry {
    pub(crate) fn new(limits: CardinalityLimits) -> Self {
        Self {
            stored: parking_lot::Mutex::default(),
            index: RwLock::default(),
            changes: parking_lot::Mutex::default(),
            grace: Grace::default(),
            newest_forgotten: AtomicI64::new(i64::MIN),
            limits,
            memory_left: AtomicI64::new(i64::MAX),
        }
    }

    /// Returns the index, for the counts in it.
    pub(super) fn index(&self) -> &RwLock<Index> {
        &self.index
    }

    pub(crate) fn lookup(&self) -> Lookup<'_> {
        Lookup::new(self)
    }

    /// Calls `read` with the metric named `name`. Returns `None` when it does not exist.
    pub(crate) fn with_metric<T>(
        &self,
        name: &str,
        read: impl FnOnce(&MetricEntry) -> T,
    ) -> Option<T> {
        self.index.read().metric_named(name).map(read)
    }

    /// Calls `read` with every metric whose name starts with `prefix`, in name order.
    pub(crate) fn each_metric(&self, prefix: &str, mut read: impl FnMut(&MetricEntry)) {
        let index = self.index.read();
        let matching = index.metrics_from(prefix);
        matching.take_while(|m| m.name.as_str().starts_with(prefix)).for_each(&mut read);
    }

    /// Returns the name of a metric, `None` when it does not exist.
    pub(crate) fn name_of(&self, metric: MetricId) -> Option<MetricName> {
        self.index.read().metric(metric).map(|entry| entry.name.clone())
    }

    /// Returns the name and the type of a metric, `None` when it does not exist.
    pub(crate) fn name_and_type(&self, metric: MetricId) -> Option<(MetricName, MetricType)> {
        self.index.read().metric(metric).map(|entry| (entry.name.clone(), entry.kind))
    }

    /// Reports whether a metric with this id exists.
    pub(crate) fn has_metric(&self, metric: MetricId) -> bool {
        self.index.read().metric(metric).is_some()
    }

    /// Selects the matching series of the metric named `name`, grouped by `keys`. Returns them with
    /// the id and type of the metric, `None` when it does not exist.
    pub(crate) fn select(
        &self,
        name: &str,
        filters: &[TagFilter],
        keys: &[String],
    ) -> Option<(MetricId, MetricType, Selection)> {
        let index =
            if filters.is_empty() { self.index.read() } else { self.index_with_postings(name) };
        let metric = index.metric_named(name)?;
        Some((metric.id, metric.kind, index.select(metric, filters, keys)))
    }

    /// Returns the units of work of [`Self::select`], see [`crate::brief`].
    pub(crate) fn select_work(&self, name: &str, filters: &[TagFilter], keys: &[String]) -> u64 {
        let index = self.index.read();
        index.metric_named(name).map_or(0, |metric| index.select_work(metric, filters, keys))
    }

    /// Returns the tag keys of the metric named `name`, sorted.
    pub(crate) fn tag_key_names(&self, name: &str) -> Option<Vec<String>> {
        let index = self.index.read();
        index.metric_named(name).map(|metric| index.key_names(metric))
    }

    pub(crate) fn tag_keys(&self, name: &str) -> Option<Vec<(String, u64)>> {
        let index = self.index_with_postings(name);
        index.metric_named(name).map(|metric| index.keys(metric))
    }

    pub(crate) fn tag_values(&self, name: &str, key: &str) -> Option<Vec<(String, u64)>> {
        let index = self.index_with_postings(name);
        index.metric_named(name).map(|metric| index.values(metric, key))
    }

    /// Sets how many bytes new metrics and series may take until the next call.
    pub(crate) fn set_memory_left(&self, bytes: u64) {
        self.memory_left.store(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Returns the number of metrics, the number of series and the bytes in memory. Constant time,
    /// because sizes are counted where they change.
    pub(crate) fn size(&self) -> (usize, usize, usize) {
        let stored = self.stored.lock().bytes();
        let index = self.index.read();
        let bytes = stored + index.bytes() + self.changes.lock().bytes();
        (index.metric_count(), index.live_series(), bytes)
    }

    /// Adds definitions read from the log or from disk.
    pub(crate) fn restore(&self, definitions: &Definitions) {
        let mut index = self.index.write();
        definitions.metrics.iter().for_each(|metric| index.define_metric(metric));
        definitions.series.iter().for_each(|series| index.define_series(series));
    }

    /// Adds the series of a segment on disk. [`Self::finish_restoring`] makes them visible.
    pub(super) fn restore_segment(&self, segment: &Segment<'_>, restored: &mut Restored) {
        self.index.write().restore_segment(segment, restored);
    }

    /// Makes restored series visible.
    pub(super) fn finish_restoring(&self, restored: Restored) {
        self.index.write().finish_restoring(restored);
    }

    /// Records a segment on disk, and those of its series that have been removed.
    pub(super) fn note_segment(&self, first: u32, series: RoaringBitmap, removed: RoaringBitmap) {
        self.stored.lock().add_segment(first, series);
        self.changes.lock().removed |= &removed;
    }

    /// Records last days read from disk.
    pub(super) fn restore_last_days(&self, days: Vec<(SeriesId, u32)>) {
        let mut stored = self.stored.lock();
        let index = self.index.read();
        stored.days.restore(days, |series| index.metric_of(series).is_some());
    }

    /// Returns all series of existing metrics, without their tags.
    pub(crate) fn all_series(&self) -> Vec<(SeriesId, MetricId)> {
        self.index.read().all_series()
    }

    /// Marks all ids below these as used.
    pub(crate) fn reserve(&self, next_metric: MetricId, next_series: SeriesId) {
        let mut index = self.index.write();
        index.reserve_metrics(next_metric.0);
        index.reserve_series(next_series.0);
    }

    /// Returns the next metric id and the next series id.
    pub(crate) fn next_ids(&self) -> (MetricId, SeriesId) {
        let index = self.index.read();
        (index.next_metric(), index.next_series())
    }

    /// Removes a metric. Returns its series, `None` when it does not exist.
    pub(crate) fn drop_metric(&self, metric: MetricId) -> Option<RoaringBitmap> {
        let mut index = self.index.write();
        let series = index.drop_metric(metric)?;
        self.changes.lock().removed |= &series;
        Some(series)
    }

    /// Reports whether all these series are known.
    pub(super) fn knows_all(&self, series: &RoaringBitmap) -> bool {
        let index = self.index.read();
        series.iter().all(|series| index.metric_of(SeriesId(series)).is_some())
    }

    /// Returns the bytes in memory of the definitions that are not in the log.
    pub(crate) fn unlogged_bytes(&self) -> usize {
        let changes = self.changes.lock();
        changes.unlogged_bytes + changes.unlogged.table_bytes()
    }

    /// Takes the definitions that are not in the log.
    pub(crate) fn take_unlogged(&self) -> Definitions {
        let mut changes = self.changes.lock();
        changes.unlogged_bytes = 0;
        std::mem::take(&mut changes.unlogged)
    }

    /// Puts back definitions that could not be logged, before newer ones.
    pub(crate) fn put_back_unlogged(&self, mut definitions: Definitions) {
        let mut changes = self.changes.lock();
        changes.unlogged_bytes += definitions.string_bytes();
        definitions.append(std::mem::take(&mut changes.unlogged));
        changes.unlogged = definitions;
    }

    /// Records definitions that are in the log and still have to be sealed.
    pub(crate) fn note_unsealed(&self, definitions: &Definitions) {
        let mut changes = self.changes.lock();
        changes.unsealed.metrics.extend(definitions.metrics.iter().map(|metric| metric.id));
        changes.unsealed.series.extend(definitions.series.iter().map(|series| series.id));
    }

    /// Takes the ids of the definitions that are in the log and not in the registry keyspace.
    pub(crate) fn take_unsealed(&self) -> Unsealed {
        std::mem::take(&mut self.changes.lock().unsealed)
    }

    /// Returns the definitions of metrics; dropped ones are left out.
    pub(crate) fn describe_metrics(&self, metrics: &[MetricId]) -> Vec<MetricDefined> {
        let index = self.index.read();
        metrics
            .iter()
            .filter_map(|id| index.metric(*id))
            .map(|metric| MetricDefined {
                id: metric.id,
                kind: metric.kind,
                name: metric.name.clone(),
            })
            .collect()
    }

    /// Returns the definitions of series; those of dropped metrics are left out.
    pub(crate) fn describe_series(&self, series: &[SeriesId]) -> Vec<SeriesDefined> {
        let index = self.index.read();
        series.iter().filter_map(|id| index.describe(*id)).collect()
    }

    /// Finds or creates a series under the write lock.
    pub(super) fn create(
        &self,
        name: &str,
        kind: MetricType,
        tags: &[(&str, &str)],
        key_hash: SeriesKeyHash,
        cursor: &mut AliasCursor,
    ) -> Result<SeriesId, Refusal> {
        // Before the lock, which all writers share.
        let tags = Tags::new(tags);
        let mut index = self.index.write();
        let metric = index.metric_named(name).map(|m| (m.id, m.kind, m.series()));
        if let Some((_, is, _)) = metric
            && is != kind
        {
            return Err(Refusal::TypeConflict { name: name.to_owned(), is, wanted: kind });
        }
        let tags = tags?;
        if let Some(series) = metric.and_then(|(id, ..)| index.find(id, &tags)) {
            index.clear_mark(series);
            index.aliases.insert(key_hash, (series, kind), cursor);
            return Ok(series);
        }
        self.check_limits(name, metric.map(|(.., series)| series), &index)?;
        self.check_tag_keys(name, metric.and_then(|(id, ..)| index.metric(id)), &tags, &index)?;
        // Ids are allocated and queued for the log under one lock, so a record that uses an id can
        // only be queued after its definition.
        let mut changes = self.changes.lock();
        let id = match metric {
            Some((id, ..)) => id,
            None => self.define_metric(name, kind, &mut index, &mut changes)?,
        };
        self.memory_left.fetch_sub(NEW_SERIES_BYTES, Ordering::Relaxed);
        let defined = SeriesDefined { id: index.next_series(), metric: id, tags };
        index.define_series(&defined);
        index.aliases.insert(key_hash, (defined.id, kind), cursor);
        let series = defined.id;
        changes.unlogged_bytes += defined.string_bytes();
        changes.unlogged.series.push(defined);
        Ok(series)
    }

    /// Checks that a metric, if it exists, may have another series with these tags.
    fn check_tag_keys(
        &self,
        name: &str,
        metric: Option<&MetricEntry>,
        tags: &Tags,
        index: &Index,
    ) -> Result<(), Refusal> {
        let present = metric.map_or(0, |metric| metric.postings.keys().len());
        if present + tags.len() <= self.limits.tag_keys {
            return Ok(());
        }
        let keys = metric.map_or(tags.len(), |metric| index.tag_keys_with(metric, tags));
        if keys > present && keys > self.limits.tag_keys {
            return Err(Refusal::CardinalityLimit(format!(
                "metric {name:?} would have {keys} distinct tag keys; the limit is {}",
                self.limits.tag_keys
            )));
        }
        Ok(())
    }

    /// Creates a metric without series, unless it exists.
    pub(super) fn create_metric(&self, name: &str, kind: MetricType) -> Result<(), Refusal> {
        let mut index = self.index.write();
        match index.metric_named(name).map(|metric| metric.kind) {
            Some(is) if is != kind => {
                return Err(Refusal::TypeConflict { name: name.to_owned(), is, wanted: kind });
            }
            Some(_) => return Ok(()),
            None => self.check_limits(name, None, &index)?,
        }
        self.define_metric(name, kind, &mut index, &mut self.changes.lock()).map(drop)
    }

    fn define_metric(
        &self,
        name: &str,
        kind: MetricType,
        index: &mut Index,
        changes: &mut RegistryChanges,
    ) -> Result<MetricId, Refusal> {
        MetricName::check_given(name)?;
        let name = MetricName::new(name)?;
        let defined = MetricDefined { id: index.next_metric(), kind, name };
        index.define_metric(&defined);
        self.memory_left.fetch_sub(NEW_METRIC_BYTES, Ordering::Relaxed);
        let id = defined.id;
        changes.unlogged_bytes += defined.string_bytes();
        changes.unlogged.metrics.push(defined);
        Ok(id)
    }

    /// Checks that a metric may have one more series; `of_metric` is its current number of series,
    /// `None` if it does not exist.
    fn check_limits(
        &self,
        name: &str,
        of_metric: Option<u64>,
        index: &Index,
    ) -> Result<(), Refusal> {
        let CardinalityLimits { per_metric, total: total_max, .. } = self.limits;
        let series = of_metric.unwrap_or(0);
        if series >= per_metric as u64 {
            return Err(Refusal::CardinalityLimit(format!(
                "metric {name:?} has {series} series; the limit per metric is {per_metric}"
            )));
        }
        // A metric without series takes as much memory as a metric with one. This limit bounds
        // memory, so both count.
        let others = index.empty_metrics() - usize::from(of_metric == Some(0));
        let total = index.live_series() + others;
        if self.memory_left.load(Ordering::Relaxed) <= 0 {
            return Err(Refusal::CardinalityLimit(format!(
                "no memory left for another series; {total} series exist"
            )));
        }
        if total >= total_max {
            let empty = match others {
                0 => String::new(),
                1 => ", including 1 metric without series".to_owned(),
                others => format!(", including {others} metrics without series"),
            };
            return Err(Refusal::CardinalityLimit(format!(
                "the server has {total} series{empty}; the limit is {total_max}"
            )));
        }
        if index.next_series() == SeriesId(u32::MAX) {
            return Err(Refusal::CardinalityLimit("no series ids are left".to_owned()));
        }
        Ok(())
    }
}

impl RegistryChanges {
    /// Returns the bytes on the heap.
    fn bytes(&self) -> usize {
        let Self { unlogged, unlogged_bytes, unsealed, removed, skipped } = self;
        unlogged_bytes
            + unlogged.table_bytes()
            + unsealed.metrics.capacity() * size_of::<MetricId>()
            + unsealed.series.capacity() * size_of::<SeriesId>()
            + removed.bytes()
            + skipped.bytes()
    }
}

#[cfg(test)]
impl Registry {
    /// Recomputes the bytes of [`Self::size`] from the contents.
    pub(super) fn walked_bytes(&self) -> usize {
        use super::measured_set::bitmap_bytes;
        let stored = self.stored.lock().walked_bytes();
        let index = self.index.read();
        let changes = self.changes.lock();
        let strings = changes.unlogged.string_bytes();
        let sets = |of: fn(&MeasuredSet) -> usize| of(&changes.removed) + of(&changes.skipped);
        let changes = changes.bytes() - changes.unlogged_bytes - sets(MeasuredSet::bytes)
            + strings
            + sets(|set| bitmap_bytes(set));
        stored + index.walked_bytes() + changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{TagCondition, TagValues};

    fn registry() -> Registry {
        Registry::new(CardinalityLimits { per_metric: 5, tag_keys: 3, total: 8 })
    }

    fn select(registry: &Registry, key: &str, condition: TagCondition) -> Vec<u32> {
        let filter = TagFilter { key: key.to_owned(), condition };
        let (_, _, selection) = registry.select("cpu", &[filter], &[]).unwrap();
        selection.series.iter().collect()
    }

    #[test]
    fn the_order_of_tags_does_not_matter() {
        let registry = registry();
        let mut lookup = registry.lookup();
        let a = lookup.series("cpu", MetricType::Gauge, &[("host", "a"), ("zone", "z")]).unwrap();
        let b = lookup.series("cpu", MetricType::Gauge, &[("zone", "z"), ("host", "a")]).unwrap();
        let c = lookup.series("cpu", MetricType::Gauge, &[("host", "az"), ("zone", "")]).unwrap();
        assert_eq!(a, b);
        assert_ne!(a, c);
        assert_eq!(registry.take_unlogged().series.len(), 2);
        assert!(registry.take_unlogged().is_empty());
    }

    #[test]
    fn refusals_report_their_reason() {
        let registry = registry();
        let mut lookup = registry.lookup();
        lookup.series("cpu", MetricType::Gauge, &[]).unwrap();
        let conflict = lookup.series("cpu", MetricType::Counter, &[]).unwrap_err();
        assert!(matches!(conflict, Refusal::TypeConflict { is: MetricType::Gauge, .. }));
        assert!(matches!(lookup.series("", MetricType::Gauge, &[]), Err(Refusal::Name(_))));
        let twice = lookup.series("x", MetricType::Gauge, &[("a", "1"), ("a", "2")]);
        assert!(matches!(twice, Err(Refusal::Tags(_))));
        for i in 1..5 {
            lookup.series("cpu", MetricType::Gauge, &[("i", &i.to_string())]).unwrap();
        }
        let full = lookup.series("cpu", MetricType::Gauge, &[("i", "5")]);
        assert!(matches!(full, Err(Refusal::CardinalityLimit(_))));
        for i in 0..3 {
            lookup.series("mem", MetricType::Gauge, &[("i", &i.to_string())]).unwrap();
        }
        let full = lookup.series("disk", MetricType::Gauge, &[]);
        assert!(matches!(full, Err(Refusal::CardinalityLimit(_))));
        assert!(lookup.series("cpu", MetricType::Gauge, &[("i", "4")]).is_ok());
    }

    #[test]
    fn new_series_are_refused_once_the_memory_budget_is_used() {
        let registry = registry();
        registry.set_memory_left((NEW_METRIC_BYTES + NEW_SERIES_BYTES + 1) as u64);
        let mut lookup = registry.lookup();
        lookup.series("cpu", MetricType::Gauge, &[]).unwrap();
        lookup.series("cpu", MetricType::Gauge, &[("i", "1")]).unwrap();
        let full = lookup.series("mem", MetricType::Gauge, &[]);
        assert!(matches!(full, Err(Refusal::CardinalityLimit(_))));
        lookup.series("cpu", MetricType::Gauge, &[("i", "1")]).unwrap();
        registry.set_memory_left(1);
        lookup.series("mem", MetricType::Gauge, &[]).unwrap();
    }

    #[test]
    fn the_number_of_tag_keys_of_a_metric_is_limited() {
        let registry = registry();
        let mut lookup = registry.lookup();
        let gauge = MetricType::Gauge;
        let four = [("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")];
        let of_none = lookup.series("new", gauge, &four);
        assert!(matches!(of_none, Err(Refusal::CardinalityLimit(_))));
        lookup.series("cpu", gauge, &[("a", "1"), ("b", "1")]).unwrap();
        lookup.series("cpu", gauge, &[("b", "2"), ("c", "1")]).unwrap();
        let full = lookup.series("cpu", gauge, &[("a", "2"), ("d", "1")]);
        assert!(matches!(full, Err(Refusal::CardinalityLimit(_))));
        lookup.series("cpu", gauge, &[("a", "2"), ("c", "3")]).unwrap();
    }

    #[test]
    fn conditions_select_series() {
        let registry = registry();
        let mut lookup = registry.lookup();
        for tags in [&[("h", "web1")][..], &[("h", "web2")], &[("h", "db1")], &[]] {
            lookup.series("cpu", MetricType::Gauge, tags).unwrap();
        }
        drop(lookup);
        let values = |t: &[&str]| t.iter().map(|t| (*t).to_owned()).collect::<TagValues>();
        assert_eq!(
            select(&registry, "h", TagCondition::AnyOf(values(&["web2", "db1", "no"]))),
            [1, 2]
        );
        assert_eq!(select(&registry, "h", TagCondition::NoneOf(values(&["web1"]))), [1, 2, 3]);
        assert_eq!(select(&registry, "h", TagCondition::Prefix("web".into())), [0, 1]);
        assert_eq!(select(&registry, "x", TagCondition::AnyOf(values(&["web1"]))), [0u32; 0]);
        assert_eq!(select(&registry, "h", TagCondition::AnyOf(values(&[""]))), [3]);
        assert_eq!(select(&registry, "h", TagCondition::AnyOf(values(&["", "db1"]))), [2, 3]);
        assert_eq!(select(&registry, "h", TagCondition::NoneOf(values(&[""]))), [0, 1, 2]);
        assert_eq!(select(&registry, "x", TagCondition::AnyOf(values(&[""]))), [0, 1, 2, 3]);
        assert_eq!(select(&registry, "x", TagCondition::NoneOf(values(&[""]))), [0u32; 0]);
        let (_, _, grouped) = registry.select("cpu", &[], &["h".to_owned()]).unwrap();
        assert_eq!(grouped.group_of, [0, 1, 2, 3]);
        assert_eq!(grouped.groups[3], [""]);
    }

    #[test]
    fn a_dropped_metric_can_come_back_with_another_type() {
        let registry = registry();
        let mut lookup = registry.lookup();
        let old = lookup.series("cpu", MetricType::Gauge, &[("h", "a")]).unwrap();
        drop(lookup);
        let id = registry.with_metric("cpu", |m| m.id).unwrap();
        assert_eq!(registry.drop_metric(id), Some(RoaringBitmap::from_iter([old.0])));
        assert_eq!(registry.drop_metric(id), None);
        let mut lookup = registry.lookup();
        let new = lookup.series("cpu", MetricType::Counter, &[("h", "a")]).unwrap();
        assert_ne!(old, new);
        drop(lookup);
        assert_eq!(registry.size().1, 1);
    }
}
