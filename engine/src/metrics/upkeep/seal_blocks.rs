//! Sealing: turns a head into blocks. A pure function of the head's points and of the current time,
//! which decides which days are over.
//!
//! A point is sealed into the block of its window: two hours, or the whole day once that day is
//! over, so that an import of old data does not leave twelve blocks per day. Late points produce
//! small blocks in old windows, which the next compaction absorbs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::block::{BlockBuilder, CellSketch, PointBlockBuilder, SketchBlockBuilder, Tier};
use super::super::compact::{Source, merge_scan};
use super::super::head::{CellRun, Head, MetricHead, Run};
use super::super::view::ReplacedPoints;
use super::super::window::window_of;
use super::super::writer::{BlockOrigin, BlockWriter, NewBlock};
use crate::codec::CodecResult;
use crate::model::{Interval, MetricId, MetricType, SeriesId, TimeRange, TimestampMs};
use crate::sketch::{Cardinality, Distribution};

/// The result of sealing a head.
#[derive(Debug, Default)]
pub(crate) struct SealedHead {
    pub(crate) blocks: Vec<NewBlock>,
    /// The gauge points that are in no block because later ones replaced them.
    pub(crate) replaced: ReplacedPoints,
}

/// The result of sealing a metric.
#[derive(Debug)]
struct SealedMetric {
    blocks: Vec<NewBlock>,
    replaced: u64,
    last_times: LastTimes,
}

/// The series of a metric, ascending, with the time of the last point of each.
type LastTimes = Vec<(SeriesId, TimestampMs)>;

/// Encodes all points of a head as blocks. Calls `seen` with the series of each metric and the time
/// of the last point of each.
pub(super) fn seal_head<'s>(
    head: &Head,
    now: TimestampMs,
    origin: impl Fn(MetricId, MetricType) -> BlockOrigin<'s>,
    seen: impl Fn(LastTimes),
) -> CodecResult<SealedHead> {
    let mut metrics: Vec<(MetricId, &MetricHead)> = head.metrics().collect();
    metrics.sort_unstable_by_key(|(metric, _)| *metric);
    let mut sealed = SealedHead::default();
    for (metric, head) in metrics {
        let SealedMetric { blocks, replaced, last_times } =
            seal_metric(head, now, origin(metric, head.kind))?;
        seen(last_times);
        sealed.blocks.extend(blocks);
        if replaced > 0 {
            sealed.replaced.insert(metric, replaced);
        }
    }
    Ok(sealed)
}

/// Encodes the points of one metric.
fn seal_metric(
    head: &MetricHead,
    now: TimestampMs,
    origin: BlockOrigin<'_>,
) -> CodecResult<SealedMetric> {
    let runs = head.runs(TimeRange::ALL, None);
    match head.kind {
        MetricType::Gauge | MetricType::Counter => {
            let mut windows: WindowWriters<'_, PointBlockBuilder> = WindowWriters::new(origin, now);
            let mut sources: Vec<Source<'_>> = runs.into_iter().map(Source::Run).collect();
            let range = (TimeRange::ALL.start.0, TimeRange::ALL.end.0);
            let scan = merge_scan(&mut sources, head.kind, None, range, |series, times, values| {
                windows.push(series, times, values)
            });
            let replaced = scan?;
            windows.finish(replaced)
        }
        MetricType::Distribution => {
            let cells = head.cells(TimeRange::ALL);
            seal_sketches::<Distribution>(&runs, &cells, now, origin)
        }
        MetricType::Set => seal_sketches::<Cardinality>(&runs, &[], now, origin),
    }
}

fn seal_sketches<S: CellSketch>(
    runs: &[Arc<Run>],
    cell_runs: &[Arc<CellRun>],
    now: TimestampMs,
    origin: BlockOrigin<'_>,
) -> CodecResult<SealedMetric> {
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        found.extend(run.series().iter().enumerate().map(|(index, series)| (*series, at, index)));
    }
    for (at, cells) in (runs.len()..).zip(cell_runs) {
        found.extend(cells.series().iter().enumerate().map(|(index, series)| (*series, at, index)));
    }
    // Stable: it keeps the order of runs, and merges their ascending lists.
    found.sort_by_key(|(series, ..)| *series);
    let mut windows: WindowWriters<'_, SketchBlockBuilder<S>> = WindowWriters::new(origin, now);
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let mut cells: BTreeMap<i64, S> = BTreeMap::new();
        for (_, at, index) in same {
            if let Some(rows) = runs.get(*at).map(|run| run.rows(*index)) {
                for (time, bits) in rows.times.iter().zip(rows.values) {
                    let minute = TimestampMs(*time).floor_to(Interval::MINUTE).0;
                    cells.entry(minute).or_default().add_bits(*bits);
                }
            } else if let Some(run) = cell_runs.get(*at - runs.len()) {
                for (minute, cell) in
                    run.cells(*index, TimeRange::ALL.start.0, TimeRange::ALL.end.0)
                {
                    cells.entry(minute).or_default().merge_counted(cell)?;
                }
            }
        }
        let (starts, cells): (Vec<i64>, Vec<S>) = cells.into_iter().unzip();
        if let Some((series, ..)) = same.first() {
            windows.push(SeriesId(*series), &starts, &cells)?;
        }
    }
    windows.finish(0)
}

