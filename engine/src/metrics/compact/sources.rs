//! The source blocks of a compaction: reads the rows of one piece from the blocks that contain any.
//!
//! Blocks are opened one at a time and closed once the rows of the piece have been copied, so a
//! single block is open regardless of how many there are. What is read twice, at the boundaries of
//! pieces, is little compared with what is written.

use std::cell::Cell;

use super::super::block::{
    BlockInfo, CellBlock, CellColumn, CellSketch, PointBlock, SketchRows, Tier,
};
use super::super::cell::NumberCell;
use super::super::times::TimePages;
use super::merge_scan::{PointRows, Source};
use super::pieces::CompactionPiece;
use crate::codec::integers::PAGE_ROWS;
use crate::codec::paged::PAGES_AT_ONCE;
use crate::error::Result;
use crate::model::TimeRange;
use crate::storage::Pinned;

/// The blocks that are compacted into one block set.
pub(crate) struct CompactionSources<'m> {
    /// In write order.
    infos: Vec<BlockInfo>,
    /// The window of the compacted set. Uncompacted blocks may extend beyond it.
    window: TimeRange,
    /// Reads a block and checks that it matches its description.
    read: &'m dyn Fn(&BlockInfo) -> Result<Pinned<'m>>,
    pages: &'m TimePages,
    /// The approximate bytes of the largest block opened so far.
    open_bytes: Cell<usize>,
}

/// Bytes per series of an open block: the positions of its rows and times.
const BYTES_PER_SERIES: usize = 64;

/// The result of reading a piece.
#[derive(Debug)]
pub(crate) enum PieceRead<R> {
    /// All rows, and the bytes they take in memory.
    Rows(R, usize),
    /// The rows exceeded the byte limit while this series was read.
    TooLarge { reached: u32 },
}

impl<R> PieceRead<R> {
    /// Returns the bytes of the rows, 0 if they were too large.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Rows(_, bytes) => *bytes,
            Self::TooLarge { .. } => 0,
        }
    }
}

/// Cells with their series and start, block by block.
pub(crate) type CellRows<C> = Vec<(u32, i64, C)>;

impl<'m> CompactionSources<'m> {
    pub(crate) fn new(
        mut infos: Vec<BlockInfo>,
        window: TimeRange,
        read: &'m dyn Fn(&BlockInfo) -> Result<Pinned<'m>>,
        pages: &'m TimePages,
    ) -> Self {
        infos.sort_by_key(|info| (info.order, info.key));
        Self { infos, window, read, pages, open_bytes: Cell::new(0) }
    }

    /// Returns the approximate bytes of an open block: those of the largest so far.
    pub(crate) fn open_bytes(&self) -> usize {
        self.open_bytes.get()
    }

    fn note_open(&self, info: &BlockInfo, decoded_bytes: usize) {
        let bytes = info.bytes as usize + info.series as usize * BYTES_PER_SERIES + decoded_bytes;
        self.open_bytes.set(self.open_bytes.get().max(bytes));
    }

    /// Returns the first and the last series, `None` when there are no blocks.
    pub(crate) fn extent(&self) -> Option<(u32, u32)> {
        let first = self.infos.iter().map(|info| info.first_series).min()?;
        Some((first, self.infos.iter().map(|info| info.last_series).max()?))
    }

    /// Returns the number of rows of all blocks.
    pub(crate) fn rows(&self) -> u64 {
        self.infos.iter().map(|info| u64::from(info.rows)).sum()
    }

    /// Returns the number of rows of the blocks of a tier.
    pub(crate) fn rows_of(&self, tier: Tier) -> u64 {
        let infos = self.infos.iter().filter(|info| info.key.tier == tier);
        infos.map(|info| u64::from(info.rows)).sum()
    }

    /// Returns the lowest series id, at least `from`, that a block may contain.
    pub(crate) fn next_series(&self, from: u64) -> u64 {
        let left = self.infos.iter().filter(|info| u64::from(info.last_series) >= from);
        left.map(|info| from.max(u64::from(info.first_series))).min().unwrap_or(from)
    }

