//! Cutting a merge into pieces whose rows fit into memory.
//!
//! Rows are in the order of series, and of time within a series, in every block, so a piece is a range of both:
//!
//! ```text
//! series   1 ──────── 40 │ 41 ─────── 97 │ 98                │ 99 ── ...
//! time     all           │ all           │ to noon │ to the end │ all
//! ```
//!
//! How much of it fits nobody knows before it was read. So the pieces of a merge that is not small begin small and grow while they
//! take less than a third of what they may, and one that turns out to be too large is begun anew with half of it.

use crate::model::{Interval, TimeRange, TimestampMs};

/// Series of the first piece of a merge that may not fit.
const FIRST_SPAN: u64 = 64;
/// Bytes that a row is thought to take when it is decided whether all of them may fit.
const ROW_BYTES: u64 = 64;

/// A part of the rows of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The first series, and the one after the last.
    pub(crate) series: (u64, u64),
    /// The instants, half-open. The first piece of a series begins and the last one ends with all time.
    pub(crate) times: (i64, i64),
}

/// The pieces of a merge, one after the other.
#[derive(Debug)]
pub(crate) struct Pieces {
    window: TimeRange,
    /// What rows become together must not be parted: times are cut at multiples of this only.
    width: Interval,
    /// The bytes that the rows of a piece may take.
    bytes_max: usize,
    /// The series that are left.
    series: (u64, u64),
    /// Where the next piece begins in its only series.
    from: i64,
    /// Series of the next piece.
    span: u64,
    /// Milliseconds of the next piece; none for all time.
    span_ms: Option<i64>,
}

impl Pieces {
    /// The pieces of the series `first..=last` in `window`, which have so many rows.
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

    /// The next piece to try, if there is one.
    pub(crate) fn next(&self) -> Option<Piece> {
        let (first, end) = self.series;
        if first >= end {
            return None;
        }
        let (from, to) = (self.from, self.to());
        let is_whole = (from, to) == (i64::MIN, i64::MAX);
        let span = if is_whole { self.span } else { 1 };
        Some(Piece { series: (first, end.min(first.saturating_add(span))), times: (from, to) })
    }

    /// The bytes that the rows of the next piece may take: any number when it cannot be smaller.
    pub(crate) fn bytes_max(&self) -> usize {
        let Some(piece) = self.next() else { return 0 };
        let is_least = piece.series.1 - piece.series.0 == 1 && self.half(piece).is_none();
        if is_least { usize::MAX } else { self.bytes_max }
    }

    /// Makes the next piece smaller, after it took too much when its series up to `reached` were being read.
    pub(crate) fn shrink(&mut self, reached: u32) {
        let Some(piece) = self.next() else { return };
        if piece.series.1 - piece.series.0 > 1 {
            let read = u64::from(reached).saturating_sub(piece.series.0) + 1;
            self.span = (read / 2).max(1);
        } else {
            self.span_ms = self.half(piece).or(self.span_ms);
        }
    }

    /// Goes on behind the next piece, whose rows took so many bytes.
    pub(crate) fn advance(&mut self, bytes: usize) {
        let Some(piece) = self.next() else { return };
        let has_room = bytes <= self.bytes_max / 3;
        let (from, to) = piece.times;
        self.from = if to == i64::MAX { i64::MIN } else { to };
        if to == i64::MAX {
            self.series.0 = piece.series.1;
        }
        match self.span_ms {
            Some(ms) if has_room && to != i64::MAX => {
                self.span_ms = Some(ms.saturating_mul(2)).filter(|ms| *ms < self.window.len_ms());
            }
            // Its last part says little of the others.
            Some(_) => {}
            None if has_room && from == i64::MIN => self.span = self.span.saturating_mul(2),
            None => {}
        }
    }

    /// Leaves series out that no block has: the next one in any block is this.
    pub(crate) fn skip_to(&mut self, series: u64) {
        if self.from == i64::MIN {
            self.series.0 = self.series.0.max(series);
        }
    }

    fn begin(&self) -> i64 {
        self.from.max(self.window.start.0)
    }

    fn to(&self) -> i64 {
        let Some(ms) = self.span_ms else { return i64::MAX };
        let to = self.floor(self.begin().saturating_add(ms));
        if to >= self.window.end.0 { i64::MAX } else { to.max(self.begin() + self.width.ms()) }
    }

    /// MagnitudeHistogram the milliseconds of a piece of one series, if there are so many.
    fn half(&self, piece: Piece) -> Option<i64> {
        let (begin, end) = (self.begin(), piece.times.1.min(self.window.end.0));
        let half = self.floor(begin + (end - begin) / 2) - begin;
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

    /// Cuts rows of one byte, (series, time), and checks that each is in one piece and that pieces are as small as they must be.
    fn check(rows: &[(u32, i64)], window: TimeRange, width: Interval, bytes_max: usize) {
        let series = rows.iter().map(|row| row.0);
        let extent = (series.clone().min().unwrap(), series.max().unwrap());
        let mut pieces = Pieces::new(extent, rows.len() as u64, (window, width), bytes_max);
        let (mut read, mut tries) = (Vec::new(), 0);
        'pieces: while let Some(piece) = pieces.next() {
            tries += 1;
            assert!(tries < 100_000, "it ends");
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
    fn a_gap_between_series_is_left_out() {
        let window = TimeRange::new(0, 100);
        let times = (window, Interval::MINUTE);
        let mut pieces = Pieces::new((5, 4_000_000_000), 1 << 20, times, 10);
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
