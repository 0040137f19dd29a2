//! A column of `i64`: constant, bit-packed, in a code of words or compressed by pco, whichever is
//! smallest.
//!
//! ```text
//! rows: varint │ form: u8 │ body
//!   0 constant   value: signed varint
//!   1 packed     min: signed varint │ width: u8 │ rows × width bits, little-endian
//!   2 pco        see `pco_pages.rs`
//!   3 words      see `words/mod.rs`
//!   4 words      the same, of consecutive values, with a code that follows from their costs
//!   5 words      the same, of consecutive values
//! ```
//!
//! Rows are decoded one page of [`PAGE_ROWS`] at a time. Values are stored as given, so that each
//! page can be decoded alone; callers take deltas first where that helps.

use std::ops::Range;

use super::bits::BitWriter;
use super::bytes::{Reader, put_signed, put_varint};
use super::paged::PAGES_AT_ONCE;
use super::pco_pages::{self, PcoPages};
use super::runs::RunStarts;
use super::words::{self, CodeForm, WordPages};
use super::{CodecError, CodecResult};
use crate::cast::{low_byte, low_word};

/// Rows per page: enough for pco to compress nearly as well as possible, few enough to decode for a
/// single series.
pub(crate) const PAGE_ROWS: usize = 4096;

/// Below this many rows, the metadata of pco and of a code outweighs their savings.
const COMPRESSED_ROWS_MIN: usize = 96;

const FORM_CONSTANT: u8 = 0;
const FORM_PACKED: u8 = 1;
const FORM_PCO: u8 = 2;
const FORM_WORDS: u8 = 3;
const FORM_WORDS_BY_COSTS: u8 = 4;
const FORM_CONSECUTIVE_WORDS: u8 = 5;

/// How much work to spend on a small encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For a seal, while samples wait in memory.
    Seal,
    /// For a compaction in the background, whose output stays.
    Merge,
    /// No compression. The fallback when a compressed encoding does not decode to its input.
    Plain,
}

impl Effort {
    /// Returns the compression level of pco; `None` when it is not used.
    fn level(self) -> Option<usize> {
        match self {
            Self::Seal => Some(4),
            Self::Merge => Some(8),
            Self::Plain => None,
        }
    }
}

/// Appends `values` as a column.
pub(crate) fn encode(values: &[i64], effort: Effort, out: &mut Vec<u8>) -> CodecResult<()> {
    put_varint(out, values.len() as u64);
    let Some((&first, rest)) = values.split_first() else { return Ok(()) };
    let (min, max) = rest.iter().fold((first, first), |(lo, hi), &v| (lo.min(v), hi.max(v)));
    if min == max {
        out.push(FORM_CONSTANT);
        put_signed(out, first);
        return Ok(());
    }
    let width = 64 - max.wrapping_sub(min).cast_unsigned().leading_zeros();
    let packed_bytes = (values.len() * width as usize).div_ceil(8);
    if values.len() >= COMPRESSED_ROWS_MIN
        && let Some(level) = effort.level()
    {
        let mark = out.len();
        encode_compressed(values, (min, max), level, out)?;
        if out.len() - mark < packed_bytes {
            return Ok(());
        }
        out.truncate(mark);
    }
    out.push(FORM_PACKED);
    put_signed(out, min);
    out.push(low_byte(u64::from(width)));
    pack(values, min, width, out);
    Ok(())
}

/// Appends a code of words where it is about as small as pco can be, since it takes a seventh of
/// the time to encode and a third to decode; otherwise the smaller of both.
fn encode_compressed(
    values: &[i64],
    range: (i64, i64),
    level: usize,
    out: &mut Vec<u8>,
) -> CodecResult<()> {
    let words = words::Plan::new(values, range, PAGE_ROWS);
    if let Some(words) = words.as_ref().filter(|words| words.is_near_entropy()) {
        put_words(words, out);
        return Ok(());
    }
    let mark = out.len();
    out.push(FORM_PCO);
    pco_pages::encode(values, PAGE_ROWS, level, out)?;
    if let Some(words) = words.filter(|words| words.bytes() < out.len() - mark) {
        out.truncate(mark);
        put_words(&words, out);
    }
    Ok(())
}

fn put_words(words: &words::Plan, out: &mut Vec<u8>) {
    out.push(match words.form() {
        CodeForm::Lengths => FORM_WORDS,
        CodeForm::LengthsOfConsecutive => FORM_CONSECUTIVE_WORDS,
        CodeForm::Costs => FORM_WORDS_BY_COSTS,
    });
    words.encode(PAGE_ROWS, out);
}

