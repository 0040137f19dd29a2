//! A table that gives strings numbers, by their hash.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

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
    /// Returns the number of the string with this hash, if it has one.
    pub(super) fn get(&self, hash: u128) -> Option<u32> {
        let (low, high) = halves(hash);
        let matches = |text: &NumberedString| text.low == low && text.high == high;
        self.strings.find(low, matches).map(|text| text.number)
    }

    /// Returns the number of the string with this hash, assigning a new one if it has none.
    #[inline]
    pub(super) fn number(&mut self, hash: u128) -> u32 {
        let (low, high) = halves(hash);
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

    /// Makes room for so many more strings.
    pub(super) fn reserve(&mut self, more: usize) {
        self.strings.reserve(more, |text| text.low);
    }

    /// Returns the number of strings.
    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }

    /// Returns the bytes by which the table grows for so many more strings, at most.
    pub(super) fn growth(&self, more: usize) -> usize {
        let strings = self.strings.len() + more;
        if strings <= self.strings.capacity() {
            return 0;
        }
        // Seven of eight places are filled; each has a byte beside it.
        let places = (strings * 8 / 7 + 16).next_power_of_two();
        (places * (size_of::<NumberedString>() + 1) + 64).saturating_sub(self.bytes())
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.strings.allocation_size()
    }
}

fn halves(hash: u128) -> (u64, u64) {
    (hash as u64, (hash >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_no_less_than_the_table_grows() {
        let mut numbering = Numbering::default();
        for strings in 0..3_000 {
            let (before, growth) = (numbering.bytes(), numbering.growth(1));
            numbering.reserve(1);
            numbering.number(strings * 0x9e37_79b9_7f4a_7c15);
            assert!(numbering.bytes() - before <= growth, "{strings} strings");
        }
    }
}