    fn of_piece(
        &self,
        piece: CompactionPiece,
        tier: impl Fn(Tier) -> bool,
    ) -> impl Iterator<Item = &BlockInfo> {
        self.infos.iter().filter(move |info| {
            tier(info.key.tier)
                && u64::from(info.last_series) >= piece.series.0
                && u64::from(info.first_series) < piece.series.1
                && info.last_time.0 >= piece.times.0
                && info.first_time.0 < piece.times.1
        })
    }

    /// Returns the time range of a piece that is read from a block.
    fn times(&self, info: &BlockInfo, piece: CompactionPiece) -> (i64, i64) {
        let (from, to) = piece.times;
        if info.unit.is_some() && info.key.tier != Tier::Raw {
            return (from, to);
        }
        (from.max(self.window.start.0), to.min(self.window.end.0))
    }

    /// Reads the points of a piece, block by block in write order.
    pub(crate) fn points(
        &self,
        piece: CompactionPiece,
        bytes_max: usize,
    ) -> Result<PieceRead<Vec<Source<'m>>>> {
        let (mut sources, mut bytes) = (Vec::new(), 0);
        for info in self.of_piece(piece, |tier| tier == Tier::Raw) {
            let read = (self.read)(info)?;
            let (_, mut block) = PointBlock::open(info.key, &read, |page_group, page| {
                self.pages.find(page_group, page)
            })?;
            block.expect_all();
            let (from, to) = self.times(info, piece);
            self.note_open(info, PAGES_AT_ONCE * PAGE_ROWS * size_of::<(i64, f64)>());
            let points_max = bytes_max.saturating_sub(bytes) / size_of::<(i64, f64)>();
            let mut rows = PointRows::with_capacity(points_max.min(info.rows as usize));
            for index in indices(block.series(), piece) {
                let series = block.series()[index];
                rows.push(series, |times, values| block.append(index, (from, to), times, values))?;
                if bytes + rows.bytes() > bytes_max {
                    return Ok(PieceRead::TooLarge { reached: series });
                }
            }
            bytes += rows.bytes();
            sources.push(Source::Rows(rows));
        }
        Ok(PieceRead::Rows(sources, bytes))
    }

    /// Reads the number cells of a piece.
    pub(crate) fn cells(
        &self,
        piece: CompactionPiece,
        bytes_max: usize,
    ) -> Result<PieceRead<CellRows<NumberCell>>> {
        let mut rows = Vec::new();
        for info in self.of_piece(piece, |tier| tier != Tier::Raw) {
            let read = (self.read)(info)?;
            let (_, mut block) = CellBlock::open(info.key, &read)?;
            self.note_open(info, PAGE_ROWS * size_of::<NumberCell>());
            let (from, to) = self.times(info, piece);
            for index in indices(block.series(), piece) {
                let series = block.series()[index];
                block.read(index, from, to, CellColumn::ALL, |start, cell| {
                    rows.push((series, start, *cell));
                })?;
                if size_of_val(rows.as_slice()) > bytes_max {
                    return Ok(PieceRead::TooLarge { reached: series });
                }
            }
        }
        let bytes = size_of_val(rows.as_slice());
        Ok(PieceRead::Rows(rows, bytes))
    }

    /// Reads the sketches of a piece.
    pub(crate) fn sketches<S: CellSketch>(
        &self,
        piece: CompactionPiece,
        bytes_max: usize,
    ) -> Result<PieceRead<CellRows<S>>> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for info in self.of_piece(piece, |_| true) {
            let read = (self.read)(info)?;
            let (_, mut block) = SketchRows::<S>::open(info.key, &read)?;
            self.note_open(info, block.bytes());
            let (from, to) = self.times(info, piece);
            for index in indices(block.series(), piece) {
                let series = block.series()[index];
                block.read(index, (from, to), |start, cell| {
                    bytes += cell.bytes() + size_of::<(u32, i64, S)>();
                    rows.push((series, start, cell));
                    bytes <= bytes_max
                })?;
                if bytes > bytes_max {
                    return Ok(PieceRead::TooLarge { reached: series });
                }
            }
        }
        Ok(PieceRead::Rows(rows, bytes))
    }
}

/// Returns the index range of the series of a piece in an ascending list.
fn indices(series: &[u32], piece: CompactionPiece) -> std::ops::Range<usize> {
    let at = |wanted: u64| series.partition_point(|series| u64::from(*series) < wanted);
    at(piece.series.0)..at(piece.series.1)
}
