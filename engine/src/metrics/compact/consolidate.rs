//! Compaction of one window: many blocks become one compacted block set, in which every row occurs
//! once, in full-size blocks, together with the rollups.
//!
//! The finest tier of a compacted block set is its *base*: the finest tier that all sources have,
//! i.e. the samples themselves unless they have expired. Finer sources, such as samples that arrive
//! for a day whose samples have expired, are aggregated into cells of the base. All coarser tiers
//! are computed from the base, so every tier covers all samples of the set and each can expire
//! independently.
//!
//! A rollup tier is kept only if it has at most a quarter of the rows of the next finer tier that
//! is kept: otherwise it costs more disk than it saves work. Next to the samples themselves it must
//! shrink more, because samples are read quickly and a cell takes as much disk as six of them. The
//! one-minute cells of distributions and sets take the role of samples. See [`Rollups`].

use super::super::block::{
    BlockBuilder, BlockInfo, CellBlockBuilder, CellSketch, PointBlockBuilder, Tier,
};
use super::super::cell::NumberCell;
use super::super::resolution::Stretch;
use super::super::writer::{BlockOrigin, BlockWriter, NewBlock};
use super::merge_scan::merge_scan;
use super::output::CompactionOutput;
use super::pieces::{CompactionPiece, CompactionPieces};
use super::rollups::{Cell, RollupWriter, SketchRollups};
use super::sources::{CellRows, CompactionSources, PieceRead};
use crate::error::Result;
use crate::model::{Interval, MetricType, SeriesId, TimeRange, TimestampMs};
use crate::sketch::{Cardinality, Distribution};

/// A tier may have at most one row per this many rows of the next finer tier.
const ROWS_PER_CELL_MIN: usize = 4;
const ALL: (i64, i64) = (i64::MIN, i64::MAX);

/// Which rollup tiers are worth the disk space they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rollups {
    /// The points are kept: tiers whose cells aggregate at least this many points on average.
    BesidePoints { points_per_cell: u64 },
    /// The points are about to expire: all tiers that shrink.
    InsteadOfPoints,
}

impl Rollups {
    /// Returns the maximum number of rows of a tier computed from this many points.
    pub(crate) fn rows_max(self, points: u64) -> u64 {
        match self {
            Self::BesidePoints { points_per_cell } => points / points_per_cell.max(1),
            Self::InsteadOfPoints => points / ROWS_PER_CELL_MIN as u64,
        }
    }
}

/// Reports whether each cell of a tier falls into a single window. A tier with wider cells is not
/// written.
pub(crate) fn fits_window(tier: Tier, window: TimeRange) -> bool {
    tier.width().is_none_or(|width| width.ms() <= window.len_ms())
}

