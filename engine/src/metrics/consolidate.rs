//! From many blocks of a window to one unit: the same rows once, in blocks of full size, with their rollups.
//!
//! A unit begins with its *base*: the finest tier that all of its sources have, the samples themselves unless they have
//! expired. Sources that are finer, such as samples that arrive for a day whose samples have expired, are summed up to the cells of
//! the base. Every other tier is made from the base, so that each covers all samples of the unit whatever expires.
//!
//! A tier of rollups is kept only where it has at most a quarter of the rows of the next finer one that is kept: a
//! tier that hardly shrinks costs more than it saves. Beside points it must shrink more, since points are read quickly and a
//! cell takes as much disk as six of them; the one-minute cells of distributions and sets are their points. See [`Rollups`].

use super::block::{
    BlockInfo, CellBlock, CellBlockBuilder, CellColumn, CellSketch, PointBlock, PointBlockBuilder,
    SketchBlock, SketchBlockBuilder, Tier,
};
use super::cell::NumberCell;
use super::merge_scan::{Source, merge_scan};
use super::resolution::Stretch;
use super::times::TimePages;
use super::writer::{BlockOrigin, BlockWriter, NewBlock};
use crate::codec::CodecResult;
use crate::error::{Error, Result};
use crate::model::{Interval, MetricType, SeriesId, TimeRange, TimestampMs};
use crate::sketch::{Cardinality, Distribution};
use crate::storage::Pinned;

/// A tier must have at most one row for so many of the next finer one.
const ROWS_PER_CELL_MIN: usize = 4;
const ALL: (i64, i64) = (i64::MIN, i64::MAX);

/// Which rollups are worth their disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rollups {
    /// The points stay: those whose cells stand for so many points or more.
    BesidePoints { points_per_cell: u64 },
    /// The points are about to expire: all that shrink.
    InsteadOfPoints,
}

impl Rollups {
    /// The most rows that a tier may have beside so many points.
    pub(crate) fn rows_max(self, points: u64) -> u64 {
        match self {
            Self::BesidePoints { points_per_cell } => points / points_per_cell.max(1),
            Self::InsteadOfPoints => points / ROWS_PER_CELL_MIN as u64,
        }
    }
}

/// Whether cells of a tier lie in one window each. A tier of wider cells is not written.
pub(crate) fn fits_window(tier: Tier, window: TimeRange) -> bool {
    tier.width().is_none_or(|width| width.ms() <= window.len_ms())
}

/// A block that was read: its description and its bytes.
pub(crate) type Loaded<'s> = (BlockInfo, Pinned<'s>);

/// Merges blocks of one metric into one unit of `stretch`: of every unit there its base, and the loose blocks, of which only rows
/// in the window of the stretch are taken. `wanted` are the tiers that have not expired there.
pub(crate) fn consolidate(
    stretch: Stretch,
    loaded: &[&Loaded<'_>],
    pages: &TimePages,
    (wanted, rollups): (&[Tier], Rollups),
    origin: BlockOrigin<'_>,
) -> Result<Vec<NewBlock>> {
    let kept = |tier: &Tier| {
        *tier == stretch.tier
            || (*tier > stretch.tier && wanted.contains(tier) && fits_window(*tier, stretch.window))
    };
    let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(kept).collect();
    let shape = Shape { stretch, tiers: &tiers, rollups };
    let tiers = match (origin.kind, stretch.tier) {
        (MetricType::Gauge | MetricType::Counter, Tier::Raw) => {
            samples(shape, loaded, pages, origin)?
        }
        (MetricType::Gauge | MetricType::Counter, _) => cells(shape, loaded, pages, origin)?,
        (MetricType::Distribution, _) => sketches::<Distribution>(shape, loaded, origin)?,
        (MetricType::Set, _) => sketches::<Cardinality>(shape, loaded, origin)?,
    };
    Ok(keep_what_pays(tiers))
}

/// What the unit is to be.
#[derive(Clone, Copy)]
struct Shape<'t> {
    stretch: Stretch,
    /// The base and the coarser tiers that have not expired, finest first.
    tiers: &'t [Tier],
    rollups: Rollups,
}

