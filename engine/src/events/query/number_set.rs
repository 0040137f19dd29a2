//! A set of numbers of strings: a bit for each number where many rows are expected, and a bitmap of
//! ranges for all others.

use roaring::RoaringBitmap;

/// Approximate bytes of a bitmap container, without its values.
const CONTAINER_BYTES: usize = 64;
/// Bits are worth it from one row on for so many numbers: they then take at most four bytes for
/// each row.
const NUMBERS_PER_ROW: u64 = 32;

/// A set of numbers.
#[derive(Debug, Default)]
pub(super) struct NumberSet {
    /// The rows that were expected so far.
    rows: u64,
    /// A bit for each number below a bound.
    bits: Vec<u64>,
    /// The numbers beyond.
    rest: RoaringBitmap,
}

impl NumberSet {
    /// Returns the bytes by which the bits grow for `rows` more rows with numbers mostly below
    /// `bound`.
    pub(super) fn growth(&self, rows: u64, bound: usize) -> usize {
        let rows = self.rows.saturating_add(rows);
        let words = bound.div_ceil(64);
        let is_worth = rows.saturating_mul(NUMBERS_PER_ROW) >= bound as u64;
        if is_worth { words.saturating_sub(self.bits.len()) * size_of::<u64>() } else { 0 }
    }

    /// Prepares for `rows` more rows with numbers mostly below `bound`.
    pub(super) fn expect(&mut self, rows: u64, bound: usize) {
        let growth = self.growth(rows, bound);
        self.rows = self.rows.saturating_add(rows);
        self.extend(self.bits.len() + growth / size_of::<u64>());
    }

    /// Extends the bits to so many words.
    fn extend(&mut self, words: usize) {
        if words <= self.bits.len() {
            return;
        }
        self.bits.reserve_exact(words - self.bits.len());
        self.bits.resize(words, 0);
        let end = u32::try_from(words * 64).unwrap_or(u32::MAX);
        let moved: Vec<u32> = self.rest.range(..end).collect();
        self.rest.remove_range(..end);
        moved.into_iter().for_each(|number| self.insert(number));
    }

    #[inline]
    pub(super) fn insert(&mut self, number: u32) {
        match self.bits.get_mut(number as usize / 64) {
            Some(bits) => *bits |= 1 << (number % 64),
            None => {
                self.rest.insert(number);
            }
        }
    }

    /// Adds all numbers of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.extend(other.bits.len());
        self.bits.iter_mut().zip(&other.bits).for_each(|(ours, theirs)| *ours |= theirs);
        if self.bits.is_empty() {
            self.rest |= &other.rest;
        } else {
            other.rest.iter().for_each(|number| self.insert(number));
        }
    }

    /// Returns how many numbers there are.
    pub(super) fn len(&self) -> u64 {
        let bits = self.bits.iter().map(|bits| u64::from(bits.count_ones()));
        bits.sum::<u64>() + self.rest.len()
    }

    /// Returns the approximate bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        let containers = self.rest.statistics().n_containers as usize;
        size_of::<Self>()
            + self.bits.capacity() * size_of::<u64>()
            + self.rest.serialized_size()
            + containers * CONTAINER_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_equal_those_of_a_plain_list(
            batches in prop::collection::vec(
                (
                    prop::collection::vec(prop_oneof![0u32..3000, (1u32 << 31)..(1 << 31) + 9], 0..200),
                    prop::option::of(0usize..3500),
                    0usize..2,
                ),
                0..8,
            ),
        ) {
            let mut sets = [NumberSet::default(), NumberSet::default()];
            let mut expected = [BTreeSet::new(), BTreeSet::new()];
            for (numbers, bound, at) in batches {
                if let Some(bound) = bound {
                    let before = sets[at].bits.capacity() * 8;
                    let growth = sets[at].growth(numbers.len() as u64, bound);
                    sets[at].expect(numbers.len() as u64, bound);
                    prop_assert_eq!(sets[at].bits.capacity() * 8, before + growth);
                    prop_assert!(growth as u64 <= 4 * sets[at].rows + 8);
                }
                for number in numbers {
                    sets[at].insert(number);
                    expected[at].insert(number);
                }
                prop_assert_eq!(sets[at].len(), expected[at].len() as u64);
                prop_assert!(sets[at].bytes() > 0);
            }
            let [mut merged, other] = sets;
            merged.merge(&other);
            let all: BTreeSet<_> = expected.iter().flatten().collect();
            prop_assert_eq!(merged.len(), all.len() as u64);
        }
    }

    #[test]
    fn bits_do_not_grow_with_the_numbers_that_are_added() {
        let mut set = NumberSet::default();
        set.expect(10, 321);
        assert_eq!(set.bits.len(), 0);
        set.expect(1, 321);
        assert_eq!(set.bits.len(), 6);
        set.insert(2_000_000);
        assert_eq!((set.bits.len(), set.len()), (6, 1));
        // Later a source with more numbers has too few rows.
        set.expect(10, 2_000_000);
        assert_eq!(set.bits.len(), 6);
    }
}
