//! Accumulating gauges and counters: dense columns, one number per group and bucket, only those that are asked for.

use super::answer::{self, Asked};
use super::ask::{columns_for, group_of};
use super::grain::Part;
use super::plan::Plan;
use super::run::{Accumulator, Settled, Work, run};
use super::slots::Slots;
use crate::codec::CodecError;
use crate::codec::decimals::{SCALE_MAX, power_of_ten};
use crate::codec::floats::FloatPage;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::metrics::block::{BlockInfo, CellBlock, CellColumn, Piece, PointBlock};
use crate::metrics::cell::{NumberCell, Sum};
use crate::metrics::compact::{Source, each_wanted, merge_scan};
use crate::metrics::head::{CellRun, Run};
use crate::metrics::registry::Selection;
use crate::metrics::times::{TimePages, Times};
use crate::model::{Aggregation, Interval, MetricType, QueryResult};

/// Integers below 2⁵¹ that can be added in an `i64`.
const INTEGERS_PER_SUM: usize = 2048;

/// Answers for a gauge or counter.
pub(super) fn answer(metrics: &Metrics, plan: &Plan, asked: &Asked<'_>) -> Result<QueryResult> {
    let wanted = columns_for(&asked.query.aggregations);
    let workers = asked.workers(Numbers::slot_bytes(wanted), metrics.options())?;
    let new = || Numbers::new(metrics.times(), asked, wanted);
    let (numbers, stats) = run(metrics, (plan, asked.asking), workers, new)?;
    let slots = asked.slots;
    Ok(answer::assemble(asked, stats, |group, bucket| {
        let slot = slots.slot(group, bucket);
        (numbers.counts.get(slot).copied().unwrap_or(0) > 0).then(|| {
            let value = |a: &Aggregation| numbers.value(*a, slot, asked.seconds(bucket));
            asked.query.aggregations.iter().map(value).collect()
        })
    }))
}

struct Numbers<'a> {
    pages: &'a TimePages,
    kind: MetricType,
    selection: &'a Selection,
    slots: Slots,
    wanted: CellColumn,
    /// Always there: a slot that counts nothing is empty.
    counts: Vec<u64>,
    sums: Vec<Sum>,
    min: Vec<f64>,
    max: Vec<f64>,
    last: Vec<Last>,
}

/// The latest point of a bucket.
#[derive(Clone, Copy)]
struct Last {
    time: i64,
    series: u32,
    /// Of two at one time of one series, that of the larger rank was written later: samples after the cells that they arrived too
    /// late for.
    rank: u64,
    value: f64,
}

/// Samples: where cells are beside them, they came later.
const RANK_OF_SAMPLES: u64 = u64::MAX;

impl<'a> Numbers<'a> {
    fn slot_bytes(wanted: CellColumn) -> usize {
        size_of::<u64>()
            + if wanted.sum { size_of::<Sum>() } else { 0 }
            + if wanted.min { 8 } else { 0 }
            + if wanted.max { 8 } else { 0 }
            + if wanted.last { size_of::<Last>() } else { 0 }
    }

    fn new(pages: &'a TimePages, asked: &'a Asked<'_>, wanted: CellColumn) -> Self {
        let Asked { kind, selection, slots, .. } = *asked;
        let n = |wanted: bool| if wanted { slots.len() } else { 0 };
        Self {
            pages,
            kind,
            selection,
            slots,
            wanted,
            counts: vec![0; slots.len()],
            sums: vec![Sum::default(); n(wanted.sum)],
            min: vec![f64::INFINITY; n(wanted.min)],
            max: vec![f64::NEG_INFINITY; n(wanted.max)],
            last: vec![Last { time: i64::MIN, series: 0, rank: 0, value: 0.0 }; n(wanted.last)],
        }
    }

