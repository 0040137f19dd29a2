//! Codes of a column of strings: which string each row has. Layout: see [`super`].

use std::ops::Range;

use roaring::RoaringBitmap;

use super::memory::InMemory;
use crate::cast::{checked_u32, low_byte, to_u32};
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
    /// One code for each row. There are at most 255 strings: the columns that are read most, such
    /// as the names of events, are a quarter of the size.
    DenseBytes(Vec<u8>),
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
        dense[*row as usize] = i64::from(*code);
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
        DENSE if integers.len() == rows => {
            let codes = to_codes(&integers, strings)?;
            if strings <= usize::from(u8::MAX) {
                ColumnCodes::DenseBytes(codes.iter().map(|code| low_byte((*code).into())).collect())
            } else {
                ColumnCodes::Dense(codes)
            }
        }
        SPARSE => {
            let mut row = 0;
            let mut at = Vec::with_capacity(integers.len());
            for (i, gap) in integers.iter().enumerate() {
                let next = usize::try_from(*gap).ok().and_then(|gap| gap.checked_add(row));
                row = next
                    .filter(|next| *next < rows && (i == 0 || *next > row))
                    .ok_or_else(|| CodecError::new("the rows of codes do not ascend"))?;
                at.push(to_u32(row));
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
    // A negative code is larger than any unsigned number of strings.
    let end = u64::from(to_u32(strings));
    if integers.iter().any(|code| code.cast_unsigned() > end) {
        return Err(CodecError::new("a code without a string"));
    }
    Ok(integers.iter().map(|code| checked_u32(*code)).collect())
}

/// Rows and codes are in range here, whatever the disk contained: [`decode`] has compared them with
/// the numbers of rows and strings in the header. Each index that is out of range therefore panics:
/// a default in its place would be a wrong answer to a query.
impl ColumnCodes {
    /// Returns the code of a row of the block, 0 if the row has none.
    #[inline]
    pub(super) fn code(&self, row: usize) -> u32 {
        match self {
            Self::DenseBytes(codes) => u32::from(codes[row]),
            Self::Dense(codes) => codes[row],
            Self::Sparse { rows, codes } => match rows.binary_search(&to_u32(row)) {
                Ok(at) => codes[at],
                Err(_) => 0,
            },
        }
    }

    /// Calls `with` with row and code of all rows that have one, ascending.
    pub(super) fn each(&self, mut with: impl FnMut(u32, u32)) {
        match self {
            Self::DenseBytes(codes) => each_dense(codes.iter().map(|code| u32::from(*code)), with),
            Self::Dense(codes) => each_dense(codes.iter().copied(), with),
            Self::Sparse { rows, codes } => rows.iter().zip(codes).for_each(|(r, c)| with(*r, *c)),
        }
    }

    /// Returns the number of rows of each of the `strings` distinct strings.
    pub(super) fn counts(&self, strings: usize) -> Vec<u32> {
        let mut counts = vec![0; strings];
        self.each(|_, code| counts[code as usize - 1] += 1);
        counts
    }

    /// Returns the rows of each of the `strings` distinct strings.
    pub(super) fn bitmaps(&self, strings: usize) -> Vec<RoaringBitmap> {
        let mut ends = vec![0usize; strings + 1];
        self.each(|_, code| ends[code as usize] += 1);
        let mut before = 0;
        for end in &mut ends {
            before += *end;
            *end = before;
        }
        // Each list is filled from its start, which is the end of the one before.
        let mut next: Vec<usize> = ends.clone();
        let mut rows = vec![0u32; before];
        self.each(|row, code| {
            let at = &mut next[code as usize - 1];
            rows[*at] = row;
            *at += 1;
        });
        ends.windows(2)
            .map(|bounds| {
                let mut bitmap = sorted_bitmap(rows[bounds[0]..bounds[1]].iter().copied());
                bitmap.optimize();
                bitmap
            })
            .collect()
    }

    /// Returns the rows whose code is in one of `ranges`, which ascend, do not overlap, and start
    /// at 1 or later.
    pub(super) fn rows_in(&self, ranges: &[Range<u32>]) -> RoaringBitmap {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
            return RoaringBitmap::new();
        };
        let bounds = first.start..last.end;
        let mut found = Vec::new();
        let add = |row, code| {
            let at = ranges.partition_point(|range| range.end <= code);
            if ranges.get(at).is_some_and(|range| range.start <= code) {
                found.push(row);
            }
        };
        match self {
            Self::DenseBytes(codes) => each_within(codes, &bounds, add),
            Self::Dense(codes) => each_within(codes, &bounds, add),
            Self::Sparse { .. } => self.each(add),
        }
        sorted_bitmap(found)
    }

    /// Returns the codes of all `rows` rows, counted from 0, with `absent` for rows without a code.
    pub(super) fn to_dense(&self, rows: usize, absent: u32) -> Vec<u32> {
        let mut dense = vec![absent; rows];
        self.each(|row, code| {
            dense[row as usize] = code - 1;
        });
        dense
    }
}

