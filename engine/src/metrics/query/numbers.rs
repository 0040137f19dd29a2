//! Aggregation of gauges and counters: dense columns with one entry per group and bucket, only for
//! the requested aggregations.

use std::ops::Bound;

use super::execute::{columns_for, group_of};
use super::plan::{Plan, reads_few};
use super::read_range::Part;
use super::result::{self, QueryContext};
use super::run::{Accumulator, OverlappingSources, RowsRead, StoredBlock, run};
use super::slots::Slots;
use crate::brief;
use crate::codec::CodecError;
use crate::codec::decimals::{SCALE_MAX, power_of_ten};
use crate::codec::floats::FloatRows;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::metrics::block::{
    BlockInfo, CellBlock, CellColumn, DecimalCells, DecimalColumns, PointBlock, Samples,
};
use crate::metrics::cell::{NumberCell, Sum};
use crate::metrics::compact::{Source, each_wanted, scan_gauges};
use crate::metrics::head::{CellRun, Run};
use crate::metrics::registry::Selection;
use crate::metrics::times::Times;
use crate::model::{Aggregation, Interval, QueryResult};

/// The number of integers below 2⁵¹ whose sum fits an `i64`.
const INTEGERS_PER_SUM: usize = 2048;

/// Executes the query of a gauge or counter.
pub(super) fn execute(
    metrics: &Metrics,
    plan: &Plan,
    context: &QueryContext<'_>,
) -> Result<QueryResult> {
    let wanted = columns_for(&context.query.aggregations);
    let workers = context.workers(NumberAccumulator::slot_bytes(wanted), metrics.options())?;
    let new = || NumberAccumulator::new(context, wanted);
    let (numbers, stats) = run(metrics, (plan, context.in_progress), workers, new)?;
    let slots = context.slots;
    Ok(result::assemble(context, stats, |group, bucket| {
        let slot = slots.slot(group, bucket);
        (numbers.counts[slot] > 0).then(|| {
            let value = |a: &Aggregation| numbers.value(*a, slot, context.seconds(bucket));
            context.query.aggregations.iter().map(value).collect()
        })
    }))
}

struct NumberAccumulator<'a> {
    selection: &'a Selection,
    slots: Slots,
    wanted: CellColumn,
    /// Always allocated: a slot with count 0 is empty.
    counts: Vec<u64>,
    sums: Vec<Sum>,
    min: Vec<f64>,
    max: Vec<f64>,
    last: Vec<LastSample>,
}

/// The latest sample of a bucket.
#[derive(Clone, Copy)]
struct LastSample {
    time: i64,
    series: u32,
    /// Orders samples of equal time and series: the one with the higher rank was written later.
    /// Samples rank above cells, since they arrived after the cells were written.
    rank: u64,
    value: f64,
}

/// The rank of samples.
const RANK_OF_SAMPLES: u64 = u64::MAX;

impl<'a> NumberAccumulator<'a> {
    fn slot_bytes(wanted: CellColumn) -> usize {
        size_of::<u64>()
            + if wanted.sum { size_of::<Sum>() } else { 0 }
            + if wanted.min { 8 } else { 0 }
            + if wanted.max { 8 } else { 0 }
            + if wanted.last { size_of::<LastSample>() } else { 0 }
    }

    fn new(context: &'a QueryContext<'_>, wanted: CellColumn) -> Self {
        let QueryContext { selection, slots, .. } = *context;
        let n = |wanted: bool| if wanted { slots.len() } else { 0 };
        Self {
            selection,
            slots,
            wanted,
            counts: vec![0; slots.len()],
            sums: vec![Sum::default(); n(wanted.sum)],
            min: vec![f64::INFINITY; n(wanted.min)],
            max: vec![f64::NEG_INFINITY; n(wanted.max)],
            last: vec![
                LastSample { time: i64::MIN, series: 0, rank: 0, value: 0.0 };
                n(wanted.last)
            ],
        }
    }

    fn value(&self, aggregation: Aggregation, slot: usize, seconds: f64) -> f64 {
        let sum = |divisor: f64| self.sums[slot].divided_by(divisor);
        match aggregation {
            Aggregation::Last => self.last[slot].value,
            Aggregation::Avg => sum(self.counts[slot] as f64),
            Aggregation::Min => self.min[slot],
            Aggregation::Max => self.max[slot],
            Aggregation::Rate => sum(seconds),
            Aggregation::Sum => sum(1.0),
            other => panic!("gauges and counters have no {other:?}: the query was checked"),
        }
    }

    fn add_cell(&mut self, slot: usize, cell: &NumberCell, rank: u64) {
        self.counts[slot] += cell.count;
        if let Some(sum) = self.sums.get_mut(slot) {
            sum.merge(&cell.sum);
        }
        self.add_extremes(slot, cell.min, cell.max);
        let NumberCell { last_time: time, last_series: series, last: value, .. } = *cell;
        let last = LastSample { time, series, rank, value };
        self.offer_last(slot, last);
    }

