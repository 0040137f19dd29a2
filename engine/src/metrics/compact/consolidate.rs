//! From many blocks of a window to one unit: the same rows once, in blocks of full size, with their rollups.
//!
//! A unit begins with its *base*: the finest tier that all of its sources have, the samples themselves unless they have
//! expired. Sources that are finer, such as samples that arrive for a day whose samples have expired, are summed up to the cells of
//! the base. Every other tier is made from the base, so that each covers all samples of the unit whatever expires.
//!
//! A tier of rollups is kept only where it has at most a quarter of the rows of the next finer one that is kept: a
//! tier that hardly shrinks costs more than it saves. Beside points it must shrink more, since points are read quickly and a
//! cell takes as much disk as six of them; the one-minute cells of distributions and sets are their points. See [`Rollups`].

use super::super::block::{
    BlockBuilder, BlockInfo, CellBlockBuilder, CellSketch, PointBlockBuilder, Tier,
};
use super::super::cell::NumberCell;
use super::super::resolution::Stretch;
use super::super::writer::{BlockOrigin, BlockWriter, NewBlock};
use super::merge_output::MergeOutput;
use super::merge_pieces::{Piece, Pieces};
use super::merge_scan::merge_scan;
use super::merge_sources::{CellRows, Read, Sources};
use super::rollups::{Cell, RollupWriter, SketchRollups};
use crate::error::Result;
use crate::model::{Interval, MetricType, SeriesId, TimeRange, TimestampMs};
use crate::sketch::{Cardinality, Distribution};

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

/// Merges blocks of one metric into one unit of `stretch`, of `sources`: of every unit there its base, and the loose blocks, of
/// which only rows in the window of the stretch are taken. `wanted` are the tiers that have not expired there. Rows are read
/// in pieces of `bytes_max`.
pub(crate) fn consolidate(
    stretch: Stretch,
    sources: &Sources<'_>,
    (wanted, rollups): (&[Tier], Rollups),
    origin: BlockOrigin<'_>,
    (output, bytes_max): (&mut MergeOutput<'_>, usize),
) -> Result<Merged> {
    let kept = |tier: &Tier| {
        *tier == stretch.tier
            || (*tier > stretch.tier && wanted.contains(tier) && fits_window(*tier, stretch.window))
    };
    let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(kept).collect();
    let Some(extent) = sources.extent() else { return Ok(Merged::default()) };
    let width = stretch.tier.width().unwrap_or(Interval::MILLISECOND);
    let pieces = Pieces::new(extent, sources.rows(), (stretch.window, width), bytes_max);
    let merged = Merged::default();
    let tiers = &tiers;
    let merge = Merge { stretch, tiers, rollups, sources, pieces, origin, output, merged };
    match (origin.kind, stretch.tier) {
        (MetricType::Gauge | MetricType::Counter, Tier::Raw) => merge.samples(),
        (MetricType::Gauge | MetricType::Counter, _) => merge.cells(),
        (MetricType::Distribution, _) => merge.sketches::<Distribution>(),
        (MetricType::Set, _) => merge.sketches::<Cardinality>(),
    }
}

/// What a merge made of the blocks of a window.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// Its blocks, which the output has.
    pub(crate) blocks: Vec<BlockInfo>,
    /// Points of gauges that are not in it because later ones replaced them.
    pub(crate) replaced: u64,
}

/// A merge under way.
struct Merge<'m, 's, 'o, 'w> {
    stretch: Stretch,
    /// The base and the coarser tiers that have not expired, finest first.
    tiers: &'m [Tier],
    rollups: Rollups,
    sources: &'m Sources<'s>,
    pieces: Pieces,
    origin: BlockOrigin<'w>,
    output: &'m mut MergeOutput<'o>,
    /// All blocks so far, also of tiers that may not pay.
    merged: Merged,
}

impl Merge<'_, '_, '_, '_> {
    /// The most rows of a tier other than the base. Beside cells those that hardly shrink are left out at the end.
    fn rows_max(&self, finest: Tier, rows: u64) -> u64 {
        if self.stretch.tier == finest { self.rollups.rows_max(rows) } else { u64::MAX }
    }

    /// Goes on with the next piece when `read` has all rows of this one, and begins it anew with less when it has not.
    fn have<R>(&mut self, read: Read<R>) -> Option<R> {
        match read {
            Read::Rows(rows, bytes) => {
                self.pieces.advance(bytes);
                if let Some(piece) = self.pieces.next() {
                    self.pieces.skip_to(self.sources.next_series(piece.series.0));
                }
                Some(rows)
            }
            Read::TooLarge { reached } => {
                self.pieces.shrink(reached);
                None
            }
        }
    }

    /// Hands complete blocks on. `piece_bytes` are those of the rows of a piece, which are there again, in part, while they are
    /// put in order, and `writer_bytes` those of the blocks under way.
    fn take(
        &mut self,
        blocks: Vec<NewBlock>,
        piece_bytes: usize,
        writer_bytes: usize,
    ) -> Result<()> {
        self.merged.blocks.extend(blocks.iter().map(|block| block.info));
        let working_bytes =
            piece_bytes + piece_bytes / 2 + writer_bytes + self.sources.open_bytes();
        self.output.take(blocks, self.origin.times, working_bytes)
    }

    /// The unit with the tiers that pay, given the rows of each, finest first. The first one is the base and stays.
    fn finish(mut self, tiers: Vec<(Tier, u64)>) -> Merged {
        let mut finer: Option<u64> = None;
        let mut kept = Vec::new();
        for (tier, rows) in tiers {
            if finer.is_none_or(|finer| rows * ROWS_PER_CELL_MIN as u64 <= finer) {
                finer = Some(rows);
                kept.push(tier);
            }
        }
        self.merged.blocks.retain(|info| kept.contains(&info.key.tier));
        self.merged
    }

