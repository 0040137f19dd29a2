//! Cuts rows of one metric into blocks of a window and assigns their keys. A new block is decoded
//! and compared with its rows before it is returned.

use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{BlockBuilder, BlockInfo, BlockKey, CompactedSetId, Coverage, Tier, WriteOrder};
use super::times::TimePageWriter;
use crate::codec::integers::Effort;
use crate::codec::verified::encode_verified;
use crate::codec::{CodecError, CodecResult};
use crate::model::{Interval, MetricId, MetricType, SeriesId, TimeRange, TimestampMs};

/// A block that is not on disk yet.
#[derive(Debug)]
pub(crate) struct NewBlock {
    pub(crate) info: BlockInfo,
    pub(crate) bytes: Vec<u8>,
}

/// The properties that all blocks of one writer share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockOrigin<'s> {
    pub(crate) metric: MetricId,
    pub(crate) kind: MetricType,
    pub(crate) unit: Option<CompactedSetId>,
    pub(crate) order: WriteOrder,
    pub(crate) effort: Effort,
    /// The source of the sequence numbers in block keys.
    pub(crate) sequence: &'s AtomicU64,
    /// The writer for the time pages that blocks of several metrics share.
    pub(crate) times: &'s TimePageWriter<'s>,
}

/// Writes the blocks of one tier and window. Series come in ascending order, each in any number of
/// portions, which do not affect where blocks are cut.
#[derive(Debug)]
pub(crate) struct BlockWriter<'s, B> {
    origin: BlockOrigin<'s>,
    tier: Tier,
    window: TimeRange,
    builder: B,
    blocks: Vec<NewBlock>,
    /// The most bytes that encoding a block has taken.
    encoding_bytes: usize,
}

impl<'s, B: BlockBuilder> BlockWriter<'s, B> {
    pub(crate) fn new(origin: BlockOrigin<'s>, tier: Tier, window: TimeRange) -> Self {
        Self { origin, tier, window, builder: B::default(), blocks: Vec::new(), encoding_bytes: 0 }
    }

    /// Adds rows of a series; times ascend and are within the window. Rows that do not fit continue
    /// in the next block.
    pub(crate) fn push(
        &mut self,
        series: SeriesId,
        times: &[i64],
        rows: &[B::Row],
    ) -> CodecResult<()> {
        let (mut times, mut rows) = (times, rows);
        while !rows.is_empty() {
            let mut accepted = self.builder.fits(series, rows);
            if accepted == 0 {
                self.close()?;
                // An empty block accepts at least one row.
                accepted = self.builder.fits(series, rows).max(1);
            }
            let (fitting, rest) = rows.split_at(accepted.min(rows.len()));
            let (fitting_times, rest_times) = times.split_at(fitting.len());
            self.builder.push(series, fitting_times, fitting);
            (times, rows) = (rest_times, rest);
            if !rows.is_empty() {
                // A block contains a series only once.
                self.close()?;
            }
        }
        Ok(())
    }

    /// Returns the completed blocks.
    pub(crate) fn take_blocks(&mut self) -> Vec<NewBlock> {
        std::mem::take(&mut self.blocks)
    }

    /// Returns the approximate number of bytes needed to encode a block and decode it again: the
    /// maximum so far.
    pub(crate) fn encoding_bytes(&self) -> usize {
        self.encoding_bytes.max(self.builder.encoding_bytes())
    }

    /// Returns the approximate size in memory, in bytes, while no block is being encoded.
    pub(crate) fn bytes(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.bytes.len());
        self.builder.bytes() + blocks.sum::<usize>()
    }

    /// Completes the current block, if it has rows.
    pub(crate) fn close(&mut self) -> CodecResult<()> {
        let builder = std::mem::take(&mut self.builder);
        self.encoding_bytes = self.encoding_bytes.max(builder.encoding_bytes());
        let rows = builder.rows();
        let (Some(first_series), Some(last_series), Some((first, last))) =
            (rows.series().first(), rows.series().last(), rows.time_bounds())
        else {
            return Ok(());
        };
        let BlockOrigin { metric, kind, unit, order, effort, sequence, times } = self.origin;
        let day = self.window.start.floor_to(Interval::DAY).0 / Interval::DAY.ms();
        let no_key = |_| CodecError::encoder(format!("no block key has the day {day}"));
        let mut info = BlockInfo {
            key: BlockKey {
                tier: self.tier,
                day: u32::try_from(day).map_err(no_key)?,
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
            coverage: Coverage::Whole,
        };
        let bytes = encode_verified(
            effort,
            |effort| builder.finish(&info, times, effort),
            |bytes| builder.check(&info, bytes, times),
            || format!("new block {:?}", info.key),
        )?;
        let length = u32::try_from(bytes.len());
        info.bytes = length.map_err(|_| CodecError::encoder("a block exceeds 4 GiB"))?;
        let entry = BlockInfo::from_catalog_entry(&info.key.encode(), &info.to_catalog_entry());
        if entry != Ok(info) {
            let reason =
                format!("the catalog entry of new block {:?} does not read back", info.key);
            return Err(CodecError::encoder(reason));
        }
        self.blocks.push(NewBlock { info, bytes });
        Ok(())
    }

    /// Completes the last block and returns all blocks.
    pub(crate) fn finish(mut self) -> CodecResult<Vec<NewBlock>> {
        self.close()?;
        Ok(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::BLOCK_ROWS_MAX;
    use crate::metrics::block::{PointBlock, PointBlockBuilder};
    use crate::metrics::times::find_new;

    #[test]
    fn blocks_with_the_maximum_number_of_rows_are_readable() {
        let sequence = AtomicU64::new(1);
        let times = TimePageWriter::new(&sequence);
        let origin = BlockOrigin {
            metric: MetricId(1),
            kind: MetricType::Gauge,
            unit: None,
            order: WriteOrder(1),
            effort: Effort::Seal,
            sequence: &sequence,
            times: &times,
        };
        let window = TimeRange::new(0, 1 << 40);
        let mut writer: BlockWriter<'_, PointBlockBuilder> =
            BlockWriter::new(origin, Tier::Raw, window);
        let half = BLOCK_ROWS_MAX / 2;
        let mut written = 0;
        for (series, rows) in [(1, half - 1), (2, 3 * half), (3, 1)] {
            let times: Vec<i64> = (0..rows as i64).map(|i| i * 7 + i * i % 5).collect();
            let values: Vec<f64> = times.iter().map(|t| *t as f64 / 3.0).collect();
            writer.push(SeriesId(series), &times, &values).unwrap();
            written += rows;
        }
        let blocks = writer.finish().unwrap();
        let pages = times.pages(Effort::Seal).unwrap();
        let rows: Vec<usize> = blocks.iter().map(|block| block.info.rows as usize).collect();
        assert_eq!(rows, [BLOCK_ROWS_MAX - 1, half, half, 1]);
        assert_eq!(rows.iter().sum::<usize>(), written);
        for NewBlock { info, bytes } in &blocks {
            let find = |page_group, number| find_new(&pages, page_group, number);
            PointBlock::open(info.key, bytes, find).unwrap().1.verify(info).unwrap();
        }
    }
}