/// The block writers of one metric, one for each window that has points.
struct WindowWriters<'s, B> {
    origin: BlockOrigin<'s>,
    now: TimestampMs,
    last_times: LastTimes,
    writers: Vec<(TimeRange, BlockWriter<'s, B>)>,
    /// The place of the writer of a window, by its start.
    places: BTreeMap<i64, usize>,
    /// The place of the writer used last: mostly that of the next series too.
    used_last: usize,
}

impl<'s, B: BlockBuilder> WindowWriters<'s, B> {
    fn new(origin: BlockOrigin<'s>, now: TimestampMs) -> Self {
        let (last_times, writers, places) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { origin, now, last_times, writers, places, used_last: 0 }
    }

    /// Appends the rows of a series, in ascending time.
    fn push(&mut self, series: SeriesId, times: &[i64], rows: &[B::Row]) -> CodecResult<()> {
        let (mut times, mut rows) = (times, rows);
        if let Some(last) = times.last() {
            self.last_times.push((series, TimestampMs(*last)));
        }
        while let (Some(first), Some(last)) = (times.first(), times.last()) {
            let (window, writer) = self.writer_of(TimestampMs(*first));
            let inside = if *last < window.end.0 {
                times.len()
            } else {
                times.partition_point(|t| *t < window.end.0)
            };
            let (now, later) = times.split_at(inside);
            let (rows_now, rows_later) = rows.split_at(inside);
            writer.push(series, now, rows_now)?;
            (times, rows) = (later, rows_later);
        }
        Ok(())
    }

    /// Returns the window of a time, and its writer.
    fn writer_of(&mut self, time: TimestampMs) -> &mut (TimeRange, BlockWriter<'s, B>) {
        let used_last = self.writers.get(self.used_last);
        if used_last.is_none_or(|(window, _)| !window.contains(time)) {
            let window = window_of(time, self.now);
            self.used_last = *self.places.entry(window.start.0).or_insert_with(|| {
                let tier = Tier::finest(self.origin.kind);
                self.writers.push((window, BlockWriter::new(self.origin, tier, window)));
                self.writers.len() - 1
            });
        }
        &mut self.writers[self.used_last]
    }

    fn finish(self, replaced: u64) -> CodecResult<SealedMetric> {
        let mut writers = self.writers;
        writers.sort_unstable_by_key(|(window, _)| window.start);
        let mut blocks = Vec::new();
        for (_, writer) in writers {
            blocks.extend(writer.finish()?);
        }
        Ok(SealedMetric { blocks, replaced, last_times: self.last_times })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::super::super::times::TimePageWriter;
    use super::*;

    #[test]
    fn each_window_has_its_rows_whatever_the_order_of_series() {
        let sequence = AtomicU64::new(1);
        let times = TimePageWriter::new(&sequence);
        let origin = BlockOrigin::of_gauge(&sequence, &times);
        let day = Interval::DAY.ms();
        let now = TimestampMs(10 * day);
        let mut writers: WindowWriters<'_, PointBlockBuilder> = WindowWriters::new(origin, now);
        for (series, days) in [(1, &[5, 6][..]), (2, &[4, 5]), (3, &[6]), (4, &[3, 4, 6])] {
            let times: Vec<i64> = days.iter().flat_map(|n| [n * day, (n + 1) * day - 1]).collect();
            let values = vec![f64::from(series); times.len()];
            writers.push(SeriesId(series), &times, &values).unwrap();
        }
        let SealedMetric { blocks, last_times, .. } = writers.finish(0).unwrap();
        let found = blocks.iter().map(|NewBlock { info, .. }| {
            (info.window.start.0 / day, info.first_series, info.last_series, info.rows)
        });
        assert_eq!(
            found.collect::<Vec<_>>(),
            [(3, 4, 4, 2), (4, 2, 4, 4), (5, 1, 2, 4), (6, 1, 4, 6)]
        );
        let last = [(1, 7), (2, 6), (3, 7), (4, 7)];
        assert_eq!(last_times, last.map(|(s, n)| (SeriesId(s), TimestampMs(n * day - 1))));
    }
}
