//! Executes the tasks of a plan, on this thread and the thread pool: each worker takes one task
//! after the other into its own accumulator.

use std::sync::Arc;

use parking_lot::Mutex;

use super::plan::{Plan, Task};
use super::read_range::Part;
use crate::brief;
use crate::error::{Error, Result};
use crate::limits::BRIEF_WORK_MAX;
use crate::metrics::Metrics;
use crate::metrics::block::{BlockInfo, BlockKey, OpenedBlock, PointBlock};
use crate::metrics::compact::Source;
use crate::metrics::head::{CellRun, Run};
use crate::metrics::opened_blocks::KeptBlock;
use crate::model::QueryStats;
use crate::parallel::{Tasks, share};
use crate::query_in_progress::QueryInProgress;
use crate::storage::Pinned;

/// The aggregation state of a worker.
pub(super) trait Accumulator: Send {
    /// Adds samples of a block, none of which replaces another.
    fn points(&mut self, points: PointBlock<'_>, part: Part) -> Result<RowsRead>;
    /// Adds cells of a block.
    fn cells(&mut self, info: &BlockInfo, block: StoredBlock<'_>, part: Part) -> Result<RowsRead>;
    /// Adds samples of a run, none of which replaces another.
    fn run(&mut self, run: &Run, part: Part) -> Result<RowsRead>;
    /// Adds cells of the head.
    fn head_cells(&mut self, cells: &CellRun, part: Part) -> Result<RowsRead>;
    /// Adds samples from several sources, of which later ones replace earlier ones.
    fn overlapping(&mut self, overlapping: OverlappingSources<'_>) -> Result<RowsRead>;
    /// Merges the state of another worker.
    fn merge(&mut self, other: Self);
}

/// A block to read.
#[derive(Clone, Copy)]
pub(super) enum StoredBlock<'b> {
    Bytes(&'b [u8]),
    /// A block that stays open.
    Opened(&'b OpenedBlock),
}

/// The number of rows that a task has read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowsRead {
    pub(super) points: u64,
    pub(super) cells: u64,
}

/// The sources of a [`Task::Overlapping`], and the share of the series to read.
pub(super) struct OverlappingSources<'a> {
    /// In the order of writing.
    pub(super) sources: Vec<Source<'a>>,
    pub(super) part: Part,
    pub(super) share: u32,
    pub(super) shares: u32,
}

/// Executes all tasks, until the client no longer waits for the result, with at most `workers`
/// accumulators.
pub(super) fn run<A: Accumulator>(
    metrics: &Metrics,
    (plan, in_progress): (&Plan, &QueryInProgress),
    workers: usize,
    new: impl Fn() -> A + Sync,
) -> Result<(A, QueryStats)> {
    // Until they are in the cache, which has an account of its own, copies are the query's. Without
    // memory for them it reads the blocks where they are.
    let bytes_to_open = usize::try_from(plan.bytes_to_open).unwrap_or(usize::MAX);
    let copies = plan.keeps_open.then(|| in_progress.borrow(bytes_to_open).ok()).flatten();
    let keeps_open = copies.is_some();
    if plan.keeps_open && !keeps_open && brief::is_brief() {
        // Blocks that are open would be opened once more.
        return Err(brief::exceed());
    }
    let stats = Mutex::new(QueryStats { quarantined: plan.quarantined, ..QueryStats::default() });
    let work_on = |tasks: &Tasks| -> Result<A> {
        let mut accumulator = new();
        while let Some(task) = tasks.take().and_then(|index| plan.tasks.get(index)) {
            in_progress.check()?;
            let read = run_task((metrics, keeps_open), task, &mut accumulator)?;
            let mut stats = stats.lock();
            stats.points += read.points;
            stats.cells += read.cells;
            stats.blocks += read.blocks;
            stats.quarantined += read.quarantined;
        }
        Ok(accumulator)
    };
    let work = |tasks: &Tasks| work_on(tasks).inspect_err(|_| tasks.end());
    // What a thread does in a quarter of a millisecond is done before others have woken up.
    let units = plan.opening_work().saturating_add(plan.row_work());
    let is_small = brief::is_brief() || units <= BRIEF_WORK_MAX;
    let workers = if is_small { 1 } else { workers };
    let all = share(metrics.pool(), workers, plan.tasks.len(), work);
    let mut all = all.into_iter().collect::<Result<Vec<A>>>()?.into_iter();
    let mut merged = all.next().unwrap_or_else(&new);
    all.for_each(|other| merged.merge(other));
    Ok((merged, stats.into_inner()))
}

fn run_task(
    (metrics, keeps_open): (&Metrics, bool),
    task: &Task,
    into: &mut impl Accumulator,
) -> Result<QueryStats> {
    let find = |page_group, page| metrics.times().find(page_group, page);
    match task {
        Task::Run { run, part } => {
            let read = into.run(run, *part)?;
            Ok(QueryStats { points: read.points, cells: read.cells, ..QueryStats::default() })
        }
        Task::HeadCells { cells, part } => {
            let read = into.head_cells(cells, *part)?;
            Ok(QueryStats { points: read.points, cells: read.cells, ..QueryStats::default() })
        }
        Task::Points { block, part } => with_block((metrics, keeps_open), block, |stored| {
            let points = match stored {
                StoredBlock::Bytes(bytes) => PointBlock::open(block.key, bytes, find)?.1,
                StoredBlock::Opened(opened) => opened.points(find)?,
            };
            into.points(points, *part)
        }),
        Task::Cells { block, part } => {
            with_block((metrics, keeps_open), block, |stored| into.cells(block, stored, *part))
        }
        Task::Overlapping { blocks, runs, part, share, shares } => {
            let mut stats = QueryStats::default();
            let mut held = Vec::with_capacity(blocks.len());
            for block in blocks {
                match HeldBlock::get((metrics, keeps_open), block) {
                    Ok(bytes) => held.push((block, bytes)),
                    Err(error) => quarantine(metrics, &block.key, error, &mut stats)?,
                }
            }
            // Blocks are opened before anything is added, so that corrupt ones can be left out.
            let mut sources = Vec::with_capacity(held.len() + runs.len());
            let mut readable = Vec::with_capacity(held.len());
            for (info, block) in &held {
                let opened = match block.stored() {
                    StoredBlock::Bytes(bytes) => metrics.open_points(info, bytes),
                    StoredBlock::Opened(opened) => opened.points(find).and_then(|points| {
                        points.prepare()?;
                        Ok(points)
                    }),
                };
                readable.push(opened.is_ok());
                match opened {
                    Ok(block) => sources.push(Source::Block(Box::new(block))),
                    Err(error) => quarantine(metrics, &info.key, error, &mut stats)?,
                }
            }
            stats.blocks += sources.len() as u64;
            sources.extend(runs.iter().map(|run| Source::Run(Arc::clone(run))));
            let (part, share, shares) = (*part, *share, *shares);
            let read = into.overlapping(OverlappingSources { sources, part, share, shares })?;
            stats.points += read.points;
            let read_blocks =
                held.into_iter().zip(readable).filter(|(_, is_readable)| *is_readable);
            read_blocks.for_each(|((info, block), _)| block.keep(metrics, info));
            // Every share reads all blocks; they count once.
            let counted_elsewhere = QueryStats { blocks: 0, quarantined: 0, ..stats };
            Ok(if share == 0 { stats } else { counted_elsewhere })
        }
    }
}

/// A block in memory while it is read.
enum HeldBlock<'m> {
    Pinned(Pinned<'m>),
    Kept(KeptBlock),
}

impl<'m> HeldBlock<'m> {
    fn get((metrics, keeps_open): (&'m Metrics, bool), info: &BlockInfo) -> Result<Self> {
        if keeps_open {
            metrics.open_block(info).map(Self::Kept)
        } else {
            metrics.read_block(&info.key).map(Self::Pinned)
        }
    }

    fn stored(&self) -> StoredBlock<'_> {
        match self {
            Self::Pinned(bytes) => StoredBlock::Bytes(bytes),
            Self::Kept(kept) => StoredBlock::Opened(kept.block()),
        }
    }

    /// Keeps the block open, if it is to stay so.
    fn keep(self, metrics: &Metrics, info: &BlockInfo) {
        if let Self::Kept(kept) = self {
            metrics.opened().keep(info.key, kept);
        }
    }
}

fn with_block(
    (metrics, keeps_open): (&Metrics, bool),
    block: &BlockInfo,
    read: impl FnOnce(StoredBlock<'_>) -> Result<RowsRead>,
) -> Result<QueryStats> {
    let mut stats = QueryStats::default();
    let outcome = HeldBlock::get((metrics, keeps_open), block).and_then(|held| {
        let rows = read(held.stored())?;
        held.keep(metrics, block);
        Ok(QueryStats { points: rows.points, cells: rows.cells, blocks: 1, ..stats })
    });
    match outcome {
        Ok(stats) => Ok(stats),
        Err(error) => quarantine(metrics, &block.key, error, &mut stats).map(|()| stats),
    }
}

/// Quarantines a corrupt block; returns any other error.
fn quarantine(
    metrics: &Metrics,
    key: &BlockKey,
    error: Error,
    stats: &mut QueryStats,
) -> Result<()> {
    let Error::Corrupt(reason) = error else { return Err(error) };
    if brief::is_brief() {
        return Err(brief::exceed());
    }
    metrics.quarantine(key, &reason);
    stats.quarantined += 1;
    Ok(())
}
