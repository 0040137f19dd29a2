//! The query plan: the blocks to read for each part of the range, and the estimated number of rows.

use std::sync::Arc;

use super::super::block::{BlockInfo, BlockKey, DecodedFrom, FEW_SERIES, OpenedBlock, Tier};
use super::super::catalog::{Cluster, CompactedSet};
use super::super::head::{CellRun, Run};
use super::super::opened_blocks::OpenedBlocks;
use super::super::registry::Selection;
use super::super::resolution::{Neighbours, stretches};
use super::super::view::MetricView;
use super::read_range::{Part, ReadRange};
use crate::codec::integers::PAGE_ROWS;
use crate::metrics::Metrics;
use crate::model::{MetricType, TimeRange};

/// A unit of work that can run independently.
#[derive(Debug)]
pub(super) enum Task {
    /// Samples of one block.
    Points { block: BlockInfo, part: Part },
    /// Cells of one block.
    Cells { block: BlockInfo, part: Part },
    /// Samples of a run of the head, none of which replaces another.
    Run { run: Arc<Run>, part: Part },
    /// Cells of the head.
    HeadCells { cells: Arc<CellRun>, part: Part },
    /// Gauge samples from several sources, of which later ones replace earlier ones: blocks in the
    /// order of writing, then runs. Reads one of `shares` shares of the series.
    Overlapping { blocks: Vec<BlockInfo>, runs: Vec<Arc<Run>>, part: Part, share: u32, shares: u32 },
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) tasks: Vec<Task>,
    /// The estimated number of samples and cells to read.
    pub(super) rows: u64,
    /// The number of blocks in the range that are quarantined.
    pub(super) quarantined: u64,
    /// Units of work of a row.
    work_of_row: u64,
    /// The units of work of opening what is not open yet.
    opening_work: u64,
    /// The number of selected series.
    selected: u64,
    /// Whether blocks stay open for the next query: opening one takes longer than reading a few of
    /// its rows, and a quarter of the time of reading all.
    pub(super) keeps_open: bool,
    /// The bytes of the blocks that are copied to stay open.
    pub(super) bytes_to_open: u64,
}

impl Plan {
    /// Returns the units of work, see [`crate::brief`], of opening what the tasks read: the tables
    /// of series, checksums, and one page of each source.
    pub(super) fn opening_work(&self) -> u64 {
        self.opening_work
    }

    /// Determines what opening takes, and whether blocks stay open: if they are few enough not to
    /// replace what other queries keep open, and none is divided among tasks.
    fn consider_opened(&mut self, kind: MetricType, opened: &OpenedBlocks) {
        self.opening_work = self.work_to_open(&|_| Opening::Closed);
        let is_shared = |task: &Task| matches!(task, Task::Overlapping { shares: 2.., .. });
        self.keeps_open = kind.keeps_points()
            && !self.tasks.iter().any(is_shared)
            && self.block_bytes(&|_| true) <= opened.query_bytes_max();
        if self.keeps_open {
            let is_few = is_few(self.selected);
            let open = |block: &OpenedBlock| Opening::Open {
                from: if is_few { block.decoded_from() } else { DecodedFrom::Page },
                decodes_times: block.decodes_times(),
            };
            let opening = |key: &BlockKey| opened.peek(key, open).unwrap_or(Opening::Closed);
            self.opening_work = self.work_to_open(&opening);
            self.bytes_to_open = self.block_bytes(&|key| !opened.contains(key));
        }
    }

    /// Returns the bytes in memory of the blocks to read that are `counted`, once they are open: a
    /// block of many series may be much smaller than its tables.
    fn block_bytes(&self, counted: &dyn Fn(&BlockKey) -> bool) -> u64 {
        let bytes = |block: &BlockInfo| if counted(&block.key) { opened_bytes(block) } else { 0 };
        let of_task = |task: &Task| match task {
            Task::Points { block: one, .. } | Task::Cells { block: one, .. } => bytes(one),
            Task::Run { .. } | Task::HeadCells { .. } => 0,
            Task::Overlapping { blocks, .. } => blocks.iter().map(bytes).sum(),
        };
        self.tasks.iter().map(of_task).sum()
    }

    /// Returns the pages of a block that are decoded in any case, besides the rows that are read:
    /// one for each series, since their rows begin somewhere in it, but none twice.
    fn pages(&self, block: &BlockInfo) -> u64 {
        let all = u64::from(block.rows).div_ceil(PAGE_ROWS as u64);
        if is_few(self.selected) { 1 } else { all.min(self.selected).max(1) }
    }

