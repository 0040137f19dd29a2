//! The samples of a head by metric: growing tails, and the runs they become.

use std::sync::Arc;

use hashbrown::HashMap;

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
/// The approximate total memory of a metric with few samples in bytes, including spare capacity of
/// maps and vectors.
const METRIC_MEMORY_BYTES: usize = 1 << 10;

/// The samples of many metrics.
#[derive(Debug, Default)]
pub(crate) struct Head {
    metrics: HashMap<MetricId, MetricHead>,
    points: u64,
    cell_bytes: usize,
}

/// The samples of one metric.
#[derive(Debug)]
pub(crate) struct MetricHead {
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
        for kind in MetricType::ALL {
            let columns = batch.of(kind);
            let mut metrics =
                columns.series.iter().map(|series| metric_of.get(*series)).enumerate();
            let mut next = metrics.next();
            // Adjacent samples are often of one metric, whose head is then looked up only once.
            while let Some((start, metric)) = next {
                next = metrics.find(|(_, other)| *other != metric);
                let end = next.map_or(columns.series.len(), |(other, _)| other);
                if let Some(metric) = metric {
                    let head = self.metrics.entry(metric).or_insert_with(|| MetricHead::new(kind));
                    head.append(columns, start..end);
                    self.points += (end - start) as u64;
                }
            }
        }
    }

    /// Adds cells of distributions that senders counted; each counts as one sample.
    pub(crate) fn add_cells(&mut self, cells: Vec<NewCell>, metric_of: &SeriesMap<MetricId>) {
        for cell in cells {
            let Some(metric) = metric_of.get(cell.series) else { continue };
            let kind = MetricType::Distribution;
            let head = self.metrics.entry(metric).or_insert_with(|| MetricHead::new(kind));
            let (first, last) = (cell.time, cell.time);
            head.stats.merge(MetricStats { first, last, points: 1 });
            self.points += 1;
            let before = head.cells.bytes();
            head.cells.add(cell);
            self.cell_bytes = self.cell_bytes + head.cells.bytes() - before;
        }
    }

    pub(crate) fn metric(&self, metric: MetricId) -> Option<&MetricHead> {
        self.metrics.get(&metric)
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = (MetricId, &MetricHead)> {
        self.metrics.iter().map(|(id, head)| (*id, head))
    }

    /// Removes the samples of a metric.
    pub(crate) fn drop_metric(&mut self, metric: MetricId) {
        if let Some(dropped) = self.metrics.remove(&metric) {
            self.points -= dropped.stats.points;
            self.cell_bytes -= dropped.cells.bytes();
        }
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
        self.bytes() + self.metrics.len() * (METRIC_MEMORY_BYTES - METRIC_BYTES)
    }
}

impl MetricHead {
    fn new(kind: MetricType) -> Self {
        Self {
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
        if self.tail.len() >= RUN_POINTS {
            self.runs.push(Arc::new(Run::sort(&self.tail)));
            self.tail = Columns::default();
        }
    }

    /// Returns the samples within `range`, as runs in the order in which they were written. Runs
    /// are shared as a whole and may contain samples outside of it.
    pub(crate) fn runs(&self, range: TimeRange) -> Vec<Arc<Run>> {
        let meets = |run: &&Arc<Run>| !run.extent().intersect(range).is_empty();
        let mut runs: Vec<Arc<Run>> = self.runs.iter().filter(meets).map(Arc::clone).collect();
        let mut tail = Columns::default();
        let points = self.tail.series.iter().zip(&self.tail.times).zip(&self.tail.values);
        for ((series, time), value) in points {
            if range.contains(TimestampMs(*time)) {
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
        let runs = head.metric(MetricId(4)).unwrap().runs(TimeRange::new(6, 100));
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
        let runs = head.metric(MetricId(0)).unwrap().runs(TimeRange::new(0, i64::MAX));
        assert_eq!(runs.len(), 2);
        assert_eq!(runs.iter().map(|r| r.len() as u64).sum::<u64>(), head.points());
    }
}
