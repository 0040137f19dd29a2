//! What the builders of all block formats have in common, for the writer that cuts rows into blocks.

use super::info::BlockInfo;
use super::rows::RowsBuilder;
use crate::codec::CodecResult;
use crate::codec::integers::Effort;
use crate::metrics::times::TimesWriter;
use crate::model::SeriesId;

/// A block is closed at this many rows: what pco needs to come near its best.
pub(super) const BLOCK_ROWS: usize = 1 << 16;

/// Collects the rows of a block, series by series.
pub(crate) trait BlockBuilder: Default {
    /// What the format holds for one time of a series.
    type Row;

    /// Adds a series, above those before it: ascending times and as many rows.
    fn push(&mut self, series: SeriesId, times: &[i64], rows: &[Self::Row]);

    /// The series and times that were pushed.
    fn rows(&self) -> &RowsBuilder;

    /// Whether the block should be closed.
    fn is_full(&self) -> bool {
        self.rows().rows() >= BLOCK_ROWS
    }

    /// How many of `rows` a block that is not full takes, from one to what a block should have.
    fn fits(&self, rows: &[Self::Row]) -> usize {
        rows.len().clamp(1, BLOCK_ROWS)
    }

    /// The block as bytes. `info` must describe what was pushed; `times` takes the times that other blocks may have too.
    /// Fails when a column cannot be compressed.
    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimesWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>>;
}