    /// Adds cells of one series of which only counts and sums are read.
    fn add_decimal_cells(&mut self, group: u32, cells: &DecimalCells<'_>) {
        let DecimalCells { columns: DecimalColumns { counts, sums, units }, times, first } = *cells;
        let mut bucket = self.slots.bucket(times.at(first), None);
        for (row, sum) in sums.iter().enumerate() {
            bucket = self.slots.bucket_from(bucket, times.at(first + row));
            let slot = self.slots.slot(group, bucket);
            self.counts[slot] += counts.get(row).map_or(1, |count| count.cast_unsigned());
            if let Some(slot) = self.sums.get_mut(slot) {
                slot.add_units(i128::from(*sum) * units);
            }
        }
    }

    fn add_extremes(&mut self, slot: usize, min: f64, max: f64) {
        if let Some(slot) = self.min.get_mut(slot) {
            *slot = slot.min(min);
        }
        if let Some(slot) = self.max.get_mut(slot) {
            *slot = slot.max(max);
        }
    }

    fn offer_last(&mut self, slot: usize, offered: LastSample) {
        if let Some(last) = self.last.get_mut(slot)
            && (offered.time, offered.series, offered.rank) >= (last.time, last.series, last.rank)
        {
            *last = offered;
        }
    }

    /// Adds values of one series in one bucket.
    fn add_floats(&mut self, slot: usize, values: &[f64]) {
        self.counts[slot] += values.len() as u64;
        if let Some(sum) = self.sums.get_mut(slot) {
            values.iter().for_each(|v| sum.add(*v));
        }
        if self.wanted.min || self.wanted.max {
            let (min, max) = extremes(values);
            self.add_extremes(slot, min, max);
        }
    }

    /// Adds decimals of one series in one bucket.
    fn add_integers(&mut self, slot: usize, integers: &[i64], scale: u8) {
        self.counts[slot] += integers.len() as u64;
        if let Some(sum) = self.sums.get_mut(slot) {
            let unit = power_of_ten(SCALE_MAX - scale) as i128;
            for part in integers.chunks(INTEGERS_PER_SUM) {
                sum.add_units(i128::from(part.iter().sum::<i64>()) * unit);
            }
        }
        if self.wanted.min || self.wanted.max {
            let (min, max) =
                integers.iter().fold((i64::MAX, i64::MIN), |(lo, hi), m| (lo.min(*m), hi.max(*m)));
            let power = power_of_ten(scale);
            self.add_extremes(slot, min as f64 / power, max as f64 / power);
        }
    }

    /// Adds samples of one series, split at the bucket boundaries.
    fn add_series(&mut self, series: u32, samples: Samples<'_>, cell_width: Option<Interval>) {
        let Samples { values, times, first } = samples;
        let group = group_of(self.selection, series);
        let (mut at, end) = (first, first + values.len());
        while at < end {
            let bucket = self.slots.bucket(times.at(at), cell_width);
            let stop = self.slots.stop_of(bucket, cell_width);
            let stop = times.lower_bound_from(at, stop).clamp(at + 1, end);
            let slot = self.slots.slot(group, bucket);
            let values = values.within(at - first..stop - first);
            match values {
                FloatRows::Floats(values) => self.add_floats(slot, values),
                FloatRows::Decimals(integers, scale) => self.add_integers(slot, integers, scale),
            }
            if self.wanted.last
                && let Some(value) = values.last()
            {
                let (time, rank) = (times.at(stop - 1), RANK_OF_SAMPLES);
                self.offer_last(slot, LastSample { time, series, rank, value });
            }
            at = stop;
        }
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(*v), hi.max(*v)))
}

