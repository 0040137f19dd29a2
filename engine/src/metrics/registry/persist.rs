//! The registry on disk: rows of the registry keyspace, written by each seal and
//! [loaded](mod@super::load) when the engine is opened.
//!
//! ```text
//! 'm' metric: u32 BE        frame(Metric)        { type: u8 │ name: string }
//! 't' metric: u32 BE        frame(MetricStats)   { first: signed │ last: signed │ points: varint }
//! 'd' metric: u32 BE        empty: the metric is dropped, its id stays used
//! 's' first series: u32 BE  frame(SeriesSegment) see `segment/mod.rs`
//! 'u' page: u32 BE          frame(LastDays)      see `last_days.rs`
//! ```

use roaring::RoaringBitmap;

use super::index::MetricStats;
use super::last_days;
use super::segment::{Segment, segment_row};
use super::series::{Registry, Unsealed};
use crate::codec::bytes::{Reader, put_bytes, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::limits;
use crate::log::MetricDefined;
use crate::model::{MetricId, MetricName, MetricType, SeriesId, TimestampMs};
use crate::storage::{Batch, Fact, KeyOf, ValueOf, keyspaces};

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
    pub(super) const DROPPED: u8 = b'd';
    pub(super) const METRIC: u8 = b'm';
    pub(super) const SEGMENT: u8 = b's';
    pub(super) const STATS: u8 = b't';
    pub(super) const LAST_DAYS: u8 = b'u';

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

pub(super) fn metric_id(key: &[u8]) -> CodecResult<MetricId> {
    let bytes = key.try_into().map_err(|_| CodecError::new("key has the wrong length"))?;
    Ok(MetricId(u32::from_be_bytes(bytes)))
}

pub(super) fn read_metric(key: &[u8], row: &[u8]) -> CodecResult<MetricDefined> {
    let (_, payload) = frame::open(row, FrameKind::Metric, VERSION)?;
    let mut reader = Reader::new(payload);
    let kind = MetricType::from_code(reader.u8()?)
        .ok_or_else(|| CodecError::new("unknown metric type"))?;
    let name = MetricName::new(reader.text()?).map_err(|e| CodecError::new(e.to_string()))?;
    reader.finish()?;
    Ok(MetricDefined { id: metric_id(key)?, kind, name })
}

pub(super) fn read_stats(key: &[u8], row: &[u8]) -> CodecResult<(MetricId, MetricStats)> {
    let (_, payload) = frame::open(row, FrameKind::MetricStats, VERSION)?;
    let mut reader = Reader::new(payload);
    let (first, last) = (TimestampMs(reader.signed()?), TimestampMs(reader.signed()?));
    let points = reader.varint()?;
    reader.finish()?;
    Ok((metric_id(key)?, MetricStats { first, last, points }))
}
