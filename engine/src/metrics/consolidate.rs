//! From many blocks of a window to one unit: the same rows once, in blocks of full size, with their rollups.
//!
//! A tier of rollups is kept only where it has at most a quarter of the rows of the next finer one that is kept: a
//! tier that hardly shrinks costs more than it saves. Beside points it must shrink more, since points are read quickly and a
//! cell takes as much disk as six of them; the one-minute cells of distributions and sets are their points. See [`Rollups`]. When the points of a window have expired and points still
//! arrive for it, they go into the tiers that are left.

use super::block::{
    CellBlock, CellBlockBuilder, CellColumn, CellSketch, PointBlock, PointBlockBuilder,
    SketchBlock, SketchBlockBuilder, Tier, UnitId,
};
use super::catalog::Cluster;
use super::cell::NumberCell;
use super::merge_scan::{Source, merge_scan};
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

/// A block that was read: its description and its bytes.
pub(crate) type Loaded<'s> = (super::block::BlockInfo, Pinned<'s>);

/// Merges the blocks of clusters of one metric into one unit of `window`. `wanted` are the tiers that have not
/// expired there.
pub(crate) fn consolidate(
    clusters: &[Cluster],
    loaded: &[Loaded<'_>],
    (window, pages): (TimeRange, &TimePages),
    (wanted, rollups): (&[Tier], Rollups),
    origin: BlockOrigin<'_>,
) -> Result<Vec<NewBlock>> {
    let tiers = match origin.kind {
        MetricType::Gauge | MetricType::Counter => {
            let units = clusters.iter().flat_map(|c| &c.units);
            let pointless: Vec<UnitId> =
                units.filter(|u| u.of_tier(Tier::Raw).next().is_none()).map(|u| u.id).collect();
            numbers(loaded, (window, pages), &pointless, rollups, origin)?
        }
        MetricType::Distribution => sketches::<Distribution>(loaded, window, rollups, origin)?,
        MetricType::Set => sketches::<Cardinality>(loaded, window, rollups, origin)?,
    };
    Ok(keep_what_pays(tiers, wanted))
}

/// The blocks of a tier.
struct TierBlocks {
    tier: Tier,
    /// Whether the tier stays however many rows it has.
    always: bool,
    blocks: Vec<NewBlock>,
}

fn keep_what_pays(tiers: Vec<TierBlocks>, wanted: &[Tier]) -> Vec<NewBlock> {
    let mut kept = Vec::new();
    let mut finer: Option<usize> = None;
    for tier in tiers {
        let rows: usize = tier.blocks.iter().map(|b| b.info.rows as usize).sum();
        let pays = finer.is_none_or(|finer| rows * ROWS_PER_CELL_MIN <= finer);
        if tier.always || (pays && wanted.contains(&tier.tier)) {
            finer = Some(rows);
            kept.extend(tier.blocks);
        }
    }
    kept
}

/// `pointless` are the units whose points have expired.
fn numbers(
    loaded: &[Loaded<'_>],
    (window, pages): (TimeRange, &TimePages),
    pointless: &[UnitId],
    rollups: Rollups,
    origin: BlockOrigin<'_>,
) -> Result<Vec<TierBlocks>> {
    let old: Vec<&Loaded<'_>> = loaded
        .iter()
        .filter(|(info, _)| info.unit.is_some_and(|unit| pointless.contains(&unit)))
        .collect();
    let pointless = !pointless.is_empty();
    let mut sources = Vec::new();
    let mut ordered: Vec<_> =
        loaded.iter().filter(|(info, _)| info.key.tier == Tier::Raw).collect();
    ordered.sort_by_key(|(info, _)| (info.order, info.key));
    for (info, bytes) in &ordered {
        let (_, block) = PointBlock::open(info.key, bytes, |at, page| pages.find(at, page))?;
        sources.push(Source::Block(Box::new(block)));
    }
    let mut points: BlockWriter<'_, PointBlockBuilder> =
        BlockWriter::new(origin, Tier::Raw, window);
    let rows = ordered.iter().map(|(info, _)| u64::from(info.rows)).sum();
    let rows_max = if pointless { u64::MAX } else { rollups.rows_max(rows) };
    let mut tiers = CellTiers::new(origin, window, &old, rows_max)?;
    merge_scan(&mut sources, origin.kind, None, ALL, |series, times, values| {
        if !pointless {
            points.push(series, times, values)?;
        }
        tiers.push(series, times, values)
    })?;
    let mut out = Vec::new();
    if !pointless {
        out.push(TierBlocks { tier: Tier::Raw, always: true, blocks: points.finish()? });
    }
    out.extend(tiers.finish(pointless)?);
    Ok(out)
}

/// The rollups of numbers, one writer a tier.
struct CellTiers<'s> {
    tiers: Vec<CellTier<'s>>,
    /// A tier with more rows is given up at once.
    rows_max: u64,
}

struct CellTier<'s> {
    tier: Tier,
    width: Interval,
    writer: BlockWriter<'s, CellBlockBuilder>,
    rows: u64,
    /// Cells whose points have expired, by series; they take in what still arrives.
    old: std::collections::BTreeMap<u32, Vec<(i64, NumberCell)>>,
}

