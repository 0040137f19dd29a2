//! Which blocks answer which part of a range, and about how many rows that is.

use std::sync::Arc;

use super::super::block::{BlockInfo, Tier};
use super::super::catalog::{Cluster, CompactedSet};
use super::super::head::{CellRun, Run};
use super::super::registry::Selection;
use super::super::resolution::{Neighbours, stretches};
use super::super::view::MetricView;
use super::grain::{Grains, Part};
use crate::metrics::Metrics;
use crate::model::{MetricType, TimeRange};

/// A piece of work that can be done by itself.
#[derive(Debug)]
pub(super) enum Task {
    /// Points of one block.
    Points { block: BlockInfo, part: Part },
    /// Cells of one block.
    Cells { block: BlockInfo, part: Part },
    /// Points of a run of the head, of which none replaces another.
    Run { run: Arc<Run>, part: Part },
    /// Cells of the head.
    HeadCells { cells: Arc<CellRun>, part: Part },
    /// Gauge points from several places, later ones replacing earlier ones. Blocks in the order of writing,
    /// then runs; one share of `shares` of the series.
    Settled { blocks: Vec<BlockInfo>, runs: Vec<Arc<Run>>, part: Part, share: u32, shares: u32 },
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) tasks: Vec<Task>,
    /// Points and cells that will be read, about.
    pub(super) rows: u64,
    /// Blocks in the range that cannot be read.
    pub(super) quarantined: u64,
}

/// Series are shared out to several tasks when they have more points than this.
const SETTLED_ROWS_PER_TASK: u64 = 200_000;

struct Planner<'a> {
    kind: MetricType,
    grains: &'a Grains,
    /// Selected series per series of the metric, to guess rows.
    share: f64,
    threads: u32,
    runs: &'a [Arc<Run>],
    plan: Plan,
}

/// A unit and the tiers that can answer for it, finest first.
struct ReadableUnit {
    unit: CompactedSet,
    tiers: Vec<Tier>,
}

pub(super) fn plan(
    view: &MetricView,
    clusters: Vec<Cluster>,
    kind: MetricType,
    selection: &Selection,
    grains: &Grains,
    metrics: &Metrics,
) -> Plan {
    let most = clusters.iter().flat_map(Cluster::blocks).map(|b| b.series).max().unwrap_or(1);
    let mut planner = Planner {
        kind,
        grains,
        share: (selection.series.len() as f64 / f64::from(most.max(1))).min(1.0),
        threads: metrics.options().threads as u32,
        runs: &view.runs,
        plan: Plan::default(),
    };
    let wanted = |block: &BlockInfo| {
        !block.extent().intersect(grains.range).is_empty()
            && selection.series.range_cardinality(block.first_series..=block.last_series) > 0
    };
    let is_quarantined = |block: &BlockInfo| metrics.is_quarantined(&block.key);
    let mut settled = Vec::new();
    for cluster in clusters {
        // Tiers and stretches are decided before blocks of other series are left out.
        let (finest, units) = (Tier::finest(kind), cluster.units.iter());
        let stretches = stretches(cluster.window, finest, units, Neighbours::Join);
        let mut readable = |block: &BlockInfo| {
            let bad = is_quarantined(block);
            planner.plan.quarantined += u64::from(bad && wanted(block));
            !bad && wanted(block)
        };
        let mut loose = cluster.loose;
        loose.retain(&mut readable);
        let readable_unit = |mut unit: CompactedSet| {
            let (tiers, base) = (unit.tiers(), unit.base());
            let whole = |t: &Tier| *t == base || !unit.of_tier(*t).any(is_quarantined);
            let tiers: Vec<Tier> = tiers.into_iter().filter(whole).collect();
            unit.blocks.retain(|b| tiers.contains(&b.key.tier) && readable(b));
            ReadableUnit { unit, tiers }
        };
        let units: Vec<ReadableUnit> = cluster.units.into_iter().map(readable_unit).collect();
        for stretch in stretches {
            let part = planner.part(stretch.window);
            if !part.range.is_empty() && planner.stretch(part, &units, &loose) {
                settled.push(part.range);
            }
        }
    }
    planner.head(&settled);
    planner.head_cells(&view.cells);
    planner.plan
}