    fn work_to_open(&self, opening: &dyn Fn(&BlockKey) -> Opening) -> u64 {
        let block = |block: &BlockInfo| {
            // Columns that are read for the first time have a value for each series to decode.
            let tables = SERIES_WORK * u64::from(block.series);
            let checksum = u64::from(block.bytes) / UNIT_BYTES;
            let pages = PAGE_WORK * self.pages(block);
            let (from, decodes_times) = match opening(&block.key) {
                Opening::Closed => return pages + code_work(block) + tables + checksum,
                Opening::Open { from, decodes_times } => (from, decodes_times),
            };
            let times = if decodes_times { PAGE_WORK } else { 0 };
            times
                + match from {
                    DecodedFrom::Page => pages + tables,
                    // The page may be another one.
                    DecodedFrom::KnownStops => PAGE_WORK / 2 + tables,
                    DecodedFrom::AnyStop => STOP_WORK,
                }
        };
        let of_task = |task: &Task| match task {
            Task::Points { block: one, .. } | Task::Cells { block: one, .. } => block(one),
            Task::Run { .. } | Task::HeadCells { .. } => RUN_WORK,
            Task::Overlapping { blocks, runs, .. } => {
                blocks.iter().map(block).sum::<u64>() + RUN_WORK * runs.len() as u64
            }
        };
        self.tasks.iter().map(of_task).sum()
    }

    /// Returns the estimated units of work of the rows.
    pub(super) fn row_work(&self) -> u64 {
        self.rows.saturating_mul(self.work_of_row)
    }
}

/// What reading the first of a few rows of a block takes.
#[derive(Clone, Copy)]
enum Opening {
    Closed,
    Open { from: DecodedFrom, decodes_times: bool },
}

/// Bytes of a series in the tables of an opened block: its id, rows, times and first values.
const SERIES_BYTES: u64 = 128;
/// Bytes of the table of the code of a column, and rows for each byte of its stops.
const CODE_BYTES: u64 = 32 << 10;
const STOP_BYTE_ROWS: u64 = 16;

fn opened_bytes(block: &BlockInfo) -> u64 {
    let stops = u64::from(block.rows) / STOP_BYTE_ROWS;
    u64::from(block.bytes) + SERIES_BYTES * u64::from(block.series) + CODE_BYTES + stops
}

fn code_work(block: &BlockInfo) -> u64 {
    if block.rows >= LONG_COLUMN_ROWS { CODE_WORK } else { 0 }
}

/// Units of work of a run of the head: its series are searched.
const RUN_WORK: u64 = 256;
/// Units of work of a block of which a page is decoded.
const PAGE_WORK: u64 = PAGE_ROWS as u64;
/// Units of work of making the table of the code of a long column, and the rows from which on a
/// column is long.
const CODE_WORK: u64 = 2 * PAGE_WORK;
const LONG_COLUMN_ROWS: u32 = 32_768;
/// Units of work of a block that is decoded from the last stop before the rows of interest on. The
/// first read of a page takes more: it finds the stops.
const STOP_WORK: u64 = PAGE_WORK / 8;
/// Units of work of a series in the tables of a block.
const SERIES_WORK: u64 = 2;
/// Bytes of a block whose checksum takes a unit of work.
const UNIT_BYTES: u64 = 32;
/// Units of work of a row that is a sketch: it takes microseconds to decode and to merge.
pub(super) const SKETCH_WORK: u64 = 1024;

/// The number of overlapping rows above which their series are divided among several tasks.
const OVERLAPPING_ROWS_PER_TASK: u64 = 200_000;

/// Returns whether so few series are selected that little more than their rows is decoded.
pub(super) fn reads_few(selection: &Selection) -> bool {
    is_few(selection.series.len())
}

fn is_few(series: u64) -> bool {
    series <= FEW_SERIES as u64
}

struct Planner<'a> {
    kind: MetricType,
    read_range: &'a ReadRange,
    /// The estimated ratio of selected series to series in a block, to estimate rows.
    share: f64,
    threads: u32,
    runs: &'a [Arc<Run>],
    plan: Plan,
}

/// A compacted block set and the tiers that can be read, finest first.
struct ReadableSet {
    set: CompactedSet,
    tiers: Vec<Tier>,
}