impl<'s> CellTiers<'s> {
    fn new(
        origin: BlockOrigin<'s>,
        window: TimeRange,
        old: &[&Loaded<'_>],
        rows_max: u64,
    ) -> CodecResult<Self> {
        let mut tiers = Vec::new();
        for tier in Tier::ALL {
            let Some(width) = tier.width() else { continue };
            let mut cells = CellTier {
                tier,
                width,
                writer: BlockWriter::new(origin, tier, window),
                rows: 0,
                old: std::collections::BTreeMap::new(),
            };
            for (info, bytes) in old.iter().filter(|(info, _)| info.key.tier == tier) {
                cells.load(info.key, bytes)?;
            }
            tiers.push(cells);
        }
        Ok(Self { tiers, rows_max })
    }

    fn push(&mut self, series: SeriesId, times: &[i64], values: &[f64]) -> CodecResult<()> {
        let mut finer: Option<(Vec<i64>, Vec<NumberCell>)> = None;
        for tier in &mut self.tiers {
            let next = match &finer {
                None => cells_of_points(series, times, values, tier.width),
                Some((starts, cells)) => cells_of_cells(starts, cells, tier.width),
            };
            tier.push(series, &next.0, &next.1)?;
            finer = Some(next);
        }
        let rows_max = self.rows_max;
        self.tiers.retain(|tier| tier.rows <= rows_max);
        Ok(())
    }

    fn finish(self, pointless: bool) -> CodecResult<Vec<TierBlocks>> {
        let mut out = Vec::new();
        for tier in self.tiers {
            let name = tier.tier;
            let blocks = tier.finish()?;
            // Without points, a tier that is there is all that is left of its detail.
            out.push(TierBlocks { tier: name, always: pointless && !blocks.is_empty(), blocks });
        }
        Ok(out)
    }
}

impl CellTier<'_> {
    fn load(&mut self, key: super::block::BlockKey, bytes: &[u8]) -> CodecResult<()> {
        let (_, mut block) = CellBlock::open(key, bytes)?;
        for (index, series) in block.series().to_vec().into_iter().enumerate() {
            let cells = self.old.entry(series).or_default();
            block.read(index, ALL.0, ALL.1, CellColumn::ALL, |start, cell| {
                cells.push((start, *cell))
            })?;
        }
        Ok(())
    }

    fn push(&mut self, series: SeriesId, starts: &[i64], cells: &[NumberCell]) -> CodecResult<()> {
        self.rows += cells.len() as u64;
        if self.old.is_empty() {
            return self.writer.push(series, starts, cells);
        }
        // Old cells are written in the order of series together with the new ones, at the end.
        let all = self.old.entry(series.0).or_default();
        all.extend(starts.iter().copied().zip(cells.iter().copied()));
        Ok(())
    }

    fn finish(mut self) -> CodecResult<Vec<NewBlock>> {
        for (series, mut cells) in std::mem::take(&mut self.old) {
            cells.sort_by_key(|(start, _)| *start);
            let (starts, cells): (Vec<i64>, Vec<NumberCell>) = cells.into_iter().unzip();
            let (starts, cells) = cells_of_cells(&starts, &cells, self.width);
            self.writer.push(SeriesId(series), &starts, &cells)?;
        }
        self.writer.finish()
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
    loaded: &[Loaded<'_>],
    window: TimeRange,
    rollups: Rollups,
    origin: BlockOrigin<'_>,
) -> Result<Vec<TierBlocks>> {
    let finest = loaded.iter().map(|(info, _)| info.key.tier).min().unwrap_or(Tier::Minute);
    // Where the minutes have expired and new ones came, the new ones go into the tiers that are left.
    let units_without_minutes = |tier: Tier| {
        loaded.iter().any(|(info, _)| info.unit.is_some() && info.key.tier == tier)
            && !loaded.iter().any(|(info, _)| info.unit.is_some() && info.key.tier < tier)
    };
    let base = Tier::ALL.into_iter().find(|t| units_without_minutes(*t)).unwrap_or(finest);
    let mut blocks = Vec::new();
    for (info, bytes) in
        loaded.iter().filter(|(info, _)| info.key.tier == base || info.unit.is_none())
    {
        blocks.push(SketchBlock::<S>::open(info.key, bytes)?.1);
    }
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        found.extend(block.series().iter().enumerate().map(|(index, s)| (*s, at, index)));
    }
    found.sort_unstable();
    let of_base = loaded.iter().filter(|(info, _)| info.key.tier == base);
    let rows_max = rollups.rows_max(of_base.map(|(info, _)| u64::from(info.rows)).sum());
    let tiers = Tier::ALL.into_iter().filter(|t| *t >= base);
    let mut tiers: Vec<SketchTier<'_, S>> =
        tiers.filter_map(|tier| SketchTier::new(origin, tier, window)).collect();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let mut cells: Vec<(i64, S)> = Vec::new();
        for (_, at, index) in same {
            if let Some(block) = blocks.get_mut(*at) {
                block
                    .read(*index, ALL.0, ALL.1, |start, cell| cells.push((start, cell.clone())))?;
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
    let blocks_of = |SketchTier { tier, writer, .. }| {
        let blocks = writer.finish().map_err(Error::from)?;
        Ok(TierBlocks { tier, always: tier == base, blocks })
    };
    tiers.into_iter().map(blocks_of).collect()
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