impl Accumulator for NumberAccumulator<'_> {
    fn points(&mut self, mut points: PointBlock<'_>, part: Part) -> Result<RowsRead> {
        let mut read = RowsRead::default();
        if reads_few(self.selection) {
            points.expect_few();
        }
        let selected = selected(points.series(), self.selection);
        let range = (part.range.start.0, part.range.end.0);
        points.read_each(selected, range, |series, samples| {
            read.points += samples.values.len() as u64;
            brief::spend(samples.values.len() as u64)?;
            self.add_series(series, samples, part.cell_width);
            Ok(())
        })?;
        Ok(read)
    }

    fn cells(&mut self, info: &BlockInfo, block: StoredBlock<'_>, part: Part) -> Result<RowsRead> {
        let mut cells = match block {
            StoredBlock::Bytes(bytes) => CellBlock::open(info.key, bytes)?.1,
            StoredBlock::Opened(opened) => opened.cells()?,
        };
        if reads_few(self.selection) {
            cells.expect_few();
        }
        let (mut read, wanted) = (RowsRead::default(), self.wanted);
        for (index, series) in selected(cells.series(), self.selection) {
            let group = group_of(self.selection, series);
            let (from, to) = (part.range.start.0, part.range.end.0);
            let before = read.cells;
            cells.read_rows(index, (from, to), wanted, |rows| {
                read.cells += rows.len() as u64;
                if part.cell_width.is_none()
                    && let Some(decimals) = rows.decimals()?
                {
                    self.add_decimal_cells(group, &decimals);
                    return Ok(());
                }
                rows.each(|start, cell| {
                    let slot = self.slots.slot(group, self.slots.bucket(start, part.cell_width));
                    self.add_cell(slot, cell, info.order.0);
                })
            })?;
            brief::spend(read.cells - before)?;
        }
        Ok(read)
    }

    fn head_cells(&mut self, _: &CellRun, _: Part) -> Result<RowsRead> {
        Err(CodecError::new("the head has cells of a gauge or counter").into())
    }

    fn run(&mut self, run: &Run, part: Part) -> Result<RowsRead> {
        let mut read = RowsRead::default();
        let mut values = Vec::new();
        for (index, series) in selected(run.series(), self.selection) {
            let rows = run.rows(index).within(part.range.start.0, part.range.end.0);
            values.clear();
            values.extend(rows.values.iter().map(|bits| f64::from_bits(*bits)));
            read.points += values.len() as u64;
            brief::spend(values.len() as u64)?;
            let samples = Samples {
                values: FloatRows::Floats(&values),
                times: Times::List(rows.times),
                first: 0,
            };
            self.add_series(series, samples, part.cell_width);
        }
        Ok(read)
    }

    fn overlapping(&mut self, mut overlapping: OverlappingSources<'_>) -> Result<RowsRead> {
        let mut read = RowsRead::default();
        let Part { range, cell_width } = overlapping.part;
        let range = (range.start.0, range.end.0);
        let all = &self.selection.series;
        let own_series;
        let wanted = if overlapping.shares > 1 {
            let of_sources = overlapping.sources.iter().map(Source::series);
            let most = of_sources.max_by_key(|series| series.len()).unwrap_or_default();
            let own = share_of(most, overlapping.share, overlapping.shares);
            own_series = all.range(own).collect();
            &own_series
        } else {
            all
        };
        scan_gauges(&mut overlapping.sources, wanted, range, |series, samples| {
            read.points += samples.values.len() as u64;
            brief::spend(samples.values.len() as u64)
                .map_err(|error| CodecError::new(error.to_string()))?;
            self.add_series(series.0, samples, cell_width);
            Ok(())
        })?;
        Ok(read)
    }

    fn merge(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| a.merge(b));
        self.min.iter_mut().zip(other.min).for_each(|(a, b)| *a = a.min(b));
        self.max.iter_mut().zip(other.max).for_each(|(a, b)| *a = a.max(b));
        for (slot, last) in other.last.into_iter().enumerate() {
            self.offer_last(slot, last);
        }
    }
}

/// Returns a share of all ids: each has as many of the ascending `series`, of which there are some.
/// Series that follow each other are in one share, since they are in the same pages.
fn share_of(series: &[u32], share: u32, shares: u32) -> (Bound<u32>, Bound<u32>) {
    let first_of = |share: u32| {
        let at = series.len() as u64 * u64::from(share) / u64::from(shares.max(1));
        usize::try_from(at).ok().and_then(|at| series.get(at)).copied()
    };
    let start = first_of(share).filter(|_| share > 0).map_or(Bound::Unbounded, Bound::Included);
    (start, first_of(share + 1).map_or(Bound::Unbounded, Bound::Excluded))
}

/// Returns the index and the id of every selected series in an ascending list.
pub(super) fn selected(series: &[u32], selection: &Selection) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    each_wanted(series, Some(&selection.series), |index, id| found.push((index, id)));
    found
}

#[cfg(test)]
mod tests {
    use std::ops::RangeBounds;

    use super::*;

    #[test]
    fn each_series_is_in_one_share() {
        let ids: Vec<u32> = (0..40).map(|i| i * i).chain([u32::MAX]).collect();
        for (len, shares) in [(0, 1), (1, 2), (2, 3), (7, 2), (41, 2), (41, 16), (41, 100)] {
            let shares: Vec<_> =
                (0..shares).map(|share| share_of(&ids[..len], share, shares)).collect();
            for id in ids.iter().copied().chain([3, 1_000_000, u32::MAX - 1]) {
                let of = shares.iter().filter(|range| range.contains(&id)).count();
                assert_eq!(of, 1, "{id} of {len} series in {} shares", shares.len());
            }
        }
        let halves = [0, 1].map(|share| share_of(&ids[..10], share, 2));
        assert_eq!(
            halves.map(|half| ids[..10].iter().filter(|id| half.contains(*id)).count()),
            [5, 5]
        );
    }
}
