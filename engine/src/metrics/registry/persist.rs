//! The registry on disk: rows of the registry keyspace, written with each seal, read at open.
//!
//! ```text
//! 'm' metric: u32 BE        frame(Metric)         { type: u8 │ name: text }
//! 't' metric: u32 BE        frame(MetricStats)    { first: signed │ last: signed │ points: varint }
//! 'd' metric: u32 BE        nothing: the metric is dropped, its id stays used
//! 's' first series: u32 BE  frame(SeriesSegment)  { texts: varint, each: text │ series: varint
//!                             │ ids, each less the one before │ metrics │ tags per series
//!                             │ for every tag its key and its value, as numbers of texts: all integers }
//! ```
//!
//! A segment holds the series that one seal found new, a few bytes each: their texts are kept once.

use hashbrown::{HashMap, HashSet};

use super::index::MetricStats;
use super::store::{Registry, Unsealed};
use crate::codec::bytes::{Reader, put_bytes, put_signed, put_varint};
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};
use crate::error::{Error, Result};
use crate::limits;
use crate::log::{Definitions, MetricDefined, SeriesDefined};
use crate::model::{MetricId, MetricName, MetricType, SeriesId, Tags, TimestampMs};
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Store};

const VERSION: u8 = 1;
/// Ids that come next, when a seal last wrote new ones: u64, little-endian. Ids are never given again, whatever else is lost.
const NEXT_METRIC_KEY: &[u8] = b"next_metric";
const NEXT_SERIES_KEY: &[u8] = b"next_series";
/// Series of one segment; more are cut into several, so that little is spelled out at once.
const SEGMENT_SERIES_MAX: usize = 1 << 13;
const TEXTS_MAX: usize = SEGMENT_SERIES_MAX * limits::TAGS_MAX * 2;

/// Adds rows of the registry to a batch.
#[derive(Debug)]
pub(crate) struct RegistryRows<'b>(pub(crate) &'b mut Batch);

impl RegistryRows<'_> {
    /// The rows of metrics and series that are in the registry.
    pub(crate) fn define(&mut self, registry: &Registry, news: &Unsealed) -> Result<()> {
        for metric in registry.describe_metrics(&news.metrics) {
            let row = framed(FrameKind::Metric, |out| {
                out.push(metric.kind.code());
                put_bytes(out, metric.name.as_str().as_bytes());
            });
            self.0.put(Keyspace::Registry, &key(b'm', metric.id.0), row);
        }
        for series in news.series.chunks(SEGMENT_SERIES_MAX) {
            let series = registry.describe_series(series);
            let Some(first) = series.first() else { continue };
            let segment = encode_segment(&series)?;
            let row = framed(FrameKind::SeriesSegment, |out| out.extend_from_slice(&segment));
            self.0.put(Keyspace::Registry, &key(b's', first.id.0), row);
        }
        if !news.metrics.is_empty() || !news.series.is_empty() {
            let (metric, series) = registry.next_ids();
            for (key, next) in [(NEXT_METRIC_KEY, metric.0), (NEXT_SERIES_KEY, series.0)] {
                self.0.put(Keyspace::Meta, key, u64::from(next).to_le_bytes().to_vec());
            }
        }
        Ok(())
    }

    pub(crate) fn stats(&mut self, metric: MetricId, stats: MetricStats) {
        let row = framed(FrameKind::MetricStats, |out| {
            put_signed(out, stats.first.0);
            put_signed(out, stats.last.0);
            put_varint(out, stats.points);
        });
        self.0.put(Keyspace::Registry, &key(b't', metric.0), row);
    }

    pub(crate) fn drop_metric(&mut self, metric: MetricId) {
        self.0.delete(Keyspace::Registry, &key(b'm', metric.0));
        self.0.delete(Keyspace::Registry, &key(b't', metric.0));
        self.0.put(Keyspace::Registry, &key(b'd', metric.0), Vec::new());
    }
}