fn pack(values: &[i64], min: i64, width: u32, out: &mut Vec<u8>) {
    let mut bits = BitWriter::default();
    for &value in values {
        bits.push(value.wrapping_sub(min).cast_unsigned(), width, out);
    }
    bits.finish(out);
}

fn unpack(bytes: &[u8], min: i64, width: usize, skip: usize, out: &mut [i64]) {
    let mask = u64::MAX >> (64 - width);
    let first_bit = skip * width;
    let mut source = bytes.get(first_bit / 8..).unwrap_or_default().iter();
    let mut pending = 0u128;
    let mut bits = 0;
    let mut drop_bits = first_bit % 8;
    for row in out {
        while bits < width + drop_bits {
            pending |= u128::from(source.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        pending >>= drop_bits;
        bits -= drop_bits;
        drop_bits = 0;
        *row = min.wrapping_add((low_word(pending) & mask).cast_signed());
        pending >>= width;
        bits -= width;
    }
}

/// A column in a block, opened but not decoded.
#[derive(Debug)]
pub(crate) struct IntegerColumn<'a> {
    rows: usize,
    body: Body<'a>,
}

#[derive(Debug)]
enum Body<'a> {
    Constant(i64),
    Packed { min: i64, width: usize, bytes: &'a [u8] },
    Pco(PcoPages<'a>),
    Words(WordPages<'a>),
}

impl<'a> Body<'a> {
    fn words(form: CodeForm, reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        WordPages::read(form, reader, (rows, PAGE_ROWS)).map(Self::Words)
    }
}

impl<'a> IntegerColumn<'a> {
    /// Reads the column at the position of `reader`. Fails when it has more than `rows_max` rows.
    pub(crate) fn read(reader: &mut Reader<'a>, rows_max: usize) -> CodecResult<Self> {
        let rows = reader.count("rows", rows_max)?;
        if rows == 0 {
            return Ok(Self { rows, body: Body::Constant(0) });
        }
        let body = match reader.u8()? {
            FORM_CONSTANT => Body::Constant(reader.signed()?),
            FORM_PACKED => {
                let min = reader.signed()?;
                let width = usize::from(reader.u8()?);
                if !(1..=64).contains(&width) {
                    return Err(CodecError::new(format!(
                        "invalid width of packed integers: {width} bits"
                    )));
                }
                Body::Packed { min, width, bytes: reader.take((rows * width).div_ceil(8))? }
            }
            FORM_PCO => Body::Pco(PcoPages::read(reader, rows.div_ceil(PAGE_ROWS))?),
            FORM_WORDS => Body::words(CodeForm::Lengths, reader, rows)?,
            FORM_WORDS_BY_COSTS => Body::words(CodeForm::Costs, reader, rows)?,
            FORM_CONSECUTIVE_WORDS => Body::words(CodeForm::LengthsOfConsecutive, reader, rows)?,
            form => return Err(CodecError::new(format!("unknown integer encoding {form}"))),
        };
        Ok(Self { rows, body })
    }

    /// Reads the column at the position of `reader`. Fails unless it has `rows` rows.
    pub(crate) fn read_exactly(reader: &mut Reader<'a>, rows: usize) -> CodecResult<Self> {
        let column = Self::read(reader, rows)?;
        column.check_rows(rows)?;
        Ok(column)
    }

    /// Fails unless the column has `wanted` rows.
    pub(super) fn check_rows(&self, wanted: usize) -> CodecResult<()> {
        if self.rows == wanted {
            Ok(())
        } else {
            Err(CodecError::new(format!("expected {wanted} rows, found {}", self.rows)))
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows of a page.
    pub(crate) fn rows_of_page(&self, page: usize) -> usize {
        self.rows.saturating_sub(page * PAGE_ROWS).min(PAGE_ROWS)
    }

    /// Decodes page `page` into `out`, replacing its contents.
    pub(crate) fn page(&self, page: usize, out: &mut Vec<i64>) -> CodecResult<()> {
        self.prefix(page, PAGE_ROWS, out)
    }

    /// Decodes `rows` rows from the beginning of page `page` into `out`, replacing its contents,
    /// and a few more where that is no work.
    pub(crate) fn prefix(&self, page: usize, rows: usize, out: &mut Vec<i64>) -> CodecResult<()> {
        self.resize(page, rows, out);
        self.fill(page, out)
    }

    /// Decodes like [`Self::prefix`], and adds up the rows of each run, from its first value on.
    pub(super) fn running_sums(
        &self,
        (page, rows): (usize, usize),
        starts: &RunStarts<'_>,
        out: &mut Vec<i64>,
    ) -> CodecResult<()> {
        self.resize(page, rows, out);
        if let Body::Words(words) = &self.body {
            return words.running_sums(page, starts, out);
        }
        self.fill(page, out)?;
        starts.add_up(out);
        Ok(())
    }

    /// Returns whether decoding can begin in the middle of a page: [`Self::some_running_sums`].
    pub(super) fn may_have_stops(&self) -> bool {
        matches!(self.body, Body::Words(_))
    }

    /// Returns whether stops were noted by earlier reads.
    pub(super) fn has_noted_stops(&self) -> bool {
        matches!(&self.body, Body::Words(words) if words.has_noted_stops())
    }

    /// Has reads note stops from now on, if there may be any.
    pub(super) fn note_stops(&self) {
        if let Body::Words(words) = &self.body {
            words.note_stops();
        }
    }

    /// Decodes like [`Self::running_sums`], but only `rows`, whose first one is the first of
    /// `starts`, up to the end of the second page. Returns whether that is possible.
    pub(super) fn some_running_sums(
        &self,
        rows: Range<usize>,
        starts: &RunStarts<'_>,
        out: &mut Vec<i64>,
    ) -> CodecResult<bool> {
        let Body::Words(words) = &self.body else { return Ok(false) };
        let pages_end = (rows.start / PAGE_ROWS + PAGES_AT_ONCE) * PAGE_ROWS;
        out.resize(rows.end.min(self.rows).min(pages_end).saturating_sub(rows.start), 0);
        words.some_running_sums(rows.start, starts, out)?;
        Ok(true)
    }

    /// Decodes `rows`, which are in one page, into `out`, replacing its contents: from the last
    /// stop before them where there are stops.
    pub(crate) fn some(&self, rows: Range<usize>, out: &mut Vec<i64>) -> CodecResult<()> {
        let page = rows.start / PAGE_ROWS;
        let before = rows.start - page * PAGE_ROWS;
        out.resize(rows.end.min(self.rows).saturating_sub(rows.start), 0);
        match &self.body {
            Body::Constant(value) => out.fill(*value),
            Body::Packed { min, width, bytes } => unpack(bytes, *min, *width, rows.start, out),
            Body::Words(words) => words.some(rows.start, out)?,
            Body::Pco(_) => {
                self.prefix(page, rows.end - page * PAGE_ROWS, out)?;
                out.drain(..before.min(out.len()));
                out.truncate(rows.len());
            }
        }
        Ok(())
    }

    fn resize(&self, page: usize, rows: usize, out: &mut Vec<i64>) {
        let left = self.rows.saturating_sub(page * PAGE_ROWS);
        // Not cleared first: rows that are overwritten need no zeros.
        out.resize(rows.next_multiple_of(pco_pages::BATCH_ROWS).min(left), 0);
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(crate) fn prepare(&self) -> CodecResult<()> {
        match &self.body {
            Body::Pco(pco) => pco.prepare(),
            Body::Words(words) => words.prepare(),
            Body::Constant(_) | Body::Packed { .. } => Ok(()),
        }
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(crate) fn bytes(&self) -> usize {
        match &self.body {
            Body::Pco(pco) => pco.bytes(),
            Body::Words(words) => words.bytes(),
            Body::Constant(_) | Body::Packed { .. } => 0,
        }
    }

    /// Returns the value of all rows, if they are stored as one.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self.body {
            Body::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Decodes all rows into `out`, replacing its contents.
    pub(crate) fn all(&self, out: &mut Vec<i64>) -> CodecResult<()> {
        out.resize(self.rows, 0);
        self.fill(0, out)
    }

    /// Decodes rows from the beginning of page `page` until `out` is full.
    fn fill(&self, page: usize, out: &mut [i64]) -> CodecResult<()> {
        match &self.body {
            Body::Constant(value) => out.fill(*value),
            Body::Packed { min, width, bytes } => {
                unpack(bytes, *min, *width, page * PAGE_ROWS, out);
            }
            Body::Pco(pco) => {
                for (page, out) in (page..).zip(out.chunks_mut(PAGE_ROWS)) {
                    pco.decode(page, self.rows_of_page(page), out)?;
                }
            }
            Body::Words(words) => words.decode(page, out)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::*;
    use proptest::prelude::*;

    fn check(values: &[i64]) {
        for effort in [Effort::Seal, Effort::Merge, Effort::Plain] {
            let mut bytes = Vec::new();
            encode(values, effort, &mut bytes).unwrap();
            let mut reader = Reader::new(&bytes);
            let column = IntegerColumn::read(&mut reader, values.len()).unwrap();
            reader.finish().unwrap();
            let mut out = vec![7];
            column.all(&mut out).unwrap();
            assert_eq!(out, values);
            for (page, expected) in values.chunks(PAGE_ROWS).enumerate() {
                column.page(page, &mut out).unwrap();
                assert_eq!(out, expected, "page {page}");
                let left = &values[page * PAGE_ROWS..];
                for rows in [1, 255, 256, 257, PAGE_ROWS - 1, PAGE_ROWS + 40, 2 * PAGE_ROWS] {
                    column.prefix(page, rows, &mut out).unwrap();
                    assert!(out.len() >= rows.min(left.len()), "{rows} rows of page {page}");
                    assert_eq!(out, left[..out.len()], "{rows} rows of page {page}");
                    check_sums(&column, (page, rows), values);
                }
                let last = expected.len() - 1;
                for (from, to) in [(1, 2), (7, 300), (last / 2, last), (last, last + 1)] {
                    let (from, to) = (from.min(last), to.min(last + 1));
                    column.some(page * PAGE_ROWS + from..page * PAGE_ROWS + to, &mut out).unwrap();
                    assert_eq!(out, &expected[from..to], "rows {from}..{to} of page {page}");
                }
            }
        }
    }

    /// Checks the sums of runs of different lengths against those of all rows.
    fn check_sums(column: &IntegerColumn<'_>, (page, rows): (usize, usize), values: &[i64]) {
        let lengths = (0..).map(|run| 1 + run * run % 1500).scan(values.len(), |left, length| {
            let length = length.min(*left);
            *left -= length;
            (length > 0).then_some(length)
        });
        let lengths: Vec<usize> = lengths.collect();
        let runs = Runs::new(lengths.iter().copied());
        let firsts: Vec<i64> = (0..runs.lengths().len() as i64).map(|run| run * 1000).collect();
        let mut expected = values.to_vec();
        let mut rest = expected.as_mut_slice();
        for (length, first) in runs.lengths().iter().zip(&firsts) {
            let (run, further) = rest.split_at_mut(*length as usize);
            run.iter_mut().fold(*first, |sum, row| {
                *row = sum.wrapping_add(*row);
                *row
            });
            rest = further;
        }
        let mut out = Vec::new();
        let starts = runs.starts(page, &firsts).unwrap();
        column.running_sums((page, rows), &starts, &mut out).unwrap();
        assert_eq!(out, expected[page * PAGE_ROWS..][..out.len()], "{rows} rows of page {page}");
        assert!(firsts.is_empty() || runs.starts(page, &firsts[1..]).is_err());
    }

    #[test]
    fn a_column_of_another_length_is_refused() {
        let mut bytes = Vec::new();
        encode(&[5; 10], Effort::Seal, &mut bytes).unwrap();
        let read = |rows| IntegerColumn::read_exactly(&mut Reader::new(&bytes), rows);
        assert_eq!(read(10).unwrap().rows(), 10);
        assert_eq!(read(11).unwrap_err().to_string(), "expected 11 rows, found 10");
        assert!(read(9).is_err());
    }

    #[test]
    fn every_encoding_round_trips() {
        check(&[]);
        check(&[i64::MIN]);
        check(&[5; 10_000]);
        check(&[i64::MIN, i64::MAX, 0, -1]);
        check(&(0..50).map(|i| i * i - 7).collect::<Vec<_>>());
        check(&(0..10_000).map(|i| i * i % 1013 - 500).collect::<Vec<_>>());
        let walk = |i: i64| if i % 3001 == 17 { 1 << 40 } else { i * i % 5 - 2 };
        check(&(0..14_000).map(walk).collect::<Vec<_>>());
        check(&(0..14_000).map(|i| i * i % 5 - 2).collect::<Vec<_>>());
        check(
            &(0..9_000)
                .map(|i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64))
                .collect::<Vec<_>>(),
        );
    }

    proptest! {
        #[test]
        fn any_values_round_trip(values in proptest::collection::vec(any::<i64>(), 0..300)) {
            check(&values);
        }

        #[test]
        fn small_values_round_trip(values in proptest::collection::vec(-9i64..9, 0..6000)) {
            check(&values);
        }

        #[test]
        fn arbitrary_bytes_never_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(column) = IntegerColumn::read(&mut Reader::new(&bytes), 5000) {
                let mut out = Vec::new();
                if column.all(&mut out).is_ok() {
                    prop_assert_eq!(out.len(), column.rows());
                }
            }
        }
    }
}
