//! A set of numbers of strings: a bitmap of ranges where few are expected, a bit for each number
//! where many are.

use roaring::RoaringBitmap;

/// Approximate bytes of a bitmap container, without its values.
const CONTAINER_BYTES: usize = 64;
/// One bit for each number is set faster, and takes at most four bytes for each row that is added,
/// from one row on for so many numbers.
const NUMBERS_PER_ROW: u64 = 32;

/// A set of numbers.
#[derive(Debug)]
pub(super) enum NumberSet {
    Sparse(RoaringBitmap),
    Dense(Vec<u64>),
}

impl Default for NumberSet {
    fn default() -> Self {
        Self::Sparse(RoaringBitmap::new())
    }
}

impl NumberSet {
    /// Prepares for the numbers of `rows` rows, all below `bound`.
    pub(super) fn expect(&mut self, rows: u64, bound: usize) {
        if let Self::Sparse(numbers) = self
            && rows.saturating_mul(NUMBERS_PER_ROW) >= bound as u64
        {
            let mut dense = Self::Dense(vec![0; bound.div_ceil(64)]);
            numbers.iter().for_each(|number| dense.insert(number));
            *self = dense;
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, number: u32) {
        match self {
            Self::Sparse(numbers) => {
                numbers.insert(number);
            }
            Self::Dense(bits) => {
                let (word, bit) = (number as usize / 64, 1 << (number % 64));
                match bits.get_mut(word) {
                    Some(bits) => *bits |= bit,
                    None => {
                        bits.resize(word, 0);
                        bits.push(bit);
                    }
                }
            }
        }
    }

    /// Adds all numbers of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (Self::Sparse(ours), Self::Sparse(theirs)) => *ours |= theirs,
            (Self::Dense(ours), Self::Dense(theirs)) => {
                if ours.len() < theirs.len() {
                    ours.resize(theirs.len(), 0);
                }
                ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours |= theirs);
            }
            (Self::Dense(_), Self::Sparse(theirs)) => {
                theirs.iter().for_each(|number| self.insert(number));
            }
            (Self::Sparse(ours), Self::Dense(theirs)) => {
                let mut dense = Self::Dense(theirs.clone());
                ours.iter().for_each(|number| dense.insert(number));
                *self = dense;
            }
        }
    }

    /// Returns how many numbers there are.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Sparse(numbers) => numbers.len(),
            Self::Dense(bits) => bits.iter().map(|bits| u64::from(bits.count_ones())).sum(),
        }
    }

    /// Returns the approximate bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        let body = match self {
            Self::Sparse(numbers) => {
                let containers = numbers.statistics().n_containers as usize;
                numbers.serialized_size() + containers * CONTAINER_BYTES
            }
            Self::Dense(bits) => bits.capacity() * size_of::<u64>(),
        };
        size_of::<Self>() + body
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
                (prop::collection::vec(0u32..3000, 0..200), any::<bool>(), 0usize..2), 0..8,
            ),
        ) {
            let mut sets = [NumberSet::default(), NumberSet::default()];
            let mut expected = [BTreeSet::new(), BTreeSet::new()];
            for (numbers, is_expected, at) in batches {
                if is_expected {
                    // Later numbers may be beyond the bound.
                    sets[at].expect(numbers.len() as u64, 1500);
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
    fn few_rows_of_many_numbers_stay_sparse() {
        let mut set = NumberSet::default();
        set.expect(10, 321);
        assert!(matches!(set, NumberSet::Sparse(_)));
        set.expect(10, 320);
        assert!(matches!(set, NumberSet::Dense(_)));
    }
}
