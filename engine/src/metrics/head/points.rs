//! The samples of a head by metric: growing tails, and the runs they become.

use std::sync::Arc;

use hashbrown::HashMap;
use roaring::RoaringBitmap;

use super::cells::{CellRun, Cells, NewCell};
use super::run::Run;
use crate::metrics::registry::MetricStats;
use crate::metrics::series_map::SeriesMap;
use crate::model::{Columns, MetricId, MetricType, PointBatch, TimeRange, TimestampMs};

/// The number of samples at which a tail becomes a run.
const RUN_POINTS: usize = 1 << 14;
/// The size of a sample in the head, in bytes.
const POINT_BYTES: usize = size_of::<u32>() + size_of::<i64>() + size_of::<u64>();
/// The assumed size of a metric without samples in bytes, for the size at which a head is sealed:
/// the map entry and the vectors of the tail.
const METRIC_BYTES: usize = 256;
/// The approximate total memory of a metric without samples in bytes, including spare capacity of
/// maps.
const METRIC_MEMORY_BYTES: usize = 1 << 10;

/// The samples of many metrics.
///
/// Agents send the metrics of a host one after another and in the same order in each request, so
/// each metric stores the slot of the one that followed it: the next one is usually found by one
/// comparison instead of a hash lookup.
#[derive(Debug, Default)]
pub(crate) struct Head {
    metrics: Vec<MetricHead>,
    /// The slot of each metric in `metrics`.
    slots: HashMap<MetricId, u32>,
    points: u64,
    /// The samples for which the tails have room without growing.
    spare_points: usize,
    cell_bytes: usize,
}

/// The samples of one metric.
#[derive(Debug)]
pub(crate) struct MetricHead {
    id: MetricId,
    /// The slot of the metric that was added to after this one, last time.
    next: u32,
    pub(crate) kind: MetricType,
    pub(crate) stats: MetricStats,
    runs: Vec<Arc<Run>>,
    tail: Columns,
    /// Only for distributions.
    cells: Cells,
}

impl Head {
    /// Adds a batch. `metric_of` maps series to metrics; samples of series without a metric are
    /// dropped.
    pub(crate) fn add(&mut self, batch: &PointBatch, metric_of: &SeriesMap<MetricId>) {
        let mut metric_of = metric_of.neighbours();
        let mut slot = 0;
        for kind in MetricType::ALL {
            let columns = batch.of(kind);
            let mut metrics =
                columns.series.iter().map(|series| metric_of.get(*series)).enumerate();
            let mut next = metrics.next();
            // Adjacent samples of one metric are appended together.
            while let Some((start, metric)) = next {
                next = metrics.find(|(_, other)| *other != metric);
                let end = next.map_or(columns.series.len(), |(other, _)| other);
                if let Some(metric) = metric {
                    slot = self.slot_after(slot, metric, kind);
                    let head = &mut self.metrics[slot];
                    let spare = head.spare_points();
                    head.append(columns, start..end);
                    self.spare_points = self.spare_points - spare + head.spare_points();
                    self.points += (end - start) as u64;
                }
            }
        }
    }

    /// Returns the slot of a metric, which is created if necessary. `before` is the slot that this
    /// function returned last.
    #[inline]
    fn slot_after(&mut self, before: usize, metric: MetricId, kind: MetricType) -> usize {
        if let Some(last) = self.metrics.get(before) {
            let guess = last.next as usize;
            if self.metrics.get(guess).is_some_and(|head| head.id == metric) {
                return guess;
            }
        }
        let slot = self.slot(metric, kind);
        if let Some(last) = self.metrics.get_mut(before) {
            last.next = slot;
        }
        slot as usize
    }

    /// Returns the slot of a metric, which is created if necessary.
    fn slot(&mut self, metric: MetricId, kind: MetricType) -> u32 {
        let Self { metrics, slots, .. } = self;
        *slots.entry(metric).or_insert_with(|| {
            metrics.push(MetricHead::new(metric, kind));
            (metrics.len() - 1) as u32
        })
    }

