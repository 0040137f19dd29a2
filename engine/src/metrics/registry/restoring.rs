//! Adding stored series to the index in bulk, when the engine is opened.
//!
//! A million series one by one take seconds: each string of each tag is looked up, and each series
//! is put into ten posting lists at random places. Here each string of a segment is looked up once,
//! each distinct list of tags is hashed once, and posting lists are [built later](super::deferred).

use hashbrown::{HashMap, HashSet};
use roaring::RoaringBitmap;

use super::index::{Index, hash_tags, with_metric};
use super::segment::Segment;
use super::table::Tag;
use crate::model::{MetricId, SeriesId, StringId};

/// Series that are in the index, and not yet in the sets of their metrics, nor found by their tags.
#[derive(Debug, Default)]
pub(super) struct Restored {
    by_metric: HashMap<MetricId, RestoredMetric>,
    /// With the hash of their metric and tags.
    hashes: Vec<(u64, SeriesId)>,
}

/// The restored series of one metric.
#[derive(Debug, Default)]
struct RestoredMetric {
    series: Vec<u32>,
    /// The number of tags of all series.
    tags: usize,
    keys: HashSet<StringId>,
    /// The keys of the last series: most series of a metric have the same.
    last_keys: Vec<StringId>,
}

impl RestoredMetric {
    fn add(&mut self, series: u32, tags: &[Tag]) {
        self.series.push(series);
        self.tags += tags.len();
        if !tags.iter().map(|(key, _)| key).eq(&self.last_keys) {
            self.last_keys = tags.iter().map(|(key, _)| *key).collect();
            self.keys.extend(&self.last_keys);
        }
    }
}

/// The lists of tags of a segment, in the order of their numbers.
#[derive(Default)]
struct RestoredLists {
    tags: Vec<Tag>,
    /// The end of each list, which starts at the end of the one before it, and its hash.
    lists: Vec<(usize, u64)>,
}

impl RestoredLists {
    fn push(&mut self, tags: impl Iterator<Item = Tag>) {
        let start = self.tags.len();
        self.tags.extend(tags);
        let hash = hash_tags(self.tags.get(start..).unwrap_or_default());
        self.lists.push((self.tags.len(), hash));
    }

    /// Returns a list and its hash.
    fn get(&self, list: usize) -> Option<(&[Tag], u64)> {
        let start = match list.checked_sub(1) {
            Some(before) => self.lists.get(before)?.0,
            None => 0,
        };
        let (end, hash) = *self.lists.get(list)?;
        Some((self.tags.get(start..end)?, hash))
    }
}

impl Index {
    /// Adds the series of a segment. Existing series are left unchanged; series of unknown metrics
    /// are ignored. [`Self::finish_restoring`] makes the series visible.
    pub(super) fn restore_segment(&mut self, segment: &Segment<'_>, restored: &mut Restored) {
        let mut uses_of_lists = vec![0u32; segment.lists().len()];
        let mut added = Vec::with_capacity(segment.series().len());
        for series in segment.series() {
            self.reserve_series(series.id.0.saturating_add(1));
            if self.metric(series.metric).is_none() || self.series.get(series.id).is_some() {
                continue;
            }
            count_uses(&mut uses_of_lists, series.list, 1);
            added.push(series);
        }
        let lists = self.acquire_lists(segment, &uses_of_lists);
        for series in added {
            let Some((tags, hash)) = lists.get(series.list) else { continue };
            if self.add_restored(series.id, series.metric, tags) {
                restored.by_metric.entry(series.metric).or_default().add(series.id.0, tags);
                restored.hashes.push((with_metric(hash, series.metric), series.id));
            } else {
                // The segment contains the series twice.
                self.release_tags(tags);
            }
        }
    }

    /// Interns the strings of lists of tags, given the number of series that use each list.
    fn acquire_lists(&mut self, segment: &Segment<'_>, uses_of_lists: &[u32]) -> RestoredLists {
        let mut uses = vec![0u32; segment.strings().len()];
        for (tags, count) in segment.lists().zip(uses_of_lists) {
            for (key, value) in tags {
                count_uses(&mut uses, *key as usize, *count);
                count_uses(&mut uses, *value as usize, *count);
            }
        }
        let strings = segment.strings().iter().zip(&uses);
        let ids: Vec<StringId> = strings
            .map(|(string, uses)| match uses {
                0 => StringId(u32::MAX),
                uses => self.strings.acquire_for(string, *uses),
            })
            .collect();
        let id_of = |number: u32| ids.get(number as usize).copied().unwrap_or(StringId(u32::MAX));
        let mut lists = RestoredLists::default();
        for tags in segment.lists() {
            lists.push(tags.iter().map(|(key, value)| (id_of(*key), id_of(*value))));
        }
        lists
    }

    /// Adds the restored series to the sets of their metrics, whose posting lists are incomplete
    /// from then on.
    pub(super) fn finish_restoring(&mut self, restored: Restored) {
        let Restored { mut by_metric, hashes } = restored;
        // At once, so that the table never grows: that would hash the tags of all series again.
        self.add_all_by_tags(hashes);
        for metric in self.metrics_mut() {
            let Some(restored) = by_metric.remove(&metric.id) else { continue };
            let RestoredMetric { mut series, tags, keys, .. } = restored;
            // Segments that were rewritten are not in the order of their series.
            series.sort_unstable();
            let set: RoaringBitmap = series.into_iter().collect();
            metric.series |= &set;
            let before: Vec<StringId> = metric.postings.keys().map(|(key, _)| key).collect();
            metric.postings.defer(keys.into_iter().chain(before), tags);
        }
        self.recount_metrics();
    }
}