    fn value(&self, aggregation: Aggregation, slot: usize, seconds: f64) -> f64 {
        let sum = |divisor: f64| self.sums.get(slot).map_or(0.0, |sum| sum.divided_by(divisor));
        let count = self.counts.get(slot).copied().unwrap_or(1);
        match aggregation {
            Aggregation::Last => self.last.get(slot).map_or(0.0, |last| last.value),
            Aggregation::Avg => sum(count as f64),
            Aggregation::Min => self.min.get(slot).copied().unwrap_or(0.0),
            Aggregation::Max => self.max.get(slot).copied().unwrap_or(0.0),
            Aggregation::Rate => sum(seconds),
            _ => sum(1.0),
        }
    }

    fn add_cell(&mut self, slot: usize, cell: &NumberCell, rank: u64) {
        if let Some(count) = self.counts.get_mut(slot) {
            *count += cell.count;
        }
        if let Some(sum) = self.sums.get_mut(slot) {
            sum.merge(&cell.sum);
        }
        self.add_extremes(slot, cell.min, cell.max);
        let NumberCell { last_time: time, last_series: series, last: value, .. } = *cell;
        let last = Last { time, series, rank, value };
        self.offer_last(slot, last);
    }

    fn add_extremes(&mut self, slot: usize, min: f64, max: f64) {
        if let Some(slot) = self.min.get_mut(slot) {
            *slot = slot.min(min);
        }
        if let Some(slot) = self.max.get_mut(slot) {
            *slot = slot.max(max);
        }
    }

    fn offer_last(&mut self, slot: usize, offered: Last) {
        if let Some(last) = self.last.get_mut(slot)
            && (offered.time, offered.series, offered.rank) >= (last.time, last.series, last.rank)
        {
            *last = offered;
        }
    }

    /// Adds values of one series that fall into one bucket.
    fn add_floats(&mut self, slot: usize, values: &[f64]) {
        if let Some(count) = self.counts.get_mut(slot) {
            *count += values.len() as u64;
        }
        if let Some(sum) = self.sums.get_mut(slot) {
            values.iter().for_each(|v| sum.add(*v));
        }
        if self.wanted.min || self.wanted.max {
            let (min, max) = extremes(values);
            self.add_extremes(slot, min, max);
        }
    }

    /// Adds decimals of one series that fall into one bucket.
    fn add_integers(&mut self, slot: usize, integers: &[i64], scale: u8) {
        if let Some(count) = self.counts.get_mut(slot) {
            *count += integers.len() as u64;
        }
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

    /// Adds points of one series, cutting them at the ends of buckets.
    fn add_series(&mut self, series: u32, group: u32, times: Times<'_>, rows: Rows<'_>) {
        let (mut at, end) = (rows.first, rows.first + rows.values.len());
        while at < end {
            let bucket = self.slots.bucket(times.at(at), rows.grain);
            let stop = self.slots.stop_of(bucket, rows.grain);
            let stop = times.lower_bound_from(at, stop).clamp(at + 1, end);
            let slot = self.slots.slot(group, bucket);
            let (from, to) = (at - rows.first, stop - rows.first);
            let value = match rows.values {
                Values::Floats(values) => {
                    let values = values.get(from..to).unwrap_or_default();
                    self.add_floats(slot, values);
                    values.last().copied()
                }
                Values::Integers(values, scale) => {
                    let values = values.get(from..to).unwrap_or_default();
                    self.add_integers(slot, values, scale);
                    values.last().map(|m| *m as f64 / power_of_ten(scale))
                }
            };
            if self.wanted.last
                && let Some(value) = value
            {
                let (time, rank) = (times.at(stop - 1), RANK_OF_SAMPLES);
                self.offer_last(slot, Last { time, series, rank, value });
            }
            at = stop;
        }
    }
}

/// Rows of a series: the first is at `first` of its times.
#[derive(Clone, Copy)]
struct Rows<'v> {
    first: usize,
    values: Values<'v>,
    grain: Option<Interval>,
}

#[derive(Clone, Copy)]
enum Values<'v> {
    Floats(&'v [f64]),
    Integers(&'v [i64], u8),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Integers(values, _) => values.len(),
        }
    }
}