/// Compacts blocks of one metric into the compacted block set of `stretch`. `sources` are the base
/// blocks of every compacted set of the stretch and the uncompacted blocks, of which only rows
/// inside the window of the stretch are read. `wanted` are the tiers that have not expired there.
/// Rows are read in pieces of at most `bytes_max` bytes.
pub(crate) fn consolidate(
    stretch: Stretch,
    sources: &CompactionSources<'_>,
    (wanted, rollups): (&[Tier], Rollups),
    origin: BlockOrigin<'_>,
    (output, bytes_max): (&mut CompactionOutput<'_>, usize),
) -> Result<Compacted> {
    let kept = |tier: &Tier| {
        *tier == stretch.tier
            || (*tier > stretch.tier && wanted.contains(tier) && fits_window(*tier, stretch.window))
    };
    let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(kept).collect();
    let Some(extent) = sources.extent() else { return Ok(Compacted::default()) };
    let width = stretch.tier.width().unwrap_or(Interval::MILLISECOND);
    let pieces = CompactionPieces::new(extent, sources.rows(), (stretch.window, width), bytes_max);
    let compacted = Compacted::default();
    let tiers = &tiers;
    let compaction =
        Compaction { stretch, tiers, rollups, sources, pieces, origin, output, compacted };
    match (origin.kind, stretch.tier) {
        (MetricType::Gauge | MetricType::Counter, Tier::Raw) => compaction.samples(),
        (MetricType::Gauge | MetricType::Counter, _) => compaction.cells(),
        (MetricType::Distribution, _) => compaction.sketches::<Distribution>(),
        (MetricType::Set, _) => compaction.sketches::<Cardinality>(),
    }
}

/// The result of compacting a window.
#[derive(Debug, Default)]
pub(crate) struct Compacted {
    /// The blocks of the compacted set. Their bytes are in the [`CompactionOutput`].
    pub(crate) blocks: Vec<BlockInfo>,
    /// The number of gauge points left out because later ones replaced them.
    pub(crate) replaced: u64,
}

/// A compaction in progress.
struct Compaction<'m, 's, 'o, 'w> {
    stretch: Stretch,
    /// The base and the coarser tiers that have not expired, finest first.
    tiers: &'m [Tier],
    rollups: Rollups,
    sources: &'m CompactionSources<'s>,
    pieces: CompactionPieces,
    origin: BlockOrigin<'w>,
    output: &'m mut CompactionOutput<'o>,
    /// All blocks so far, including those of tiers that may turn out not to be worth keeping.
    compacted: Compacted,
}

impl Compaction<'_, '_, '_, '_> {
    /// Returns the maximum number of rows of a tier other than the base. When the base consists of
    /// cells there is no such limit: tiers that hardly shrink are removed at the end.
    fn rows_max(&self, finest: Tier, rows: u64) -> u64 {
        if self.stretch.tier == finest { self.rollups.rows_max(rows) } else { u64::MAX }
    }

    /// Advances to the next piece and returns the rows, if `read` contains all rows of the piece;
    /// otherwise shrinks the piece and returns `None`.
    fn accept<R>(&mut self, read: PieceRead<R>) -> Option<R> {
        match read {
            PieceRead::Rows(rows, bytes) => {
                self.pieces.advance(bytes);
                if let Some(piece) = self.pieces.next() {
                    self.pieces.skip_to(self.sources.next_series(piece.series.0));
                }
                Some(rows)
            }
            PieceRead::TooLarge { reached } => {
                self.pieces.shrink(reached);
                None
            }
        }
    }

    /// Passes complete blocks to the output. `piece_bytes` is the size of the rows of a piece, part
    /// of which exists twice while they are sorted; `writer_bytes` is the size of the unfinished
    /// blocks.
    fn take(
        &mut self,
        blocks: Vec<NewBlock>,
        piece_bytes: usize,
        writer_bytes: usize,
    ) -> Result<()> {
        self.compacted.blocks.extend(blocks.iter().map(|block| block.info));
        let working_bytes =
            piece_bytes + piece_bytes / 2 + writer_bytes + self.sources.open_bytes();
        self.output.take(blocks, self.origin.times, working_bytes)
    }

    /// Returns the compacted set without the tiers that are not worth keeping, given the number of
    /// rows of each tier, finest first. The first tier is the base and is always kept.
    fn finish(mut self, tiers: Vec<(Tier, u64)>) -> Compacted {
        let mut finer: Option<u64> = None;
        let mut kept = Vec::new();
        for (tier, rows) in tiers {
            if finer.is_none_or(|finer| rows * ROWS_PER_CELL_MIN as u64 <= finer) {
                finer = Some(rows);
                kept.push(tier);
            }
        }
        self.compacted.blocks.retain(|info| kept.contains(&info.key.tier));
        self.compacted
    }

    /// Compacts gauges or counters whose samples have not expired.
    fn samples(mut self) -> Result<Compacted> {
        let Stretch { window, .. } = self.stretch;
        let points = self.sources.rows_of(Tier::Raw);
        let mut samples: BlockWriter<'_, PointBlockBuilder> =
            BlockWriter::new(self.origin, Tier::Raw, window).dividing(points);
        let rows_max = self.rows_max(Tier::Raw, points);
        let mut rollups = RollupWriter::new(self.origin, self.tiers, window, (None, rows_max));
        let mut rows = 0;
        while let Some(piece) = self.pieces.next() {
            let read = self.sources.points(piece, self.pieces.bytes_max())?;
            let read_bytes = read.bytes();
            let Some(mut sources) = self.accept(read) else { continue };
            let scan =
                merge_scan(&mut sources, self.origin.kind, None, ALL, |series, times, values| {
                    rows += times.len() as u64;
                    samples.push(series, times, values)?;
                    rollups.push_points(series, times, values)
                });
            self.compacted.replaced += scan?;
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

    /// Compacts gauges or counters whose samples have expired. Samples that still arrive are added
    /// to the cells; they replace no earlier sample, because a cell does not contain individual
    /// samples.
    fn cells(self) -> Result<Compacted> {
        let limits = (None, u64::MAX);
        let rollups: RollupWriter<'_, CellBlockBuilder> =
            RollupWriter::new(self.origin, self.tiers, self.stretch.window, limits);
        self.roll_up(rollups, Self::cells_of_piece)
    }

    /// Rolls up the cells of all pieces, which `read` returns sorted by series and start.
    fn roll_up<B: BlockBuilder<Row: Cell>>(
        mut self,
        mut rollups: RollupWriter<'_, B>,
        read: impl Fn(&mut Self, CompactionPiece, usize) -> Result<PieceRead<CellRows<B::Row>>>,
    ) -> Result<Compacted> {
        while let Some(piece) = self.pieces.next() {
            let bytes_max = self.pieces.bytes_max();
            let read = read(&mut self, piece, bytes_max)?;
            let read_bytes = read.bytes();
            let Some(cells) = self.accept(read) else { continue };
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

    /// Reads the cells of a piece and adds the samples that arrived since, sorted by series and
    /// start.
    fn cells_of_piece(
        &mut self,
        piece: CompactionPiece,
        bytes_max: usize,
    ) -> Result<PieceRead<CellRows<NumberCell>>> {
        let (mut cells, cell_bytes) = match self.sources.cells(piece, bytes_max)? {
            PieceRead::Rows(cells, bytes) => (cells, bytes),
            too_large @ PieceRead::TooLarge { .. } => return Ok(too_large),
        };
        let (mut points, point_bytes) =
            match self.sources.points(piece, bytes_max.saturating_sub(cell_bytes))? {
                PieceRead::Rows(points, bytes) => (points, bytes),
                PieceRead::TooLarge { reached } => return Ok(PieceRead::TooLarge { reached }),
            };
        let width = self.stretch.tier.width().unwrap_or(Interval::MINUTE);
        for (_, start, _) in &mut cells {
            *start = TimestampMs(*start).floor_to(width).0;
        }
        let scan = merge_scan(&mut points, self.origin.kind, None, ALL, |series, times, values| {
            cells_of_points(series, times, values, width, &mut cells);
            Ok(())
        });
        self.compacted.replaced += scan?;
        // A stable sort: of two last values at the same time, the one written later is kept.
        cells.sort_by_key(|(series, start, _)| (*series, *start));
        Ok(PieceRead::Rows(cells, cell_bytes + point_bytes))
    }

    fn sketches<S: CellSketch>(self) -> Result<Compacted> {
        let base = self.stretch.tier;
        let rows_max = self.rows_max(Tier::Minute, self.sources.rows());
        let limits = (Some(base), rows_max);
        let rollups: SketchRollups<'_, S> =
            RollupWriter::new(self.origin, self.tiers, self.stretch.window, limits);
        self.roll_up(rollups, |compaction, piece, bytes_max| {
            let mut read = compaction.sources.sketches::<S>(piece, bytes_max)?;
            if let PieceRead::Rows(cells, _) = &mut read {
                cells.sort_by_key(|(series, start, _)| (*series, *start));
            }
            Ok(read)
        })
    }
}

/// Aggregates the points of a series into cells and appends these.
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
