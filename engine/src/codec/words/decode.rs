//! Decoding pages of codes into the numbers of their values.
//!
//! A look into the table needs the bits that the look before has left over, so that most of its
//! time is waiting. Two pages are decoded at once where both are wanted: the looks into one do not
//! wait for those into the other.

use super::super::CodecResult;
use super::super::paged::Followed;
use super::limits::TABLE_BITS_MAX;
use super::table::{ENTRY_VALUES, Entry, Table};

/// Looks into the table for each read of eight bytes: their codes fit into what is left of them.
const LOOKS: usize = 5;
const _: () = assert!(LOOKS * TABLE_BITS_MAX as usize <= 64 - 7);
/// The bytes of the numbers of an entry, which are written at once, however many of them count.
const ENTRY_BYTES: usize = 8;

/// The numbers of the values of rows that begin with a page.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Of each page, followed by what the last entry writes beyond it.
    bytes: Vec<u8>,
    page_rows: usize,
    rows: usize,
}

impl Numbers {
    /// Decodes `rows` rows from the beginning of `pages`, of which each but the last has
    /// `page_rows` rows. Fails unless all codes end with their page; only some of the last one are
    /// read if `last_is_partial`.
    pub(super) fn decode(
        table: &Table,
        pages: &[Followed<'_>],
        (page_rows, rows): (usize, usize),
        last_is_partial: bool,
    ) -> CodecResult<Self> {
        let mut bytes = vec![0; rows + pages.len() * ENTRY_BYTES];
        let places = bytes.chunks_mut(page_rows + ENTRY_BYTES);
        let mut lanes = pages.iter().zip(places).map(|(page, place)| Lane::new(page, place));
        while let Some(first) = lanes.next() {
            let Some(second) = lanes.next() else {
                first.finish(table, last_is_partial)?;
                break;
            };
            let [first, second] = groups(table, [first, second])?;
            let is_partial = last_is_partial && lanes.len() == 0;
            first.finish(table, false)?;
            second.finish(table, is_partial)?;
        }
        Ok(Self { bytes, page_rows, rows })
    }

    /// Returns the numbers of rows of one page.
    pub(super) fn of(&self, rows: std::ops::Range<usize>) -> &[u8] {
        let before = rows.start / self.page_rows * ENTRY_BYTES;
        self.bytes.get(rows.start + before..rows.end + before).unwrap_or_default()
    }

    /// Returns the numbers of each page.
    pub(super) fn pages(&self) -> impl Iterator<Item = &[u8]> {
        let starts = (0..self.rows).step_by(self.page_rows);
        starts.map(|start| self.of(start..self.rows.min(start + self.page_rows)))
    }
}

/// A page of codes, and what was decoded of it.
struct Lane<'a> {
    page: &'a Followed<'a>,
    /// The bits that were read.
    bit: usize,
    numbers: &'a mut [u8],
    /// The rows that were decoded.
    at: usize,
}

impl<'a> Lane<'a> {
    fn new(page: &'a Followed<'a>, numbers: &'a mut [u8]) -> Self {
        Self { page, bit: 0, numbers, at: 0 }
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
        let rest = self.page.bytes.get(self.bit / 8..).unwrap_or_default();
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

    /// Decodes one word, of which the code may be too long for the table.
    fn word(&mut self, table: &Table) -> CodecResult<()> {
        let (word, bits) = table.word(self.next_bits())?;
        self.put(word, bits, table.word_values());
        Ok(())
    }

    /// Decodes what is left of the rows. Fails unless the codes end with the page, or before its
    /// end if it `is_partial`.
    fn finish(self, table: &Table, is_partial: bool) -> CodecResult<()> {
        let [mut lane] = groups(table, [self])?;
        while lane.at < lane.rows() {
            lane.word(table)?;
        }
        lane.page.expect_read(lane.bit.div_ceil(8), is_partial)
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
