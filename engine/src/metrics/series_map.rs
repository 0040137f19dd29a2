//! A map from series to small values, for per-series state.
//!
//! ```text
//! leaf number (64 adjacent ids) ─▶ present: 64 bits │ values, one for each set bit, in order
//! ```
//!
//! Ids are dense when series are created and sparse once most of them have retired. The map takes
//! memory proportional to the series it contains, regardless of how many ids were allocated before.

use hashbrown::HashMap;

use crate::model::SeriesId;

/// Ids per leaf, as a power of two: one for each bit of a word.
const LEAF_BITS: u32 = u64::BITS.trailing_zeros();

/// Returns the leaf number of a series and its slot in that leaf.
pub(crate) fn split(series: SeriesId) -> (u32, u32) {
    (series.0 >> LEAF_BITS, series.0 & (u64::BITS - 1))
}

/// The set of occupied slots of a leaf. The values are stored beside it, in slot order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeafMask(u64);

impl LeafMask {
    /// Returns the index of a slot's value among the values of the leaf (where it would be inserted
    /// if absent) and whether it is present.
    #[inline]
    pub(crate) fn index_of(self, slot: u32) -> (usize, bool) {
        let below = (1 << slot) - 1;
        let before = self.0 & below;
        // Most leaves are full, so there is nothing to count. Counting takes a dozen instructions
        // on processors without a popcount instruction.
        let index = if before == below { slot } else { before.count_ones() };
        (index as usize, self.has(slot))
    }

    #[inline]
    fn has(self, slot: u32) -> bool {
        self.0 >> slot & 1 == 1
    }

    pub(crate) fn set(&mut self, slot: u32) {
        self.0 |= 1 << slot;
    }

    pub(crate) fn clear(&mut self, slot: u32) {
        self.0 &= !(1 << slot);
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_full(self) -> bool {
        self.0 == u64::MAX
    }

    /// Iterates over the occupied slots, ascending.
    fn slots(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |slot| self.has(*slot))
    }
}

/// A map from series to values.
#[derive(Debug)]
pub(crate) struct SeriesMap<T> {
    leaves: HashMap<u32, Leaf<T>>,
    /// Bytes of the value arrays of all leaves.
    value_bytes: usize,
}

#[derive(Debug)]
struct Leaf<T> {
    taken: LeafMask,
    values: Vec<T>,
}

/// A read cursor that remembers the leaf of the previous lookup: series of the same leaf are found
/// without a hash lookup.
#[derive(Debug)]
pub(crate) struct Neighbours<'m, T> {
    map: &'m SeriesMap<T>,
    number: u32,
    leaf: Option<&'m Leaf<T>>,
}

impl<T> Default for SeriesMap<T> {
    fn default() -> Self {
        Self { leaves: HashMap::new(), value_bytes: 0 }
    }
}

impl<T: Copy> SeriesMap<T> {
    pub(crate) fn get(&self, series: SeriesId) -> Option<T> {
        let (number, slot) = split(series);
        self.leaves.get(&number)?.get(slot)
    }

    pub(crate) fn neighbours(&self) -> Neighbours<'_, T> {
        Neighbours { map: self, number: 0, leaf: self.leaves.get(&0) }
    }

    /// Sets the value of a series. Returns the previous value.
    pub(crate) fn insert(&mut self, series: SeriesId, value: T) -> Option<T> {
        let (number, slot) = split(series);
        let leaf = self.leaves.entry(number).or_insert_with(Leaf::new);
        let (at, present) = leaf.taken.index_of(slot);
        if present {
            return leaf.values.get_mut(at).map(|old| std::mem::replace(old, value));
        }
        let bytes_before = leaf.bytes();
        leaf.taken.set(slot);
        leaf.values.insert(at, value);
        self.value_bytes = self.value_bytes + leaf.bytes() - bytes_before;
        None
    }

    /// Removes a series and returns its value.
    pub(crate) fn remove(&mut self, series: SeriesId) -> Option<T> {
        let (number, slot) = split(series);
        let leaf = self.leaves.get_mut(&number)?;
        let (at, present) = leaf.taken.index_of(slot);
        if !present {
            return None;
        }
        self.value_bytes -= leaf.bytes();
        leaf.taken.clear(slot);
        let value = leaf.values.remove(at);
        if leaf.taken.is_empty() {
            self.leaves.remove(&number);
            return Some(value);
        }
        if leaf.values.capacity() > 2 * leaf.values.len() + 4 {
            leaf.values.shrink_to_fit();
        }
        self.value_bytes += leaf.bytes();
        Some(value)
    }

    /// Iterates over all series and values, in arbitrary order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SeriesId, T)> {
        self.leaves.iter().flat_map(|(number, leaf)| leaf.iter(*number))
    }

    /// Iterates over the series of `first..first + count` and their values, ascending.
    pub(crate) fn range(&self, first: SeriesId, count: u32) -> impl Iterator<Item = (SeriesId, T)> {
        let last = first.0.saturating_add(count.saturating_sub(1));
        let numbers = split(first).0..=split(SeriesId(last)).0;
        let leaves = numbers.filter_map(|number| Some((number, self.leaves.get(&number)?)));
        let all = leaves.flat_map(|(number, leaf)| leaf.iter(number));
        all.filter(move |(series, _)| *series >= first && series.0 <= last)
    }

    /// Returns the bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.allocation_size() + self.value_bytes
    }
}

