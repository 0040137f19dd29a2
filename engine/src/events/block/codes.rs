//! Codes of a column of strings: which string each row has. Layout: see [`super`].

use std::ops::Range;

use roaring::RoaringBitmap;

use super::memory::InMemory;
use crate::codec::bytes::Reader;
use crate::codec::integers::{self, Effort, IntegerColumn};
use crate::codec::{CodecError, CodecResult};

const DENSE: u8 = 0;
const SPARSE: u8 = 1;
/// A column is sparse when at most one row in this many has a string. Reading and caching it then
/// costs in proportion to those rows, so that hundreds of rare tags stay cheap.
const ROWS_PER_SPARSE_CODE: usize = 16;

/// The code of each row, from 1; 0 where it has no string.
#[derive(Debug)]
pub(super) enum ColumnCodes {
    /// One code for each row.
    Dense(Vec<u32>),
    /// Only the rows with a code, ascending.
    Sparse { rows: Vec<u32>, codes: Vec<u32> },
}

/// Appends the codes of `cells`: row and code, ascending by row.
pub(super) fn encode(
    cells: &[(u32, u32)],
    rows: usize,
    effort: Effort,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    if cells.len() * ROWS_PER_SPARSE_CODE <= rows {
        out.push(SPARSE);
        let mut before = 0;
        let gaps =
            cells.iter().map(|(row, _)| i64::from(*row - std::mem::replace(&mut before, *row)));
        integers::encode(&gaps.collect::<Vec<_>>(), effort, out)?;
        let codes: Vec<i64> = cells.iter().map(|(_, code)| i64::from(*code)).collect();
        return integers::encode(&codes, effort, out);
    }
    out.push(DENSE);
    let mut dense = vec![0i64; rows];
    for (row, code) in cells {
        if let Some(slot) = dense.get_mut(*row as usize) {
            *slot = i64::from(*code);
        }
    }
    integers::encode(&dense, effort, out)
}

/// Decodes what [`encode`] wrote for a block of `rows` rows and a column of `strings` distinct
/// strings.
pub(super) fn decode(bytes: &[u8], rows: usize, strings: usize) -> CodecResult<ColumnCodes> {
    let mut reader = Reader::new(bytes);
    let form = reader.u8()?;
    let mut integers = Vec::new();
    IntegerColumn::read(&mut reader, rows)?.all(&mut integers)?;
    let codes = match form {
        DENSE if integers.len() == rows => ColumnCodes::Dense(to_codes(&integers, strings)?),
        SPARSE => {
            let mut row = 0u64;
            let mut at = Vec::with_capacity(integers.len());
            for (i, gap) in integers.iter().enumerate() {
                row = row.saturating_add(*gap as u64);
                if (*gap == 0 && i > 0) || row >= rows as u64 {
                    return Err(CodecError::new("the rows of codes do not ascend"));
                }
                at.push(row as u32);
            }
            IntegerColumn::read(&mut reader, rows)?.all(&mut integers)?;
            let codes = to_codes(&integers, strings)?;
            if codes.len() != at.len() || codes.contains(&0) {
                return Err(CodecError::new("codes and their rows have different lengths"));
            }
            ColumnCodes::Sparse { rows: at, codes }
        }
        _ => return Err(CodecError::new(format!("encoding {form} with {} codes", integers.len()))),
    };
    reader.finish()?;
    Ok(codes)
}

fn to_codes(integers: &[i64], strings: usize) -> CodecResult<Vec<u32>> {
    if integers.iter().any(|code| *code as u64 > strings as u64) {
        return Err(CodecError::new("a code without a string"));
    }
    Ok(integers.iter().map(|code| *code as u32).collect())
}

impl ColumnCodes {
    /// Returns the code of a row, 0 if it has none.
    #[inline]
    pub(super) fn code(&self, row: usize) -> u32 {
        match self {
            Self::Dense(codes) => codes.get(row).copied().unwrap_or(0),
            Self::Sparse { rows, codes } => {
                let at = rows.binary_search(&(row as u32)).ok();
                at.and_then(|at| codes.get(at)).copied().unwrap_or(0)
            }
        }
    }

    /// Calls `with` with row and code of all rows that have one, ascending.
    pub(super) fn each(&self, mut with: impl FnMut(u32, u32)) {
        match self {
            Self::Dense(codes) => {
                codes
                    .iter()
                    .zip(0..)
                    .filter(|(code, _)| **code != 0)
                    .for_each(|(c, r)| with(r, *c));
            }
            Self::Sparse { rows, codes } => rows.iter().zip(codes).for_each(|(r, c)| with(*r, *c)),
        }
    }

    /// Returns the rows of each of the `strings` distinct strings.
    pub(super) fn bitmaps(&self, strings: usize) -> Vec<RoaringBitmap> {
        let mut ends = vec![0usize; strings + 1];
        self.each(|_, code| {
            if let Some(count) = ends.get_mut(code as usize) {
                *count += 1;
            }
        });
        let mut before = 0;
        for end in &mut ends {
            before += *end;
            *end = before;
        }
        // Each list is filled from its start, which is the end of the one before.
        let mut next: Vec<usize> = ends.clone();
        let mut rows = vec![0u32; before];
        self.each(|row, code| {
            let Some(at) = (code as usize).checked_sub(1).and_then(|c| next.get_mut(c)) else {
                return;
            };
            if let Some(slot) = rows.get_mut(*at) {
                *slot = row;
            }
            *at += 1;
        });
        ends.windows(2)
            .map(|bounds| {
                let own = rows.get(bounds[0]..bounds[1]).unwrap_or_default();
                // Rows ascend, so this cannot fail.
                let mut bitmap =
                    RoaringBitmap::from_sorted_iter(own.iter().copied()).unwrap_or_default();
                bitmap.optimize();
                bitmap
            })
            .collect()
    }

    /// Returns the rows whose code is in one of `ranges`, which ascend.
    pub(super) fn rows_in(&self, ranges: &[Range<u32>]) -> RoaringBitmap {
        let mut found = Vec::new();
        self.each(|row, code| {
            let at = ranges.partition_point(|range| range.end <= code);
            if ranges.get(at).is_some_and(|range| range.start <= code) {
                found.push(row);
            }
        });
        RoaringBitmap::from_sorted_iter(found).unwrap_or_default()
    }

    /// Returns the codes of all `rows` rows, counted from 0, with `absent` for rows without a code.
    pub(super) fn to_dense(&self, rows: usize, absent: u32) -> Vec<u32> {
        let mut dense = vec![absent; rows];
        self.each(|row, code| {
            if let Some(slot) = dense.get_mut(row as usize) {
                *slot = code.wrapping_sub(1);
            }
        });
        dense
    }
}

impl InMemory for ColumnCodes {
    fn bytes(&self) -> usize {
        match self {
            Self::Dense(codes) => codes.capacity() * 4,
            Self::Sparse { rows, codes } => (rows.capacity() + codes.capacity()) * 4,
        }
    }
}
