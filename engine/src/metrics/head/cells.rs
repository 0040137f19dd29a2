//! Cells of the head: distributions counted by the sender, merged by series and minute as they
//! arrive.
//!
//! As for samples, there is a mutable tail and immutable runs. A cell in the tail is shared with
//! its readers and copied before the next change, so that readers take cells under the lock and
//! merge them without it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Interval, SeriesId, TimeRange, TimestampMs};
use crate::sketch::Distribution;

/// The number of cells at which a tail becomes a run: few enough to copy their references while
/// writers wait.
const RUN_CELLS: usize = 1 << 12;
/// The size of a cell in bytes, without the heap memory of its distribution: the struct, the
/// reference counts and the map entry.
const CELL_BYTES: usize = size_of::<Distribution>() + 2 * size_of::<usize>() + 32;

/// Values of a series that were counted together by the sender.
#[derive(Clone, Debug)]
pub(crate) struct NewCell {
    pub(crate) series: SeriesId,
    pub(crate) time: TimestampMs,
    pub(crate) cell: Distribution,
}

/// The cells of one metric.
#[derive(Debug, Default)]
pub(super) struct Cells {
    runs: Vec<Arc<CellRun>>,
    /// By series and start of the minute.
    tail: BTreeMap<(u32, i64), Arc<Distribution>>,
    bytes: usize,
}

/// Immutable cells of one metric, sorted by series, then time.
#[derive(Debug, Default)]
pub(crate) struct CellRun {
    /// The distinct series, ascending.
    series: Vec<u32>,
    /// The index of the first cell of each series, then the number of cells.
    starts: Vec<u32>,
    minutes: Vec<i64>,
    cells: Vec<Arc<Distribution>>,
}

impl Cells {
    pub(super) fn add(&mut self, new: NewCell) {
        let minute = new.time.floor_to(Interval::MINUTE).0;
        match self.tail.entry((new.series.0, minute)) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                self.bytes += CELL_BYTES + new.cell.bytes();
                entry.insert(Arc::new(new.cell));
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let cell = Arc::make_mut(entry.get_mut());
                let before = cell.bytes();
                cell.merge(&new.cell);
                self.bytes = self.bytes + cell.bytes() - before;
            }
        }
        if self.tail.len() >= RUN_CELLS {
            let tail = std::mem::take(&mut self.tail);
            self.runs.push(Arc::new(CellRun::of(tail.into_iter())));
        }
    }

    /// Returns the cells within `range`, as runs. Runs are shared as a whole and may contain cells
    /// outside of it.
    pub(super) fn runs(&self, range: TimeRange) -> Vec<Arc<CellRun>> {
        let mut runs: Vec<Arc<CellRun>> = self.runs.iter().map(Arc::clone).collect();
        if self.tail.is_empty() {
            return runs;
        }
        let inside =
            self.tail.iter().filter(|((_, minute), _)| range.contains(TimestampMs(*minute)));
        let tail = CellRun::of(inside.map(|(key, cell)| (*key, Arc::clone(cell))));
        if tail.len() > 0 {
            runs.push(Arc::new(tail));
        }
        runs
    }

    /// Returns the size in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl CellRun {
    fn of(cells: impl Iterator<Item = ((u32, i64), Arc<Distribution>)>) -> Self {
        let mut run = Self::default();
        for ((series, minute), cell) in cells {
            if run.series.last() != Some(&series) {
                run.series.push(series);
                run.starts.push(run.cells.len() as u32);
            }
            run.minutes.push(minute);
            run.cells.push(cell);
        }
        run.starts.push(run.cells.len() as u32);
        run
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns the distinct series, ascending.
    pub(crate) fn series(&self) -> &[u32] {
        &self.series
    }

    /// Returns the cells of the series at `index` of [`Self::series`] with a start in `start..end`,
    /// in time order.
    pub(crate) fn cells(
        &self,
        index: usize,
        start: i64,
        end: i64,
    ) -> impl Iterator<Item = (i64, &Distribution)> {
        let rows = self.starts[index] as usize..self.starts[index + 1] as usize;
        let (minutes, cells) = (&self.minutes[rows.clone()], &self.cells[rows]);
        let (from, to) =
            (minutes.partition_point(|m| *m < start), minutes.partition_point(|m| *m < end));
        let wanted = minutes.iter().zip(cells).take(to).skip(from);
        wanted.map(|(minute, cell)| (*minute, &**cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn new(series: u32, time: i64, value: f64) -> NewCell {
        let mut cell = Distribution::default();
        cell.add(value);
        NewCell { series: SeriesId(series), time: TimestampMs(time), cell }
    }

    fn counts(runs: &[Arc<CellRun>], series: u32, range: (i64, i64)) -> Vec<(i64, u64)> {
        let found = runs.iter().flat_map(|run| {
            let index = run.series().binary_search(&series).ok();
            index.into_iter().flat_map(|index| run.cells(index, range.0, range.1))
        });
        found.map(|(minute, cell)| (minute / MINUTE, cell.count())).collect()
    }

    #[test]
    fn values_of_a_minute_form_one_cell() {
        let mut cells = Cells::default();
        for (series, time) in [(7, 0), (7, MINUTE - 1), (7, MINUTE), (3, 0), (7, 5 * MINUTE)] {
            cells.add(new(series, time, 1.0));
        }
        let runs = cells.runs(TimeRange::new(0, 2 * MINUTE));
        assert_eq!(counts(&runs, 7, (0, i64::MAX)), [(0, 2), (1, 1)]);
        assert_eq!(counts(&runs, 7, (MINUTE, 2 * MINUTE)), [(1, 1)]);
        assert_eq!(counts(&runs, 3, (0, MINUTE)), [(0, 1)]);
        assert_eq!(runs.iter().map(|run| run.len()).sum::<usize>(), 3);
    }

    #[test]
    fn cells_of_a_reader_do_not_change() {
        let mut cells = Cells::default();
        cells.add(new(1, 0, 1.0));
        let read = cells.runs(TimeRange::new(0, MINUTE));
        cells.add(new(1, 1, 2.0));
        assert_eq!(counts(&read, 1, (0, MINUTE)), [(0, 1)]);
        assert_eq!(counts(&cells.runs(TimeRange::new(0, MINUTE)), 1, (0, MINUTE)), [(0, 2)]);
    }

    #[test]
    fn full_tails_become_runs_and_bytes_are_counted() {
        let mut cells = Cells::default();
        for series in 0..RUN_CELLS as u32 + 9 {
            cells.add(new(series, 0, 1.0));
        }
        (0..200).for_each(|value| cells.add(new(u32::MAX, 0, f64::from(value))));
        let runs = cells.runs(TimeRange::new(0, MINUTE));
        assert_eq!(runs.iter().map(|run| run.len()).collect::<Vec<_>>(), [RUN_CELLS, 10]);
        assert!(cells.bytes() > RUN_CELLS * CELL_BYTES + 1_000, "{}", cells.bytes());
    }
}
