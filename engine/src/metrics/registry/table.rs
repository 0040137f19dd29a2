//! The metric and the tags of every series, by id.
//!
//! As in a [`SeriesMap`](crate::metrics::series_map::SeriesMap), 64 adjacent ids share a leaf, here
//! with their tags concatenated: a retired series is cut out of its leaf, and unused ids take no
//! memory.

use hashbrown::HashMap;

use crate::metrics::series_map::{LeafMask, split};
use crate::model::{MetricId, SeriesId, StringId};

/// A tag of a series: its key and its value.
pub(super) type Tag = (StringId, StringId);

/// The metric and tags of all series.
#[derive(Debug, Default)]
pub(super) struct SeriesTable {
    leaves: HashMap<u32, Leaf>,
    /// Bytes of the arrays of all leaves.
    leaf_bytes: usize,
}

#[derive(Debug, Default)]
struct Leaf {
    taken: LeafMask,
    entries: Vec<SeriesEntry>,
    tags: Vec<Tag>,
}

#[derive(Clone, Copy, Debug)]
struct SeriesEntry {
    metric: MetricId,
    /// The end of the tags in the leaf; they start at the end of the previous entry.
    end: u32,
}

/// A reader that remembers the leaf of the previous series.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    table: &'t SeriesTable,
    number: u32,
    leaf: Option<&'t Leaf>,
}

impl SeriesTable {
    pub(super) fn get(&self, series: SeriesId) -> Option<(MetricId, &[Tag])> {
        let (number, slot) = split(series);
        self.leaves.get(&number)?.get(slot)
    }

    /// Returns a reader of many series, which is fast when they ascend.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { table: self, number: 0, leaf: self.leaves.get(&0) }
    }

    /// Adds a series. Returns false, changing nothing, if it is present.
    pub(super) fn insert(&mut self, series: SeriesId, metric: MetricId, tags: &[Tag]) -> bool {
        let (number, slot) = split(series);
        let leaf = self.leaves.entry(number).or_default();
        let (at, present) = leaf.taken.index_of(slot);
        if present {
            return false;
        }
        let bytes_before = leaf.bytes();
        let start = leaf.start_of(at);
        leaf.taken.set(slot);
        if at == leaf.entries.len() {
            leaf.tags.extend_from_slice(tags);
            leaf.entries.push(SeriesEntry { metric, end: leaf.tags.len() as u32 });
        } else {
            leaf.tags.splice(start..start, tags.iter().copied());
            leaf.entries.insert(at, SeriesEntry { metric, end: start as u32 });
            leaf.entries.iter_mut().skip(at).for_each(|entry| entry.end += tags.len() as u32);
        }
        if leaf.taken.is_full() {
            // Nothing is added to a full leaf.
            leaf.tags.shrink_to_fit();
        }
        self.leaf_bytes = self.leaf_bytes + leaf.bytes() - bytes_before;
        true
    }

    /// Removes a series and returns its metric and tags.
    pub(super) fn remove(&mut self, series: SeriesId) -> Option<(MetricId, Vec<Tag>)> {
        let (number, slot) = split(series);
        let leaf = self.leaves.get_mut(&number)?;
        let (at, present) = leaf.taken.index_of(slot);
        if !present {
            return None;
        }
        let start = leaf.start_of(at);
        self.leaf_bytes -= leaf.bytes();
        let entry = leaf.entries.remove(at);
        let tags: Vec<Tag> = leaf.tags.drain(start..entry.end as usize).collect();
        leaf.entries.iter_mut().skip(at).for_each(|entry| entry.end -= tags.len() as u32);
        leaf.taken.clear(slot);
        if leaf.taken.is_empty() {
            self.leaves.remove(&number);
            return Some((entry.metric, tags));
        }
        if leaf.entries.capacity() > 2 * leaf.entries.len() + 4 {
            leaf.entries.shrink_to_fit();
            leaf.tags.shrink_to_fit();
        }
        self.leaf_bytes += leaf.bytes();
        Some((entry.metric, tags))
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.leaves.allocation_size() + self.leaf_bytes
    }
}

#[cfg(test)]
impl SeriesTable {
    /// Recomputes [`Self::bytes`] from the leaves.
    pub(super) fn walked_bytes(&self) -> usize {
        self.leaves.allocation_size() + self.leaves.values().map(Leaf::bytes).sum::<usize>()
    }
}

impl<'t> Cursor<'t> {
    pub(super) fn get(&mut self, series: SeriesId) -> Option<(MetricId, &'t [Tag])> {
        let (number, slot) = split(series);
        if number != self.number {
            (self.number, self.leaf) = (number, self.table.leaves.get(&number));
        }
        self.leaf?.get(slot)
    }
}

impl Leaf {
    fn get(&self, slot: u32) -> Option<(MetricId, &[Tag])> {
        let (at, present) = self.taken.index_of(slot);
        let entry = self.entries.get(at).filter(|_| present)?;
        Some((entry.metric, self.tags.get(self.start_of(at)..entry.end as usize)?))
    }

    fn start_of(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.entries[before].end as usize)
    }

    /// Returns the bytes on the heap.
    fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<SeriesEntry>() + self.tags.capacity() * size_of::<Tag>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn series_keep_their_tags(
            steps in prop::collection::vec((0u32..200, any::<bool>(), 0u32..5), 0..300),
        ) {
            let mut table = SeriesTable::default();
            let mut model: BTreeMap<u32, (MetricId, Vec<Tag>)> = BTreeMap::new();
            for (series, added, count) in steps {
                let id = SeriesId(series);
                if added {
                    let tags: Vec<Tag> =
                        (0..count).map(|n| (StringId(n), StringId(series + n))).collect();
                    let metric = MetricId(count);
                    let is_new = !model.contains_key(&series);
                    prop_assert_eq!(table.insert(id, metric, &tags), is_new);
                    model.entry(series).or_insert((metric, tags));
                } else {
                    prop_assert_eq!(table.remove(id), model.remove(&series));
                }
            }
            for series in 0..200 {
                let expected = model.get(&series).map(|(metric, tags)| (*metric, tags.as_slice()));
                prop_assert_eq!(table.get(SeriesId(series)), expected);
            }
            prop_assert_eq!(table.bytes(), table.walked_bytes());
        }
    }
}
