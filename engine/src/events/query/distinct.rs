//! Counting texts each once, over many sources: a number for every text, by its hash.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::super::{NO_CODE, TextHashes};

/// The numbers of texts, from 0 in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    texts: HashTable<Numbered>,
}

/// A hash in two halves, so that it is no more aligned than need be.
#[derive(Debug)]
struct Numbered {
    low: u64,
    high: u64,
    number: u32,
}

impl Numbering {
    /// The number of the text with this hash; a new one when it has none.
    #[inline]
    fn number(&mut self, hash: u128) -> u32 {
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        let next = self.texts.len() as u32;
        let is_it = |text: &Numbered| text.low == low && text.high == high;
        match self.texts.entry(low, is_it, |text| text.low) {
            Entry::Occupied(text) => text.get().number,
            Entry::Vacant(place) => {
                place.insert(Numbered { low, high, number: next });
                next
            }
        }
    }

    /// Numbers the texts of another numbering; answers the number here of each number there.
    pub(super) fn take_in(&mut self, other: &Self) -> Vec<u32> {
        let mut numbers = vec![0; other.texts.len()];
        // A table walked in its own order crowds one end of a smaller one.
        self.texts.reserve(other.texts.len(), |text| text.low);
        for text in &other.texts {
            let hash = u128::from(text.high) << 64 | u128::from(text.low);
            if let Some(slot) = numbers.get_mut(text.number as usize) {
                *slot = self.number(hash);
            }
        }
        numbers
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.texts.allocation_size()
    }
}

/// The texts of a source, each with its number once it was met.
#[derive(Debug)]
pub(super) struct SourceTexts<'r> {
    column: &'r TextHashes,
    /// [`NO_CODE`] for those that were not met.
    numbers: Vec<u32>,
}

impl<'r> SourceTexts<'r> {
    pub(super) fn new(column: &'r TextHashes) -> Self {
        Self { column, numbers: vec![NO_CODE; column.hashes.len()] }
    }

    /// The number of a row's text, if it has one.
    #[inline]
    pub(super) fn number_of(&mut self, row: u32, numbering: &mut Numbering) -> Option<u32> {
        let code = *self.column.codes.get(row as usize)? as usize;
        let number = self.numbers.get_mut(code)?;
        if *number == NO_CODE {
            *number = numbering.number(*self.column.hashes.get(code)?);
        }
        Some(*number)
    }
}