#[cfg(test)]
impl<T: Copy> SeriesMap<T> {
    /// Recomputes [`Self::bytes`] from the leaves.
    pub(crate) fn walked_bytes(&self) -> usize {
        self.leaves.allocation_size() + self.leaves.values().map(Leaf::bytes).sum::<usize>()
    }
}

impl<T: Copy> Leaf<T> {
    fn new() -> Self {
        Self { taken: LeafMask::default(), values: Vec::new() }
    }

    /// Returns the bytes on the heap.
    fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>()
    }

    #[inline]
    fn get(&self, slot: u32) -> Option<T> {
        let (at, present) = self.taken.index_of(slot);
        if present { self.values.get(at).copied() } else { None }
    }

    fn iter(&self, number: u32) -> impl Iterator<Item = (SeriesId, T)> {
        let ids = self.taken.slots().map(move |slot| SeriesId((number << LEAF_BITS) + slot));
        ids.zip(self.values.iter().copied())
    }
}

impl<T: Copy> Neighbours<'_, T> {
    #[inline]
    pub(crate) fn get(&mut self, series: SeriesId) -> Option<T> {
        let (number, slot) = split(series);
        if number != self.number {
            (self.number, self.leaf) = (number, self.map.leaves.get(&number));
        }
        self.leaf?.get(slot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_map(
            steps in prop::collection::vec(
                (prop_oneof![0u32..200, 60u32..70, u32::MAX - 70..=u32::MAX], prop::option::of(any::<u16>())),
                0..300,
            ),
            (first, count) in (0u32..200, 1u32..150),
        ) {
            let mut map = SeriesMap::default();
            let mut model = BTreeMap::new();
            for (series, value) in steps {
                let (id, before) = (SeriesId(series), map.get(SeriesId(series)));
                let (was, expected) = match value {
                    Some(value) => (map.insert(id, value), model.insert(series, value)),
                    None => (map.remove(id), model.remove(&series)),
                };
                prop_assert_eq!((was, before), (expected, expected));
            }
            let mut neighbours = map.neighbours();
            for series in (0..200).chain(u32::MAX - 70..=u32::MAX) {
                prop_assert_eq!(neighbours.get(SeriesId(series)), model.get(&series).copied());
            }
            let all: BTreeMap<u32, u16> = map.iter().map(|(series, value)| (series.0, value)).collect();
            prop_assert_eq!((&all, map.bytes()), (&model, map.walked_bytes()));
            let range: Vec<_> = map.range(SeriesId(first), count).map(|(s, v)| (s.0, v)).collect();
            let expected: Vec<_> = model.range(first..first + count).map(|(s, v)| (*s, *v)).collect();
            prop_assert_eq!(range, expected);
        }
    }

    #[test]
    fn memory_is_proportional_to_the_series_in_the_map() {
        let mut map = SeriesMap::default();
        for series in 0..1_000_000 {
            map.insert(SeriesId(series), 0u32);
            if series >= 1_000 {
                map.remove(SeriesId(series - 1_000));
            }
        }
        assert!(map.bytes() < 10_000, "{} bytes", map.bytes());
        let mut full = SeriesMap::default();
        (0..1_000_000).for_each(|series| _ = full.insert(SeriesId(series), 0u32));
        assert!(full.bytes() < 6_000_000, "{} bytes", full.bytes());
    }
}