fn count_uses(uses: &mut [u32], number: usize, count: u32) {
    if let Some(uses) = uses.get_mut(number) {
        *uses += count;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::segment::segment_row;
    use super::*;
    use crate::log::{MetricDefined, SeriesDefined};
    use crate::model::{MetricName, MetricType, Tags};

    const METRICS: std::ops::Range<u32> = 1..4;
    const IDS: u32 = 300;

    fn index() -> Index {
        let mut index = Index::default();
        for id in METRICS {
            let name = MetricName::new(&format!("m{id}")).unwrap();
            let defined = MetricDefined { id: MetricId(id), kind: MetricType::Gauge, name };
            index.define_metric(&defined);
        }
        index
    }

    fn series() -> impl Strategy<Value = SeriesDefined> {
        let tags = prop::collection::btree_map("[abc]", "[abxyz]{0,2}", 0..4);
        // Metric 4 does not exist, and ids may occur twice.
        (0..IDS, 1u32..5, tags).prop_map(|(id, metric, tags)| {
            let tags: Vec<(&str, &str)> = tags.iter().map(|(k, v)| (&**k, &**v)).collect();
            SeriesDefined {
                id: SeriesId(id),
                metric: MetricId(metric),
                tags: Tags::new(&tags).unwrap(),
            }
        })
    }

    /// A change of an index.
    #[derive(Clone, Debug)]
    enum Step {
        /// Adds series to the posting lists of a metric.
        Extend(u32, usize),
        Define(SeriesDefined),
        Remove(Vec<u32>),
        Drop(u32),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (METRICS, 0usize..40).prop_map(|(metric, count)| Step::Extend(metric, count)),
            4 => series().prop_map(Step::Define),
            2 => prop::collection::vec(0..IDS, 0..60).prop_map(Step::Remove),
            1 => METRICS.prop_map(Step::Drop),
        ]
    }

    impl Step {
        fn run(&self, index: &mut Index) {
            match self {
                Self::Extend(metric, count) => {
                    _ = index.extend_postings(MetricId(*metric), &mut { *count });
                }
                Self::Define(series) => index.define_series(series),
                Self::Remove(ids) => index.remove_series(&ids.iter().collect()),
                Self::Drop(metric) => _ = index.drop_metric(MetricId(*metric)),
            }
        }
    }

    /// Checks that both contain the same once all posting lists are complete.
    fn assert_same(bulk: &mut Index, one_by_one: &Index) -> Result<(), TestCaseError> {
        for metric in METRICS.map(MetricId) {
            // Keys are never missing, even before the lists are complete.
            let keys = |index: &Index| index.metric(metric).map(|metric| index.key_names(metric));
            let (known, expected) = (keys(bulk), keys(one_by_one));
            let is_known = |key| known.as_ref().is_some_and(|known| known.contains(key));
            prop_assert!(expected.iter().flatten().all(is_known));
            while bulk.extend_postings(metric, &mut 7) {}
            prop_assert!(bulk.has_postings(metric));
        }
        prop_assert_eq!(bulk.next_series(), one_by_one.next_series());
        prop_assert_eq!(bulk.live_series(), one_by_one.live_series());
        prop_assert_eq!(bulk.empty_metrics(), one_by_one.empty_metrics());
        prop_assert_eq!(bulk.bytes(), bulk.walked_bytes());
        for id in (0..IDS).map(SeriesId) {
            let described = one_by_one.describe(id);
            prop_assert_eq!(&bulk.describe(id), &described);
            if let Some(series) = described {
                let (metric, tags) = (series.metric, &series.tags);
                prop_assert_eq!(bulk.find(metric, tags), one_by_one.find(metric, tags));
            }
        }
        for metric in METRICS.map(MetricId) {
            let Some(b) = one_by_one.metric(metric) else {
                prop_assert!(bulk.metric(metric).is_none());
                continue;
            };
            let a = bulk.metric(metric).unwrap();
            prop_assert_eq!(&*a.series, &*b.series);
            prop_assert_eq!(bulk.keys(a), one_by_one.keys(b));
            for key in ["a", "b", "c"] {
                prop_assert_eq!(bulk.values(a, key), one_by_one.values(b, key));
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn series_in_bulk_are_the_same_as_one_by_one(
            segments in prop::collection::vec(prop::collection::vec(series(), 0..60), 0..5),
            steps in prop::collection::vec(step(), 0..12),
        ) {
            let (mut one_by_one, mut bulk) = (index(), index());
            let mut restored = Restored::default();
            for series in &segments {
                series.iter().for_each(|series| one_by_one.define_series(series));
                let row = segment_row(series).unwrap();
                bulk.restore_segment(&Segment::read(&row).unwrap(), &mut restored);
            }
            bulk.finish_restoring(restored);
            for step in &steps {
                step.run(&mut one_by_one);
                step.run(&mut bulk);
            }
            assert_same(&mut bulk, &one_by_one)?;
            for series in segments.iter().flatten() {
                // Also of series that were removed.
                let (metric, tags) = (series.metric, &series.tags);
                prop_assert_eq!(bulk.find(metric, tags), one_by_one.find(metric, tags));
            }
            // What was counted is released: nothing is left of metrics that are dropped.
            for metric in METRICS {
                bulk.drop_metric(MetricId(metric));
            }
            prop_assert_eq!(bulk.live_series(), 0);
            prop_assert!(["a", "b", "c", "x", "y", "z"].iter().all(|s| bulk.string_id(s).is_none()));
        }
    }
}
