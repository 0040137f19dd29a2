//! Decoding pages of codes into the numbers of their values.
//!
//! A look into the table needs the bits that the look before has left over, so that most of its
//! time is waiting. Two pages are decoded at once where both are wanted: the looks into one do not
//! wait for those into the other.
//!
//! Few rows are decoded without the table, word by word: [`Lane::decode_few`].

use std::ops::Range;

use super::super::CodecResult;
use super::super::paged::Followed;
use super::limits::{CODE_BITS_MAX, TABLE_BITS_MAX};
use super::stops::{PageStops, Stop};
use super::table::{ENTRY_VALUES, Entry, Table};

/// Looks into the table for each read of eight bytes: their codes fit into what is left of them.
const LOOKS: usize = 5;
const _: () = assert!(LOOKS * TABLE_BITS_MAX as usize <= 64 - 7);
/// Words that are found by their codes for each read of eight bytes.
const WORDS: usize = 3;
const _: () = assert!(WORDS * CODE_BITS_MAX as usize <= 64 - 7);
/// Up to so many rows are decoded without the table. It is larger than all of their codes, and
/// where few rows of many blocks are read, each look would wait for memory.
const FEW_ROWS: usize = 512;
/// The bytes of the numbers of an entry, which are written at once, however many of them count.
const ENTRY_BYTES: usize = 8;

/// Rows of a page to decode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) page: &'a Followed<'a>,
    /// Where decoding begins.
    pub(super) from: Stop,
    /// The row of the page after the last one to decode: that of another stop, the last one that is
    /// wanted, or the end of the page.
    pub(super) end: usize,
    /// Whether rows of the page follow that are not decoded.
    pub(super) is_partial: bool,
    /// Where stops are noted.
    pub(super) stops: PageStops<'a>,
}

/// The numbers of the values of rows.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Of each part, followed by what the last entry writes beyond it.
    bytes: Vec<u8>,
    /// Where each part is.
    parts: Vec<Range<usize>>,
}

impl Numbers {
    /// Decodes parts of pages, two at once. Fails unless the codes of a page end with it, or not
    /// before it where only a part is decoded.
    pub(super) fn decode(table: &Table, parts: &[Part<'_>]) -> CodecResult<Self> {
        let rows = |part: &Part<'_>| part.end.saturating_sub(part.from.row);
        let mut end = 0;
        let places = parts.iter().map(|part| {
            let start = end;
            end += rows(part) + ENTRY_BYTES;
            start..start + rows(part)
        });
        let places: Vec<Range<usize>> = places.collect();
        let is_few = parts.iter().map(rows).sum::<usize>() <= FEW_ROWS;
        let mut bytes = vec![0; end];
        let mut rest = bytes.as_mut_slice();
        let mut lanes = parts.iter().map(|part| {
            let (numbers, further) =
                std::mem::take(&mut rest).split_at_mut(rows(part) + ENTRY_BYTES);
            rest = further;
            Lane::new(part, numbers)
        });
        if is_few {
            lanes.try_for_each(|lane| lane.decode_few(table))?;
            return Ok(Self { bytes, parts: places });
        }
        while let Some(first) = lanes.next() {
            let Some(second) = lanes.next() else {
                first.finish(table)?;
                break;
            };
            let [first, second] = groups(table, [first, second])?;
            first.finish(table)?;
            second.finish(table)?;
        }
        Ok(Self { bytes, parts: places })
    }

    /// Returns the numbers of rows of a part, counted from its first one.
    #[inline]
    pub(super) fn of(&self, part: usize, rows: Range<usize>) -> &[u8] {
        self.part(part).get(rows).unwrap_or_default()
    }

    /// Returns the numbers of a part.
    #[inline]
    pub(super) fn part(&self, part: usize) -> &[u8] {
        self.parts.get(part).and_then(|at| self.bytes.get(at.clone())).unwrap_or_default()
    }
}

/// A part of a page, and what was decoded of it.
struct Lane<'a> {
    part: &'a Part<'a>,
    /// The bits of the page that were read.
    bit: usize,
    numbers: &'a mut [u8],
    /// The rows that were decoded.
    at: usize,
    /// The rows after which a stop is noted.
    next_noted: usize,
}