impl Shape<'_> {
    /// The instants of the window.
    fn bounds(&self) -> (i64, i64) {
        (self.stretch.window.start.0, self.stretch.window.end.0)
    }

    /// The most rows of a tier other than the base. Beside cells those that hardly shrink are left out at the end.
    fn rows_max(&self, finest: Tier, rows: u64) -> u64 {
        if self.stretch.tier == finest { self.rollups.rows_max(rows) } else { u64::MAX }
    }
}

/// The blocks of a tier.
type TierBlocks = Vec<NewBlock>;

/// Leaves out tiers that hardly shrink. The first one is the base and stays.
fn keep_what_pays(tiers: Vec<TierBlocks>) -> Vec<NewBlock> {
    let mut kept = Vec::new();
    let mut finer: Option<usize> = None;
    for blocks in tiers {
        let rows: usize = blocks.iter().map(|b| b.info.rows as usize).sum();
        if finer.is_none_or(|finer| rows * ROWS_PER_CELL_MIN <= finer) {
            finer = Some(rows);
            kept.extend(blocks);
        }
    }
    kept
}

/// The samples of gauges and counters in the order of writing.
fn sample_sources<'l>(
    loaded: &[&'l Loaded<'_>],
    pages: &TimePages,
) -> Result<(Vec<Source<'l>>, u64)> {
    let mut ordered: Vec<_> =
        loaded.iter().filter(|(info, _)| info.key.tier == Tier::Raw).collect();
    ordered.sort_by_key(|(info, _)| (info.order, info.key));
    let mut sources = Vec::new();
    for (info, bytes) in &ordered {
        let (_, block) = PointBlock::open(info.key, bytes, |at, page| pages.find(at, page))?;
        sources.push(Source::Block(Box::new(block)));
    }
    Ok((sources, ordered.iter().map(|(info, _)| u64::from(info.rows)).sum()))
}

