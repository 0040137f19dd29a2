//! Applying the log at a start.
//!
//! A record of points names its series by ids that an earlier record defines. Definitions are logged twice, before the writes
//! that first needed them and some sectors later; the copy is asked for when the first is damaged. When both are lost, the records
//! that rely on them are left out whole, like any damaged record: half a write with its receipt would never be sent again.
//! What the log has once, because the process ended before the copy was due or because one of both is damaged, gets a copy with the
//! first writes that follow.

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use crate::error::Result;
use crate::log::{Definitions, Listing, MetricDefined, Record, Segments, SeriesDefined, read_log};
use crate::metrics::registry::Registry;
use crate::model::{Lsn, MetricId, PointBatch, SeriesId};
use crate::telemetry::Telemetry;

/// What a replay came to.
pub(crate) struct Replayed {
    /// The number of the next record.
    pub(crate) next: Lsn,
    /// Definitions that the log has one copy of.
    pub(crate) defined_once: Definitions,
    /// What is damaged or missing, one line each.
    pub(crate) damaged: Vec<String>,
}

/// Applies what the log holds beyond `sealed`. Metrics that were `dropped` stay so, wherever a copy of what defined them is.
pub(crate) fn replay(
    telemetry: &Telemetry,
    segments: &Segments,
    sealed: Lsn,
    dropped: RoaringBitmap,
) -> Result<Replayed> {
    // What is applied now may be sealed soon, and must not be gone from the log then.
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
        left_out: LeftOut::default(),
        damaged: Vec::new(),
    };
    let read = read_log(&list, sealed, |lsn, payload| replay.record(lsn, payload))?;
    let registry = telemetry.metrics.registry();
    replay.present.reserve_ids(registry);
    let defined_once = replay.present.defined_once(registry);
    let mut damaged = std::mem::take(&mut replay.damaged);
    damaged.extend(read.damaged);
    if let LeftOut { records, first: Some(first), last, series } = replay.left_out {
        damaged.push(format!(
            "log records {}..{}: what defines {} series is lost, and with it the {records} records that name them",
            first.0,
            last.next().0,
            series.len()
        ));
    }
    for torn in read.torn {
        tracing::info!(segment = %torn.segment.display(), bytes = ?torn.bytes, "left out the end of the log, which nobody had an answer for");
    }
    Ok(Replayed { next: read.next, defined_once, damaged })
}

/// A replay under way.
struct Replay<'a> {
    telemetry: &'a Telemetry,
    segments: &'a Listing,
    sealed: Lsn,
    /// Series from this one on are defined by the records that are replayed.
    first_new: SeriesId,
    /// Metrics and series that were defined so far, and metrics that were dropped.
    metrics: RoaringBitmap,
    series: RoaringBitmap,
    dropped: RoaringBitmap,
    present: Present,
    /// All definitions of the log, once one was missed.
    copies: Option<Copies>,
    left_out: LeftOut,
    damaged: Vec<String>,
}

/// Records whose series nothing defines.
#[derive(Default)]
struct LeftOut {
    records: u64,
    first: Option<Lsn>,
    last: Lsn,
    series: RoaringBitmap,
}

/// Which definitions the log has, and which of them more than once.
#[derive(Default)]
struct Present {
    metrics: RoaringBitmap,
    metrics_again: RoaringBitmap,
    /// The metrics that series are of.
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

    /// Keeps the ids of what the log defines from being given to others: the definition of a metric may be lost, and those of its
    /// series be there.
    fn reserve_ids(&self, registry: &Registry) {
        let next = |ids: &RoaringBitmap| ids.max().map_or(0, |last| last.saturating_add(1));
        let metrics = next(&self.metrics).max(next(&self.metrics_of_series));
        registry.reserve(MetricId(metrics), SeriesId(next(&self.series)));
    }

    /// What the log has once and the registry still has.
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
        let mut missed = self.missed(&record.points);
        if !missed.is_empty() {
            let found = self.find(&missed)?;
            self.define(found);
            missed = self.missed(&record.points);
            // Those below belong to metrics that were dropped before.
            missed.remove_range(..self.first_new.0);
        }
        if !missed.is_empty() {
            self.leave_out(lsn, missed);
            return Ok(());
        }
        self.telemetry.replay(lsn, record)
    }

    /// Learns of what was not defined before, nor dropped since.
    fn define(&mut self, mut definitions: Definitions) {
        let registry = self.telemetry.metrics.registry();
        let Self { metrics, series, dropped, .. } = self;
        definitions.metrics.retain(|it| !dropped.contains(it.id.0) && metrics.insert(it.id.0));
        definitions.series.retain(|it| {
            if dropped.contains(it.metric.0) {
                series.insert(it.id.0);
                return false;
            }
            // Without its metric a series is missed as well.
            let has_metric = metrics.contains(it.metric.0) || registry.has_metric(it.metric);
            has_metric && series.insert(it.id.0)
        });
        if !definitions.is_empty() {
            self.telemetry.metrics.replay_definitions(&definitions);
        }
    }

    /// The series that nothing has defined so far.
    fn missed(&self, points: &PointBatch) -> RoaringBitmap {
        self.telemetry.metrics.view().with_known(|known| {
            let is_missed = |id: &SeriesId| !known(*id) && !self.series.contains(id.0);
            points.series().filter(is_missed).map(|id| id.0).collect()
        })
    }

    /// Leaves a record out, and keeps the ids of its series from being given to others.
    fn leave_out(&mut self, lsn: Lsn, missed: RoaringBitmap) {
        let registry = self.telemetry.metrics.registry();
        if let Some(last) = missed.max() {
            let (next_metric, _) = registry.next_ids();
            registry.reserve(next_metric, SeriesId(last.saturating_add(1)));
        }
        self.left_out.records += 1;
        self.left_out.first.get_or_insert(lsn);
        self.left_out.last = lsn;
        self.left_out.series |= missed;
    }

    /// What the log holds of the definitions of these series, wherever it is.
    fn find(&mut self, missed: &RoaringBitmap) -> Result<Definitions> {
        if self.copies.is_none() {
            self.copies = Some(read_copies(self.segments, self.sealed)?);
        }
        let mut found = Definitions::default();
        let Some(copies) = &self.copies else { return Ok(found) };
        found.series = missed.iter().filter_map(|id| copies.series.get(&id)).cloned().collect();
        let metrics: RoaringBitmap = found.series.iter().map(|series| series.metric.0).collect();
        found.metrics = metrics.iter().filter_map(|id| copies.metrics.get(&id)).cloned().collect();
        Ok(found)
    }
}

fn read_copies(segments: &Listing, sealed: Lsn) -> Result<Copies> {
    let mut copies = Copies::default();
    read_log(segments, sealed, |lsn, payload| {
        // Damage is told by the replay itself.
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
