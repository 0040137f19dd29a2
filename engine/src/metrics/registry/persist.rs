//! The registry on disk: rows of the registry keyspace, written by each seal and loaded when the
//! engine is opened.
//!
//! ```text
//! 'm' metric: u32 BE        frame(Metric)        { type: u8 │ name: string }
//! 't' metric: u32 BE        frame(MetricStats)   { first: signed │ last: signed │ points: varint }
//! 'd' metric: u32 BE        empty: the metric is dropped, its id stays used
//! 's' first series: u32 BE  frame(SeriesSegment) see `segment.rs`
//! 'u' page: u32 BE          frame(LastDays)      see `last_days.rs`
//! ```

use hashbrown::{HashMap, HashSet};
use rayon::ThreadPool;
use roaring::RoaringBitmap;

use super::index::MetricStats;
use super::last_days;
use super::restoring::Restored;
use super::segment::{Segment, segment_row};
use super::series::{Registry, Unsealed};
use crate::codec::bytes::{Reader, put_bytes, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::limits;
use crate::log::{Definitions, MetricDefined};
use crate::model::{MetricId, MetricName, MetricType, SeriesId, TimestampMs};
use crate::storage::{Batch, Caching, Fact, KeyOf, RangeOf, Store, ValueOf, keyspaces};

const VERSION: u8 = 1;

/// The key of a row of the registry: its kind, then a number. Rows are read in the order of these
/// kinds: dropped metrics, metrics, segments, statistics, last days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegistryKey {
    /// A metric that was dropped.
    Dropped(MetricId),
    Metric(MetricId),
    /// The segment whose first series this is.
    Segment(SeriesId),
    /// The statistics of a metric.
    Stats(MetricId),
    /// A page of last days, by its number.
    LastDays(u32),
}

impl RegistryKey {
    const DROPPED: u8 = b'd';
    const METRIC: u8 = b'm';
    const SEGMENT: u8 = b's';
    const STATS: u8 = b't';
    const LAST_DAYS: u8 = b'u';

    pub(super) fn encode(self) -> [u8; 5] {
        let (kind, number) = match self {
            Self::Dropped(metric) => (Self::DROPPED, metric.0),
            Self::Metric(metric) => (Self::METRIC, metric.0),
            Self::Segment(first) => (Self::SEGMENT, first.0),
            Self::Stats(metric) => (Self::STATS, metric.0),
            Self::LastDays(page) => (Self::LAST_DAYS, page),
        };
        let [a, b, c, d] = number.to_be_bytes();
        [kind, a, b, c, d]
    }
}

impl KeyOf<keyspaces::Registry> for RegistryKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        self.encode()
    }
}

/// An encoded row.
impl ValueOf<keyspaces::Registry> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

/// The registry rows staged by a seal.
#[derive(Debug, Default)]
pub(crate) struct StagedRows {
    /// The series of each new segment.
    segments: Vec<RoaringBitmap>,
    /// Pages of last days.
    pages: RoaringBitmap,
}

impl StagedRows {
    /// Records that the rows are on disk.
    pub(crate) fn written(self, registry: &Registry) {
        registry.segments_written(self.segments);
        registry.last_days_written(&self.pages);
    }
}

/// Stages registry rows in a batch.
#[derive(Debug)]
pub(crate) struct RegistryRows<'b>(pub(crate) &'b mut Batch);