pub(super) fn plan(
    view: &MetricView,
    clusters: Vec<Cluster>,
    kind: MetricType,
    selection: &Selection,
    read_range: &ReadRange,
    metrics: &Metrics,
) -> Plan {
    let of_blocks = clusters.iter().flat_map(Cluster::blocks).map(|b| b.series);
    let of_runs = view.runs.iter().map(|run| run.series().len() as u32);
    let most = of_blocks.chain(of_runs).max().unwrap_or(1);
    let work_of_row = match kind {
        MetricType::Gauge | MetricType::Counter => 1,
        MetricType::Distribution | MetricType::Set => SKETCH_WORK,
    };
    let mut planner = Planner {
        kind,
        read_range,
        share: (selection.series.len() as f64 / f64::from(most.max(1))).min(1.0),
        threads: metrics.options().threads as u32,
        runs: &view.runs,
        plan: Plan { work_of_row, selected: selection.series.len(), ..Plan::default() },
    };
    let is_selected = |block: &BlockInfo| {
        !block.extent().intersect(read_range.range).is_empty()
            && selection.series.range_cardinality(block.first_series..=block.last_series) > 0
    };
    let is_quarantined = |block: &BlockInfo| metrics.is_quarantined(&block.key);
    let mut planned = Vec::new();
    for cluster in clusters {
        // Tiers and stretches must be determined before blocks without selected series are left
        // out.
        let (finest, sets) = (Tier::finest(kind), cluster.units.iter());
        let stretches = stretches(cluster.window, finest, sets, Neighbours::Join);
        let mut is_readable = |block: &BlockInfo| {
            let quarantined = is_quarantined(block);
            planner.plan.quarantined += u64::from(quarantined && is_selected(block));
            !quarantined && is_selected(block)
        };
        let mut loose = cluster.loose;
        loose.retain(&mut is_readable);
        let readable_set = |mut set: CompactedSet| {
            let (tiers, base) = (set.tiers(), set.base());
            let is_complete = |t: &Tier| *t == base || !set.of_tier(*t).any(is_quarantined);
            let tiers: Vec<Tier> = tiers.into_iter().filter(is_complete).collect();
            set.blocks.retain(|b| tiers.contains(&b.key.tier) && is_readable(b));
            ReadableSet { set, tiers }
        };
        let sets: Vec<ReadableSet> = cluster.units.into_iter().map(readable_set).collect();
        for stretch in stretches {
            let part = planner.part(stretch.window);
            if !part.range.is_empty() && planner.plan_stretch(part, &sets, &loose) {
                planned.push(part.range);
            }
        }
    }
    planner.plan_head(&planned);
    planner.plan_head_cells(&view.cells);
    planner.plan.consider_opened(kind, metrics.opened());
    planner.plan
}