    /// A unit of gauges or counters that has its samples.
    fn samples(mut self) -> Result<Merged> {
        let Stretch { window, .. } = self.stretch;
        let mut samples: BlockWriter<'_, PointBlockBuilder> =
            BlockWriter::new(self.origin, Tier::Raw, window);
        let rows_max = self.rows_max(Tier::Raw, self.sources.rows_of(Tier::Raw));
        let mut rollups = RollupWriter::new(self.origin, self.tiers, window, (None, rows_max));
        let mut rows = 0;
        while let Some(piece) = self.pieces.next() {
            let read = self.sources.points(piece, self.pieces.bytes_max())?;
            let read_bytes = read.bytes();
            let Some(mut sources) = self.have(read) else { continue };
            let scan =
                merge_scan(&mut sources, self.origin.kind, None, ALL, |series, times, values| {
                    rows += times.len() as u64;
                    samples.push(series, times, values)?;
                    rollups.push_points(series, times, values)
                });
            self.merged.replaced += scan?;
            let mut blocks = samples.take_blocks();
            blocks.extend(rollups.take_blocks());
            self.take(
                blocks,
                read_bytes,
                samples.bytes() + samples.encoding_bytes() + rollups.bytes(),
            )?;
        }
        let mut tiers = vec![(Tier::Raw, rows)];
        tiers.extend(rollups.finish()?);
        self.take(samples.finish()?, 0, 0)?;
        self.take(rollups.take_blocks(), 0, 0)?;
        Ok(self.finish(tiers))
    }

    /// A unit of gauges or counters whose samples have expired. Samples that still arrive are added to its cells; they replace
    /// none, since cells know no single samples.
    fn cells(self) -> Result<Merged> {
        let limits = (None, u64::MAX);
        let rollups: RollupWriter<'_, CellBlockBuilder> =
            RollupWriter::new(self.origin, self.tiers, self.stretch.window, limits);
        self.roll_up(rollups, Self::cells_of_piece)
    }

    /// Rolls the cells of all pieces up, which `read` has in order.
    fn roll_up<B: BlockBuilder<Row: Cell>>(
        mut self,
        mut rollups: RollupWriter<'_, B>,
        read: impl Fn(&mut Self, Piece, usize) -> Result<Read<CellRows<B::Row>>>,
    ) -> Result<Merged> {
        while let Some(piece) = self.pieces.next() {
            let bytes_max = self.pieces.bytes_max();
            let read = read(&mut self, piece, bytes_max)?;
            let read_bytes = read.bytes();
            let Some(cells) = self.have(read) else { continue };
            for (series, start, cell) in cells {
                rollups.push(SeriesId(series), start, cell)?;
            }
            let blocks = rollups.take_blocks();
            self.take(blocks, read_bytes, rollups.bytes())?;
        }
        let tiers = rollups.finish()?;
        self.take(rollups.take_blocks(), 0, 0)?;
        Ok(self.finish(tiers))
    }

    /// The cells of a piece, in order, and those of the samples that arrived since.
    fn cells_of_piece(
        &mut self,
        piece: Piece,
        bytes_max: usize,
    ) -> Result<Read<CellRows<NumberCell>>> {
        let (mut cells, cell_bytes) = match self.sources.cells(piece, bytes_max)? {
            Read::Rows(cells, bytes) => (cells, bytes),
            too_large @ Read::TooLarge { .. } => return Ok(too_large),
        };
        let (mut points, point_bytes) =
            match self.sources.points(piece, bytes_max.saturating_sub(cell_bytes))? {
                Read::Rows(points, bytes) => (points, bytes),
                Read::TooLarge { reached } => return Ok(Read::TooLarge { reached }),
            };
        let width = self.stretch.tier.width().unwrap_or(Interval::MINUTE);
        for (_, start, _) in &mut cells {
            *start = TimestampMs(*start).floor_to(width).0;
        }
        let scan = merge_scan(&mut points, self.origin.kind, None, ALL, |series, times, values| {
            cells_of_points(series, times, values, width, &mut cells);
            Ok(())
        });
        self.merged.replaced += scan?;
        // Stable: of two last values at one time, the one written later stays.
        cells.sort_by_key(|(series, start, _)| (*series, *start));
        Ok(Read::Rows(cells, cell_bytes + point_bytes))
    }

    fn sketches<S: CellSketch>(self) -> Result<Merged> {
        let base = self.stretch.tier;
        let rows_max = self.rows_max(Tier::Minute, self.sources.rows());
        let limits = (Some(base), rows_max);
        let rollups: SketchRollups<'_, S> =
            RollupWriter::new(self.origin, self.tiers, self.stretch.window, limits);
        self.roll_up(rollups, |merge, piece, bytes_max| {
            let mut read = merge.sources.sketches::<S>(piece, bytes_max)?;
            if let Read::Rows(cells, _) = &mut read {
                cells.sort_by_key(|(series, start, _)| (*series, *start));
            }
            Ok(read)
        })
    }
}

/// Appends the cells of the points of a series.
fn cells_of_points(
    series: SeriesId,
    times: &[i64],
    values: &[f64],
    width: Interval,
    cells: &mut CellRows<NumberCell>,
) {
    let mut end = i64::MIN;
    for (time, value) in times.iter().zip(values) {
        if *time >= end {
            let start = TimestampMs(*time).floor_to(width).0;
            end = start + width.ms();
            cells.push((series.0, start, NumberCell::EMPTY));
        }
        if let Some((.., cell)) = cells.last_mut() {
            cell.add(series.0, *time, *value);
        }
    }
}