impl RegistryRows<'_> {
    /// Stages the definitions in `unsealed`, as far as they still exist, and all changed last days.
    pub(crate) fn define(
        &mut self,
        registry: &Registry,
        unsealed: &Unsealed,
    ) -> Result<StagedRows> {
        for metric in registry.describe_metrics(&unsealed.metrics) {
            let row = framed(FrameKind::Metric, |out| {
                out.push(metric.kind.code());
                put_bytes(out, metric.name.as_str().as_bytes());
            });
            self.0.put(keyspaces::Registry, &RegistryKey::Metric(metric.id), row);
        }
        let mut series = unsealed.series.clone();
        series.sort_unstable();
        let segments = self.segments(registry, &series)?;
        if !unsealed.metrics.is_empty() || !unsealed.series.is_empty() {
            self.next_ids(registry);
        }
        self.newest_forgotten(registry.newest_forgotten_sample());
        Ok(StagedRows { segments, pages: registry.stage_last_days(self.0)? })
    }

    /// Stages segments for `series`, which ascend; removed ones are left out. Returns the series of
    /// each segment.
    pub(super) fn segments(
        &mut self,
        registry: &Registry,
        series: &[SeriesId],
    ) -> Result<Vec<RoaringBitmap>> {
        let mut segments = Vec::new();
        for series in series.chunks(limits::SEGMENT_SERIES_MAX) {
            let series = registry.describe_series(series);
            let Some(first) = series.first() else { continue };
            let key = RegistryKey::Segment(first.id);
            self.0.put(keyspaces::Registry, &key, segment_row(&series)?);
            segments.push(series.iter().map(|series| series.id.0).collect());
        }
        Ok(segments)
    }

    /// Stages the next ids.
    pub(super) fn next_ids(&mut self, registry: &Registry) {
        let (metric, series) = registry.next_ids();
        self.0.put(keyspaces::Meta, &Fact::NextMetric, u64::from(metric.0));
        self.0.put(keyspaces::Meta, &Fact::NextSeries, u64::from(series.0));
    }

    /// Stages the time of the newest forgotten cumulative sample, if there is one.
    pub(super) fn newest_forgotten(&mut self, time: TimestampMs) {
        if let Ok(time) = u64::try_from(time.0) {
            self.0.put(keyspaces::Meta, &Fact::NewestForgotten, time);
        }
    }

    pub(crate) fn stats(&mut self, metric: MetricId, stats: MetricStats) {
        let row = framed(FrameKind::MetricStats, |out| {
            put_signed(out, stats.first.0);
            put_signed(out, stats.last.0);
            put_varint(out, stats.points);
        });
        self.0.put(keyspaces::Registry, &RegistryKey::Stats(metric), row);
    }

    pub(crate) fn drop_metric(&mut self, metric: MetricId) {
        self.0.delete(keyspaces::Registry, &RegistryKey::Metric(metric));
        self.0.delete(keyspaces::Registry, &RegistryKey::Stats(metric));
        self.0.put(keyspaces::Registry, &RegistryKey::Dropped(metric), Vec::new());
    }
}

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

/// Loads an empty registry from disk.
pub(crate) fn load(
    store: &Store,
    registry: &Registry,
    pool: &ThreadPool,
) -> Result<LoadedRegistry> {
    let mut damaged = Vec::new();
    let mut stats = HashMap::new();
    let mut dropped = HashSet::new();
    let mut restored = Restored::default();
    // Rows arrive in key order: dropped metrics, metrics, series, stats, last days.
    let visit = |key: Box<[u8]>, row: Box<[u8]>| {
        let outcome = match key.split_first() {
            Some((&RegistryKey::METRIC, id)) => read_metric(id, &row).map(|metric| {
                registry.restore(&Definitions { metrics: vec![metric], series: Vec::new() });
            }),
            Some((&RegistryKey::SEGMENT, id)) => metric_id(id).and_then(|MetricId(first)| {
                let segment = Segment::read(&row)?;
                let all = segment.series().map(|(id, ..)| id.0).collect();
                // The metric may have been deleted after the segment was written.
                let removed = segment.series().filter(|(_, metric, _)| dropped.contains(metric));
                registry.note_segment(first, all, removed.map(|(id, ..)| id.0).collect());
                registry.restore_segment(&segment, &mut restored);
                Ok(())
            }),
            Some((&RegistryKey::STATS, id)) => read_stats(id, &row).map(|(metric, row)| {
                stats.insert(metric, row);
            }),
            Some((&RegistryKey::LAST_DAYS, _)) => {
                last_days::read_row(&row).map(|days| registry.restore_last_days(days))
            }
            Some((&RegistryKey::DROPPED, id)) => metric_id(id).map(|id| {
                dropped.insert(id);
            }),
            _ => Err(CodecError::new("unknown row kind")),
        };
        if let Err(error) = outcome {
            damaged.push(format!("registry row {key:02x?}: {error}"));
        }
    };
    let all = RangeOf::all(keyspaces::Registry);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    damaged.extend(gap.map(|gap| format!("registry: {}", gap.error)));
    pool.install(|| registry.finish_restoring(restored));
    // Older versions stored neither: blocks and rows raise what is absent here.
    let next =
        |fact| store.number(fact).map(|next| u32::try_from(next.unwrap_or(0)).unwrap_or(u32::MAX));
    let past_dropped =
        dropped.iter().map(|id: &MetricId| id.0.saturating_add(1)).max().unwrap_or(0);
    let next_metric = next(Fact::NextMetric)?.max(past_dropped);
    registry.reserve(MetricId(next_metric), SeriesId(next(Fact::NextSeries)?));
    if let Some(time) = store.number(Fact::NewestForgotten)? {
        registry.raise_newest_forgotten(TimestampMs(i64::try_from(time).unwrap_or(i64::MAX)));
    }
    // Damage can make the deleted row of a dropped metric reappear.
    for id in &dropped {
        registry.drop_metric(*id);
    }
    Ok(LoadedRegistry { stats, dropped, damaged })
}

