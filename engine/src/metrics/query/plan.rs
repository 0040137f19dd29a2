//! Which blocks answer which part of a range, and about how many rows that is.

use std::sync::Arc;

use super::super::block::{BlockInfo, Tier};
use super::super::catalog::{Cluster, Unit};
use super::super::head::{CellRun, Run};
use super::super::registry::Selection;
use super::super::seal::SHORT_WINDOW_MS;
use super::super::view::MetricView;
use crate::metrics::Metrics;
use crate::model::{Interval, MetricType, TimeRange};

/// A piece of work that can be done by itself.
#[derive(Debug)]
pub(super) enum Task {
    /// Points of one block.
    Points { block: BlockInfo, range: TimeRange },
    /// Cells of one block.
    Cells { block: BlockInfo, range: TimeRange },
    /// Points of a run of the head, of which none replaces another.
    Run { run: Arc<Run>, range: TimeRange },
    /// Cells of the head.
    HeadCells { cells: Arc<CellRun>, range: TimeRange },
    /// Gauge points from several places, later ones replacing earlier ones. Blocks in the order of writing,
    /// then runs; one share of `shares` of the series.
    Settled {
        blocks: Vec<BlockInfo>,
        runs: Vec<Arc<Run>>,
        range: TimeRange,
        share: u32,
        shares: u32,
    },
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
    range: TimeRange,
    interval: Interval,
    /// Selected series per series of the metric, to guess rows.
    share: f64,
    threads: u32,
    runs: &'a [Arc<Run>],
    plan: Plan,
}

pub(super) fn plan(
    view: &MetricView,
    kind: MetricType,
    selection: &Selection,
    range: TimeRange,
    interval: Interval,
    metrics: &Metrics,
) -> Plan {
    let clusters = view.blocks.clusters(range);
    let most = clusters.iter().flat_map(Cluster::blocks).map(|b| b.series).max().unwrap_or(1);
    let mut planner = Planner {
        kind,
        range,
        interval,
        share: (selection.series.len() as f64 / f64::from(most.max(1))).min(1.0),
        threads: metrics.options().threads as u32,
        runs: &view.runs,
        plan: Plan::default(),
    };
    let wanted = |block: &BlockInfo| {
        !block.extent().intersect(range).is_empty()
            && selection.series.range_cardinality(block.first_series..=block.last_series) > 0
    };
    let mut covered = Vec::new();
    for mut cluster in clusters {
        // Tiers are decided before blocks of other series are left out.
        let tiers: Vec<Vec<Tier>> = cluster.units.iter().map(Unit::tiers).collect();
        let mut readable = |block: &BlockInfo| {
            let bad = metrics.is_quarantined(&block.key);
            planner.plan.quarantined += u64::from(bad && wanted(block));
            !bad && wanted(block)
        };
        cluster.units.iter_mut().for_each(|u| u.blocks.retain(&mut readable));
        cluster.loose.retain(&mut readable);
        if planner.cluster(&cluster, &tiers) {
            covered.push(cluster.window);
        }
    }
    planner.head(&covered);
    planner.head_cells(&view.cells);
    planner.plan
}

