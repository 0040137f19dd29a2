//! Distinct counts of strings over many sources: every string gets a number, by its hash.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::super::{NO_CODE, StringHashes};

/// Numbers of strings, from 0 in order of first occurrence.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    strings: HashTable<NumberedString>,
}

/// A 128-bit hash in two halves, which need an alignment of only 8 bytes.
#[derive(Debug)]
struct NumberedString {
    low: u64,
    high: u64,
    number: u32,
}

impl Numbering {
    /// Returns the number of the string with this hash, assigning a new one if it has none.
    #[inline]
    fn number(&mut self, hash: u128) -> u32 {
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        let next = self.strings.len() as u32;
        let matches = |text: &NumberedString| text.low == low && text.high == high;
        match self.strings.entry(low, matches, |text| text.low) {
            Entry::Occupied(text) => text.get().number,
            Entry::Vacant(place) => {
                place.insert(NumberedString { low, high, number: next });
                next
            }
        }
    }

    /// Adds the strings of `other`. Returns, for each number of `other`, the number of the same
    /// string here.
    pub(super) fn merge(&mut self, other: &Self) -> Vec<u32> {
        let mut numbers = vec![0; other.strings.len()];
        // Reserved up front: inserting the entries of one hash table into a smaller one in table
        // order clusters them at one end.
        self.strings.reserve(other.strings.len(), |text| text.low);
        for text in &other.strings {
            let hash = u128::from(text.high) << 64 | u128::from(text.low);
            numbers[text.number as usize] = self.number(hash);
        }
        numbers
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.strings.allocation_size()
    }
}

/// The strings of a source, each with its number once known.
#[derive(Debug)]
pub(super) struct SourceStrings<'r> {
    column: &'r StringHashes,
    /// [`NO_CODE`] where the number is not known yet.
    numbers: Vec<u32>,
}

impl<'r> SourceStrings<'r> {
    pub(super) fn new(column: &'r StringHashes) -> Self {
        Self { column, numbers: vec![NO_CODE; column.hashes.len()] }
    }

    /// Returns the number of a row's string, or `None` if it has none.
    #[inline]
    pub(super) fn number_of(&mut self, row: u32, numbering: &mut Numbering) -> Option<u32> {
        let code = self.column.codes[row as usize] as usize;
        // There is no number for `NO_CODE`.
        let number = self.numbers.get_mut(code)?;
        if *number == NO_CODE {
            *number = numbering.number(self.column.hashes[code]);
        }
        Some(*number)
    }
}