    /// Adds cells of distributions that senders counted; each counts as one sample.
    pub(crate) fn add_cells(&mut self, cells: Vec<NewCell>, metric_of: &SeriesMap<MetricId>) {
        for cell in cells {
            let Some(metric) = metric_of.get(cell.series) else { continue };
            let slot = self.slot(metric, MetricType::Distribution) as usize;
            let head = &mut self.metrics[slot];
            let (first, last) = (cell.time, cell.time);
            head.stats.merge(MetricStats { first, last, points: 1 });
            self.points += 1;
            let before = head.cells.bytes();
            head.cells.add(cell);
            self.cell_bytes = self.cell_bytes + head.cells.bytes() - before;
        }
    }

    pub(crate) fn metric(&self, metric: MetricId) -> Option<&MetricHead> {
        self.metrics.get(*self.slots.get(&metric)? as usize)
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = (MetricId, &MetricHead)> {
        self.metrics.iter().map(|head| (head.id, head))
    }

    /// Removes the samples of a metric.
    pub(crate) fn drop_metric(&mut self, metric: MetricId) {
        let Some(slot) = self.slots.remove(&metric) else { return };
        let dropped = self.metrics.swap_remove(slot as usize);
        if let Some(moved) = self.metrics.get(slot as usize) {
            self.slots.insert(moved.id, slot);
        }
        self.points -= dropped.stats.points;
        self.spare_points -= dropped.spare_points();
        self.cell_bytes -= dropped.cells.bytes();
    }

    pub(crate) fn points(&self) -> u64 {
        self.points
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// Returns the size in bytes that decides when the head is sealed.
    pub(crate) fn bytes(&self) -> usize {
        self.points as usize * POINT_BYTES + self.metrics.len() * METRIC_BYTES + self.cell_bytes
    }

    /// Returns the size in bytes for the memory account.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes()
            + self.metrics.len() * (METRIC_MEMORY_BYTES - METRIC_BYTES)
            + self.spare_points * POINT_BYTES
    }
}

impl MetricHead {
    fn new(id: MetricId, kind: MetricType) -> Self {
        Self {
            id,
            next: 0,
            kind,
            stats: MetricStats::EMPTY,
            runs: Vec::new(),
            tail: Columns::default(),
            cells: Cells::default(),
        }
    }

    fn append(&mut self, columns: &Columns, rows: std::ops::Range<usize>) {
        let (Some(series), Some(times), Some(values)) = (
            columns.series.get(rows.clone()),
            columns.times.get(rows.clone()),
            columns.values.get(rows.clone()),
        ) else {
            panic!(
                "rows {rows:?} of a batch were acknowledged and its columns have {} rows: they would be lost",
                columns.len()
            );
        };
        if let ([series], [time], [value]) = (series, times, values) {
            let time = TimestampMs(*time);
            self.stats.merge(MetricStats { first: time, last: time, points: 1 });
            self.tail.push(*series, time, *value);
        } else {
            let (first, last) =
                times.iter().fold((i64::MAX, i64::MIN), |(lo, hi), t| (lo.min(*t), hi.max(*t)));
            self.stats.merge(MetricStats {
                first: TimestampMs(first),
                last: TimestampMs(last),
                points: series.len() as u64,
            });
            self.tail.series.extend_from_slice(series);
            self.tail.times.extend_from_slice(times);
            self.tail.values.extend_from_slice(values);
        }
        if self.tail.len() >= RUN_POINTS {
            self.close_tail();
        }
    }

    /// Makes a run of the tail, which keeps its memory: a metric that filled one tail fills more.
    #[cold]
    fn close_tail(&mut self) {
        self.runs.push(Arc::new(Run::sort(&self.tail)));
        self.tail.clear();
    }

    /// Returns the number of samples for which the tail has room without growing.
    fn spare_points(&self) -> usize {
        self.tail.times.capacity() - self.tail.times.len()
    }

    /// Returns the samples within `range`, of the series in `wanted` (all series if `None`), as
    /// runs in the order in which they were written. Runs are shared as a whole and may contain
    /// others.
    pub(crate) fn runs(&self, range: TimeRange, wanted: Option<&RoaringBitmap>) -> Vec<Arc<Run>> {
        let meets = |run: &&Arc<Run>| !run.extent().intersect(range).is_empty();
        let mut runs: Vec<Arc<Run>> = self.runs.iter().filter(meets).map(Arc::clone).collect();
        let mut tail = Columns::default();
        let points = self.tail.series.iter().zip(&self.tail.times).zip(&self.tail.values);
        for ((series, time), value) in points {
            // Only what is wanted is sorted: readers and writers wait for each other meanwhile.
            if range.contains(TimestampMs(*time))
                && wanted.is_none_or(|wanted| wanted.contains(series.0))
            {
                tail.push(*series, TimestampMs(*time), *value);
            }
        }
        if !tail.is_empty() {
            runs.push(Arc::new(Run::sort(&tail)));
        }
        runs
    }

