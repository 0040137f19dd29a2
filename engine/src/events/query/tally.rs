//! How many rows of a stretch belong to which code: by ranks in the bitmaps of a column with few texts, or in one pass over it.

use std::borrow::Cow;
use std::ops::Range;

use roaring::RoaringBitmap;

use super::super::{Codes, Rows};
use super::read::Read;
use super::select::Segment;
use crate::model::TextId;

/// Rows that a pass counts in the time that two ranks of a bitmap take.
const ROWS_PER_RANK: u64 = 32;

/// Counts rows by code, one segment after the other.
#[derive(Debug)]
pub(super) struct Tally<'r> {
    read: &'r Read<'r>,
    way: Way<'r>,
    /// The codes that the segment has, without order: places in `codes`.
    pub(super) touched: Vec<usize>,
    /// All codes of the source, then that of rows without any.
    pub(super) codes: Vec<Code>,
}

/// What is known of a code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Code {
    /// Rows in the segment.
    pub(super) count: u64,
    /// The group that it stands for, once looked up.
    pub(super) group: Option<TextId>,
    /// Where the rows of the segment are added up; says nothing while the count is 0.
    pub(super) slot: usize,
}

#[derive(Debug)]
enum Way<'r> {
    /// There are no codes.
    Whole,
    /// The rows of every code, all of one segment.
    Counts(&'r [u32]),
    /// The selected rows of every code.
    Ranks(Vec<Cow<'r, RoaringBitmap>>),
    Pass(&'r Codes),
}

impl<'r> Tally<'r> {
    pub(super) fn new(read: &'r Read<'r>) -> Self {
        let codes = read.codes.as_deref();
        let way = match (codes, &read.counts) {
            (None, _) => Way::Whole,
            (Some(_), Some(counts)) => Way::Counts(counts),
            (Some(codes), None) => ranks(read, codes).map_or(Way::Pass(codes), Way::Ranks),
        };
        let codes = vec![Code::default(); codes.map_or(0, |codes| codes.texts.len()) + 1];
        Self { read, way, touched: Vec::new(), codes }
    }

    /// Counts the rows of a segment; what was known of the one before is forgotten, all but the groups.
    pub(super) fn count(&mut self, segment: &Segment) {
        for code in self.touched.drain(..) {
            if let Some(code) = self.codes.get_mut(code) {
                code.count = 0;
            }
        }
        let rows = segment.rows.clone();
        match &self.way {
            Way::Whole => {
                note(&mut self.codes, &mut self.touched, 0, self.read.selected.count(rows))
            }
            Way::Counts(counts) => {
                let mut rest = u64::from(self.read.rows);
                for (code, count) in counts.iter().enumerate() {
                    note(&mut self.codes, &mut self.touched, code, u64::from(*count));
                    rest = rest.saturating_sub(u64::from(*count));
                }
                note(&mut self.codes, &mut self.touched, counts.len(), rest);
            }
            Way::Ranks(of_codes) => {
                let mut rest = self.read.selected.count(rows.clone());
                let whole = rows == (0..self.read.rows);
                for (code, bitmap) in of_codes.iter().enumerate() {
                    let count =
                        if whole { bitmap.len() } else { bitmap.range_cardinality(rows.clone()) };
                    note(&mut self.codes, &mut self.touched, code, count);
                    rest = rest.saturating_sub(count);
                }
                note(&mut self.codes, &mut self.touched, of_codes.len(), rest);
            }
            Way::Pass(column) => pass(self.read, column, rows, &mut self.codes, &mut self.touched),
        }
    }

    /// The place in `codes` of a row's code.
    #[inline]
    pub(super) fn code_of(&self, row: u32) -> usize {
        let none = self.codes.len() - 1;
        let Some(column) = self.read.codes.as_deref() else { return none };
        column.codes.get(row as usize).map_or(none, |code| (*code as usize).min(none))
    }
}

fn note(codes: &mut [Code], touched: &mut Vec<usize>, at: usize, count: u64) {
    if count > 0
        && let Some(code) = codes.get_mut(at)
    {
        if code.count == 0 {
            touched.push(at);
        }
        code.count += count;
    }
}

/// Counts the codes of the selected rows of `part` one by one.
fn pass(
    read: &Read<'_>,
    column: &Codes,
    part: Range<u32>,
    codes: &mut [Code],
    touched: &mut Vec<usize>,
) {
    let none = codes.len().saturating_sub(1);
    read.selected.each(part, |row| {
        let code = column.codes.get(row as usize).map_or(none, |code| (*code as usize).min(none));
        if let Some(state) = codes.get_mut(code) {
            if state.count == 0 {
                touched.push(code);
            }
            state.count += 1;
        }
    });
}

/// The selected rows of every code, where the source keeps bitmaps and ranks in them are quicker than a pass.
fn ranks<'r>(read: &Read<'_>, codes: &'r Codes) -> Option<Vec<Cow<'r, RoaringBitmap>>> {
    let of_codes = codes.rows.as_ref().filter(|rows| rows.len() == codes.texts.len())?;
    let looks = of_codes.len() as u64 * read.segments.len() as u64;
    if looks.saturating_mul(ROWS_PER_RANK) > read.matched {
        return None;
    }
    match &read.selected.rows {
        Rows::All => Some(of_codes.iter().map(Cow::Borrowed).collect()),
        // The intersections look at about all rows, the pass at those that match.
        Rows::Some(_) if read.matched < u64::from(read.rows) / 2 => None,
        Rows::Some(rows) => Some(of_codes.iter().map(|of| Cow::Owned(of & rows)).collect()),
    }
}
