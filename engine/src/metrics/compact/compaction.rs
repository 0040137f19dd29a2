//! Compaction: the blocks of a window that is over become one compacted block set with rollups,
//! first per two hours, then per day.
//!
//! Where part of a day has a coarser resolution than the rest, because its samples expired before
//! the parts were compacted together, each part becomes a block set of its own: compaction never
//! reduces the resolution.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use hashbrown::HashSet;

use super::super::Metrics;
use super::super::block::{BlockInfo, BlockKey, CompactedSetId, Coverage, Tier, WriteOrder};
use super::super::catalog::{Cluster, CompactedSet};
use super::super::registry::RegistryRows;
use super::super::resolution::{Neighbours, Stretch, stretches};
use super::super::staging::retire;
use super::super::times::{TimePageGroup, TimePageWriter};
use super::super::window::{is_window_over, retention_ms};
use super::super::writer::BlockOrigin;
use super::consolidate::{Compacted, Rollups, consolidate, fits_window};
use super::output::CompactionOutput;
use super::sources::CompactionSources;
use crate::codec::integers::Effort;
use crate::error::{Error, Result};
use crate::model::{Interval, MetricId, MetricType, TimeRange, TimestampMs};
use crate::reports::{CompactionBudget, CompactionReport, CompactionScope};
use crate::storage::{Batch, Sync};

/// A day with more rows than this stays in two-hour windows, which are large enough.
const DAY_ROWS_MAX: u64 = 1 << 28;
/// The memory of a compaction is divided by this for the rows of a piece.
const PIECE_SHARE: usize = 4;
/// The memory of a compaction is divided by this for complete blocks, which exist twice while they
/// are written. The rest is for blocks in progress.
const OUTPUT_SHARE: usize = 8;

/// Blocks to be compacted in one step.
#[derive(Debug)]
struct CompactionTask {
    metric: MetricId,
    kind: MetricType,
    parts: Vec<TaskPart>,
    /// The blocks to be removed: those of all block sets of the parts, and the uncompacted ones.
    removed: Vec<BlockInfo>,
}

/// Blocks to be compacted into one block set.
#[derive(Debug)]
struct TaskPart {
    stretch: Stretch,
    /// The blocks that are read.
    sources: Vec<BlockInfo>,
}