    /// Returns the cells within `range`, as runs. Runs are shared as a whole and may contain cells
    /// outside of it.
    pub(crate) fn cells(&self, range: TimeRange) -> Vec<Arc<CellRun>> {
        self.cells.runs(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SeriesId;

    #[test]
    fn samples_of_unknown_series_are_dropped() {
        let mut batch = PointBatch::default();
        for (series, time) in [(0, 5), (1, 6), (2, 7), (9, 8), (0, 9)] {
            batch.push_number(MetricType::Gauge, SeriesId(series), TimestampMs(time), 1.0);
        }
        let mut metric_of = SeriesMap::default();
        [4, 5].into_iter().zip(0..).for_each(|(metric, series)| {
            metric_of.insert(SeriesId(series), MetricId(metric));
        });
        let mut head = Head::default();
        head.add(&batch, &metric_of);
        assert_eq!(head.points(), 3);
        let stats = head.metric(MetricId(4)).unwrap().stats;
        assert_eq!((stats.first, stats.last, stats.points), (TimestampMs(5), TimestampMs(9), 2));
        let runs = head.metric(MetricId(4)).unwrap().runs(TimeRange::new(6, 100), None);
        assert_eq!(runs.iter().map(|r| r.len()).sum::<usize>(), 1);
        head.drop_metric(MetricId(4));
        assert_eq!(head.points(), 1);
    }

    #[test]
    fn full_tails_become_runs() {
        let mut head = Head::default();
        let mut metric_of = SeriesMap::default();
        (0..100).for_each(|series| _ = metric_of.insert(SeriesId(series), MetricId(0)));
        for time in 0..RUN_POINTS as i64 / 100 + 3 {
            let mut batch = PointBatch::default();
            for series in 0..100 {
                batch.push_number(MetricType::Counter, SeriesId(series), TimestampMs(time), 1.0);
            }
            head.add(&batch, &metric_of);
        }
        let runs = head.metric(MetricId(0)).unwrap().runs(TimeRange::new(0, i64::MAX), None);
        assert_eq!(runs.len(), 2);
        assert_eq!(runs.iter().map(|r| r.len() as u64).sum::<u64>(), head.points());
        let tail = &head.metric(MetricId(0)).unwrap().tail;
        assert_eq!(head.spare_points, tail.times.capacity() - tail.len());
        assert!(head.memory_bytes() >= head.bytes() + head.spare_points * POINT_BYTES);
        head.drop_metric(MetricId(0));
        assert_eq!((head.points(), head.spare_points, head.metrics.len()), (0, 0, 0));
    }

    #[test]
    fn metrics_are_found_in_any_order_and_after_others_were_dropped() {
        let mut metric_of = SeriesMap::default();
        (0..20).for_each(|series| _ = metric_of.insert(SeriesId(series), MetricId(series / 2)));
        let mut head = Head::default();
        let mut expected = std::collections::BTreeMap::<u32, u64>::new();
        for step in [1, 1, 3, 7, 9, 1] {
            let mut batch = PointBatch::default();
            for series in (0..20).map(|i| i * step % 20) {
                batch.push_number(MetricType::Gauge, SeriesId(series), TimestampMs(0), 1.0);
                *expected.entry(series / 2).or_default() += 1;
            }
            head.add(&batch, &metric_of);
            // Its series are known, so the next batch creates it again.
            head.drop_metric(MetricId(step));
            expected.remove(&step);
            let points: std::collections::BTreeMap<u32, u64> =
                head.metrics().map(|(id, metric)| (id.0, metric.stats.points)).collect();
            assert_eq!(points, expected);
            for (id, points) in &expected {
                assert_eq!(head.metric(MetricId(*id)).map(|m| m.stats.points), Some(*points));
            }
        }
    }
}
