//! The rows of a piece of a merge, read from the blocks that have some.
//!
//! Blocks are opened one after the other and closed when the rows of the piece were taken from them: however many there
//! are, one is open. What is read twice, at the ends of pieces, is little beside what is written.

use std::cell::Cell;

use super::super::block::{
    BlockInfo, CellBlock, CellColumn, CellSketch, PointBlock, SketchRows, Tier,
};
use super::super::cell::NumberCell;
use super::super::times::TimePages;
use super::merge_pieces::Piece;
use super::merge_scan::{PointRows, Source};
use crate::codec::integers::PAGE_ROWS;
use crate::error::Result;
use crate::model::TimeRange;
use crate::storage::Pinned;

/// The blocks that become one unit.
pub(crate) struct Sources<'m> {
    /// In the order of writing.
    infos: Vec<BlockInfo>,
    /// Loose blocks may reach beyond it.
    window: TimeRange,
    /// Reads a block and checks that it is the one described.
    read: &'m dyn Fn(&BlockInfo) -> Result<Pinned<'m>>,
    pages: &'m TimePages,
    /// The bytes of the largest block that was open, about.
    open_bytes: Cell<usize>,
}

/// Bytes of an open block for each of its series: where its rows and times are.
const BYTES_PER_SERIES: usize = 64;

/// What reading a piece came to.
#[derive(Debug)]
pub(crate) enum Read<R> {
    /// All rows, and the bytes that they take.
    Rows(R, usize),
    /// More than they may take, when those of this series were read.
    TooLarge { reached: u32 },
}

impl<R> Read<R> {
    /// The bytes of the rows.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Rows(_, bytes) => *bytes,
            Self::TooLarge { .. } => 0,
        }
    }
}

/// Cells with series and start, those of one block after those of the other.
pub(crate) type CellRows<C> = Vec<(u32, i64, C)>;

impl<'m> Sources<'m> {
    pub(crate) fn new(
        mut infos: Vec<BlockInfo>,
        window: TimeRange,
        read: &'m dyn Fn(&BlockInfo) -> Result<Pinned<'m>>,
        pages: &'m TimePages,
    ) -> Self {
        infos.sort_by_key(|info| (info.order, info.key));
        Self { infos, window, read, pages, open_bytes: Cell::new(0) }
    }

    /// Bytes of an open block, about: those of the largest so far.
    pub(crate) fn open_bytes(&self) -> usize {
        self.open_bytes.get()
    }

    fn opened(&self, info: &BlockInfo, decoded_bytes: usize) {
        let bytes = info.bytes as usize + info.series as usize * BYTES_PER_SERIES + decoded_bytes;
        self.open_bytes.set(self.open_bytes.get().max(bytes));
    }

    /// The first and the last series, if there are any.
    pub(crate) fn extent(&self) -> Option<(u32, u32)> {
        let first = self.infos.iter().map(|info| info.first_series).min()?;
        Some((first, self.infos.iter().map(|info| info.last_series).max()?))
    }

    /// The rows of all blocks.
    pub(crate) fn rows(&self) -> u64 {
        self.infos.iter().map(|info| u64::from(info.rows)).sum()
    }

    /// The rows of the blocks of a tier.
    pub(crate) fn rows_of(&self, tier: Tier) -> u64 {
        let infos = self.infos.iter().filter(|info| info.key.tier == tier);
        infos.map(|info| u64::from(info.rows)).sum()
    }

    /// The lowest series from this one on that a block may have.
    pub(crate) fn next_series(&self, from: u64) -> u64 {
        let left = self.infos.iter().filter(|info| u64::from(info.last_series) >= from);
        left.map(|info| from.max(u64::from(info.first_series))).min().unwrap_or(from)
    }

    fn of_piece(
        &self,
        piece: Piece,
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

    /// The instants of a piece that are taken from a block.
    fn times(&self, info: &BlockInfo, piece: Piece) -> (i64, i64) {
        let (from, to) = piece.times;
        if info.unit.is_some() && info.key.tier != Tier::Raw {
            return (from, to);
        }
        (from.max(self.window.start.0), to.min(self.window.end.0))
    }

    /// The points of a piece, by block in the order of writing.
    pub(crate) fn points(&self, piece: Piece, bytes_max: usize) -> Result<Read<Vec<Source<'m>>>> {
        let (mut sources, mut bytes) = (Vec::new(), 0);
        for info in self.of_piece(piece, |tier| tier == Tier::Raw) {
            let read = (self.read)(info)?;
            let (_, mut block) = PointBlock::open(info.key, &read, |page_group, page| {
                self.pages.find(page_group, page)
            })?;
            let (from, to) = self.times(info, piece);
            self.opened(info, PAGE_ROWS * size_of::<f64>());
            let mut rows = PointRows::default();
            for index in indices(block.series(), piece) {
                let series = block.series().get(index).copied().unwrap_or_default();
                rows.push(series, |times, values| block.append(index, (from, to), times, values))?;
                if bytes + rows.bytes() > bytes_max {
                    return Ok(Read::TooLarge { reached: series });
                }
            }
            bytes += rows.bytes();
            sources.push(Source::Rows(rows));
        }
        Ok(Read::Rows(sources, bytes))
    }

    /// The cells of numbers of a piece.
    pub(crate) fn cells(
        &self,
        piece: Piece,
        bytes_max: usize,
    ) -> Result<Read<CellRows<NumberCell>>> {
        let mut rows = Vec::new();
        for info in self.of_piece(piece, |tier| tier != Tier::Raw) {
            let read = (self.read)(info)?;
            let (_, mut block) = CellBlock::open(info.key, &read)?;
            self.opened(info, PAGE_ROWS * size_of::<NumberCell>());
            let (from, to) = self.times(info, piece);
            for index in indices(block.series(), piece) {
                let series = block.series().get(index).copied().unwrap_or_default();
                block.read(index, from, to, CellColumn::ALL, |start, cell| {
                    rows.push((series, start, *cell));
                })?;
                if size_of_val(rows.as_slice()) > bytes_max {
                    return Ok(Read::TooLarge { reached: series });
                }
            }
        }
        let bytes = size_of_val(rows.as_slice());
        Ok(Read::Rows(rows, bytes))
    }

    /// The sketches of a piece.
    pub(crate) fn sketches<S: CellSketch>(
        &self,
        piece: Piece,
        bytes_max: usize,
    ) -> Result<Read<CellRows<S>>> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for info in self.of_piece(piece, |_| true) {
            let read = (self.read)(info)?;
            let (_, mut block) = SketchRows::<S>::open(info.key, &read)?;
            self.opened(info, block.bytes());
            let (from, to) = self.times(info, piece);
            for index in indices(block.series(), piece) {
                let series = block.series().get(index).copied().unwrap_or_default();
                block.read(index, (from, to), |start, cell| {
                    bytes += cell.bytes() + size_of::<(u32, i64, S)>();
                    rows.push((series, start, cell));
                    bytes <= bytes_max
                })?;
                if bytes > bytes_max {
                    return Ok(Read::TooLarge { reached: series });
                }
            }
        }
        Ok(Read::Rows(rows, bytes))
    }
}

/// Where the series of a piece are in an ascending list.
fn indices(series: &[u32], piece: Piece) -> std::ops::Range<usize> {
    let at = |wanted: u64| series.partition_point(|series| u64::from(*series) < wanted);
    at(piece.series.0)..at(piece.series.1)
}