impl Planner<'_> {
    /// Plans the blocks of a cluster. Answers whether the head's points of its window went with them.
    fn cluster(&mut self, cluster: &Cluster, tiers: &[Vec<Tier>]) -> bool {
        let range = cluster.window.intersect(self.range);
        let has_points = tiers.iter().all(|t| t.contains(&Tier::Raw));
        if self.kind == MetricType::Gauge && has_points {
            let touched = self.runs.iter().any(|run| run.touches(range));
            // What one seal or one merge wrote has been settled when it was written.
            let mut writers = cluster.blocks().map(|b| (b.order, b.unit));
            let first = writers.next();
            if touched || writers.any(|writer| Some(writer) != first) {
                self.settled(cluster, range);
                return true;
            }
        }
        for (unit, tiers) in cluster.units.iter().zip(tiers) {
            self.unit(unit, tiers);
        }
        for block in &cluster.loose {
            self.block(*block, self.range);
        }
        false
    }

    fn settled(&mut self, cluster: &Cluster, range: TimeRange) {
        let points = cluster.blocks().filter(|b| b.key.tier == Tier::Raw);
        let mut blocks: Vec<BlockInfo> = points.copied().collect();
        blocks.sort_by_key(|b| (b.order, b.key));
        let runs: Vec<Arc<Run>> =
            self.runs.iter().filter(|r| r.touches(range)).map(Arc::clone).collect();
        let rows: u64 = blocks.iter().map(|b| self.rows_of(b, range)).sum::<u64>()
            + runs.iter().map(|r| r.len() as u64).sum::<u64>();
        self.push_settled(blocks, runs, range, rows);
    }

    fn push_settled(
        &mut self,
        blocks: Vec<BlockInfo>,
        runs: Vec<Arc<Run>>,
        range: TimeRange,
        rows: u64,
    ) {
        if blocks.is_empty() && runs.is_empty() {
            return;
        }
        self.plan.rows += rows;
        let shares = (rows / SETTLED_ROWS_PER_TASK + 1).min(u64::from(self.threads)) as u32;
        for share in 0..shares {
            let (blocks, runs) = (blocks.clone(), runs.clone());
            self.plan.tasks.push(Task::Settled { blocks, runs, range, share, shares });
        }
    }

    /// Whole cells from the coarsest tier that fits, the edges from finer ones.
    fn unit(&mut self, unit: &Unit, tiers: &[Tier]) {
        let range = unit.window.intersect(self.range);
        let fits = |tier: &&Tier| tier.width().is_none_or(|w| self.interval.is_multiple_of(w));
        let mut usable: Vec<Tier> = tiers.iter().filter(fits).copied().collect();
        if usable.is_empty() {
            // Everything as fine as the question has expired: the finest that is left answers.
            usable.extend(tiers.first());
        }
        usable.reverse();
        let mut parts = Vec::new();
        cover(range, &usable, &mut parts);
        for (tier, part) in parts {
            for block in unit.of_tier(tier) {
                self.block(*block, part);
            }
        }
    }

    fn block(&mut self, block: BlockInfo, range: TimeRange) {
        let range = range.intersect(self.range);
        if block.extent().intersect(range).is_empty() {
            return;
        }
        self.plan.rows += self.rows_of(&block, range);
        self.plan.tasks.push(match block.key.tier {
            Tier::Raw => Task::Points { block, range },
            _ => Task::Cells { block, range },
        });
    }

    fn rows_of(&self, block: &BlockInfo, range: TimeRange) -> u64 {
        let extent = block.extent();
        let part = extent.intersect(range).len_ms() as f64 / extent.len_ms().max(1) as f64;
        (f64::from(block.rows) * part * self.share).ceil() as u64
    }

    /// Plans the points of the head that no cluster has taken.
    fn head(&mut self, covered: &[TimeRange]) {
        let mut gaps = Vec::new();
        let mut from = self.range.start;
        for window in covered {
            gaps.push(TimeRange { start: from, end: window.start.max(from) });
            from = from.max(window.end);
        }
        gaps.push(TimeRange { start: from, end: self.range.end });
        for gap in gaps.into_iter().filter(|g| !g.is_empty()) {
            let runs: Vec<Arc<Run>> =
                self.runs.iter().filter(|r| r.touches(gap)).map(Arc::clone).collect();
            let rows: u64 = runs.iter().map(|r| r.len() as u64).sum();
            if self.kind == MetricType::Gauge {
                self.push_settled(Vec::new(), runs, gap, rows);
            } else {
                self.plan.rows += rows;
                self.plan.tasks.extend(runs.into_iter().map(|run| Task::Run { run, range: gap }));
            }
        }
    }

    fn head_cells(&mut self, cells: &[Arc<CellRun>]) {
        let range = self.range;
        self.plan.rows += cells.iter().map(|cells| cells.len() as u64).sum::<u64>();
        let task = |cells: &Arc<CellRun>| Task::HeadCells { cells: Arc::clone(cells), range };
        self.plan.tasks.extend(cells.iter().map(task));
    }
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

impl Run {
    /// Whether the run may hold points of the range, to the width of a short window.
    fn touches(&self, range: TimeRange) -> bool {
        let meets = |start: &i64| {
            !TimeRange::new(*start, start + SHORT_WINDOW_MS).intersect(range).is_empty()
        };
        !self.extent().intersect(range).is_empty() && self.windows().iter().any(meets)
    }
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
