//! Adding stored series to the index in bulk, when the engine is opened.
//!
//! A million series one by one take seconds: each string of each tag is looked up, and each series
//! is put into ten posting lists at random places. Here each string of a segment is looked up once,
//! and posting lists are built last, metric by metric, in the order of their series.

use hashbrown::HashMap;
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::index::{Index, MetricEntry};
use super::segment::Segment;
use super::table::{SeriesTable, Tag};
use crate::model::{MetricId, SeriesId, StringId};

/// Series that are in the index, and not yet in the sets and posting lists of their metrics, nor
/// found by their tags.
#[derive(Debug, Default)]
pub(super) struct Restored {
    by_metric: HashMap<MetricId, Vec<u32>>,
    /// With the hash of their tags.
    hashes: Vec<(u64, SeriesId)>,
}

impl Index {
    /// Adds the series of a segment. Existing series are left unchanged; series of unknown metrics
    /// are ignored. [`Self::finish_restoring`] makes the series visible.
    pub(super) fn restore_segment(&mut self, segment: &Segment<'_>, restored: &mut Restored) {
        let mut uses = vec![0u32; segment.strings().len()];
        let mut added = Vec::with_capacity(segment.series().size_hint().0);
        for (id, metric, tags) in segment.series() {
            self.reserve_series(id.0.saturating_add(1));
            if self.metric(metric).is_none() || self.series.get(id).is_some() {
                continue;
            }
            for (key, value) in tags {
                count_use(&mut uses, *key);
                count_use(&mut uses, *value);
            }
            added.push((id, metric, tags));
        }
        let strings = segment.strings().iter().zip(&uses);
        let ids: Vec<StringId> = strings
            .map(|(string, uses)| match uses {
                0 => StringId(u32::MAX),
                uses => self.strings.acquire_for(string, *uses),
            })
            .collect();
        let id_of = |number: u32| ids.get(number as usize).copied().unwrap_or(StringId(u32::MAX));
        let mut pairs: Vec<Tag> = Vec::new();
        for (id, metric, tags) in added {
            pairs.clear();
            pairs.extend(tags.iter().map(|(key, value)| (id_of(*key), id_of(*value))));
            if let Some(hash) = self.add_restored(id, metric, &pairs) {
                restored.by_metric.entry(metric).or_default().push(id.0);
                restored.hashes.push((hash, id));
            } else {
                // The segment contains the series twice.
                self.release_tags(&pairs);
            }
        }
    }

    /// Adds the restored series to the sets and posting lists of their metrics.
    pub(super) fn finish_restoring(&mut self, restored: Restored) {
        let Restored { mut by_metric, hashes } = restored;
        // At once, so that the table never grows: that would hash the tags of all series again.
        self.add_all_by_tags(hashes);
        let (metrics, table) = self.metrics_and_table();
        let work: Vec<(&mut MetricEntry, Vec<u32>)> =
            metrics.filter_map(|m| by_metric.remove(&m.id).map(|series| (m, series))).collect();
        work.into_par_iter().for_each(|(metric, series)| add_to_metric(metric, series, table));
        self.recount_metrics();
    }
}

fn count_use(uses: &mut [u32], number: u32) {
    if let Some(uses) = uses.get_mut(number as usize) {
        *uses += 1;
    }
}

/// Adds series to the set and the posting lists of their metric.
fn add_to_metric(metric: &mut MetricEntry, mut series: Vec<u32>, table: &SeriesTable) {
    // Segments that were rewritten are not in the order of their series.
    series.sort_unstable();
    let mut cursor = table.cursor();
    let mut postings = metric.postings.extend();
    for id in &series {
        let tags = cursor.get(SeriesId(*id)).map_or(&[][..], |(_, tags)| tags);
        tags.iter().for_each(|(key, value)| postings.append(*key, *value, *id));
    }
    postings.finish();
    let set: RoaringBitmap = series.into_iter().collect();
    metric.series |= &set;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::segment::segment_row;
    use super::*;
    use crate::log::{MetricDefined, SeriesDefined};
    use crate::model::{MetricName, MetricType, Tags};

    fn index() -> Index {
        let mut index = Index::default();
        for id in 1..4 {
            let name = MetricName::new(&format!("m{id}")).unwrap();
            index.define_metric(&MetricDefined { id: MetricId(id), kind: MetricType::Gauge, name });
        }
        index
    }

    /// Metric 4 does not exist.
    fn series() -> impl Strategy<Value = SeriesDefined> {
        let tags = prop::collection::btree_map("[abc]", "[xyz]{0,2}", 0..4);
        (0u32..300, 1u32..5, tags).prop_map(|(id, metric, tags)| {
            let tags: Vec<(String, String)> = tags.into_iter().collect();
            SeriesDefined {
                id: SeriesId(id),
                metric: MetricId(metric),
                tags: Tags::new(&tags).unwrap(),
            }
        })
    }

    proptest! {
        #[test]
        fn series_in_bulk_are_the_same_as_one_by_one(
            segments in prop::collection::vec(prop::collection::vec(series(), 0..60), 0..5),
        ) {
            let (mut one_by_one, mut bulk) = (index(), index());
            let mut restored = Restored::default();
            for series in &segments {
                series.iter().for_each(|series| one_by_one.define_series(series));
                let row = segment_row(series).unwrap();
                bulk.restore_segment(&Segment::read(&row).unwrap(), &mut restored);
            }
            bulk.finish_restoring(restored);
            prop_assert_eq!(bulk.next_series(), one_by_one.next_series());
            prop_assert_eq!(bulk.live_series(), one_by_one.live_series());
            prop_assert_eq!(bulk.empty_metrics(), one_by_one.empty_metrics());
            prop_assert_eq!(bulk.bytes(), bulk.walked_bytes());
            for id in 0..300 {
                prop_assert_eq!(bulk.describe(SeriesId(id)), one_by_one.describe(SeriesId(id)));
            }
            for metric in 1..4 {
                let (a, b) = (bulk.metric(MetricId(metric)), one_by_one.metric(MetricId(metric)));
                let (a, b) = (a.unwrap(), b.unwrap());
                prop_assert_eq!(&*a.series, &*b.series);
                prop_assert_eq!(bulk.keys(a), one_by_one.keys(b));
                for key in ["a", "b", "c"] {
                    prop_assert_eq!(bulk.values(a, key), one_by_one.values(b, key));
                }
            }
            for series in segments.iter().flatten() {
                let (metric, tags) = (series.metric, &series.tags);
                prop_assert_eq!(bulk.find(metric, tags), one_by_one.find(metric, tags));
            }
            // What was counted is released: nothing is left of metrics that are dropped.
            for metric in 1..4 {
                bulk.drop_metric(MetricId(metric));
            }
            prop_assert_eq!(bulk.live_series(), 0);
            prop_assert!(["a", "b", "c", "x", "y", "z"].iter().all(|s| bulk.string_id(s).is_none()));
        }
    }
}