fn each_dense(codes: impl Iterator<Item = u32>, mut with: impl FnMut(u32, u32)) {
    codes.zip(0..).filter(|(code, _)| *code != 0).for_each(|(code, row)| with(row, code));
}

/// The number of codes that are compared without a branch.
const COMPARED_AT_ONCE: usize = 64;

/// Calls `with` with row and code of all rows whose code is within `bounds`, ascending.
fn each_within<C: Copy + Into<u32>>(
    codes: &[C],
    bounds: &Range<u32>,
    mut with: impl FnMut(u32, u32),
) {
    let count = bounds.end.saturating_sub(bounds.start);
    let is_within = |code: u32| code.wrapping_sub(bounds.start) < count;
    for (part, first) in codes.chunks(COMPARED_AT_ONCE).zip((0..).step_by(COMPARED_AT_ONCE)) {
        // Without a branch for each code, several are compared by one instruction. A rare string,
        // such as one user of many, is in few parts.
        if part.iter().fold(false, |any, code| any | is_within((*code).into())) {
            let codes = part.iter().map(|code| (*code).into()).zip(first..);
            codes.filter(|(code, _)| is_within(*code)).for_each(|(code, row)| with(row, code));
        }
    }
}

/// Returns the set of rows that ascend.
pub(super) fn sorted_bitmap(rows: impl IntoIterator<Item = u32>) -> RoaringBitmap {
    RoaringBitmap::from_sorted_iter(rows)
        .unwrap_or_else(|_| panic!("columns and sets of rows are read in ascending order of rows"))
}

impl InMemory for ColumnCodes {
    fn bytes(&self) -> usize {
        match self {
            Self::DenseBytes(codes) => codes.capacity(),
            Self::Dense(codes) => codes.capacity() * 4,
            Self::Sparse { rows, codes } => (rows.capacity() + codes.capacity()) * 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stored(form: u8, columns: &[&[i64]]) -> Vec<u8> {
        let mut bytes = vec![form];
        for column in columns {
            integers::encode(column, Effort::Seal, &mut bytes).unwrap();
        }
        bytes
    }

    #[test]
    fn codes_and_rows_out_of_range_are_corrupt() {
        let read = |form, columns: &[&[i64]]| decode(&stored(form, columns), 40, 3);
        let dense = |last: i64| [vec![1; 39], vec![last]].concat();
        assert_eq!(read(DENSE, &[&dense(3)]).unwrap().code(39), 3);
        assert_eq!(read(SPARSE, &[&[0, 39], &[1, 2]]).unwrap().code(39), 2);
        for code in [4, -1, 1 << 32] {
            assert!(read(DENSE, &[&dense(code)]).is_err(), "{code}");
            assert!(read(SPARSE, &[&[0, 39], &[1, code]]).is_err(), "{code}");
        }
        assert!(read(DENSE, &[&[1; 39]]).is_err(), "too few");
        for gap in [40, 0, -1, i64::MIN, i64::MAX] {
            assert!(read(SPARSE, &[&[0, gap], &[1, 2]]).is_err(), "{gap}");
        }
    }

    #[test]
    fn all_codes_are_read_whatever_their_size_in_memory() {
        for strings in [1, 254, 255, 256, 65_536] {
            let codes = [0, 1, strings as i64, 0, 1];
            let read = decode(&stored(DENSE, &[&codes]), codes.len(), strings).unwrap();
            let is_small = matches!(read, ColumnCodes::DenseBytes(_));
            assert_eq!(is_small, strings <= 255);
            assert_eq!(read.bytes(), codes.len() * if is_small { 1 } else { 4 });
            assert!((0..5).all(|row| i64::from(read.code(row)) == codes[row]), "{strings}");
            let mut each = Vec::new();
            read.each(|row, code| each.push((row, i64::from(code))));
            assert_eq!(each, [(1, 1), (2, strings as i64), (4, 1)]);
            assert!(decode(&stored(DENSE, &[&[strings as i64 + 1]]), 1, strings).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_rows_of_ranges_of_codes_are_found(
            codes in proptest::collection::vec(0u32..12, 0..300),
            is_rare: bool,
            strings in proptest::sample::select(vec![12usize, 255, 256, 1_000]),
            mut bounds in proptest::collection::vec(1u32..14, 0..7),
        ) {
            bounds.sort_unstable();
            let ranges: Vec<_> = bounds.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
            let mut cells: Vec<(u32, u32)> = (0..).zip(codes.iter().copied()).collect();
            cells.retain(|(row, code)| *code != 0 && (!is_rare || row % 16 == 7));
            let mut bytes = Vec::new();
            encode(&cells, codes.len(), Effort::Seal, &mut bytes).unwrap();
            let read = decode(&bytes, codes.len(), strings).unwrap();
            let is_wanted = |code: &u32| ranges.iter().any(|range| range.contains(code));
            let expected = cells.iter().filter(|(_, code)| is_wanted(code)).map(|(row, _)| *row);
            prop_assert_eq!(read.rows_in(&ranges), expected.collect::<RoaringBitmap>());
        }
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_row_that_the_block_does_not_have_has_no_code() {
        ColumnCodes::Dense(vec![1, 2]).code(2);
    }
}
