//! A map that knows how much memory its values take.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// What takes memory.
pub(super) trait Weigh {
    /// Returns roughly how many bytes it takes.
    fn bytes(&self) -> usize;
}

/// A sorted map, and what its values take in memory.
#[derive(Debug)]
pub(super) struct WeighedMap<K, V> {
    map: BTreeMap<K, V>,
    bytes: usize,
}

impl<K: Ord, V: Weigh> WeighedMap<K, V> {
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.bytes = self.bytes.saturating_add(value.bytes());
        if let Some(before) = self.map.insert(key, value) {
            self.bytes = self.bytes.saturating_sub(before.bytes());
        }
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some(before) = self.map.remove(key) {
            self.bytes = self.bytes.saturating_sub(before.bytes());
        }
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.map.get(key)
    }

    pub(super) fn contains_key(&self, key: &K) -> bool {
        self.map.contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns roughly how many bytes the values take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.map.keys()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.map.values()
    }

    /// Changes all values in a way that does not change what they take.
    pub(super) fn for_each_mut(&mut self, change: impl FnMut((&K, &mut V))) {
        self.map.iter_mut().for_each(change);
    }

    pub(super) fn range(&self, keys: RangeInclusive<K>) -> impl Iterator<Item = (&K, &V)> {
        self.map.range(keys)
    }
}

impl<K, V> Default for WeighedMap<K, V> {
    fn default() -> Self {
        Self { map: BTreeMap::new(), bytes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for Vec<u8> {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_values_that_are_kept() {
        let mut map = WeighedMap::default();
        for (key, bytes) in [("a", 10), ("b", 5), ("a", 3), ("c", 1)] {
            map.insert(key, vec![0; bytes]);
        }
        map.remove(&"b");
        map.remove(&"b");
        assert_eq!((map.len(), map.bytes()), (2, 4));
    }
}