impl<'a> Lane<'a> {
    fn new(part: &'a Part<'a>, numbers: &'a mut [u8]) -> Self {
        let next_noted = part.stops.next_noted(part.from.row) - part.from.row;
        Self { part, bit: part.from.bit, numbers, at: 0, next_noted }
    }

    #[inline]
    fn rows(&self) -> usize {
        self.numbers.len().saturating_sub(ENTRY_BYTES)
    }

    /// Returns whether as many rows are left as [`LOOKS`] entries may have.
    #[inline]
    fn has_group(&self) -> bool {
        self.at + LOOKS * ENTRY_VALUES <= self.rows()
    }

    /// Returns the next bits: 57 at least, of which those beyond the end are zero.
    #[inline]
    fn next_bits(&self) -> u64 {
        let rest = self.part.page.bytes.get(self.bit / 8..).unwrap_or_default();
        let next = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            last
        });
        u64::from_le_bytes(next) >> (self.bit % 8)
    }

    #[inline]
    fn put(&mut self, entry: Entry, bits: usize, values: usize) {
        let rest = self.numbers.get_mut(self.at..).unwrap_or_default();
        if let Some(place) = rest.first_chunk_mut::<ENTRY_BYTES>() {
            *place = entry.numbers();
        }
        self.bit += bits;
        self.at += values;
    }

    /// Notes a stop if enough rows were decoded since the last one.
    #[inline]
    fn note_stop(&mut self) {
        if self.at >= self.next_noted {
            let Part { from, stops, .. } = self.part;
            let stop = Stop { row: from.row + self.at, bit: self.bit };
            stops.note(stop);
            self.next_noted = stops.next_noted(stop.row) - from.row;
        }
    }

    /// Decodes one word, of which the code may be too long for the table.
    fn word(&mut self, table: &Table) -> CodecResult<()> {
        let (word, bits) = table.word(self.next_bits())?;
        self.put(word, bits, table.word_values());
        Ok(())
    }

    /// Decodes few rows without the table. Fails like [`Self::finish`].
    fn decode_few(mut self, table: &Table) -> CodecResult<()> {
        let (rows, values) = (self.rows(), table.word_values());
        while self.at < rows {
            let mut next = self.next_bits().reverse_bits();
            for _ in 0..WORDS {
                let (word, bits) = table.find(next)?;
                next <<= bits;
                let rest = self.numbers.get_mut(self.at..).unwrap_or_default();
                if let Some(place) = rest.first_chunk_mut() {
                    *place = word.to_le_bytes();
                }
                self.bit += bits as usize;
                self.at += values;
                if self.at >= rows {
                    break;
                }
            }
            self.note_stop();
        }
        let Part { page, is_partial, .. } = self.part;
        page.expect_read(self.bit.div_ceil(8), *is_partial)
    }

    /// Decodes what is left of the rows. Fails unless the codes end with the page, or before its
    /// end if only a part is decoded.
    fn finish(self, table: &Table) -> CodecResult<()> {
        let [mut lane] = groups(table, [self])?;
        while lane.at < lane.rows() {
            lane.word(table)?;
        }
        let Part { page, is_partial, .. } = lane.part;
        page.expect_read(lane.bit.div_ceil(8), *is_partial)
    }
}

/// Decodes rows of all lanes in turn, until one of them has only few left.
fn groups<'a, const LANES: usize>(
    table: &Table,
    mut lanes: [Lane<'a>; LANES],
) -> CodecResult<[Lane<'a>; LANES]> {
    while lanes.iter().all(Lane::has_group) {
        let mut next = lanes.each_ref().map(Lane::next_bits);
        let mut last = [Entry::default(); LANES];
        for _ in 0..LOOKS {
            for ((lane, next), last) in lanes.iter_mut().zip(&mut next).zip(&mut last) {
                *last = table.entry(*next);
                *next >>= last.bits();
                lane.put(*last, last.bits(), last.values());
            }
        }
        lanes.iter_mut().for_each(Lane::note_stop);
        // A look that finds a code that is too long for the table takes no bits, so that all looks
        // after it find the same.
        for (lane, last) in lanes.iter_mut().zip(last) {
            if last == Entry::default() {
                lane.word(table)?;
            }
        }
    }
    Ok(lanes)
}
