//! Splits a compaction into pieces whose rows fit in memory.
//!
//! In every block, rows are sorted by series and by time within a series, so a piece is a range of
//! series and a range of time:
//!
//! ```text
//! series   1 ──────── 40 │ 41 ─────── 97 │ 98                     │ 99 ── ...
//! time     all           │ all           │ to noon │ from noon on │ all
//! ```
//!
//! How much fits is known only after reading. The pieces of a compaction that may not fit start
//! small and grow while they take less than a third of the limit; a piece that exceeds the limit is
//! restarted at half its size.

use crate::model::{Interval, TimeRange, TimestampMs};

/// Series in the first piece of a compaction that may not fit in memory.
const FIRST_SPAN: u64 = 64;
/// Estimated bytes per row, to decide whether all rows may fit in one piece.
const ROW_BYTES: u64 = 64;

/// A part of the rows of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompactionPiece {
    /// The series ids, half-open.
    pub(crate) series: (u64, u64),
    /// The times, half-open. The first piece of a series starts at the minimum time and its last
    /// piece ends at the maximum time.
    pub(crate) times: (i64, i64),
}

/// The pieces of a compaction, one after the other.
#[derive(Debug)]
pub(crate) struct CompactionPieces {
    window: TimeRange,
    /// Times are cut only at multiples of this, so that the rows of one cell stay in one piece.
    width: Interval,
    /// The maximum bytes of the rows of a piece.
    bytes_max: usize,
    /// The remaining series, half-open.
    series: (u64, u64),
    /// The start time of the next piece; the minimum time unless it continues a series.
    from: i64,
    /// The number of series of the next piece.
    span: u64,
    /// The duration of the next piece in milliseconds, `None` for all time.
    span_ms: Option<i64>,
}

impl CompactionPieces {
    /// Creates the pieces of the series `first..=last` in `window`, which have `rows` rows in
    /// total.
    pub(crate) fn new(
        (first, last): (u32, u32),
        rows: u64,
        (window, width): (TimeRange, Interval),
        bytes_max: usize,
    ) -> Self {
        let series = (u64::from(first), u64::from(last) + 1);
        let may_fit = rows.saturating_mul(ROW_BYTES) <= bytes_max as u64;
        let (from, span_ms) = (i64::MIN, None);
        let span = if may_fit { u64::MAX } else { FIRST_SPAN };
        Self { window, width, bytes_max, series, from, span, span_ms }
    }

    /// Returns the next piece to try, `None` at the end.
    pub(crate) fn next(&self) -> Option<CompactionPiece> {
        let (first, end) = self.series;
        if first >= end {
            return None;
        }
        let (from, to) = (self.from, self.end_time());
        let is_whole = (from, to) == (i64::MIN, i64::MAX);
        let span = if is_whole { self.span } else { 1 };
        let series = (first, end.min(first.saturating_add(span)));
        Some(CompactionPiece { series, times: (from, to) })
    }

    /// Returns the maximum bytes of the rows of the next piece; unlimited if it cannot be split
    /// further.
    pub(crate) fn bytes_max(&self) -> usize {
        let Some(piece) = self.next() else { return 0 };
        let is_smallest = piece.series.1 - piece.series.0 == 1 && self.half(piece).is_none();
        if is_smallest { usize::MAX } else { self.bytes_max }
    }

    /// Shrinks the next piece after it exceeded the limit while series `reached` was read.
    pub(crate) fn shrink(&mut self, reached: u32) {
        let Some(piece) = self.next() else { return };
        if piece.series.1 - piece.series.0 > 1 {
            let read = u64::from(reached).saturating_sub(piece.series.0) + 1;
            self.span = (read / 2).max(1);
        } else {
            self.span_ms = self.half(piece).or(self.span_ms);
        }
    }

