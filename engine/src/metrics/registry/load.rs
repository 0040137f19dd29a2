//! Loads the registry from disk when the engine is opened.
//!
//! Segments take most of the time: each is decoded while the one before it is added to the index.

use hashbrown::{HashMap, HashSet};
use rayon::ThreadPool;

use super::index::MetricStats;
use super::last_days;
use super::persist::{RegistryKey, metric_id, read_metric, read_stats};
use super::restoring::Restored;
use super::segment::Segment;
use super::series::Registry;
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::log::Definitions;
use crate::model::{MetricId, SeriesId, TimestampMs};
use crate::storage::{Caching, Fact, RangeOf, Store, keyspaces};

/// Segments that are read before they are decoded: their rows, some 100 KB each, are in memory.
const SEGMENTS_AT_ONCE: usize = 16;

/// The state loaded from the registry keyspace besides the registry itself.
#[derive(Debug, Default)]
pub(crate) struct LoadedRegistry {
    /// The stats of the points of each metric that are in blocks.
    pub(crate) stats: HashMap<MetricId, MetricStats>,
    /// Dropped metrics.
    pub(crate) dropped: HashSet<MetricId>,
    /// Descriptions of rows that could not be read, one line each.
    pub(crate) damaged: Vec<String>,
}

/// A stored row: key and value.
type Row = (Box<[u8]>, Box<[u8]>);

/// A registry while it is loaded.
struct Loading<'r> {
    registry: &'r Registry,
    loaded: LoadedRegistry,
    restored: Restored,
    /// Segments that are read and not decoded.
    segments: Vec<Row>,
}

/// Loads an empty registry from disk.
pub(crate) fn load(
    store: &Store,
    registry: &Registry,
    pool: &ThreadPool,
) -> Result<LoadedRegistry> {
    let (loaded, restored, segments) = Default::default();
    let mut loading = Loading { registry, loaded, restored, segments };
    let all = RangeOf::all(keyspaces::Registry);
    let visit = |key, row| loading.add_row((key, row), pool);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    loading.add_segments(pool);
    let Loading { mut loaded, restored, .. } = loading;
    loaded.damaged.extend(gap.map(|gap| format!("registry: {}", gap.error)));
    registry.finish_restoring(restored);
    reserve_stored(store, registry, &loaded.dropped)?;
    // Damage can make the deleted row of a dropped metric reappear.
    for id in &loaded.dropped {
        registry.drop_metric(*id);
    }
    Ok(loaded)
}

impl Loading<'_> {
    /// Adds a row. Rows arrive in key order: dropped metrics, metrics, series, stats, last days.
    fn add_row(&mut self, row: Row, pool: &ThreadPool) {
        let is_segment = row.0.first() == Some(&RegistryKey::SEGMENT);
        if is_segment {
            self.segments.push(row);
            if self.segments.len() == SEGMENTS_AT_ONCE {
                self.add_segments(pool);
            }
            return;
        }
        self.add_segments(pool);
        let outcome = self.add_small_row(&row);
        self.note_damage(&row.0, outcome);
    }

    fn add_small_row(&mut self, (key, row): &Row) -> CodecResult<()> {
        let Some((kind, id)) = key.split_first() else {
            return Err(CodecError::new("unknown row kind"));
        };
        match *kind {
            RegistryKey::METRIC => {
                let metrics = vec![read_metric(id, row)?];
                self.registry.restore(&Definitions { metrics, series: Vec::new() });
            }
            RegistryKey::STATS => self.loaded.stats.extend([read_stats(id, row)?]),
            RegistryKey::LAST_DAYS => {
                self.registry.restore_last_days(last_days::read_row(row)?);
            }
            RegistryKey::DROPPED => _ = self.loaded.dropped.insert(metric_id(id)?),
            _ => return Err(CodecError::new("unknown row kind")),
        }
        Ok(())
    }

    /// Adds the segments that were read.
    fn add_segments(&mut self, pool: &ThreadPool) {
        let rows = std::mem::take(&mut self.segments);
        let Some((_, first)) = rows.first() else { return };
        let mut decoded = Some(Segment::read(first));
        for (at, (key, _)) in rows.iter().enumerate() {
            let Some(segment) = decoded.take() else { break };
            let add = || self.add_segment(key, segment);
            let decode_next = || rows.get(at + 1).map(|(_, row)| Segment::read(row));
            ((), decoded) = pool.join(add, decode_next);
        }
    }

    fn add_segment(&mut self, key: &[u8], segment: CodecResult<Segment<'_>>) {
        let first = metric_id(key.get(1..).unwrap_or_default());
        let outcome = first.and_then(|MetricId(first)| {
            let segment = segment?;
            let all = segment.series().iter().map(|series| series.id.0).collect();
            // The metric may have been deleted after the segment was written.
            let is_dropped = |metric| self.loaded.dropped.contains(metric);
            let removed = segment.series().iter().filter(|series| is_dropped(&series.metric));
            self.registry.note_segment(first, all, removed.map(|series| series.id.0).collect());
            self.registry.restore_segment(&segment, &mut self.restored);
            Ok(())
        });
        self.note_damage(key, outcome);
    }

    fn note_damage(&mut self, key: &[u8], outcome: CodecResult<()>) {
        if let Err(error) = outcome {
            self.loaded.damaged.push(format!("registry row {key:02x?}: {error}"));
        }
    }
}

