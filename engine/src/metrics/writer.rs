//! Cuts rows of one metric into blocks of a window and assigns their keys. A new block is decoded
//! and compared with its rows before it is returned.

use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{BlockBuilder, BlockInfo, BlockKey, CompactedSetId, Coverage, Tier, WriteOrder};
use super::opened_blocks::NewlyOpened;
use super::times::TimePageWriter;
use crate::codec::integers::Effort;
use crate::codec::verified::encode_verified;
use crate::codec::{CodecError, CodecResult};
use crate::limits::{BLOCK_ROWS_FULL, BLOCK_ROWS_SHARE_MAX};
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
    /// Where blocks are collected that stay open from the beginning.
    pub(crate) opened: Option<&'s NewlyOpened>,
}

/// Writes the blocks of one tier and window. Series come in ascending order, each in any number of
/// portions, which do not affect where blocks are cut.
#[derive(Debug)]
pub(crate) struct BlockWriter<'s, B> {
    origin: BlockOrigin<'s>,
    tier: Tier,
    window: TimeRange,
    /// The rows at which a block of long series is full.
    share: usize,
    builder: B,
    blocks: Vec<NewBlock>,
    /// The most bytes that encoding a block has taken.
    encoding_bytes: usize,
}

impl<'s, B: BlockBuilder> BlockWriter<'s, B> {
    pub(crate) fn new(origin: BlockOrigin<'s>, tier: Tier, window: TimeRange) -> Self {
        Self {
            origin,
            tier,
            window,
            share: BLOCK_ROWS_FULL,
            builder: B::default(),
            blocks: Vec::new(),
            encoding_bytes: 0,
        }
    }

    /// Divides about `rows` rows evenly among as few blocks as can be, if their series are long.
    pub(crate) fn dividing(mut self, rows: u64) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX).max(1);
        self.share = rows.div_ceil(rows.div_ceil(BLOCK_ROWS_SHARE_MAX));
        self
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
            let mut accepted = self.builder.fits(series, rows, self.share);
            if accepted == 0 {
                self.close()?;
                // An empty block accepts at least one row.
                accepted = self.builder.fits(series, rows, self.share).max(1);
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
        let BlockOrigin { metric, kind, unit, order, effort, sequence, times, opened } =
            self.origin;
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
        let mut open_block = None;
        let check = |bytes: &[u8]| {
            if opened.is_some_and(|opened| opened.may_take(&info, bytes.len())) {
                open_block = builder.check_and_open(&info, bytes, times)?;
                Ok(())
            } else {
                builder.check(&info, bytes, times)
            }
        };
        let bytes = encode_verified(
            effort,
            |effort| builder.finish(&info, times, effort),
            check,
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
        if let (Some(opened), Some(block)) = (opened, open_block) {
            opened.add(&info, block);
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
impl<'s> BlockOrigin<'s> {
    /// Returns the origin of sealed blocks of a gauge.
    pub(crate) fn of_gauge(sequence: &'s AtomicU64, times: &'s TimePageWriter<'s>) -> Self {
        Self {
            metric: MetricId(1),
            kind: MetricType::Gauge,
            unit: None,
            order: WriteOrder(1),
            effort: Effort::Seal,
            sequence,
            times,
            opened: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{BLOCK_ROWS_MAX, LONG_SERIES_ROWS};
    use crate::metrics::block::{PointBlock, PointBlockBuilder};
    use crate::metrics::times::find_new;

    /// Returns the rows of the blocks into which series are cut, all of which are readable.
    /// `series` are the numbers of their rows, of which `portion` arrive at a time.
    fn cut(series: &[usize], share: Option<u64>, portion: usize) -> Vec<usize> {
        let sequence = AtomicU64::new(1);
        let times = TimePageWriter::new(&sequence);
        let origin = BlockOrigin::of_gauge(&sequence, &times);
        let window = TimeRange::new(0, 1 << 40);
        let mut writer: BlockWriter<'_, PointBlockBuilder> =
            BlockWriter::new(origin, Tier::Raw, window);
        if let Some(rows) = share {
            writer = writer.dividing(rows);
        }
        for (id, rows) in series.iter().enumerate() {
            let times: Vec<i64> = (0..*rows as i64).map(|i| i * 7 + i * i % 5).collect();
            let values: Vec<f64> = times.iter().map(|t| *t as f64 / 3.0).collect();
            for (times, values) in times.chunks(portion).zip(values.chunks(portion)) {
                writer.push(SeriesId(id as u32 + 1), times, values).unwrap();
            }
        }
        let blocks = writer.finish().unwrap();
        let pages = times.pages(Effort::Seal).unwrap();
        for NewBlock { info, bytes } in &blocks {
            let find = |page_group, number| find_new(&pages, page_group, number);
            PointBlock::open(info.key, bytes, find).unwrap().1.verify(info).unwrap();
        }
        let rows: Vec<usize> = blocks.iter().map(|block| block.info.rows as usize).collect();
        assert_eq!(rows.iter().sum::<usize>(), series.iter().sum::<usize>());
        rows
    }

    #[test]
    fn blocks_with_the_maximum_number_of_rows_are_readable() {
        let half = BLOCK_ROWS_MAX / 2;
        let rows = cut(&[half - 1, 3 * half, 1], None, usize::MAX);
        assert_eq!(rows, [BLOCK_ROWS_MAX - 1, half, half, 1]);
    }

    #[test]
    fn long_series_are_divided_evenly() {
        let series = [4_320; 100];
        for portion in [usize::MAX, 1_000] {
            assert_eq!(cut(&series, Some(432_000), portion), [108_000; 4]);
        }
        let full = 16 * 4_320;
        assert_eq!(cut(&series[..20], None, usize::MAX), [full, 86_400 - full]);
        // A guess that is too high or too low makes uneven blocks, not unreadable ones.
        assert_eq!(cut(&series[..20], Some(432_000), usize::MAX), [86_400]);
        assert_eq!(cut(&series[..20], Some(0), usize::MAX), [4_320; 20]);
    }

    #[test]
    fn a_series_that_would_exceed_the_maximum_is_cut() {
        let (full, share) = (BLOCK_ROWS_FULL, BLOCK_ROWS_SHARE_MAX);
        let left = BLOCK_ROWS_MAX - (share - 1);
        let series = [full, share - 1 - full, full];
        for portion in [usize::MAX, 777] {
            assert_eq!(cut(&series, Some(share as u64), portion), [BLOCK_ROWS_MAX, full - left]);
        }
    }

    #[test]
    fn blocks_of_short_series_are_not_longer() {
        let (series, count) = (LONG_SERIES_ROWS - 1, 200);
        let rows = cut(&vec![series; count], Some((series * count) as u64), usize::MAX);
        let full = BLOCK_ROWS_FULL.next_multiple_of(series);
        assert_eq!(rows, [full, series * count - full]);
    }
}
