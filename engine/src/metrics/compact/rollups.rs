//! Rollups: from rows to the cells of every tier, one writer a tier.
//!
//! Rows come series by series, in the order of time, in any number of portions. A cell is open until a row belongs to another
//! one; then it is written and added to the open cell of the next tier. So what is in memory is a cell a tier, and a few that
//! wait for company.

use super::super::block::{BlockBuilder, CellBlockBuilder, CellSketch, SketchBlockBuilder, Tier};
use super::super::cell::NumberCell;
use super::super::writer::{BlockOrigin, BlockWriter, NewBlock};
use crate::codec::CodecResult;
use crate::model::{Interval, SeriesId, TimeRange, TimestampMs};

/// Bytes of the cells that wait until they go to a writer together.
const PORTION_BYTES: usize = 256 << 10;

/// What a cell of rollups can do.
pub(crate) trait Cell: Clone {
    /// Adds what another cell stands for.
    fn add(&mut self, other: &Self);

    /// Bytes in memory, about.
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

/// The rollups of one unit.
pub(crate) struct RollupWriter<'s, B: BlockBuilder> {
    /// Finest first.
    tiers: Vec<TierWriter<'s, B>>,
    series: Option<SeriesId>,
    /// The tier that is kept however many rows it has.
    base: Option<Tier>,
    /// Another tier with more rows is given up at the end of a series.
    rows_max: u64,
}

struct TierWriter<'s, B: BlockBuilder> {
    tier: Tier,
    width: Interval,
    writer: BlockWriter<'s, B>,
    rows: u64,
    open: Option<(i64, B::Row)>,
    /// Cells that are not with the writer yet.
    starts: Vec<i64>,
    cells: Vec<B::Row>,
    waiting_bytes: usize,
}

impl<'s, B: BlockBuilder<Row: Cell>> RollupWriter<'s, B> {
    /// Writes those of `tiers` that have cells.
    pub(crate) fn new(
        origin: BlockOrigin<'s>,
        tiers: &[Tier],
        window: TimeRange,
        (base, rows_max): (Option<Tier>, u64),
    ) -> Self {
        let new = |tier: &Tier| {
            let writer = BlockWriter::new(origin, *tier, window);
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

    /// Adds a cell of the finest width, or of a finer one: behind those before it.
    pub(crate) fn push(&mut self, series: SeriesId, start: i64, cell: B::Row) -> CodecResult<()> {
        self.turn_to(series)?;
        self.feed(0, series, start, cell)
    }

    fn turn_to(&mut self, series: SeriesId) -> CodecResult<()> {
        if self.series != Some(series) {
            self.end_series()?;
            self.series = Some(series);
        }
        Ok(())
    }

    fn feed(&mut self, at: usize, series: SeriesId, time: i64, cell: B::Row) -> CodecResult<()> {
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
            self.feed(at + 1, series, start, cell.clone())?;
        }
        let Some(tier) = self.tiers.get_mut(at) else { return Ok(()) };
        tier.rows += 1;
        tier.waiting_bytes += cell.bytes();
        tier.starts.push(start);
        tier.cells.push(cell);
        if tier.waiting_bytes >= PORTION_BYTES { tier.pass_on(series) } else { Ok(()) }
    }

    fn end_series(&mut self) -> CodecResult<()> {
        let Some(series) = self.series.take() else { return Ok(()) };
        for at in 0..self.tiers.len() {
            if let Some(closed) = self.tiers.get_mut(at).and_then(|tier| tier.open.take()) {
                self.close(at, series, closed)?;
            }
        }
        self.tiers.iter_mut().try_for_each(|tier| tier.pass_on(series))?;
        let (base, rows_max) = (self.base, self.rows_max);
        self.tiers.retain(|tier| Some(tier.tier) == base || tier.rows <= rows_max);
        Ok(())
    }

    /// The blocks that are complete.
    pub(crate) fn take_blocks(&mut self) -> Vec<NewBlock> {
        self.tiers.iter_mut().flat_map(|tier| tier.writer.take_blocks()).collect()
    }

    /// Completes the last blocks. Answers which tiers were not given up, finest first, with their rows.
    pub(crate) fn finish(&mut self) -> CodecResult<Vec<(Tier, u64)>> {
        self.end_series()?;
        self.tiers.iter_mut().try_for_each(|tier| tier.writer.close())?;
        Ok(self.tiers.iter().map(|tier| (tier.tier, tier.rows)).collect())
    }

    /// Bytes in memory, about.
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
    fn pass_on(&mut self, series: SeriesId) -> CodecResult<()> {
        self.writer.push(series, &self.starts, &self.cells)?;
        self.starts.clear();
        self.cells.clear();
        self.waiting_bytes = 0;
        Ok(())
    }
}

impl RollupWriter<'_, CellBlockBuilder> {
    /// Adds points, behind those before them.
    pub(crate) fn push_points(
        &mut self,
        series: SeriesId,
        times: &[i64],
        values: &[f64],
    ) -> CodecResult<()> {
        self.turn_to(series)?;
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

/// The rollups of sketches.
pub(crate) type SketchRollups<'s, S> = RollupWriter<'s, SketchBlockBuilder<S>>;