impl Planner<'_> {
    /// Returns the part of the range in a window of one resolution.
    fn part(&self, window: TimeRange) -> Part {
        let range = window.intersect(self.read_range.range);
        Part { range, cell_width: self.read_range.at(range.start) }
    }

    /// Plans the blocks of a stretch. Returns whether the samples of the head in it were planned
    /// too.
    fn plan_stretch(&mut self, part: Part, sets: &[ReadableSet], loose: &[BlockInfo]) -> bool {
        let overlaps = |range: TimeRange| !range.intersect(part.range).is_empty();
        let sets = || sets.iter().filter(|u| overlaps(u.set.window));
        let has_samples = |u: &&ReadableSet| u.tiers.contains(&Tier::Raw);
        if self.kind == MetricType::Gauge {
            let in_sets = sets().filter(has_samples).flat_map(|u| &u.set.blocks);
            let samples: Vec<&BlockInfo> = in_sets.chain(loose).collect();
            let in_head = self.runs.iter().any(|run| run.touches(part.range));
            // One seal or compaction already left out replaced samples when it wrote its blocks.
            let mut writers = samples.iter().map(|b| (b.order, b.unit));
            let first = writers.next();
            if in_head || writers.any(|writer| Some(writer) != first) {
                let mut own: Vec<&ReadableSet> = sets().collect();
                let newer = match own.as_slice() {
                    [only] if part.cell_width.is_none() => self.newer_range(only, loose, part),
                    _ => part.range,
                };
                for older in gaps(part.range, &[newer]) {
                    own.iter().for_each(|set| self.plan_set(set, part.within(older)));
                }
                let part = part.within(newer);
                self.plan_overlapping(samples, part);
                own.retain(|set| !has_samples(set));
                own.into_iter().for_each(|set| self.plan_set(set, part));
                return true;
            }
        }
        sets().for_each(|set| self.plan_set(set, part));
        loose.iter().for_each(|block| self.plan_block(*block, part));
        false
    }

    /// Returns the range from the first to the last sample that is in a loose block or in the head,
    /// in whole cells: outside of it the cells of the only set are read. It is all of the part if
    /// the set has no cells for the interval, or no samples to read inside of it.
    fn newer_range(&self, only: &ReadableSet, loose: &[BlockInfo], part: Part) -> TimeRange {
        let fitting = only.tiers.iter().filter_map(|tier| tier.width());
        let finest = fitting.filter(|width| self.read_range.interval.is_multiple_of(*width)).min();
        let Some(width) = finest.filter(|_| only.tiers.contains(&Tier::Raw)) else {
            return part.range;
        };
        let of_loose = loose.iter().map(BlockInfo::extent);
        let of_head = self.runs.iter().map(|run| run.extent());
        let within = of_loose.chain(of_head).map(|of| of.intersect(part.range));
        let all = within.filter(|of| !of.is_empty()).reduce(|all, of| TimeRange {
            start: all.start.min(of.start),
            end: all.end.max(of.end),
        });
        let none = TimeRange { start: part.range.end, end: part.range.end };
        all.map_or(none, |all| all.widen_to(width).intersect(part.range))
    }

    fn plan_overlapping(&mut self, blocks: Vec<&BlockInfo>, part: Part) {
        let overlaps = |b: &&&BlockInfo| !b.extent().intersect(part.range).is_empty();
        let samples = blocks.iter().filter(|b| b.key.tier == Tier::Raw).filter(overlaps);
        let mut blocks: Vec<BlockInfo> = samples.map(|b| **b).collect();
        blocks.sort_by_key(|b| (b.order, b.key));
        let runs: Vec<Arc<Run>> =
            self.runs.iter().filter(|r| r.touches(part.range)).map(Arc::clone).collect();
        let rows: u64 = blocks.iter().map(|b| self.rows_of(b, part.range)).sum::<u64>()
            + self.rows_of_runs(&runs);
        self.push_overlapping(blocks, runs, part, rows);
    }

    fn push_overlapping(
        &mut self,
        blocks: Vec<BlockInfo>,
        runs: Vec<Arc<Run>>,
        part: Part,
        rows: u64,
    ) {
        if blocks.is_empty() && runs.is_empty() {
            return;
        }
        self.plan.rows += rows;
        let shares = (rows / OVERLAPPING_ROWS_PER_TASK + 1).min(u64::from(self.threads)) as u32;
        for share in 0..shares {
            let (blocks, runs) = (blocks.clone(), runs.clone());
            self.plan.tasks.push(Task::Overlapping { blocks, runs, part, share, shares });
        }
    }

    /// Plans whole cells from the coarsest tier that fits, and partial buckets from finer tiers.
    fn plan_set(&mut self, ReadableSet { set, tiers }: &ReadableSet, part: Part) {
        let range = set.window.intersect(part.range);
        let interval = self.read_range.interval;
        let fits = |tier: &&Tier| tier.width().is_none_or(|w| interval.is_multiple_of(w));
        let mut usable: Vec<Tier> = tiers.iter().filter(fits).copied().collect();
        if usable.is_empty() {
            // All tiers that fit the interval have expired: the finest remaining tier is read.
            usable.extend(tiers.first());
        }
        usable.reverse();
        let mut pieces = Vec::new();
        cover(range, &usable, &mut pieces);
        for (tier, piece) in pieces {
            for block in set.of_tier(tier) {
                self.plan_block(*block, part.within(piece));
            }
        }
    }

    fn plan_block(&mut self, block: BlockInfo, part: Part) {
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

    /// Plans the samples of the head, except those of gauges in the ranges `planned`, which were
    /// planned with the blocks.
    fn plan_head(&mut self, planned: &[TimeRange]) {
        if self.kind == MetricType::Gauge {
            // In the coarse parts, the samples of the head were planned with the blocks.
            for range in gaps(self.read_range.range, planned) {
                let part = Part { range, cell_width: None };
                let (runs, rows) = self.runs_of(part);
                self.push_overlapping(Vec::new(), runs, part, rows);
            }
            return;
        }
        for part in self.read_range.parts() {
            let (runs, rows) = self.runs_of(part);
            self.plan.rows += rows;
            self.plan.tasks.extend(runs.into_iter().map(|run| Task::Run { run, part }));
        }
    }

    fn runs_of(&self, part: Part) -> (Vec<Arc<Run>>, u64) {
        let touching = self.runs.iter().filter(|r| r.touches(part.range));
        let runs: Vec<Arc<Run>> = touching.map(Arc::clone).collect();
        let rows = self.rows_of_runs(&runs);
        (runs, rows)
    }

    fn rows_of_runs(&self, runs: &[Arc<Run>]) -> u64 {
        let rows: usize = runs.iter().map(|run| run.len()).sum();
        (rows as f64 * self.share).ceil() as u64
    }

    fn plan_head_cells(&mut self, cells: &[Arc<CellRun>]) {
        self.plan.rows += cells.iter().map(|cells| cells.len() as u64).sum::<u64>();
        for part in self.read_range.parts() {
            let task = |cells: &Arc<CellRun>| Task::HeadCells { cells: Arc::clone(cells), part };
            self.plan.tasks.extend(cells.iter().map(task));
        }
    }
}

