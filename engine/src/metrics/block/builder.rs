//! The trait that the builders of all block formats implement, and the limit on rows per block. The
//! block writer cuts rows into blocks through it.

use super::info::BlockInfo;
use super::opened::OpenedBlock;
use super::rows::RowsBuilder;
use crate::codec::CodecResult;
use crate::codec::integers::Effort;
use crate::limits::{BLOCK_ROWS_FULL, BLOCK_ROWS_MAX, LONG_SERIES_ROWS};
use crate::metrics::times::TimePageWriter;
use crate::model::SeriesId;

/// Collects the rows of a block, series by series.
pub(crate) trait BlockBuilder: Default {
    /// The row of the format: what it stores per time of a series.
    type Row;

    /// Adds a series with a higher id than those before, or more rows of the last series. Times
    /// ascend, one per row; there are at most as many rows as [`Self::fits`] returns.
    fn push(&mut self, series: SeriesId, times: &[i64], rows: &[Self::Row]);

    /// Returns the series and times added so far.
    fn rows(&self) -> &RowsBuilder;

    /// Returns how many of `rows`, the remaining rows of a series, the block accepts: 0 when it
    /// must be closed first; at least 1 when it is empty and `rows` is not. A block of numbers
    /// accepts a further long series below `share` rows. The cut does not depend on the size of the
    /// portions a series arrives in.
    fn fits(&self, series: SeriesId, rows: &[Self::Row], share: usize) -> usize {
        rows_that_fit(self.rows(), series, rows.len(), share)
    }

    /// Returns the approximate size in memory, in bytes.
    fn bytes(&self) -> usize;

    /// Returns the approximate number of bytes needed in addition to encode the block and decode it
    /// again: a column or two.
    fn encoding_bytes(&self) -> usize {
        2 * self.rows().rows() * size_of::<u64>()
    }

    /// Encodes the block. `info` must describe the rows added; times that other blocks may share go
    /// to `times`. Fails when a column cannot be compressed.
    fn finish(
        &self,
        info: &BlockInfo,
        times: &TimePageWriter<'_>,
        effort: Effort,
    ) -> CodecResult<Vec<u8>>;

    /// Decodes `bytes`, which [`Self::finish`] returned, and compares them with the rows added.
    /// Fails when anything differs.
    fn check(&self, info: &BlockInfo, bytes: &[u8], times: &TimePageWriter<'_>) -> CodecResult<()>;

    /// Does what [`Self::check`] does, and returns the block with all that decoding it has shown,
    /// so that its first readers need not open it. `None` if blocks of this format do not stay
    /// open.
    fn check_and_open(
        &self,
        info: &BlockInfo,
        bytes: &[u8],
        times: &TimePageWriter<'_>,
    ) -> CodecResult<Option<OpenedBlock>> {
        self.check(info, bytes, times).map(|()| None)
    }
}

/// Returns how many of `more` further rows of a series fit into a block that has `rows`, and is
/// full at `share` rows if its series are long.
pub(super) fn rows_that_fit(
    rows: &RowsBuilder,
    series: SeriesId,
    more: usize,
    share: usize,
) -> usize {
    let of_series = |before: usize| BLOCK_ROWS_FULL.min(BLOCK_ROWS_MAX.saturating_sub(before));
    match rows.rows_of_last(series) {
        Some(present) => {
            let left = of_series(rows.rows() - present).saturating_sub(present);
            more.min(left)
        }
        None if rows.rows() >= full_at(rows, share) => 0,
        None => more.min(of_series(rows.rows())),
    }
}

/// Returns the rows at which a block accepts no further series.
fn full_at(rows: &RowsBuilder, share: usize) -> usize {
    let are_long = rows.rows() >= rows.series().len().saturating_mul(LONG_SERIES_ROWS);
    if are_long { share } else { BLOCK_ROWS_FULL }
}