/// Checks that a row can be decoded, for verification.
pub(crate) fn check_row(key: &[u8], row: &[u8]) -> CodecResult<()> {
    match key.split_first() {
        Some((&RegistryKey::METRIC, id)) => read_metric(id, row).map(drop),
        Some((&RegistryKey::SEGMENT, _)) => Segment::read(row).map(drop),
        Some((&RegistryKey::STATS, id)) => read_stats(id, row).map(drop),
        Some((&RegistryKey::LAST_DAYS, _)) => last_days::read_row(row).map(drop),
        Some((&RegistryKey::DROPPED, id)) => metric_id(id).map(drop),
        _ => Err(CodecError::new("unknown row kind")),
    }
}

fn framed(kind: FrameKind, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mark = frame::begin(&mut out, kind, VERSION);
    payload(&mut out);
    frame::close(&mut out, mark);
    out
}

fn metric_id(key: &[u8]) -> CodecResult<MetricId> {
    let bytes = key.try_into().map_err(|_| CodecError::new("key has the wrong length"))?;
    Ok(MetricId(u32::from_be_bytes(bytes)))
}

fn read_metric(key: &[u8], row: &[u8]) -> CodecResult<MetricDefined> {
    let (_, payload) = frame::open(row, FrameKind::Metric, VERSION)?;
    let mut reader = Reader::new(payload);
    let kind = MetricType::from_code(reader.u8()?)
        .ok_or_else(|| CodecError::new("unknown metric type"))?;
    let name = MetricName::new(reader.text()?).map_err(|e| CodecError::new(e.to_string()))?;
    reader.finish()?;
    Ok(MetricDefined { id: metric_id(key)?, kind, name })
}

fn read_stats(key: &[u8], row: &[u8]) -> CodecResult<(MetricId, MetricStats)> {
    let (_, payload) = frame::open(row, FrameKind::MetricStats, VERSION)?;
    let mut reader = Reader::new(payload);
    let (first, last) = (TimestampMs(reader.signed()?), TimestampMs(reader.signed()?));
    let points = reader.varint()?;
    reader.finish()?;
    Ok((metric_id(key)?, MetricStats { first, last, points }))
}

#[cfg(test)]
mod tests {
    use super::super::series::CardinalityLimits;
    use super::*;
    use crate::log::SeriesDefined;
    use crate::model::Tags;

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
        let mut lookup = registry.lookup();
        assert_eq!(lookup.series("kept", MetricType::Set, &[("host", "a")]), Ok(SeriesId(4)));
        assert_eq!(lookup.series("gone", MetricType::Gauge, &[]), Ok(SeriesId(6)));
        drop(lookup);
        assert_eq!(registry.take_unlogged().metrics[0].id, MetricId(3));
    }
}