/// A unit of gauges or counters that has its samples.
fn samples(
    shape: Shape<'_>,
    loaded: &[&Loaded<'_>],
    pages: &TimePages,
    origin: BlockOrigin<'_>,
) -> Result<Vec<TierBlocks>> {
    let (mut sources, rows) = sample_sources(loaded, pages)?;
    let mut samples: BlockWriter<'_, PointBlockBuilder> =
        BlockWriter::new(origin, Tier::Raw, shape.stretch.window);
    let mut rollups = CellTiers::new(shape, origin, shape.rows_max(Tier::Raw, rows));
    merge_scan(&mut sources, origin.kind, None, shape.bounds(), |series, times, values| {
        samples.push(series, times, values)?;
        rollups.push(series, |width| cells_of_points(series, times, values, width))
    })?;
    let mut out = vec![samples.finish()?];
    out.extend(rollups.finish()?);
    Ok(out)
}

/// A unit of gauges or counters whose samples have expired. Samples that still arrive are added to its cells; they replace none,
/// since cells know no single samples.
fn cells(
    shape: Shape<'_>,
    loaded: &[&Loaded<'_>],
    pages: &TimePages,
    origin: BlockOrigin<'_>,
) -> Result<Vec<TierBlocks>> {
    let (mut sources, _) = sample_sources(loaded, pages)?;
    let mut old = StoredCells::open(loaded)?;
    let mut tiers = CellTiers::new(shape, origin, u64::MAX);
    let mut push = |series: SeriesId, mut cells: Vec<(i64, NumberCell)>| {
        // Stable: of two last values at one time, the one written later stays.
        cells.sort_by_key(|(start, _)| *start);
        let (starts, cells): (Vec<i64>, Vec<NumberCell>) = cells.into_iter().unzip();
        tiers.push(series, |width| cells_of_cells(&starts, &cells, width))
    };
    let base = shape.stretch.tier.width().unwrap_or(Interval::MINUTE);
    merge_scan(&mut sources, origin.kind, None, shape.bounds(), |series, times, values| {
        while let Some(other) = old.next_series().filter(|other| *other < series.0) {
            push(SeriesId(other), old.take(other, base)?)?;
        }
        let mut cells = old.take(series.0, base)?;
        let (starts, new) = cells_of_points(series, times, values, base);
        cells.extend(starts.into_iter().zip(new));
        push(series, cells)
    })?;
    while let Some(other) = old.next_series() {
        push(SeriesId(other), old.take(other, base)?)?;
    }
    Ok(tiers.finish()?)
}

/// Cells of several blocks, read series by series.
struct StoredCells<'l> {
    /// In the order of writing.
    blocks: Vec<CellBlock<'l>>,
    /// Which series is where: series, block, index in the block. Sorted, and those before `at` are taken.
    found: Vec<(u32, usize, usize)>,
    at: usize,
}

impl<'l> StoredCells<'l> {
    fn open(loaded: &[&'l Loaded<'_>]) -> CodecResult<Self> {
        let mut ordered: Vec<_> =
            loaded.iter().filter(|(info, _)| info.key.tier != Tier::Raw).collect();
        ordered.sort_by_key(|(info, _)| (info.order, info.key));
        let mut blocks = Vec::new();
        let mut found = Vec::new();
        for (at, (info, bytes)) in ordered.iter().enumerate() {
            let (_, block) = CellBlock::open(info.key, bytes)?;
            found.extend(block.series().iter().enumerate().map(|(index, s)| (*s, at, index)));
            blocks.push(block);
        }
        found.sort_unstable();
        Ok(Self { blocks, found, at: 0 })
    }

    fn next_series(&self) -> Option<u32> {
        self.found.get(self.at).map(|(series, ..)| *series)
    }

    /// Reads the cells of a series, which is not above the next one, widened to `width`.
    fn take(&mut self, series: u32, width: Interval) -> CodecResult<Vec<(i64, NumberCell)>> {
        let mut cells: Vec<(i64, NumberCell)> = Vec::new();
        while let Some((_, block, index)) =
            self.found.get(self.at).filter(|(next, ..)| *next == series)
        {
            self.at += 1;
            let Some(block) = self.blocks.get_mut(*block) else { continue };
            block.read(*index, ALL.0, ALL.1, CellColumn::ALL, |start, cell| {
                cells.push((TimestampMs(start).floor_to(width).0, *cell));
            })?;
        }
        Ok(cells)
    }
}

/// The rollups of numbers, one writer a tier.
struct CellTiers<'s> {
    tiers: Vec<CellTier<'s>>,
    /// A tier with more rows is given up at once.
    rows_max: u64,
}

struct CellTier<'s> {
    width: Interval,
    writer: BlockWriter<'s, CellBlockBuilder>,
    rows: u64,
}

impl<'s> CellTiers<'s> {
    fn new(shape: Shape<'_>, origin: BlockOrigin<'s>, rows_max: u64) -> Self {
        let new = |tier: &Tier| {
            let writer = BlockWriter::new(origin, *tier, shape.stretch.window);
            Some(CellTier { width: tier.width()?, writer, rows: 0 })
        };
        Self { tiers: shape.tiers.iter().filter_map(new).collect(), rows_max }
    }

    /// Adds a series; `finest` gives its cells of a width.
    fn push(
        &mut self,
        series: SeriesId,
        finest: impl Fn(Interval) -> (Vec<i64>, Vec<NumberCell>),
    ) -> CodecResult<()> {
        let mut finer: Option<(Vec<i64>, Vec<NumberCell>)> = None;
        for tier in &mut self.tiers {
            let next = match &finer {
                None => finest(tier.width),
                Some((starts, cells)) => cells_of_cells(starts, cells, tier.width),
            };
            tier.rows += next.0.len() as u64;
            tier.writer.push(series, &next.0, &next.1)?;
            finer = Some(next);
        }
        let rows_max = self.rows_max;
        self.tiers.retain(|tier| tier.rows <= rows_max);
        Ok(())
    }

    fn finish(self) -> CodecResult<Vec<TierBlocks>> {
        self.tiers.into_iter().map(|tier| tier.writer.finish()).collect()
    }
}