fn values_of(page: &FloatPage, rows: std::ops::Range<usize>) -> Values<'_> {
    match page.scale {
        Some(scale) => Values::Integers(page.integers.get(rows).unwrap_or_default(), scale),
        None => Values::Floats(page.floats.get(rows).unwrap_or_default()),
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(*v), hi.max(*v)))
}

impl Accumulator for Numbers<'_> {
    fn points(&mut self, block: &BlockInfo, bytes: &[u8], part: Part) -> Result<Work> {
        let (_, mut points) =
            PointBlock::open(block.key, bytes, |at, page| self.pages.find(at, page))?;
        let mut work = Work::default();
        for (index, series) in selected(points.series(), self.selection) {
            let group = group_of(self.selection, series);
            points.read(index, part.range.start.0, part.range.end.0, |piece| {
                let Piece { page, rows, times, first } = piece;
                work.points += rows.len() as u64;
                let rows = Rows { first, values: values_of(page, rows), grain: part.grain };
                self.add_series(series, group, times, rows);
            })?;
        }
        Ok(work)
    }

    fn cells(&mut self, block: &BlockInfo, bytes: &[u8], part: Part) -> Result<Work> {
        let (_, mut cells) = CellBlock::open(block.key, bytes)?;
        let mut work = Work::default();
        let wanted = CellColumn { count: true, ..self.wanted };
        for (index, series) in selected(cells.series(), self.selection) {
            let group = group_of(self.selection, series);
            let (from, to) = (part.range.start.0, part.range.end.0);
            cells.read(index, from, to, wanted, |start, cell| {
                work.cells += 1;
                let slot = self.slots.slot(group, self.slots.bucket(start, part.grain));
                self.add_cell(slot, cell, block.order.0);
            })?;
        }
        Ok(work)
    }

    fn head_cells(&mut self, _: &CellRun, _: Part) -> Result<Work> {
        Err(CodecError::new("cells in the head of a metric that is kept in points").into())
    }

    fn run(&mut self, run: &Run, part: Part) -> Result<Work> {
        let mut work = Work::default();
        let mut values = Vec::new();
        for (index, series) in selected(run.series(), self.selection) {
            let rows = run.rows(index).within(part.range.start.0, part.range.end.0);
            values.clear();
            values.extend(rows.values.iter().map(|bits| f64::from_bits(*bits)));
            work.points += values.len() as u64;
            let group = group_of(self.selection, series);
            let values = Values::Floats(&values);
            let rows_of = Rows { first: 0, values, grain: part.grain };
            self.add_series(series, group, Times::List(rows.times), rows_of);
        }
        Ok(work)
    }

    fn settled(&mut self, settled: &mut Settled<'_>) -> Result<Work> {
        let mut sources = Vec::new();
        for (info, bytes) in &settled.blocks {
            let open = PointBlock::open(info.key, bytes, |at, page| self.pages.find(at, page))?;
            sources.push(Source::Block(Box::new(open.1)));
        }
        sources.extend(settled.runs.iter().map(|run| Source::Run(std::sync::Arc::clone(run))));
        let mut work = Work::default();
        let Part { range, grain } = settled.part;
        let range = (range.start.0, range.end.0);
        let (share, shares) = (settled.share, settled.shares);
        let part;
        let wanted = if shares > 1 {
            let mine = self.selection.series.iter().enumerate();
            part = mine.filter(|(i, _)| *i as u32 % shares == share).map(|(_, s)| s).collect();
            &part
        } else {
            &self.selection.series
        };
        merge_scan(&mut sources, self.kind, Some(wanted), range, |series, times, values| {
            work.points += values.len() as u64;
            let group = group_of(self.selection, series.0);
            let rows = Rows { first: 0, values: Values::Floats(values), grain };
            self.add_series(series.0, group, Times::List(times), rows);
            Ok(())
        })?;
        Ok(work)
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

/// The index and id of every selected series of an ascending list.
pub(super) fn selected(series: &[u32], selection: &Selection) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    each_wanted(series, Some(&selection.series), |index, id| found.push((index, id)));
    found
}
