//! Replay of the write-ahead log at startup.
//!
//! A record of samples identifies its series by ids that an earlier record defines. Each definition
//! is logged twice: before the write that first needed it, and again some sectors later; the second
//! copy is used when the first is corrupt. If both are lost, the records that refer to them are
//! skipped as a whole, like any corrupt record: replaying half of a write together with its receipt
//! would keep the client from sending it again. A definition of which the log has only one copy,
//! because the process stopped before the second was written or because one copy is corrupt, is
//! logged again with the first writes after startup.

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use crate::error::Result;
use crate::log::{Definitions, Listing, MetricDefined, Record, Segments, SeriesDefined, read_log};
use crate::metrics::registry::Registry;
use crate::model::{Lsn, MetricId, PointBatch, SeriesId};
use crate::telemetry::Telemetry;

/// The result of a replay.
pub(crate) struct Replayed {
    /// The LSN of the next record to be written.
    pub(crate) next: Lsn,
    /// Definitions of which the log contains a single copy.
    pub(crate) defined_once: Definitions,
    /// Corrupt or missing records, one line each.
    pub(crate) damaged: Vec<String>,
}

/// Applies the log records after `sealed`. Series of the metrics in `dropped` are not defined
/// again, even if the log contains copies of their definitions.
pub(crate) fn replay(
    telemetry: &Telemetry,
    segments: &Segments,
    sealed: Lsn,
    dropped: RoaringBitmap,
) -> Result<Replayed> {
    // The log must be durable first: a seal soon after startup relies on the records applied here.
    segments.settle()?;
    let list = segments.look()?;
    let mut replay = Replay {
        telemetry,
        segments: &list,
        sealed,
        first_new: telemetry.metrics.registry().next_ids().1,
        metrics: RoaringBitmap::new(),
        series: RoaringBitmap::new(),
        dropped,
        present: Present::default(),
        copies: None,
        skipped: SkippedRecords::default(),
        damaged: Vec::new(),
    };
    let read = read_log(&list, sealed, |lsn, payload| replay.record(lsn, payload))?;
    let registry = telemetry.metrics.registry();
    replay.present.reserve_ids(registry);
    let defined_once = replay.present.defined_once(registry);
    let mut damaged = std::mem::take(&mut replay.damaged);
    damaged.extend(read.damaged);
    if let SkippedRecords { records, first: Some(first), last, series } = replay.skipped {
        damaged.push(format!(
            "log records {}..{}: the definitions of {} series are lost, and with them the {records} records that refer to these series",
            first.0,
            last.next().0,
            series.len()
        ));
    }
    for torn in read.torn {
        tracing::info!(segment = %torn.segment.display(), bytes = ?torn.bytes, "discarded the torn end of a log segment; no write in it was acknowledged");
    }
    Ok(Replayed { next: read.next, defined_once, damaged })
}

/// A replay in progress.
struct Replay<'a> {
    telemetry: &'a Telemetry,
    segments: &'a Listing,
    sealed: Lsn,
    /// The first series id that the database does not define; later ones are defined by replayed
    /// records.
    first_new: SeriesId,
    /// Metrics and series defined so far, and dropped metrics.
    metrics: RoaringBitmap,
    series: RoaringBitmap,
    dropped: RoaringBitmap,
    present: Present,
    /// All definitions in the log, read once a definition is missing.
    copies: Option<Copies>,
    skipped: SkippedRecords,
    damaged: Vec<String>,
}

/// Records skipped because their series are not defined.
#[derive(Default)]
struct SkippedRecords {
    records: u64,
    first: Option<Lsn>,
    last: Lsn,
    series: RoaringBitmap,
}

/// The definitions that the log contains, and those it contains more than once.
#[derive(Default)]
struct Present {
    metrics: RoaringBitmap,
    metrics_again: RoaringBitmap,
    /// The metrics of the defined series.
    metrics_of_series: RoaringBitmap,
    series: RoaringBitmap,
    series_again: RoaringBitmap,
}

impl Present {
    fn note(&mut self, definitions: &Definitions) {
        for MetricDefined { id, .. } in &definitions.metrics {
            if !self.metrics.insert(id.0) {
                self.metrics_again.insert(id.0);
            }
        }
        for SeriesDefined { id, metric, .. } in &definitions.series {
            self.metrics_of_series.insert(metric.0);
            if !self.series.insert(id.0) {
                self.series_again.insert(id.0);
            }
        }
    }

    /// Reserves the ids that the log defines, so that no other metric or series gets them. The
    /// definition of a metric may be lost while those of its series are present.
    fn reserve_ids(&self, registry: &Registry) {
        let next = |ids: &RoaringBitmap| ids.max().map_or(0, |last| last.saturating_add(1));
        let metrics = next(&self.metrics).max(next(&self.metrics_of_series));
        registry.reserve(MetricId(metrics), SeriesId(next(&self.series)));
    }

