//! Accumulating distributions and sets: one sketch per group and bucket that holds anything.

use super::answer::{self, Asked};
use super::ask::group_of;
use super::grain::Part;
use super::numbers::selected;
use super::plan::Plan;
use super::run::{Accumulator, Settled, Work, run};
use super::slots::Slots;
use crate::asking::Asking;
use crate::codec::CodecError;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::metrics::block::{BlockInfo, CellSketch, SketchBlock};
use crate::metrics::head::{CellRun, Run};
use crate::metrics::registry::Selection;
use crate::model::{Aggregation, Interval, QueryResult, TimestampMs};
use crate::sketch::{Cardinality, Distribution};

/// Answers for a distribution.
pub(super) fn distributions(
    metrics: &Metrics,
    plan: &Plan,
    asked: &Asked<'_>,
) -> Result<QueryResult> {
    answer::<Distribution>(metrics, plan, asked, |sketch, aggregation| {
        let value = match aggregation {
            Aggregation::Avg => sketch.avg(),
            Aggregation::Min => sketch.min(),
            Aggregation::Max => sketch.max(),
            Aggregation::Sum => Some(sketch.sum().value()),
            Aggregation::Count => Some(sketch.count() as f64),
            other => other.quantile().and_then(|q| sketch.quantile(q)),
        };
        value.unwrap_or_default()
    })
}

/// Answers for a set.
pub(super) fn sets(metrics: &Metrics, plan: &Plan, asked: &Asked<'_>) -> Result<QueryResult> {
    answer::<Cardinality>(metrics, plan, asked, |sketch, _| sketch.count() as f64)
}

fn answer<S: CellSketch>(
    metrics: &Metrics,
    plan: &Plan,
    asked: &Asked<'_>,
    value: impl Fn(&S, Aggregation) -> f64,
) -> Result<QueryResult> {
    let workers = asked.workers(size_of::<Option<S>>(), metrics.options())?;
    let new = || Sketches::<S>::new(asked);
    let (sketches, stats) = run(metrics, (plan, asked.asking), workers, new)?;
    Ok(answer::assemble(asked, stats, |group, bucket| {
        let sketch = sketches.slots_of.get(asked.slots.slot(group, bucket))?.as_ref()?;
        Some(asked.query.aggregations.iter().map(|a| value(sketch, *a)).collect())
    }))
}

struct Sketches<'a, S> {
    selection: &'a Selection,
    asking: &'a Asking,
    slots: Slots,
    slots_of: Vec<Option<S>>,
    /// Bytes that sketches grew by since memory was taken for them.
    grown: usize,
}

impl<'a, S: CellSketch> Sketches<'a, S> {
    fn new(asked: &'a Asked<'a>) -> Self {
        let Asked { selection, slots, asking, .. } = *asked;
        Self { selection, asking, slots, slots_of: vec![None; slots.len()], grown: 0 }
    }

    /// Changes the sketch of a time and counts what it grows by.
    fn change<T>(
        &mut self,
        group: u32,
        time: i64,
        part: Part,
        add: impl FnOnce(&mut S) -> T,
    ) -> Option<T> {
        let slot = self.slots.slot(group, self.slots.bucket(time, part.grain));
        let sketch = self.slots_of.get_mut(slot)?.get_or_insert_default();
        let before = sketch.bytes();
        let added = add(sketch);
        self.grown += sketch.bytes().saturating_sub(before);
        Some(added)
    }

    /// Takes the memory of what sketches grew by.
    fn settle_growth(&mut self) -> Result<()> {
        self.asking.take(std::mem::take(&mut self.grown))
    }
}

impl<S: CellSketch> Accumulator for Sketches<'_, S> {
    fn points(&mut self, _: &BlockInfo, _: &[u8], _: Part) -> Result<Work> {
        Err(CodecError::new("a block of points of a metric that is kept in cells").into())
    }

    fn cells(&mut self, block: &BlockInfo, bytes: &[u8], part: Part) -> Result<Work> {
        let (_, mut cells) = SketchBlock::<S>::open(block.key, bytes)?;
        let mut work = Work::default();
        for (index, series) in selected(cells.series(), self.selection) {
            let group = group_of(self.selection, series);
            cells.read(index, part.range.start.0, part.range.end.0, |start, cell| {
                work.cells += 1;
                self.change(group, start, part, |sketch| sketch.merge(cell));
            })?;
            self.settle_growth()?;
        }
        Ok(work)
    }

    fn run(&mut self, run: &Run, part: Part) -> Result<Work> {
        let mut work = Work::default();
        for (index, series) in selected(run.series(), self.selection) {
            let group = group_of(self.selection, series);
            let rows = run.rows(index).within(part.range.start.0, part.range.end.0);
            work.points += rows.times.len() as u64;
            for (time, bits) in rows.times.iter().zip(rows.values) {
                // The bucket that the cell of the point will be in, once it is one.
                let minute = TimestampMs(*time).floor_to(Interval::MINUTE).0;
                self.change(group, minute, part, |sketch| sketch.add_bits(*bits));
            }
            self.settle_growth()?;
        }
        Ok(work)
    }

    fn head_cells(&mut self, cells: &CellRun, part: Part) -> Result<Work> {
        let mut work = Work::default();
        for (index, series) in selected(cells.series(), self.selection) {
            let group = group_of(self.selection, series);
            for (start, cell) in cells.cells(index, part.range.start.0, part.range.end.0) {
                work.cells += 1;
                let merged = self.change(group, start, part, |sketch| sketch.merge_counted(cell));
                merged.unwrap_or(Ok(()))?;
            }
            self.settle_growth()?;
        }
        Ok(work)
    }

    fn settled(&mut self, _: &mut Settled<'_>) -> Result<Work> {
        Err(CodecError::new("values of a distribution or set never replace each other").into())
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.slots_of.iter_mut().zip(other.slots_of) {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => mine.merge(&theirs),
                (None, Some(theirs)) => *mine = Some(theirs),
                (_, None) => {}
            }
        }
    }
}