fn cells_of_points(
    series: SeriesId,
    times: &[i64],
    values: &[f64],
    width: Interval,
) -> (Vec<i64>, Vec<NumberCell>) {
    let (mut starts, mut cells) = (Vec::new(), Vec::<NumberCell>::new());
    let mut end = i64::MIN;
    for (time, value) in times.iter().zip(values) {
        if *time >= end {
            let start = TimestampMs(*time).floor_to(width).0;
            end = start + width.ms();
            starts.push(start);
            cells.push(NumberCell::EMPTY);
        }
        if let Some(cell) = cells.last_mut() {
            cell.add(series.0, *time, *value);
        }
    }
    (starts, cells)
}

fn cells_of_cells(
    starts: &[i64],
    finer: &[NumberCell],
    width: Interval,
) -> (Vec<i64>, Vec<NumberCell>) {
    let (mut out_starts, mut cells) = (Vec::new(), Vec::<NumberCell>::new());
    for (start, cell) in starts.iter().zip(finer) {
        let start = TimestampMs(*start).floor_to(width).0;
        match cells.last_mut() {
            Some(last) if out_starts.last() == Some(&start) => last.merge(cell),
            _ => {
                out_starts.push(start);
                cells.push(*cell);
            }
        }
    }
    (out_starts, cells)
}

fn sketches<S: CellSketch>(
    shape: Shape<'_>,
    loaded: &[&Loaded<'_>],
    origin: BlockOrigin<'_>,
) -> Result<Vec<TierBlocks>> {
    let mut blocks = Vec::new();
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    for (at, (info, bytes)) in loaded.iter().map(|loaded| (&loaded.0, &loaded.1)).enumerate() {
        let (_, block) = SketchBlock::<S>::open(info.key, bytes)?;
        found.extend(block.series().iter().enumerate().map(|(index, s)| (*s, at, index)));
        // The window of a loose block may reach beyond that of the unit.
        blocks.push((block, if info.unit.is_some() { ALL } else { shape.bounds() }));
    }
    found.sort_unstable();
    let base = shape.stretch.tier;
    let rows = loaded.iter().map(|(info, _)| u64::from(info.rows)).sum();
    let rows_max = shape.rows_max(Tier::Minute, rows);
    let mut tiers: Vec<SketchTier<'_, S>> = shape
        .tiers
        .iter()
        .filter_map(|tier| SketchTier::new(origin, *tier, shape.stretch.window))
        .collect();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let mut cells: Vec<(i64, S)> = Vec::new();
        for (_, at, index) in same {
            if let Some((block, (from, to))) = blocks.get_mut(*at) {
                block.read(*index, *from, *to, |start, cell| cells.push((start, cell.clone())))?;
            }
        }
        cells.sort_by_key(|(start, _)| *start);
        let series = SeriesId(same.first().map_or(0, |(series, ..)| *series));
        for tier in &mut tiers {
            cells = widen(cells, tier.width);
            let (starts, column): (Vec<i64>, Vec<S>) = cells.iter().cloned().unzip();
            tier.rows += cells.len() as u64;
            tier.writer.push(series, &starts, &column)?;
        }
        tiers.retain(|t| t.tier == base || t.rows <= rows_max);
    }
    tiers.into_iter().map(|tier| tier.writer.finish().map_err(Error::from)).collect()
}

struct SketchTier<'s, S> {
    tier: Tier,
    width: Interval,
    rows: u64,
    writer: BlockWriter<'s, SketchBlockBuilder<S>>,
}

impl<'s, S: CellSketch> SketchTier<'s, S> {
    fn new(origin: BlockOrigin<'s>, tier: Tier, window: TimeRange) -> Option<Self> {
        let writer = BlockWriter::new(origin, tier, window);
        Some(Self { tier, width: tier.width()?, rows: 0, writer })
    }
}

/// Merges neighbouring cells that fall into one wider cell.
fn widen<S: CellSketch>(cells: Vec<(i64, S)>, width: Interval) -> Vec<(i64, S)> {
    let mut out: Vec<(i64, S)> = Vec::new();
    for (start, cell) in cells {
        let start = TimestampMs(start).floor_to(width).0;
        match out.last_mut() {
            Some((last, into)) if *last == start => into.merge(&cell),
            _ => out.push((start, cell)),
        }
    }
    out
}