/// What stands beside the registry on disk.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// How much each metric was given that is in blocks.
    pub(crate) stats: HashMap<MetricId, MetricStats>,
    /// Metrics that were dropped.
    pub(crate) dropped: HashSet<MetricId>,
    /// Rows that could not be read, one line each.
    pub(crate) damaged: Vec<String>,
}

/// Fills an empty registry from disk.
pub(crate) fn load(store: &Store, registry: &Registry) -> Result<Loaded> {
    let mut damaged = Vec::new();
    let mut stats = HashMap::new();
    let mut dropped = HashSet::new();
    // Dropped, then metrics, then series, then stats: the order of the prefixes.
    let visit = |key: Box<[u8]>, row: Box<[u8]>| {
        let outcome = match key.split_first() {
            Some((b'm', id)) => read_metric(id, &row).map(|metric| {
                registry.restore(&Definitions { metrics: vec![metric], series: Vec::new() });
            }),
            Some((b's', _)) => read_segment(&row).map(|series| {
                registry.restore(&Definitions { metrics: Vec::new(), series });
            }),
            Some((b't', id)) => read_stats(id, &row).map(|(metric, row)| {
                stats.insert(metric, row);
            }),
            Some((b'd', id)) => metric_id(id).map(|id| {
                dropped.insert(id);
            }),
            _ => Err(CodecError::new("unknown kind of row")),
        };
        if let Err(error) = outcome {
            damaged.push(format!("registry row {key:02x?}: {error}"));
        }
    };
    let range = KeyRange::all();
    let gap = store.read_around_damage(Keyspace::Registry, &range, Caching::Bypass, visit)?;
    damaged.extend(gap.map(|gap| format!("registry: {}", gap.error)));
    let next =
        |key| store.number(key).map(|next| u32::try_from(next.unwrap_or(0)).unwrap_or(u32::MAX));
    let past_dropped =
        dropped.iter().map(|id: &MetricId| id.0.saturating_add(1)).max().unwrap_or(0);
    let next_metric = next(NEXT_METRIC_KEY)?.max(past_dropped);
    registry.reserve(MetricId(next_metric), SeriesId(next(NEXT_SERIES_KEY)?));
    // A row that came back with damage is that of a metric that was dropped.
    for id in &dropped {
        registry.drop_metric(*id);
    }
    Ok(Loaded { stats, dropped, damaged })
}

/// Checks a row without keeping what it says.
pub(crate) fn check_row(key: &[u8], row: &[u8]) -> CodecResult<()> {
    match key.split_first() {
        Some((b'm', id)) => read_metric(id, row).map(drop),
        Some((b's', _)) => read_segment(row).map(drop),
        Some((b't', id)) => read_stats(id, row).map(drop),
        Some((b'd', id)) => metric_id(id).map(drop),
        _ => Err(CodecError::new("unknown kind of row")),
    }
}

fn key(kind: u8, id: u32) -> [u8; 5] {
    let [a, b, c, d] = id.to_be_bytes();
    [kind, a, b, c, d]
}

fn framed(kind: FrameKind, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    let mark = frame::begin(&mut out, kind, VERSION);
    payload(&mut out);
    frame::close(&mut out, mark);
    out
}

