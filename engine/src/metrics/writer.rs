//! Cuts rows of one metric into blocks of a window and gives the blocks their names.

use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{BlockBuilder, BlockInfo, BlockKey, Tier, UnitId, WriteOrder};
use super::times::TimesWriter;
use crate::codec::CodecResult;
use crate::codec::integers::Effort;
use crate::model::{Interval, MetricId, MetricType, SeriesId, TimeRange, TimestampMs};

/// A block that is not on disk yet.
#[derive(Debug)]
pub(crate) struct NewBlock {
    pub(crate) info: BlockInfo,
    pub(crate) bytes: Vec<u8>,
}

/// What all blocks that one writer makes have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockOrigin<'s> {
    pub(crate) metric: MetricId,
    pub(crate) kind: MetricType,
    pub(crate) unit: Option<UnitId>,
    pub(crate) order: WriteOrder,
    pub(crate) effort: Effort,
    /// Hands out the last part of block names.
    pub(crate) sequence: &'s AtomicU64,
    /// Takes the times that the blocks of several metrics have.
    pub(crate) times: &'s TimesWriter<'s>,
}

/// Writes the blocks of one tier and window. Series come in ascending order.
#[derive(Debug)]
pub(crate) struct BlockWriter<'s, B> {
    origin: BlockOrigin<'s>,
    tier: Tier,
    window: TimeRange,
    builder: B,
    blocks: Vec<NewBlock>,
}

impl<'s, B: BlockBuilder> BlockWriter<'s, B> {
    pub(crate) fn new(origin: BlockOrigin<'s>, tier: Tier, window: TimeRange) -> Self {
        Self { origin, tier, window, builder: B::default(), blocks: Vec::new() }
    }

    /// Adds rows of a series, whose times lie in the window and ascend. A series that does not fit goes on in the next block.
    pub(crate) fn push(
        &mut self,
        series: SeriesId,
        times: &[i64],
        rows: &[B::Row],
    ) -> CodecResult<()> {
        let (mut times, mut rows) = (times, rows);
        while !rows.is_empty() {
            if self.builder.is_full() {
                self.close()?;
            }
            let piece = self.builder.fits(rows);
            let (now, later) = rows.split_at(piece.clamp(1, rows.len()));
            let (times_now, times_later) = times.split_at(now.len());
            self.builder.push(series, times_now, now);
            (times, rows) = (times_later, later);
            if !rows.is_empty() {
                // A block holds a series once.
                self.close()?;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> CodecResult<()> {
        let builder = std::mem::take(&mut self.builder);
        let rows = builder.rows();
        let (Some(first_series), Some(last_series), Some((first, last))) =
            (rows.series().first(), rows.series().last(), rows.time_bounds())
        else {
            return Ok(());
        };
        let BlockOrigin { metric, kind, unit, order, effort, sequence, times } = self.origin;
        let day = self.window.start.floor_to(Interval::DAY).0 / Interval::DAY.ms();
        let mut info = BlockInfo {
            key: BlockKey {
                tier: self.tier,
                day: u32::try_from(day).unwrap_or_default(),
                metric,
                sequence: sequence.fetch_add(1, Ordering::Relaxed),
            },
            kind,
            unit,
            order,
            window: self.window,
            first_series: *first_series,
            last_series: *last_series,
            series: rows.series().len() as u32,
            rows: rows.rows() as u32,
            first_time: TimestampMs(first),
            last_time: TimestampMs(last),
            bytes: 0,
        };
        let bytes = builder.finish(&info, times, effort)?;
        info.bytes = bytes.len() as u32;
        self.blocks.push(NewBlock { info, bytes });
        Ok(())
    }

    /// The blocks, the last one closed.
    pub(crate) fn finish(mut self) -> CodecResult<Vec<NewBlock>> {
        self.close()?;
        Ok(self.blocks)
    }
}
