//! A map from series to small values, for what is known of every series.
//!
//! ```text
//! leaves: number of 64 neighbouring ids ─▶ present: 64 bits │ values, one for each bit that is set, in order
//! ```
//!
//! Ids are dense when series are created and sparse when most of them have retired: the map takes memory for the series in it
//! and none for the ids between them, however many were given before.

use hashbrown::HashMap;

use crate::model::SeriesId;

/// Ids of a leaf, as a power of two: one for each bit of a word.
const LEAF_BITS: u32 = u64::BITS.trailing_zeros();

/// The leaf of a series, by its number, and the slot of the series in it.
pub(crate) fn split(series: SeriesId) -> (u32, u32) {
    (series.0 >> LEAF_BITS, series.0 & (u64::BITS - 1))
}

/// Which slots of a leaf are taken. What they hold lies beside it, in the order of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeafMask(u64);

impl LeafMask {
    /// Where among all that a leaf holds the one of a slot is or would be, and whether it is there.
    #[inline]
    pub(crate) fn place(self, slot: u32) -> (usize, bool) {
        let below = (1 << slot) - 1;
        let before = self.0 & below;
        // Most leaves are full: nothing to count, which takes a dozen instructions on processors without one for it.
        let place = if before == below { slot } else { before.count_ones() };
        (place as usize, self.has(slot))
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

    /// The slots that are taken, ascending.
    fn slots(self) -> impl Iterator<Item = u32> {
        (0..u64::BITS).filter(move |slot| self.has(*slot))
    }
}

/// Values of series.
#[derive(Debug)]
pub(crate) struct SeriesMap<T> {
    leaves: HashMap<u32, Leaf<T>>,
    /// Bytes of the values of all leaves.
    value_bytes: usize,
}

#[derive(Debug)]
struct Leaf<T> {
    taken: LeafMask,
    values: Vec<T>,
}

/// A reader that remembers the leaf of the series before: neighbours are found without a lookup.
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

    /// Sets the value of a series. Returns the one it had.
    pub(crate) fn insert(&mut self, series: SeriesId, value: T) -> Option<T> {
        let (number, slot) = split(series);
        let leaf = self.leaves.entry(number).or_insert_with(Leaf::new);
        let (at, present) = leaf.taken.place(slot);
        if present {
            return leaf.values.get_mut(at).map(|old| std::mem::replace(old, value));
        }
        let bytes_before = leaf.bytes();
        leaf.taken.set(slot);
        leaf.values.insert(at, value);
        self.value_bytes = self.value_bytes + leaf.bytes() - bytes_before;
        None
    }

    /// Removes a series. Returns its value.
    pub(crate) fn remove(&mut self, series: SeriesId) -> Option<T> {
        let (number, slot) = split(series);
        let leaf = self.leaves.get_mut(&number)?;
        let (at, present) = leaf.taken.place(slot);
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

    /// All series and values, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SeriesId, T)> {
        self.leaves.iter().flat_map(|(number, leaf)| leaf.iter(*number))
    }

    /// The series of `first..first + count` and their values, ascending.
    pub(crate) fn range(&self, first: SeriesId, count: u32) -> impl Iterator<Item = (SeriesId, T)> {
        let last = first.0.saturating_add(count.saturating_sub(1));
        let numbers = split(first).0..=split(SeriesId(last)).0;
        let leaves = numbers.filter_map(|number| Some((number, self.leaves.get(&number)?)));
        let all = leaves.flat_map(|(number, leaf)| leaf.iter(number));
        all.filter(move |(series, _)| *series >= first && series.0 <= last)
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.allocation_size() + self.value_bytes
    }
}

#[cfg(test)]
impl<T: Copy> SeriesMap<T> {
    /// [`Self::bytes`], counted anew.
    pub(crate) fn walked_bytes(&self) -> usize {
        self.leaves.allocation_size() + self.leaves.values().map(Leaf::bytes).sum::<usize>()
    }
}

impl<T: Copy> Leaf<T> {
    fn new() -> Self {
        Self { taken: LeafMask::default(), values: Vec::new() }
    }

    /// Bytes on the heap.
    fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>()
    }

    #[inline]
    fn get(&self, slot: u32) -> Option<T> {
        let (at, present) = self.taken.place(slot);
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
        fn it_is_a_map(
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
    fn it_takes_memory_for_what_is_in_it() {
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