/// Marks all ids as used that the numbers on disk, and dropped metrics, say were. Older versions
/// stored no numbers: blocks and rows raise what is absent here.
fn reserve_stored(store: &Store, registry: &Registry, dropped: &HashSet<MetricId>) -> Result<()> {
    let next =
        |fact| store.number(fact).map(|next| u32::try_from(next.unwrap_or(0)).unwrap_or(u32::MAX));
    let past_dropped = dropped.iter().map(|id| id.0.saturating_add(1)).max().unwrap_or(0);
    let next_metric = next(Fact::NextMetric)?.max(past_dropped);
    registry.reserve(MetricId(next_metric), SeriesId(next(Fact::NextSeries)?));
    if let Some(time) = store.number(Fact::NewestForgotten)? {
        registry.raise_newest_forgotten(TimestampMs(i64::try_from(time).unwrap_or(i64::MAX)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::persist::RegistryRows;
    use super::super::series::CardinalityLimits;
    use super::*;
    use crate::log::{MetricDefined, SeriesDefined};
    use crate::model::{MetricName, MetricType, TagCondition, TagFilter, Tags};
    use crate::storage::Batch;

    #[test]
    fn a_stored_registry_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 8 << 20, 1).unwrap();
        let metric = |id, name: &str| MetricDefined {
            id: MetricId(id),
            kind: MetricType::Set,
            name: MetricName::new(name).unwrap(),
        };
        let tags = Tags::new(&[("host", "a")]).unwrap();
        let series =
            |id, m| SeriesDefined { id: SeriesId(id), metric: MetricId(m), tags: tags.clone() };
        let definitions = Definitions {
            metrics: vec![metric(1, "kept"), metric(2, "gone")],
            series: vec![series(4, 1), series(5, 2)],
        };
        let written = Registry::new(CardinalityLimits { per_metric: 10, tag_keys: 10, total: 10 });
        written.restore(&definitions);
        written.note_unsealed(&definitions);
        let mut batch = Batch::new();
        let mut rows = RegistryRows(&mut batch);
        rows.define(&written, &written.take_unsealed()).unwrap();
        let stats = MetricStats { first: TimestampMs(5), last: TimestampMs(9), points: 3 };
        rows.stats(MetricId(1), stats);
        rows.drop_metric(MetricId(2));
        store.write(batch, crate::storage::Sync::Yes).unwrap();
        let registry = Registry::new(CardinalityLimits { per_metric: 10, tag_keys: 10, total: 10 });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let loaded = load(&store, &registry, &pool).unwrap();
        assert_eq!(loaded.damaged, [""; 0]);
        assert_eq!(loaded.stats, HashMap::from_iter([(MetricId(1), stats)]));
        assert_eq!(registry.size().0, 1);
        // Posting lists are built by the first query that needs them, not by a brief one.
        let condition = TagCondition::AnyOf(["a".to_owned()].into_iter().collect());
        let filters = [TagFilter { key: "host".to_owned(), condition }];
        assert_eq!(registry.tag_key_names("kept").unwrap(), ["host"]);
        assert_eq!(registry.select_work("kept", &filters, &[]), u64::MAX);
        let (.., selection) = registry.select("kept", &filters, &[]).unwrap();
        assert_eq!(selection.series.into_iter().collect::<Vec<_>>(), [4]);
        assert_eq!(registry.select_work("kept", &filters, &[]), 1);
        let mut lookup = registry.lookup();
        assert_eq!(lookup.series("kept", MetricType::Set, &[("host", "a")]), Ok(SeriesId(4)));
        assert_eq!(lookup.series("gone", MetricType::Gauge, &[]), Ok(SeriesId(6)));
        drop(lookup);
        assert_eq!(registry.take_unlogged().metrics[0].id, MetricId(3));
    }
}