    /// Returns the definitions of which the log has one copy, if the registry still contains them.
    fn defined_once(&self, registry: &Registry) -> Definitions {
        let metrics = &self.metrics - &self.metrics_again;
        let series = &self.series - &self.series_again;
        let metrics: Vec<MetricId> = metrics.iter().map(MetricId).collect();
        let series: Vec<SeriesId> = series.iter().map(SeriesId).collect();
        Definitions {
            metrics: registry.describe_metrics(&metrics),
            series: registry.describe_series(&series),
        }
    }
}

#[derive(Default)]
struct Copies {
    metrics: HashMap<u32, MetricDefined>,
    series: HashMap<u32, SeriesDefined>,
}

impl Replay<'_> {
    fn record(&mut self, lsn: Lsn, payload: &[u8]) -> Result<()> {
        if lsn <= self.sealed {
            return Ok(());
        }
        let mut record = match Record::decode(payload) {
            Ok(record) => record,
            Err(error) => {
                self.damaged.push(format!("log record {}: {error}", lsn.0));
                return Ok(());
            }
        };
        self.present.note(&record.definitions);
        self.define(std::mem::take(&mut record.definitions));
        self.dropped.extend(record.dropped.iter().map(|metric| metric.0));
        let mut missing = self.missing(&record.points);
        if !missing.is_empty() {
            let found = self.find(&missing)?;
            self.define(found);
            missing = self.missing(&record.points);
            // Missing ids below `first_new` belong to metrics that were dropped earlier.
            missing.remove_range(..self.first_new.0);
        }
        if !missing.is_empty() {
            self.skip(lsn, missing);
            return Ok(());
        }
        self.telemetry.replay(lsn, record, &mut self.damaged)
    }

    /// Applies the definitions that are new and whose metric has not been dropped since.
    fn define(&mut self, mut definitions: Definitions) {
        let registry = self.telemetry.metrics.registry();
        let Self { metrics, series, dropped, .. } = self;
        definitions.metrics.retain(|it| !dropped.contains(it.id.0) && metrics.insert(it.id.0));
        definitions.series.retain(|it| {
            if dropped.contains(it.metric.0) {
                series.insert(it.id.0);
                return false;
            }
            // A series whose metric is unknown counts as missing.
            let has_metric = metrics.contains(it.metric.0) || registry.has_metric(it.metric);
            has_metric && series.insert(it.id.0)
        });
        if !definitions.is_empty() {
            self.telemetry.metrics.replay_definitions(&definitions);
        }
    }

    /// Returns the series that no definition so far covers.
    fn missing(&self, points: &PointBatch) -> RoaringBitmap {
        self.telemetry.metrics.view().with_known(|mut known| {
            let is_missing = |id: &SeriesId| !known.contains(*id) && !self.series.contains(id.0);
            points.series().filter(is_missing).map(|id| id.0).collect()
        })
    }

    /// Skips a record, and reserves the ids of its series so that no other series gets them.
    fn skip(&mut self, lsn: Lsn, missing: RoaringBitmap) {
        let registry = self.telemetry.metrics.registry();
        if let Some(last) = missing.max() {
            let (next_metric, _) = registry.next_ids();
            registry.reserve(next_metric, SeriesId(last.saturating_add(1)));
        }
        self.skipped.records += 1;
        self.skipped.first.get_or_insert(lsn);
        self.skipped.last = lsn;
        self.skipped.series |= missing;
    }

    /// Returns the definitions of these series from anywhere in the log.
    fn find(&mut self, missing: &RoaringBitmap) -> Result<Definitions> {
        let copies = match &mut self.copies {
            Some(copies) => copies,
            none => none.insert(read_copies(self.segments, self.sealed)?),
        };
        let series: Vec<SeriesDefined> =
            missing.iter().filter_map(|id| copies.series.get(&id)).cloned().collect();
        let metrics: RoaringBitmap = series.iter().map(|series| series.metric.0).collect();
        let metrics = metrics.iter().filter_map(|id| copies.metrics.get(&id)).cloned().collect();
        Ok(Definitions { metrics, series })
    }
}

fn read_copies(segments: &Listing, sealed: Lsn) -> Result<Copies> {
    let mut copies = Copies::default();
    read_log(segments, sealed, |lsn, payload| {
        // The replay itself reports corrupt records.
        if let Ok(Record { definitions, .. }) = Record::decode(payload)
            && lsn > sealed
        {
            copies.metrics.extend(definitions.metrics.into_iter().map(|it| (it.id.0, it)));
            copies.series.extend(definitions.series.into_iter().map(|it| (it.id.0, it)));
        }
        Ok(())
    })?;
    Ok(copies)
}
