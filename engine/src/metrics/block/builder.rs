//! What the builders of all block formats have in common, for the writer that cuts rows into blocks.

use super::info::BlockInfo;
use super::rows::RowsBuilder;
use crate::codec::CodecResult;
use crate::codec::integers::Effort;
use crate::limits::BLOCK_ROWS_FULL;
use crate::metrics::times::TimesWriter;
use crate::model::SeriesId;

/// Collects the rows of a block, series by series.
pub(crate) trait BlockBuilder: Default {
    /// What the format holds for one time of a series.
    type Row;

    /// Adds a series, above those before it, or goes on with the last one: ascending times and as many rows, no more than
    /// [`Self::fits`] says.
    fn push(&mut self, series: SeriesId, times: &[i64], rows: &[Self::Row]);

    /// The series and times that were pushed.
    fn rows(&self) -> &RowsBuilder;

    /// How many of `rows`, the rest of a series, the block takes: none when it should be closed before; one or more when it
    /// is empty and they are not. A series is cut at the same rows in however many portions it comes.
    fn fits(&self, series: SeriesId, rows: &[Self::Row]) -> usize {
        rows_that_fit(self.rows(), series, rows.len())
    }

    /// Bytes in memory, about.
    fn bytes(&self) -> usize;

    /// Bytes that it takes besides to encode the block and to read it again, about: a column or two.
    fn encoding_bytes(&self) -> usize {
        2 * self.rows().rows() * size_of::<u64>()
    }

    /// The block as bytes. `info` must describe what was pushed; `times` takes the times that other blocks may have too.
    /// Fails when a column cannot be compressed.
    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimesWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>>;

    /// Decodes `bytes`, a block that [`Self::finish`] gave, and compares it with what was pushed. Fails when
    /// anything differs.
    fn check(&self, info: &BlockInfo, bytes: &[u8], times: &TimesWriter<'_>) -> CodecResult<()>;
}

/// How many of `more` rows of a series a block that has `rows` takes.
pub(super) fn rows_that_fit(rows: &RowsBuilder, series: SeriesId, more: usize) -> usize {
    match rows.rows_of_last(series) {
        Some(present) => more.min(BLOCK_ROWS_FULL.saturating_sub(present)),
        None if rows.rows() >= BLOCK_ROWS_FULL => 0,
        None => more.min(BLOCK_ROWS_FULL),
    }
}