fn metric_id(key: &[u8]) -> CodecResult<MetricId> {
    let bytes = key.try_into().map_err(|_| CodecError::new("key of the wrong length"))?;
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

fn encode_segment(series: &[SeriesDefined]) -> Result<Vec<u8>> {
    let mut numbers: HashMap<&str, i64> = HashMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut tags = Vec::new();
    for text in series.iter().flat_map(|s| s.tags.iter()).flat_map(|(k, v)| [k, v]) {
        let number = *numbers.entry(text).or_insert_with(|| {
            texts.push(text);
            texts.len() as i64 - 1
        });
        tags.push(number);
    }
    let mut out = Vec::new();
    put_varint(&mut out, texts.len() as u64);
    texts.iter().for_each(|text| put_bytes(&mut out, text.as_bytes()));
    put_varint(&mut out, series.len() as u64);
    let mut before = 0;
    let ids = series.iter().map(|s| {
        let id = i64::from(s.id.0);
        id - std::mem::replace(&mut before, id)
    });
    let ids: Vec<i64> = ids.collect();
    let metrics: Vec<i64> = series.iter().map(|s| i64::from(s.metric.0)).collect();
    let counts: Vec<i64> = series.iter().map(|s| s.tags.len() as i64).collect();
    let keys: Vec<i64> = tags.iter().step_by(2).copied().collect();
    let values: Vec<i64> = tags.iter().skip(1).step_by(2).copied().collect();
    for column in [&ids, &metrics, &counts, &keys, &values] {
        integers::encode(column, Effort::Seal, &mut out).map_err(Error::from)?;
    }
    Ok(out)
}

fn read_segment(row: &[u8]) -> CodecResult<Vec<SeriesDefined>> {
    let (_, payload) = frame::open(row, FrameKind::SeriesSegment, VERSION)?;
    let mut reader = Reader::new(payload);
    let texts = (0..reader.count("texts", TEXTS_MAX)?)
        .map(|_| reader.text())
        .collect::<CodecResult<Vec<_>>>()?;
    let count = reader.count("series", SEGMENT_SERIES_MAX)?;
    let mut columns: [Vec<i64>; 5] = Default::default();
    for (i, column) in columns.iter_mut().enumerate() {
        let rows_max = if i < 3 { count } else { count * limits::TAGS_MAX };
        IntegerColumn::read(&mut reader, rows_max)?.all(column)?;
    }
    reader.finish()?;
    let [ids, metrics, counts, keys, values] = columns;
    let small = |v: i64| u32::try_from(v).map_err(|_| CodecError::new("id over 32 bits"));
    let text = |number: &i64| {
        let found = usize::try_from(*number).ok().and_then(|n| texts.get(n));
        found.copied().ok_or_else(|| CodecError::new("text that is not there"))
    };
    let mut pairs = keys.iter().zip(&values);
    let mut id = 0i64;
    let mut series = Vec::with_capacity(count);
    for ((delta, metric), tags) in ids.iter().zip(&metrics).zip(&counts) {
        id = id.wrapping_add(*delta);
        let tags = pairs
            .by_ref()
            .take(usize::try_from(*tags).unwrap_or(0))
            .map(|(k, v)| Ok((text(k)?, text(v)?)))
            .collect::<CodecResult<Vec<_>>>()?;
        let tags = Tags::new(&tags).map_err(|e| CodecError::new(e.to_string()))?;
        series.push(SeriesDefined {
            id: SeriesId(small(id)?),
            metric: MetricId(small(*metric)?),
            tags,
        });
    }
    Ok(series)
}

#[cfg(test)]
mod tests {
    use super::super::store::CardinalityLimits;
    use super::*;

    #[test]
    fn a_segment_round_trips_and_is_small() {
        let series: Vec<SeriesDefined> = (0..1000u32)
            .map(|i| {
                let (host, zone) = (format!("host-{}", i / 10), format!("zone-{}", i % 3));
                let tags = [("host", host.as_str()), ("zone", &zone), ("team", "core")];
                let tags = Tags::new(&tags).unwrap();
                SeriesDefined { id: SeriesId(5000 + i), metric: MetricId(i % 10), tags }
            })
            .collect();
        let segment = encode_segment(&series).unwrap();
        assert!(segment.len() < 1000 * 8, "{} bytes", segment.len());
        let row = framed(FrameKind::SeriesSegment, |out| out.extend_from_slice(&segment));
        assert_eq!(read_segment(&row).unwrap(), series);
    }

    #[test]
    fn what_is_stored_is_loaded() {
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
        let loaded = load(&store, &registry).unwrap();
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
