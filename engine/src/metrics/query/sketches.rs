//! Aggregation of distributions and sets: one sketch per group and bucket that is not empty.

use super::execute::group_of;
use super::numbers::selected;
use super::plan::{Plan, SKETCH_WORK};
use super::read_range::Part;
use super::result::{self, QueryContext};
use super::run::{Accumulator, OverlappingSources, RowsRead, StoredBlock, run};
use super::slots::Slots;
use crate::brief;
use crate::codec::CodecError;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::metrics::block::{BlockInfo, CellCursor, CellSketch, PointBlock, SketchRows};
use crate::metrics::head::{CellRun, Run};
use crate::metrics::registry::Selection;
use crate::model::{Aggregation, Interval, QueryResult, TimestampMs};
use crate::query_in_progress::QueryInProgress;
use crate::sketch::{Cardinality, Distribution};

/// Executes the query of a distribution.
pub(super) fn distributions(
    metrics: &Metrics,
    plan: &Plan,
    context: &QueryContext<'_>,
) -> Result<QueryResult> {
    query_sketches::<Distribution>(metrics, plan, context, |sketch, aggregation| {
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

/// Executes the query of a set.
pub(super) fn sets(
    metrics: &Metrics,
    plan: &Plan,
    context: &QueryContext<'_>,
) -> Result<QueryResult> {
    query_sketches::<Cardinality>(metrics, plan, context, |sketch, _| sketch.count() as f64)
}

fn query_sketches<S: CellSketch>(
    metrics: &Metrics,
    plan: &Plan,
    context: &QueryContext<'_>,
    value: impl Fn(&S, Aggregation) -> f64,
) -> Result<QueryResult> {
    let workers = context.workers(size_of::<Option<S>>(), metrics.options())?;
    let new = || SketchAccumulator::<S>::new(context);
    let (sketches, stats) = run(metrics, (plan, context.in_progress), workers, new)?;
    Ok(result::assemble(context, stats, |group, bucket| {
        let sketch = sketches.slots_of.get(context.slots.slot(group, bucket))?.as_ref()?;
        Some(context.query.aggregations.iter().map(|a| value(sketch, *a)).collect())
    }))
}

struct SketchAccumulator<'a, S> {
    selection: &'a Selection,
    in_progress: &'a QueryInProgress,
    slots: Slots,
    slots_of: Vec<Option<S>>,
    /// The growth of sketches in bytes for which no memory was taken yet.
    grown: usize,
}

impl<'a, S: CellSketch> SketchAccumulator<'a, S> {
    fn new(context: &'a QueryContext<'a>) -> Self {
        let QueryContext { selection, slots, in_progress, .. } = *context;
        Self { selection, in_progress, slots, slots_of: vec![None; slots.len()], grown: 0 }
    }

    /// Applies `add` to the sketch of a group and time, and records its growth in memory.
    fn change<T>(
        &mut self,
        group: u32,
        time: i64,
        part: Part,
        add: impl FnOnce(&mut S) -> T,
    ) -> Option<T> {
        let slot = self.slots.slot(group, self.slots.bucket(time, part.cell_width));
        let sketch = self.slots_of.get_mut(slot)?.get_or_insert_default();
        let before = sketch.bytes();
        let added = add(sketch);
        self.grown += sketch.bytes().saturating_sub(before);
        Some(added)
    }

    /// Counts the work of `rows`, and takes query memory for the growth of sketches.
    fn took(&mut self, rows: u64) -> Result<()> {
        brief::spend(rows.saturating_mul(SKETCH_WORK))?;
        self.in_progress.take(std::mem::take(&mut self.grown))
    }
}

impl<S: CellSketch> Accumulator for SketchAccumulator<'_, S> {
    fn points(&mut self, _: PointBlock<'_>, _: Part) -> Result<RowsRead> {
        Err(CodecError::new("a distribution or set has a block of samples").into())
    }

    fn cells(&mut self, info: &BlockInfo, block: StoredBlock<'_>, part: Part) -> Result<RowsRead> {
        let StoredBlock::Bytes(bytes) = block else {
            return Err(CodecError::new("a block of a gauge or counter has no sketches").into());
        };
        let (_, rows) = SketchRows::<S>::open(info.key, bytes)?;
        // Before anything is merged: of a damaged block, nothing may be in the result.
        let mut checked = rows.cursor();
        for (index, _) in selected(rows.series(), self.selection) {
            checked.read(index, (part.range.start.0, part.range.end.0), |_, cell| cell.check())?;
        }
        let (mut cells, mut read) = (rows.cursor(), RowsRead::default());
        for (index, series) in selected(rows.series(), self.selection) {
            let group = group_of(self.selection, series);
            let before = read.cells;
            cells.read(index, (part.range.start.0, part.range.end.0), |start, cell| {
                read.cells += 1;
                let merged = self.change(group, start, part, |sketch| cell.merge_checked(sketch));
                merged.unwrap_or_else(|| cell.skip())
            })?;
            self.took(read.cells - before)?;
        }
        Ok(read)
    }

    fn run(&mut self, run: &Run, part: Part) -> Result<RowsRead> {
        let mut read = RowsRead::default();
        for (index, series) in selected(run.series(), self.selection) {
            let group = group_of(self.selection, series);
            let rows = run.rows(index).within(part.range.start.0, part.range.end.0);
            read.points += rows.times.len() as u64;
            for (time, bits) in rows.times.iter().zip(rows.values) {
                // Assigned by minute, as the cell that the sample becomes part of will be.
                let minute = TimestampMs(*time).floor_to(Interval::MINUTE).0;
                self.change(group, minute, part, |sketch| sketch.add_bits(*bits));
            }
            self.took(rows.times.len() as u64)?;
        }
        Ok(read)
    }

    fn head_cells(&mut self, cells: &CellRun, part: Part) -> Result<RowsRead> {
        let mut read = RowsRead::default();
        for (index, series) in selected(cells.series(), self.selection) {
            let group = group_of(self.selection, series);
            let before = read.cells;
            for (start, cell) in cells.cells(index, part.range.start.0, part.range.end.0) {
                read.cells += 1;
                let merged = self.change(group, start, part, |sketch| sketch.merge_counted(cell));
                merged.unwrap_or(Ok(()))?;
            }
            self.took(read.cells - before)?;
        }
        Ok(read)
    }

    fn overlapping(&mut self, _: OverlappingSources<'_>) -> Result<RowsRead> {
        Err(CodecError::new("samples of a distribution or set do not replace each other").into())
    }

    fn merge(&mut self, other: Self) {
        for (ours, theirs) in self.slots_of.iter_mut().zip(other.slots_of) {
            match (ours.as_mut(), theirs) {
                (Some(ours), Some(theirs)) => ours.merge(&theirs),
                (None, Some(theirs)) => *ours = Some(theirs),
                (_, None) => {}
            }
        }
    }
}