impl Planner<'_> {
    /// The part of the range in a window that is known equally finely.
    fn part(&self, window: TimeRange) -> Part {
        let range = window.intersect(self.grains.range);
        Part { range, grain: self.grains.at(range.start) }
    }

    /// Plans the blocks of a stretch. Answers whether the head's points of it went with them.
    fn stretch(&mut self, part: Part, units: &[ReadableUnit], loose: &[BlockInfo]) -> bool {
        let meets = |range: TimeRange| !range.intersect(part.range).is_empty();
        let units = || units.iter().filter(|u| meets(u.unit.window));
        let has_samples = |u: &&ReadableUnit| u.tiers.contains(&Tier::Raw);
        if self.kind == MetricType::Gauge {
            let of_units = units().filter(has_samples).flat_map(|u| &u.unit.blocks);
            let samples: Vec<&BlockInfo> = of_units.chain(loose).collect();
            let touched = self.runs.iter().any(|run| run.touches(part.range));
            // What one seal or one merge wrote has been settled when it was written.
            let mut writers = samples.iter().map(|b| (b.order, b.unit));
            let first = writers.next();
            if touched || writers.any(|writer| Some(writer) != first) {
                self.settled(samples, part);
                units().filter(|u| !has_samples(u)).for_each(|u| self.unit(u, part));
                return true;
            }
        }
        units().for_each(|unit| self.unit(unit, part));
        loose.iter().for_each(|block| self.block(*block, part));
        false
    }

    fn settled(&mut self, blocks: Vec<&BlockInfo>, part: Part) {
        let meets = |b: &&&BlockInfo| !b.extent().intersect(part.range).is_empty();
        let samples = blocks.iter().filter(|b| b.key.tier == Tier::Raw).filter(meets);
        let mut blocks: Vec<BlockInfo> = samples.map(|b| **b).collect();
        blocks.sort_by_key(|b| (b.order, b.key));
        let runs: Vec<Arc<Run>> =
            self.runs.iter().filter(|r| r.touches(part.range)).map(Arc::clone).collect();
        let rows: u64 = blocks.iter().map(|b| self.rows_of(b, part.range)).sum::<u64>()
            + runs.iter().map(|r| r.len() as u64).sum::<u64>();
        self.push_settled(blocks, runs, part, rows);
    }

    fn push_settled(&mut self, blocks: Vec<BlockInfo>, runs: Vec<Arc<Run>>, part: Part, rows: u64) {
        if blocks.is_empty() && runs.is_empty() {
            return;
        }
        self.plan.rows += rows;
        let shares = (rows / SETTLED_ROWS_PER_TASK + 1).min(u64::from(self.threads)) as u32;
        for share in 0..shares {
            let (blocks, runs) = (blocks.clone(), runs.clone());
            self.plan.tasks.push(Task::Settled { blocks, runs, part, share, shares });
        }
    }

    /// Whole cells from the coarsest tier that fits, the edges from finer ones.
    fn unit(&mut self, ReadableUnit { unit, tiers }: &ReadableUnit, part: Part) {
        let range = unit.window.intersect(part.range);
        let interval = self.grains.interval;
        let fits = |tier: &&Tier| tier.width().is_none_or(|w| interval.is_multiple_of(w));
        let mut usable: Vec<Tier> = tiers.iter().filter(fits).copied().collect();
        if usable.is_empty() {
            // Everything as fine as the question has expired: the finest that is left answers.
            usable.extend(tiers.first());
        }
        usable.reverse();
        let mut pieces = Vec::new();
        cover(range, &usable, &mut pieces);
        for (tier, piece) in pieces {
            for block in unit.of_tier(tier) {
                self.block(*block, part.within(piece));
            }
        }
    }

    fn block(&mut self, block: BlockInfo, part: Part) {
        if block.extent().intersect(part.range).is_empty() {
            return;
        }
        self.plan.rows += self.rows_of(&block, part.range);
        self.plan.tasks.push(match block.key.tier {
            Tier::Raw => Task::Points { block, part },
            _ => Task::Cells { block, part },
        });
    }

    fn rows_of(&self, block: &BlockInfo, range: TimeRange) -> u64 {
        let extent = block.extent();
        let part = extent.intersect(range).len_ms() as f64 / extent.len_ms().max(1) as f64;
        (f64::from(block.rows) * part * self.share).ceil() as u64
    }

    /// Plans the points of the head but those of gauges in `settled`, which went with blocks.
    fn head(&mut self, settled: &[TimeRange]) {
        if self.kind == MetricType::Gauge {
            // Where there are cells, the points of the head went with them.
            for range in gaps(self.grains.range, settled) {
                let part = Part { range, grain: None };
                let (runs, rows) = self.runs_of(part);
                self.push_settled(Vec::new(), runs, part, rows);
            }
            return;
        }
        for part in self.grains.parts() {
            let (runs, rows) = self.runs_of(part);
            self.plan.rows += rows;
            self.plan.tasks.extend(runs.into_iter().map(|run| Task::Run { run, part }));
        }
    }

    fn runs_of(&self, part: Part) -> (Vec<Arc<Run>>, u64) {
        let touching = self.runs.iter().filter(|r| r.touches(part.range));
        let runs: Vec<Arc<Run>> = touching.map(Arc::clone).collect();
        let rows = runs.iter().map(|r| r.len() as u64).sum();
        (runs, rows)
    }

    fn head_cells(&mut self, cells: &[Arc<CellRun>]) {
        self.plan.rows += cells.iter().map(|cells| cells.len() as u64).sum::<u64>();
        for part in self.grains.parts() {
            let task = |cells: &Arc<CellRun>| Task::HeadCells { cells: Arc::clone(cells), part };
            self.plan.tasks.extend(cells.iter().map(task));
        }
    }
}