/// Returns the parts of a range outside of `taken`, which is in time order.
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

/// Splits `range` among `tiers`, given coarsest first. The last tier gets what the others leave.
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
    use crate::metrics::block::sample_info;
    use crate::model::{Aggregation, Interval, MetricQuery, TimestampMs};
    use crate::options::{Maintenance, Options};
    use crate::{Clock, Engine};

    #[test]
    fn whole_cells_use_coarse_tiers_and_edges_fine_ones() {
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
    fn opening_counts_the_pages_that_are_decoded_for_the_selected_series() {
        let (rows, series) = (108_000, 25);
        let block = BlockInfo { rows, series, ..sample_info(MetricType::Gauge, Tier::Raw) };
        let part = Part { range: block.extent(), cell_width: None };
        let tables = SERIES_WORK * u64::from(series);
        let pages = |selected: u64| {
            let tasks = vec![Task::Points { block, part }];
            let plan = Plan { tasks, selected, ..Plan::default() };
            let open = Opening::Open { from: DecodedFrom::Page, decodes_times: false };
            (plan.work_to_open(&|_| open) - tables) / PAGE_WORK
        };
        let few = FEW_SERIES as u64;
        assert_eq!([pages(1), pages(few)], [1, 1], "little more than their rows is decoded");
        assert_eq!([pages(few + 1), pages(20)], [few + 1, 20], "one for each series");
        let all = u64::from(rows).div_ceil(PAGE_ROWS as u64);
        assert_eq!([pages(all + 1), pages(u64::MAX)], [all, all], "none twice");
    }

    #[test]
    fn parts_cover_the_range_without_overlap() {
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

    #[test]
    fn what_is_older_than_samples_not_yet_compacted_is_read_from_cells() {
        let hour = Interval::HOUR.ms();
        let start = 20_000 * Interval::DAY.ms();
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(start + 30 * hour));
        let options = Options { maintenance: Maintenance::Manual, clock, ..Options::default() };
        let engine = Engine::open(dir.path(), Options { rollup_points_min: 4, ..options }).unwrap();
        let write = |half_hours: std::ops::Range<i64>, value: i64| {
            let mut batch = engine.batch();
            let series = batch.series("g", MetricType::Gauge, &[]).unwrap();
            for step in half_hours.start * 180..half_hours.end * 180 {
                let time = TimestampMs(start + 10_000 * step);
                batch.number(MetricType::Gauge, series, time, (value + step % 97) as f64);
            }
            engine.write(batch.finish()).unwrap();
        };
        let aggregations = Aggregation::of(MetricType::Gauge);
        let read = |from: i64, to: i64, width: Interval| {
            let range = TimeRange::new(start + from, start + to);
            let query = MetricQuery::of_all("g", range, width, aggregations);
            let result = engine.query(&query).unwrap();
            let columns = result.groups.into_iter().flat_map(|group| group.columns);
            let bits: Vec<u64> = columns.flatten().map(f64::to_bits).collect();
            (bits, result.stats)
        };
        let all = || {
            let widths = [Interval::MINUTE, Interval::HOUR, Interval::DAY];
            let ranges = [(0, 24 * hour), (90_001, 12 * hour + 7), (9 * hour, 10 * hour)];
            let one = |width| ranges.map(|(from, to)| read(from, to, width).0);
            widths.map(one)
        };
        write(0..20, 0);
        engine.seal().unwrap();
        engine.merge().unwrap();
        assert_eq!(read(0, 24 * hour, Interval::HOUR).1.points, 0);
        // From half past nine; half an hour of it was written before.
        write(19..24, 1_000);
        engine.seal().unwrap();
        write(24..25, 2_000);
        let stats = read(0, 24 * hour, Interval::HOUR).1;
        // Nine hours, and six times five minutes of the next half hour.
        assert_eq!(stats.cells, 9 + 6);
        assert_eq!(stats.points, 6 * 180);
        let before = all();
        engine.seal().unwrap();
        assert!(all() == before);
        engine.merge().unwrap();
        assert_eq!(read(0, 24 * hour, Interval::HOUR).1.points, 0);
        assert!(all() == before);
    }
}