    /// Advances past the next piece, whose rows took `bytes` bytes.
    pub(crate) fn advance(&mut self, bytes: usize) {
        let Some(piece) = self.next() else { return };
        let is_small = bytes <= self.bytes_max / 3;
        let (from, to) = piece.times;
        self.from = if to == i64::MAX { i64::MIN } else { to };
        if to == i64::MAX {
            self.series.0 = piece.series.1;
        }
        match self.span_ms {
            Some(ms) if is_small && to != i64::MAX => {
                self.span_ms = Some(ms.saturating_mul(2)).filter(|ms| *ms < self.window.len_ms());
            }
            // The last part of a series may be short, so its size is no evidence for growing.
            Some(_) => {}
            None if is_small && from == i64::MIN => self.span = self.span.saturating_mul(2),
            None => {}
        }
    }

    /// Skips series that no block contains: `series` is the next one that any block contains.
    pub(crate) fn skip_to(&mut self, series: u64) {
        if self.from == i64::MIN {
            self.series.0 = self.series.0.max(series);
        }
    }

    fn start_time(&self) -> i64 {
        self.from.max(self.window.start.0)
    }

    fn end_time(&self) -> i64 {
        let Some(ms) = self.span_ms else { return i64::MAX };
        let to = self.floor(self.start_time().saturating_add(ms));
        if to >= self.window.end.0 { i64::MAX } else { to.max(self.start_time() + self.width.ms()) }
    }

    /// Returns half the duration of a piece of one series, `None` if it cannot be halved.
    fn half(&self, piece: CompactionPiece) -> Option<i64> {
        let (start, end) = (self.start_time(), piece.times.1.min(self.window.end.0));
        let half = self.floor(start + (end - start) / 2) - start;
        (half >= self.width.ms()).then_some(half)
    }

    fn floor(&self, time: i64) -> i64 {
        TimestampMs(time).floor_to(self.width).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Splits rows of one byte, (series, time), and checks that each row is in exactly one piece
    /// and that a piece exceeds the limit only if it cannot be split.
    fn check(rows: &[(u32, i64)], window: TimeRange, width: Interval, bytes_max: usize) {
        let series = rows.iter().map(|row| row.0);
        let extent = (series.clone().min().unwrap(), series.max().unwrap());
        let mut pieces =
            CompactionPieces::new(extent, rows.len() as u64, (window, width), bytes_max);
        let (mut read, mut tries) = (Vec::new(), 0);
        'pieces: while let Some(piece) = pieces.next() {
            tries += 1;
            assert!(tries < 100_000, "it terminates");
            let inside = |row: &&(u32, i64)| {
                (piece.series.0..piece.series.1).contains(&u64::from(row.0))
                    && (piece.times.0..piece.times.1).contains(&row.1)
            };
            let found: Vec<_> = rows.iter().filter(inside).copied().collect();
            if found.len() > pieces.bytes_max() {
                let reached = found[pieces.bytes_max()].0;
                pieces.shrink(reached);
                continue 'pieces;
            }
            if found.len() > bytes_max {
                let cells: std::collections::HashSet<_> =
                    found.iter().map(|row| (row.0, TimestampMs(row.1).floor_to(width))).collect();
                assert!(cells.len() <= 4, "{cells:?}");
            }
            pieces.advance(found.len());
            read.extend(found);
        }
        assert_eq!(read, rows);
    }

    #[test]
    fn a_gap_between_series_is_skipped() {
        let window = TimeRange::new(0, 100);
        let times = (window, Interval::MINUTE);
        let mut pieces = CompactionPieces::new((5, 4_000_000_000), 1 << 20, times, 10);
        pieces.advance(0);
        pieces.skip_to(3_999_999_999);
        assert_eq!(pieces.next().unwrap().series, (3_999_999_999, 4_000_000_001));
    }

    proptest! {
        #[test]
        fn every_row_is_in_one_piece(
            rows in proptest::collection::btree_set((0u32..200, -10i64..1_010), 1..400),
            bytes_max in 1usize..60,
        ) {
            let rows: Vec<_> = rows.into_iter().collect();
            let width = Interval::from_ms(10).unwrap();
            check(&rows, TimeRange::new(0, 1_000), width, bytes_max);
        }
    }
}
