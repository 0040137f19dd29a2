//! Rollups: aggregates rows into the cells of every tier, with one writer per tier.
//!
//! Rows arrive series by series, in time order, in any number of portions. A cell stays open until
//! a row belongs to the next one; then it is written, and added to the open cell of the next
//! coarser tier. Memory thus contains one open cell per tier, and a limited number of closed cells
//! on their way to the writer.

use super::super::block::{BlockBuilder, CellBlockBuilder, CellSketch, SketchBlockBuilder, Tier};
use super::super::cell::NumberCell;
use super::super::writer::{BlockOrigin, BlockWriter, NewBlock};
use crate::codec::CodecResult;
use crate::model::{Interval, SeriesId, TimeRange, TimestampMs};

/// The size of closed cells, in bytes, at which they are passed to the block writer.
const PORTION_BYTES: usize = 256 << 10;

/// The operations on cells that rollups need.
pub(crate) trait Cell: Clone {
    /// Merges another cell into this one.
    fn add(&mut self, other: &Self);

    /// Returns the approximate size in memory, in bytes.
    fn bytes(&self) -> usize;
}

impl Cell for NumberCell {
    fn add(&mut self, other: &Self) {
        self.merge(other);
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl<S: CellSketch> Cell for S {
    fn add(&mut self, other: &Self) {
        self.merge(other);
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + CellSketch::bytes(self)
    }
}

/// Writes the rollups of one compacted block set.
pub(crate) struct RollupWriter<'s, B: BlockBuilder> {
    /// In order of increasing width.
    tiers: Vec<TierWriter<'s, B>>,
    series: Option<SeriesId>,
    /// The tier that is written regardless of its number of rows.
    base: Option<Tier>,
    /// The most rows of any other tier. A tier with more rows is discarded at the end of a series.
    rows_max: u64,
}

struct TierWriter<'s, B: BlockBuilder> {
    tier: Tier,
    width: Interval,
    writer: BlockWriter<'s, B>,
    rows: u64,
    open: Option<(i64, B::Row)>,
    /// The starts of closed cells that were not passed to the writer yet.
    starts: Vec<i64>,
    cells: Vec<B::Row>,
    waiting_bytes: usize,
}

impl<'s, B: BlockBuilder<Row: Cell>> RollupWriter<'s, B> {
    /// Creates a writer for those of `tiers` that have cells.
    pub(crate) fn new(
        origin: BlockOrigin<'s>,
        tiers: &[Tier],
        window: TimeRange,
        (base, rows_max): (Option<Tier>, u64),
    ) -> Self {
        let new = |tier: &Tier| {
            // How many rows the tier will have is not known: its blocks are as long as can be.
            let writer = BlockWriter::new(origin, *tier, window).dividing(u64::MAX);
            Some(TierWriter {
                tier: *tier,
                width: tier.width()?,
                writer,
                rows: 0,
                open: None,
                starts: Vec::new(),
                cells: Vec::new(),
                waiting_bytes: 0,
            })
        };
        Self { tiers: tiers.iter().filter_map(new).collect(), series: None, base, rows_max }
    }

    /// Adds a cell of the finest width or narrower, in order of series and start.
    pub(crate) fn push(&mut self, series: SeriesId, start: i64, cell: B::Row) -> CodecResult<()> {
        self.start_series(series)?;
        self.add_to_tier(0, series, start, cell)
    }

    fn start_series(&mut self, series: SeriesId) -> CodecResult<()> {
        if self.series != Some(series) {
            self.end_series()?;
            self.series = Some(series);
        }
        Ok(())
    }

    fn add_to_tier(
        &mut self,
        at: usize,
        series: SeriesId,
        time: i64,
        cell: B::Row,
    ) -> CodecResult<()> {
        let Some(tier) = self.tiers.get_mut(at) else { return Ok(()) };
        let start = TimestampMs(time).floor_to(tier.width).0;
        match &mut tier.open {
            Some((open, into)) if *open == start => into.add(&cell),
            open => {
                if let Some(closed) = open.replace((start, cell)) {
                    self.close(at, series, closed)?;
                }
            }
        }
        Ok(())
    }