/// What of a range lies between `taken`, which are in the order of time.
fn gaps(range: TimeRange, taken: &[TimeRange]) -> Vec<TimeRange> {
    let mut gaps = Vec::new();
    let mut from = range.start;
    for taken in taken {
        gaps.push(TimeRange { start: from, end: taken.start.max(from) });
        from = from.max(taken.end);
    }
    gaps.push(TimeRange { start: from, end: range.end });
    gaps.retain(|gap| !gap.is_empty());
    gaps
}

/// Splits `range` over tiers, given coarsest first. The last tier takes what the others leave.
fn cover(range: TimeRange, tiers: &[Tier], parts: &mut Vec<(Tier, TimeRange)>) {
    let Some((tier, finer)) = tiers.split_first() else { return };
    if range.is_empty() {
        return;
    }
    let Some(width) = tier.width().filter(|_| !finer.is_empty()) else {
        parts.push((*tier, range));
        return;
    };
    let inner = TimeRange { start: range.start.ceil_to(width), end: range.end.floor_to(width) };
    if inner.is_empty() {
        return cover(range, finer, parts);
    }
    cover(TimeRange { start: range.start, end: inner.start }, finer, parts);
    parts.push((*tier, inner));
    cover(TimeRange { start: inner.end, end: range.end }, finer, parts);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_cells_are_coarse_and_edges_fine() {
        let minute = 60_000;
        let mut parts = Vec::new();
        let tiers = [Tier::Hour, Tier::FiveMinutes, Tier::Raw];
        cover(TimeRange::new(58 * minute + 7, 181 * minute), &tiers, &mut parts);
        let shape: Vec<_> =
            parts.iter().map(|(t, r)| (*t, r.start.0 / minute, r.end.0 / minute)).collect();
        assert_eq!(shape, [(Tier::Raw, 58, 60), (Tier::Hour, 60, 180), (Tier::Raw, 180, 181)]);
        parts.clear();
        cover(TimeRange::new(0, 7 * minute), &[Tier::Hour, Tier::FiveMinutes], &mut parts);
        assert_eq!(parts, [(Tier::FiveMinutes, TimeRange::new(0, 7 * minute))]);
    }

    #[test]
    fn parts_are_the_range_without_overlap() {
        for (start, end) in [(0, 1), (13, 9_999_999), (3_600_000, 7_200_000), (299_999, 300_001)] {
            let mut parts = Vec::new();
            cover(
                TimeRange::new(start, end),
                &[Tier::Day, Tier::Hour, Tier::Minute, Tier::Raw],
                &mut parts,
            );
            assert_eq!(parts.first().unwrap().1.start.0, start);
            assert_eq!(parts.last().unwrap().1.end.0, end);
            assert!(parts.windows(2).all(|w| w[0].1.end == w[1].1.start));
        }
    }
}
