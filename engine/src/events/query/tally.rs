//! Counts the rows of a segment by code: by ranks in the bitmaps of a column with few strings, or
//! in one scan of the column.

use std::borrow::Cow;
use std::ops::Range;

use roaring::RoaringBitmap;

use super::super::{CodedColumn, RowSet};
use super::select::Segment;
use super::source_columns::SourceColumns;
use crate::model::StringId;

/// Number of rows that a scan counts in the time of two rank lookups in a bitmap.
const ROWS_PER_RANK: u64 = 32;

/// Counts rows by code, one segment after the other.
#[derive(Debug)]
pub(super) struct Tally<'r> {
    source: &'r SourceColumns<'r>,
    strategy: Strategy<'r>,
    /// The codes that occur in the segment, unordered, as indices into `codes`.
    pub(super) touched: Vec<usize>,
    /// One entry for each code of the source, and a last one for rows without a code.
    pub(super) codes: Vec<CodeTally>,
}

/// The state of a code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CodeTally {
    /// Number of rows in the segment.
    pub(super) count: u64,
    /// Its group, once looked up.
    pub(super) group: Option<StringId>,
    /// Index of the slot for the rows of the segment; undefined while the count is 0.
    pub(super) slot: usize,
}

#[derive(Debug)]
enum Strategy<'r> {
    /// There is no grouping column.
    Whole,
    /// The number of rows of every code is known, for the whole source in one segment.
    Counts(&'r [u32]),
    /// Ranks in the selected rows of every code.
    Ranks(Vec<Cow<'r, RoaringBitmap>>),
    Scan(&'r CodedColumn),
}

impl<'r> Tally<'r> {
    pub(super) fn new(source: &'r SourceColumns<'r>) -> Self {
        let codes = source.codes.as_deref();
        let strategy = match (codes, &source.counts) {
            (None, _) => Strategy::Whole,
            (Some(_), Some(counts)) => Strategy::Counts(counts),
            (Some(codes), None) => {
                ranks(source, codes).map_or(Strategy::Scan(codes), Strategy::Ranks)
            }
        };
        let codes = vec![CodeTally::default(); codes.map_or(0, |codes| codes.strings.len()) + 1];
        Self { source, strategy, touched: Vec::new(), codes }
    }

    /// Counts the rows of a segment. The counts of the segment before are discarded; the groups are
    /// kept.
    pub(super) fn count(&mut self, segment: &Segment) {
        for code in self.touched.drain(..) {
            self.codes[code].count = 0;
        }
        let rows = segment.rows.clone();
        match &self.strategy {
            Strategy::Whole => {
                add_count(&mut self.codes, &mut self.touched, 0, self.source.selected.count(rows))
            }
            Strategy::Counts(counts) => {
                // Headers and bitmaps count each row at most once: blocks are refused otherwise.
                let mut rest = u64::from(self.source.rows);
                for (code, count) in counts.iter().enumerate() {
                    add_count(&mut self.codes, &mut self.touched, code, u64::from(*count));
                    rest -= u64::from(*count);
                }
                add_count(&mut self.codes, &mut self.touched, counts.len(), rest);
            }
            Strategy::Ranks(of_codes) => {
                let mut rest = self.source.selected.count(rows.clone());
                let whole = rows == (0..self.source.rows);
                for (code, bitmap) in of_codes.iter().enumerate() {
                    let count =
                        if whole { bitmap.len() } else { bitmap.range_cardinality(rows.clone()) };
                    add_count(&mut self.codes, &mut self.touched, code, count);
                    rest -= count;
                }
                add_count(&mut self.codes, &mut self.touched, of_codes.len(), rest);
            }
            Strategy::Scan(column) => {
                count_rows(self.source, column, rows, &mut self.codes, &mut self.touched)
            }
        }
    }

    /// Returns the index in `codes` of a row's code.
    #[inline]
    pub(super) fn code_of(&self, row: u32) -> usize {
        let none = self.codes.len() - 1;
        let Some(column) = self.source.codes.as_deref() else { return none };
        (column.codes[row as usize] as usize).min(none)
    }
}

fn add_count(codes: &mut [CodeTally], touched: &mut Vec<usize>, at: usize, count: u64) {
    if count == 0 {
        return;
    }
    if codes[at].count == 0 {
        touched.push(at);
    }
    codes[at].count += count;
}

/// Counts the codes of the selected rows of `part` one by one.
fn count_rows(
    source: &SourceColumns<'_>,
    column: &CodedColumn,
    part: Range<u32>,
    codes: &mut [CodeTally],
    touched: &mut Vec<usize>,
) {
    let none = codes.len() - 1;
    source.selected.each(part, |row| {
        let code = (column.codes[row as usize] as usize).min(none);
        let state = &mut codes[code];
        if state.count == 0 {
            touched.push(code);
        }
        state.count += 1;
    });
}

/// Returns the selected rows of every code, if the source keeps bitmaps and rank lookups in them
/// are faster than a scan.
fn ranks<'r>(
    source: &SourceColumns<'_>,
    codes: &'r CodedColumn,
) -> Option<Vec<Cow<'r, RoaringBitmap>>> {
    let of_codes = codes.rows.as_ref().filter(|rows| rows.len() == codes.strings.len())?;
    let lookups = of_codes.len() as u64 * source.segments.len() as u64;
    if lookups.saturating_mul(ROWS_PER_RANK) > source.matched {
        return None;
    }
    match &source.selected.rows {
        RowSet::All => Some(of_codes.iter().map(Cow::Borrowed).collect()),
        // The intersections process nearly all rows, a scan only the matching ones.
        RowSet::Some(_) if source.matched < u64::from(source.rows) / 2 => None,
        RowSet::Some(rows) => Some(of_codes.iter().map(|of| Cow::Owned(of & rows)).collect()),
    }
}