    fn close(
        &mut self,
        at: usize,
        series: SeriesId,
        (start, cell): (i64, B::Row),
    ) -> CodecResult<()> {
        if at + 1 < self.tiers.len() {
            self.add_to_tier(at + 1, series, start, cell.clone())?;
        }
        let Some(tier) = self.tiers.get_mut(at) else { return Ok(()) };
        tier.rows += 1;
        tier.waiting_bytes += cell.bytes();
        tier.starts.push(start);
        tier.cells.push(cell);
        if tier.waiting_bytes >= PORTION_BYTES { tier.flush(series) } else { Ok(()) }
    }

    fn end_series(&mut self) -> CodecResult<()> {
        let Some(series) = self.series.take() else { return Ok(()) };
        for at in 0..self.tiers.len() {
            if let Some(closed) = self.tiers.get_mut(at).and_then(|tier| tier.open.take()) {
                self.close(at, series, closed)?;
            }
        }
        self.tiers.iter_mut().try_for_each(|tier| tier.flush(series))?;
        let (base, rows_max) = (self.base, self.rows_max);
        self.tiers.retain(|tier| Some(tier.tier) == base || tier.rows <= rows_max);
        Ok(())
    }

    /// Returns the completed blocks.
    pub(crate) fn take_blocks(&mut self) -> Vec<NewBlock> {
        self.tiers.iter_mut().flat_map(|tier| tier.writer.take_blocks()).collect()
    }

    /// Completes the last blocks. Returns the tiers that were not discarded, finest first, with
    /// their numbers of rows.
    pub(crate) fn finish(&mut self) -> CodecResult<Vec<(Tier, u64)>> {
        self.end_series()?;
        self.tiers.iter_mut().try_for_each(|tier| tier.writer.close())?;
        Ok(self.tiers.iter().map(|tier| (tier.tier, tier.rows)).collect())
    }

    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of = |tier: &TierWriter<'_, B>| {
            let open = tier.open.as_ref().map_or(0, |(_, cell)| cell.bytes());
            tier.writer.bytes() + tier.waiting_bytes + open
        };
        let encoding = self.tiers.iter().map(|tier| tier.writer.encoding_bytes()).max();
        self.tiers.iter().map(of).sum::<usize>() + encoding.unwrap_or(0)
    }
}

impl<B: BlockBuilder> TierWriter<'_, B> {
    fn flush(&mut self, series: SeriesId) -> CodecResult<()> {
        self.writer.push(series, &self.starts, &self.cells)?;
        self.starts.clear();
        self.cells.clear();
        self.waiting_bytes = 0;
        Ok(())
    }
}

impl RollupWriter<'_, CellBlockBuilder> {
    /// Adds samples, in order of series and time.
    pub(crate) fn push_points(
        &mut self,
        series: SeriesId,
        times: &[i64],
        values: &[f64],
    ) -> CodecResult<()> {
        self.start_series(series)?;
        let Some(width) = self.tiers.first().map(|tier| tier.width) else { return Ok(()) };
        let mut rows = times.iter().zip(values).peekable();
        while let Some((time, _)) = rows.peek() {
            let start = TimestampMs(**time).floor_to(width).0;
            let end = start.saturating_add(width.ms());
            let open = self.tiers.first_mut().and_then(|tier| tier.open.take());
            let mut cell = match open {
                Some((open, cell)) if open == start => cell,
                Some(closed) => {
                    self.close(0, series, closed)?;
                    NumberCell::EMPTY
                }
                None => NumberCell::EMPTY,
            };
            while let Some((time, value)) = rows.next_if(|(time, _)| **time < end) {
                cell.add(series.0, *time, *value);
            }
            if let Some(tier) = self.tiers.first_mut() {
                tier.open = Some((start, cell));
            }
        }
        Ok(())
    }
}

/// Writes the rollups of sketches.
pub(crate) type SketchRollups<'s, S> = RollupWriter<'s, SketchBlockBuilder<S>>;