impl Metrics {
    /// Compacts as many windows as the budget allows, without tiers that have expired as of
    /// `expiry`. Returns what was done. An encoder error leaves its window unchanged and is
    /// returned after the other windows have been compacted.
    pub(crate) fn compact_windows(
        &self,
        scope: CompactionScope,
        budget: CompactionBudget<'_>,
        expiry: TimestampMs,
    ) -> Result<CompactionReport> {
        let mut report = CompactionReport::default();
        let mut failure = None;
        let (tasks, mut waiting) = self.compaction_tasks(scope, budget.windows, expiry);
        self.counters.compactions_waiting.store(waiting, Ordering::Relaxed);
        for task in tasks {
            if report.windows > 0 && !(budget.has_time)() {
                break;
            }
            waiting -= 1;
            self.counters.compactions_waiting.store(waiting, Ordering::Relaxed);
            match self.run_task(&task, expiry, &mut report) {
                Ok(()) => {}
                // This window stays unchanged; the others are compacted.
                Err(error @ Error::Encoder(_)) => failure = failure.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        failure.map_or(Ok(report), Err)
    }

    /// Returns up to `windows_max` tasks and the total number of tasks.
    fn compaction_tasks(
        &self,
        scope: CompactionScope,
        windows_max: usize,
        expiry: TimestampMs,
    ) -> (Vec<CompactionTask>, u64) {
        let now = self.now();
        let catalog = self.view.catalog();
        let (mut tasks, mut all) = (Vec::new(), 0);
        for (metric, blocks) in catalog.metrics() {
            let clusters = blocks.clusters(TimeRange::ALL).into_iter();
            let compactable = |c: &Cluster| !c.sources().any(|b| self.is_quarantined(&b.key));
            let mut clusters = clusters.filter(compactable).peekable();
            let day_of = |c: &Cluster| c.window.start.floor_to(Interval::DAY);
            while let Some(day) = clusters.peek().map(day_of) {
                let of_day = std::iter::from_fn(|| clusters.next_if(|c| day_of(c) == day));
                let of_day: Vec<Cluster> = of_day.collect();
                let plan = |day| self.rollups(metric, day, expiry);
                let of_day = tasks_of_day(metric, day, of_day, (now, scope), plan);
                all += of_day.len() as u64;
                tasks.extend(of_day.into_iter().take(windows_max - tasks.len()));
            }
        }
        (tasks, all)
    }

    fn run_task(
        &self,
        task: &CompactionTask,
        expiry: TimestampMs,
        report: &mut CompactionReport,
    ) -> Result<()> {
        let bytes_max = self.options().compaction_bytes / OUTPUT_SHARE;
        let memory = &self.counters.compaction_memory;
        let store_and_times = (&*self.store, &self.times);
        let mut output = CompactionOutput::new(store_and_times, &self.sequence, memory, bytes_max);
        let is_damaged = Cell::new(false);
        let compacted = self.compact(&mut output, task, expiry, &is_damaged);
        if compacted.is_err() {
            // Its blocks on disk are deleted by the next garbage collection, or by the next start
            // after a crash.
            self.view.give_up(output.spilled());
        }
        match compacted {
            Ok(done) => *report += done,
            // The window stays unchanged and is not compacted again while it contains a quarantined
            // block.
            Err(Error::Corrupt(_)) if is_damaged.get() => return Ok(()),
            Err(error) => return Err(error),
        }
        self.counters.merges.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn compact(
        &self,
        output: &mut CompactionOutput<'_>,
        task: &CompactionTask,
        expiry: TimestampMs,
        is_damaged: &Cell<bool>,
    ) -> Result<CompactionReport> {
        let read = |info: &BlockInfo| match self.checked(info) {
            Err(Error::Corrupt(reason)) => {
                self.quarantine(&info.key, &reason);
                is_damaged.set(true);
                Err(Error::Corrupt(reason))
            }
            read => read,
        };
        let mut batch = Batch::new();
        let mut infos = Vec::new();
        let mut written = Vec::new();
        let mut replaced = 0;
        for part in &task.parts {
            let page_group = TimePageGroup { window: part.stretch.window, of_compacted_set: true };
            let times = self.times.writer_of(page_group, &self.sequence)?;
            let sources = part.sources.clone();
            let sources = CompactionSources::new(sources, part.stretch.window, &read, &self.times);
            let compacted = self.compact_part(task, part, expiry, &sources, &times, output)?;
            infos.extend(compacted.blocks);
            replaced += compacted.replaced;
            output.finish_part(&times, &mut batch)?;
            written.push(times);
        }
        output.stage(&infos, &mut batch)?;
        let removed: HashSet<BlockKey> = task.removed.iter().map(|info| info.key).collect();
        removed.iter().for_each(|key| retire(&mut batch, key));
        if replaced > 0
            && let Some(stats) = self.view.sealed_without(task.metric, replaced)
        {
            RegistryRows(&mut batch).stats(task.metric, stats);
        }
        // Not synced, so that many small windows do not wait for the disk one by one. A power
        // failure loses the compaction as a whole: the replaced blocks are deleted only after the
        // new ones have been flushed to tables.
        self.store.write(batch, Sync::No)?;
        written.into_iter().for_each(|times| self.times.written(times));
        self.view.replaced_points(task.metric, replaced);
        if !self.view.replace(&infos, &removed) {
            // The metric was dropped meanwhile, so its new blocks are removed too.
            self.discard(infos.iter().map(|info| info.key).collect());
        }
        let bytes_of = |infos: &[BlockInfo]| infos.iter().map(|b| u64::from(b.bytes)).sum::<u64>();
        let mut sources: Vec<BlockInfo> =
            task.parts.iter().flat_map(|part| &part.sources).copied().collect();
        sources.sort_unstable_by_key(|info| info.key);
        sources.dedup_by_key(|info| info.key);
        Ok(CompactionReport {
            windows: task.parts.len() as u64,
            blocks_read: sources.len() as u64,
            blocks_written: infos.len() as u64,
            bytes_read: bytes_of(&sources),
            bytes_written: output.page_bytes() + bytes_of(&infos),
        })
    }

    /// Compacts a part into one block set.
    fn compact_part(
        &self,
        task: &CompactionTask,
        part: &TaskPart,
        expiry: TimestampMs,
        sources: &CompactionSources<'_>,
        times: &TimePageWriter<'_>,
        output: &mut CompactionOutput<'_>,
    ) -> Result<Compacted> {
        let origin = BlockOrigin {
            metric: task.metric,
            kind: task.kind,
            unit: Some(CompactedSetId(self.next_sequence().max(1))),
            order: part.sources.iter().map(|b| b.order).max().unwrap_or(WriteOrder(0)),
            effort: Effort::Merge,
            sequence: &self.sequence,
            times,
            opened: None,
        };
        let (wanted, rollups) = self.rollups(task.metric, part.stretch.window, expiry);
        let bytes_max = self.options().compaction_bytes / PIECE_SHARE;
        consolidate(part.stretch, sources, (&wanted, rollups), origin, (output, bytes_max))
    }

    /// Returns the tiers that have not expired in a window, and which of them are worth keeping.
    fn rollups(
        &self,
        metric: MetricId,
        window: TimeRange,
        expiry: TimestampMs,
    ) -> (Vec<Tier>, Rollups) {
        let name = self.registry.name_of(metric);
        let retention = self.options().retention.of(name.as_ref().map_or("", |n| n.as_str()));
        let day_end = window.start.floor_to(Interval::DAY).0 + Interval::DAY.ms();
        let age = expiry.0.saturating_sub(day_end);
        let rollups = if retention_ms(&retention, Tier::Raw) <= age {
            Rollups::InsteadOfPoints
        } else {
            Rollups::BesidePoints { points_per_cell: self.options().rollup_points_min }
        };
        (Tier::ALL.into_iter().filter(|t| retention_ms(&retention, *t) > age).collect(), rollups)
    }

    fn checked(&self, info: &BlockInfo) -> Result<crate::storage::Pinned<'_>> {
        let bytes = self.read_block(&info.key)?;
        self.check_block(info, &bytes)?;
        Ok(bytes)
    }
}

/// Returns the compaction tasks of one day of one metric. `rollups` returns the tiers that a window
/// should have.
fn tasks_of_day(
    metric: MetricId,
    day: TimestampMs,
    clusters: Vec<Cluster>,
    (now, scope): (TimestampMs, CompactionScope),
    rollups: impl Fn(TimeRange) -> (Vec<Tier>, Rollups),
) -> Vec<CompactionTask> {
    let window = TimeRange { start: day, end: TimestampMs(day.0 + Interval::DAY.ms()) };
    let wanted = rollups(window);
    let rows: u64 = clusters.iter().flat_map(Cluster::blocks).map(|b| u64::from(b.rows)).sum();
    if is_window_over(window.end, now) && rows <= DAY_ROWS_MAX {
        if scope == CompactionScope::Grown && !has_grown(&clusters) {
            return Vec::new();
        }
        return task(metric, window, clusters, Neighbours::Join, &wanted).into_iter().collect();
    }
    clusters
        .into_iter()
        .filter(|c| scope == CompactionScope::All || is_window_over(c.window.end, now))
        .filter(|c| scope != CompactionScope::Grown || has_grown(std::slice::from_ref(c)))
        .filter_map(|c| task(metric, c.window, vec![c], Neighbours::Separate, &wanted))
        .collect()
}

/// Returns whether the largest block set has at most half of the rows, so that a compaction
/// rewrites no more rows than it adds; without a block set, whether there are blocks of several
/// seals.
fn has_grown(clusters: &[Cluster]) -> bool {
    let rows_of = |block: &BlockInfo| u64::from(block.rows);
    let sets = clusters.iter().flat_map(|cluster| &cluster.units);
    let sets = sets.map(|set| set.of_tier(set.base()).map(rows_of).sum::<u64>());
    let (total, largest) = sets.fold((0, 0), |(sum, max), rows| (sum + rows, rows.max(max)));
    let loose = || clusters.iter().flat_map(|cluster| &cluster.loose);
    if largest == 0 {
        let mut orders = loose().map(|block| block.order);
        let first = orders.next();
        return orders.any(|order| Some(order) != first);
    }
    total + loose().map(rows_of).sum::<u64>() >= 2 * largest
}

/// Returns the compaction task of a window: the stretches of it that are not a single complete
/// block set with the rollups it should have. `None` if there are none.
fn task(
    metric: MetricId,
    window: TimeRange,
    clusters: Vec<Cluster>,
    neighbours: Neighbours,
    wanted: &(Vec<Tier>, Rollups),
) -> Option<CompactionTask> {
    let kind = clusters.iter().flat_map(Cluster::blocks).map(|b| b.kind).next()?;
    let units = || clusters.iter().flat_map(|c| &c.units);
    let loose = || clusters.iter().flat_map(|c| &c.loose);
    let mut task = CompactionTask { metric, kind, parts: Vec::new(), removed: Vec::new() };
    for stretch in stretches(window, Tier::finest(kind), units(), neighbours) {
        let meets = |range: TimeRange| !range.intersect(stretch.window).is_empty();
        let units: Vec<&CompactedSet> = units().filter(|u| meets(u.window)).collect();
        let loose: Vec<BlockInfo> = loose().filter(|b| meets(b.extent())).copied().collect();
        let is_done = match units.as_slice() {
            [] => loose.is_empty(),
            [only] => {
                loose.is_empty()
                    && only.window == stretch.window
                    && only.coverage() == Coverage::Whole
                    && !(wanted.1 == Rollups::InsteadOfPoints && lacks_rollups(only, &wanted.0))
            }
            _ => false,
        };
        if !is_done {
            let bases = units.iter().flat_map(|u| u.of_tier(u.base())).copied();
            let sources = bases.chain(loose).collect();
            task.removed.extend(units.iter().flat_map(|u| &u.blocks));
            task.parts.push(TaskPart { stretch, sources });
        }
    }
    task.removed.extend(loose());
    (!task.parts.is_empty()).then_some(task)
}

/// Reports whether a block set has points but lacks a rollup tier that would certainly be kept if
/// it were computed now. The condition is strict, so that a futile compaction is not repeated.
fn lacks_rollups(unit: &CompactedSet, wanted: &[Tier]) -> bool {
    let Some(finest) = unit.blocks.first().map(|b| Tier::finest(b.kind)) else { return false };
    let points: u64 = unit.of_tier(finest).map(|b| u64::from(b.rows)).sum();
    let present = unit.tiers();
    let next = present.iter().copied().find(|t| *t > finest);
    let absent = wanted
        .iter()
        .filter(|t| **t > finest && next.is_none_or(|next| **t < next))
        .filter(|t| fits_window(**t, unit.window));
    let cells = |width: Interval| -> u64 {
        let of_block = |b: &BlockInfo| {
            let first = b.first_time.floor_to(width).0;
            let buckets = (b.last_time.0 - first) / width.ms() + 1;
            u64::from(b.series).saturating_mul(buckets as u64).min(u64::from(b.rows))
        };
        unit.of_tier(finest).map(of_block).sum()
    };
    let rows_max = Rollups::InsteadOfPoints.rows_max(points);
    points > 0 && absent.filter_map(|t| t.width()).any(|width| cells(width) <= rows_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Aggregation, MetricQuery};
    use crate::options::{Maintenance, Options, Retention, TierRetention};
    use crate::{Clock, Engine};

    const DAY: i64 = 86_400_000;
    const START: i64 = 20_000 * DAY;

    fn total(engine: &Engine, interval: Interval) -> f64 {
        let query = MetricQuery::of_all(
            "hits",
            TimeRange::new(START, START + DAY),
            interval,
            &[Aggregation::Sum],
        );
        engine.query(&query).unwrap().groups.iter().flat_map(|g| &g.columns[0]).sum()
    }

    /// Uses data as written by version 1: an hour tier and a day tier that contain the late samples
    /// only.
    #[test]
    fn rollups_of_unknown_coverage_are_rebuilt() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let default = TierRetention::of_days([1, 0, 9, 90, 90]);
        let options = Options {
            maintenance: Maintenance::Manual,
            clock: clock.clone(),
            retention: Retention { default, by_prefix: Vec::new() },
            ..Options::default()
        };
        let engine = Engine::open(dir.path(), options).unwrap();
        let write = |times: &mut dyn Iterator<Item = i64>| {
            let mut batch = engine.batch();
            let series = batch.series("hits", MetricType::Counter, &[]).unwrap();
            times.for_each(|time| {
                batch.number(MetricType::Counter, series, TimestampMs(START + time), 1.0)
            });
            engine.write(batch.finish()).unwrap();
            engine.seal().unwrap();
        };
        write(&mut (0..36_000).map(|i| i * 1000));
        clock.set(TimestampMs(START + 4 * DAY));
        engine.merge().unwrap();
        engine.expire().unwrap();
        let metrics = &engine.inner().telemetry.metrics;
        let id = metrics.registry().with_metric("hits", |metric| metric.id).unwrap();
        let blocks = || metrics.view.catalog().metric(id).iter().copied().collect::<Vec<_>>();
        let old = blocks();
        assert_eq!(old.iter().map(|b| b.key.tier).min(), Some(Tier::FiveMinutes));
        write(&mut (0..5).map(|i| i * 1000));
        engine.merge().unwrap();
        let whole = blocks();
        let ids: HashSet<BlockKey> = whole.iter().map(|b| b.key).collect();
        // Blocks of five late samples replace the rollups.
        write(&mut (0..5).map(|i| i * 1000));
        let late = blocks().into_iter().find(|b| b.unit.is_none()).unwrap();
        let unknown = |b: &BlockInfo| BlockInfo { coverage: Coverage::Unknown, ..*b };
        let before: Vec<BlockInfo> = whole.iter().map(unknown).collect();
        assert!(metrics.view.replace(&before, &ids));
        metrics
            .quarantine(&whole.iter().find(|b| b.key.tier == Tier::Hour).unwrap().key, "damaged");
        let expected = 36_000.0 + 10.0;
        for step in ["before", "compacted", "expired"] {
            for interval in [Interval::HOUR, Interval::DAY] {
                assert_eq!(total(&engine, interval), expected, "{step}");
            }
            match step {
                "before" => assert_eq!(engine.merge().unwrap().windows, 1),
                "compacted" => {
                    assert!(blocks().iter().all(|b| b.coverage == Coverage::Whole));
                    assert!(!blocks().iter().any(|b| b.key == late.key));
                    assert_eq!(engine.merge().unwrap().windows, 0);
                    clock.set(TimestampMs(START + 20 * DAY));
                    engine.expire().unwrap();
                    assert_eq!(blocks().iter().map(|b| b.key.tier).min(), Some(Tier::Hour));
                }
                _ => {}
            }
        }
    }
}
