//! Doing the tasks of a plan on the pool: workers take one after the other, each into its own accumulator.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rayon::prelude::*;

use super::grain::Part;
use super::plan::{Plan, Task};
use crate::asking::Asking;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::metrics::block::{BlockInfo, BlockKey};
use crate::metrics::head::{CellRun, Run};
use crate::model::QueryStats;

/// What tasks are added up in.
pub(super) trait Accumulator: Send {
    /// Adds points of a block that replace no others.
    fn points(&mut self, block: &BlockInfo, bytes: &[u8], part: Part) -> Result<Work>;
    /// Adds cells of a block.
    fn cells(&mut self, block: &BlockInfo, bytes: &[u8], part: Part) -> Result<Work>;
    /// Adds points of a run that replace no others.
    fn run(&mut self, run: &Run, part: Part) -> Result<Work>;
    /// Adds cells of the head.
    fn head_cells(&mut self, cells: &CellRun, part: Part) -> Result<Work>;
    /// Adds points that may replace each other.
    fn settled(&mut self, settled: &mut Settled<'_>) -> Result<Work>;
    /// Adds what another worker has.
    fn merge(&mut self, other: Self);
}

/// Rows that a task read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) points: u64,
    pub(super) cells: u64,
}

/// The sources of a [`Task::Settled`] and which part of it is wanted.
pub(super) struct Settled<'a> {
    pub(super) blocks: Vec<(BlockInfo, &'a [u8])>,
    pub(super) runs: &'a [std::sync::Arc<Run>],
    pub(super) part: Part,
    pub(super) share: u32,
    pub(super) shares: u32,
}

/// Does all tasks, as long as anybody waits for the answer. `workers` accumulators are made at most.
pub(super) fn run<A: Accumulator>(
    metrics: &Metrics,
    (plan, asking): (&Plan, &Asking),
    workers: usize,
    new: impl Fn() -> A + Sync,
) -> Result<(A, QueryStats)> {
    let next = AtomicUsize::new(0);
    let stats = Mutex::new(QueryStats { quarantined: plan.quarantined, ..QueryStats::default() });
    let work = || -> Result<A> {
        let mut accumulator = new();
        while let Some(task) = plan.tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            asking.check()?;
            let done = one(metrics, task, &mut accumulator)?;
            let mut stats = stats.lock();
            stats.points += done.points;
            stats.cells += done.cells;
            stats.blocks += done.blocks;
            stats.quarantined += done.quarantined;
        }
        Ok(accumulator)
    };
    let workers = workers.min(plan.tasks.len());
    let merged = if workers <= 1 {
        work()?
    } else {
        let all = metrics
            .pool()
            .install(|| (0..workers).into_par_iter().map(|_| work()).collect::<Result<Vec<A>>>())?;
        let mut all = all.into_iter();
        let mut merged = all.next().unwrap_or_else(&new);
        all.for_each(|other| merged.merge(other));
        merged
    };
    Ok((merged, stats.into_inner()))
}

fn one(metrics: &Metrics, task: &Task, into: &mut impl Accumulator) -> Result<QueryStats> {
    match task {
        Task::Run { run, part } => {
            let work = into.run(run, *part)?;
            Ok(QueryStats { points: work.points, cells: work.cells, ..QueryStats::default() })
        }
        Task::HeadCells { cells, part } => {
            let work = into.head_cells(cells, *part)?;
            Ok(QueryStats { points: work.points, cells: work.cells, ..QueryStats::default() })
        }
        Task::Points { block, part } => {
            with_block(metrics, block, |bytes| into.points(block, bytes, *part))
        }
        Task::Cells { block, part } => {
            with_block(metrics, block, |bytes| into.cells(block, bytes, *part))
        }
        Task::Settled { blocks, runs, part, share, shares } => {
            let mut settled = QueryStats::default();
            let mut pinned = Vec::with_capacity(blocks.len());
            for block in blocks {
                match metrics.read_block(&block.key) {
                    Ok(bytes) => pinned.push((*block, bytes)),
                    Err(error) => quarantine(metrics, &block.key, error, &mut settled)?,
                }
            }
            let blocks = pinned.iter().map(|(info, bytes)| (*info, &**bytes)).collect();
            let (part, share, shares) = (*part, *share, *shares);
            let mut sources = Settled { blocks, runs, part, share, shares };
            // Blocks are opened before anything is added, so a damaged one can be left out and the rest done.
            while let Some((key, error)) = first_damaged(metrics, &mut sources) {
                quarantine(metrics, &key, error, &mut settled)?;
            }
            let work = into.settled(&mut sources)?;
            settled.points += work.points;
            settled.blocks += sources.blocks.len() as u64;
            Ok(settled)
        }
    }
}

/// Takes the first block out that is damaged, or whose times are.
fn first_damaged(metrics: &Metrics, sources: &mut Settled<'_>) -> Option<(BlockKey, Error)> {
    let damaged = sources.blocks.iter().enumerate().find_map(|(i, (info, bytes))| {
        let error = metrics.check_block(info, bytes).err()?;
        Some((i, info.key, error))
    });
    damaged.map(|(i, key, error)| {
        sources.blocks.remove(i);
        (key, error)
    })
}

fn with_block(
    metrics: &Metrics,
    block: &BlockInfo,
    read: impl FnOnce(&[u8]) -> Result<Work>,
) -> Result<QueryStats> {
    let mut stats = QueryStats::default();
    let outcome = metrics.read_block(&block.key).and_then(|bytes| {
        let work = read(&bytes)?;
        Ok(QueryStats { points: work.points, cells: work.cells, blocks: 1, ..stats })
    });
    match outcome {
        Ok(stats) => Ok(stats),
        Err(error) => quarantine(metrics, &block.key, error, &mut stats).map(|()| stats),
    }
}

/// Sets a damaged block aside; any other failure is the answer.
fn quarantine(
    metrics: &Metrics,
    key: &BlockKey,
    error: Error,
    stats: &mut QueryStats,
) -> Result<()> {
    let Error::Corrupt(reason) = error else { return Err(error) };
    metrics.quarantine(key, &reason);
    stats.quarantined += 1;
    Ok(())
}
