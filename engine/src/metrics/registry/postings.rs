//! Posting lists: for every value of every tag key of a metric, the set of series that have it.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use roaring::RoaringBitmap;

use super::measured_set::MeasuredSet;
use crate::model::StringId;

/// The series that have one tag value. Most values of a tag such as `host` occur in one series
/// only.
#[derive(Clone, Debug)]
pub(super) enum Posting {
    One(u32),
    Many(Box<MeasuredSet>),
}

impl Posting {
    fn insert(&mut self, series: u32) {
        match self {
            Self::One(only) if *only == series => {}
            Self::One(only) => {
                let both = RoaringBitmap::from_iter([*only, series]);
                *self = Self::Many(Box::new(both.into()));
            }
            Self::Many(set) => {
                set.insert(series);
            }
        }
    }

    /// Adds a series, usually the last one. [`Self::measure`] has to follow.
    fn append(&mut self, series: u32) {
        match self {
            Self::One(_) => self.insert(series),
            Self::Many(set) => set.append(series),
        }
    }

    /// Measures the set after series were appended.
    fn measure(&mut self) {
        if let Self::Many(set) = self {
            set.measure();
        }
    }

    /// Removes a series. Returns true if no series is left.
    fn remove(&mut self, series: u32) -> bool {
        match self {
            Self::One(only) => *only == series,
            Self::Many(set) => {
                set.remove(series);
                match (set.len(), set.min()) {
                    (1, Some(only)) => *self = Self::One(only),
                    (0, _) => return true,
                    _ => {}
                }
                false
            }
        }
    }

    pub(super) fn add_to(&self, into: &mut RoaringBitmap) {
        match self {
            Self::One(series) => {
                into.insert(*series);
            }
            Self::Many(set) => *into |= &***set,
        }
    }

    /// Returns the number of its series that are in `set`.
    pub(super) fn len_in(&self, set: &RoaringBitmap) -> u64 {
        match self {
            Self::One(series) => u64::from(set.contains(*series)),
            Self::Many(own) => own.intersection_len(set),
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Many(set) => set.len(),
        }
    }

    /// Returns the bytes on the heap.
    fn bytes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Many(set) => size_of::<MeasuredSet>() + set.bytes(),
        }
    }
}

/// Adds many series in ascending order, without measuring sets after each of them.
#[derive(Debug)]
pub(super) struct Extension<'p> {
    postings: &'p mut Postings,
}

impl Extension<'_> {
    pub(super) fn append(&mut self, key: StringId, value: StringId, series: u32) {
        let values = self.postings.keys.entry(key).or_default();
        match values.entry(value) {
            Entry::Vacant(vacant) => _ = vacant.insert(Posting::One(series)),
            Entry::Occupied(mut occupied) => occupied.get_mut().append(series),
        }
    }

    /// Measures all sets.
    pub(super) fn finish(self) {
        let Postings { keys, value_bytes } = self.postings;
        *value_bytes = 0;
        for values in keys.values_mut() {
            values.values_mut().for_each(Posting::measure);
            let sets: usize = values.values().map(Posting::bytes).sum();
            *value_bytes += values.allocation_size() + sets;
        }
    }
}

/// The postings of one metric: key → value → series.
#[derive(Debug, Default)]
pub(super) struct Postings {
    keys: HashMap<StringId, HashMap<StringId, Posting>>,
    /// Bytes of the value maps and of their sets.
    value_bytes: usize,
}

impl Postings {
    pub(super) fn insert(&mut self, key: StringId, value: StringId, series: u32) {
        let values = self.keys.entry(key).or_default();
        let map_before = values.allocation_size();
        let posting = values.entry(value).or_insert_with(|| Posting::One(series));
        let set_before = posting.bytes();
        posting.insert(series);
        self.value_bytes = self.value_bytes + posting.bytes() - set_before;
        self.value_bytes = self.value_bytes + values.allocation_size() - map_before;
    }

    /// Begins to add many series, in ascending order.
    pub(super) fn extend(&mut self) -> Extension<'_> {
        Extension { postings: self }
    }

    /// Removes a series, and the value and the key if no other series has them.
    pub(super) fn remove(&mut self, key: StringId, value: StringId, series: u32) {
        let Some(values) = self.keys.get_mut(&key) else { return };
        let Some(posting) = values.get_mut(&value) else { return };
        self.value_bytes -= posting.bytes();
        let is_last = posting.remove(series);
        if !is_last {
            self.value_bytes += posting.bytes();
            return;
        }
        self.value_bytes -= values.allocation_size();
        values.remove(&value);
        if values.is_empty() {
            self.keys.remove(&key);
            return;
        }
        if values.capacity() > 4 * values.len() + 16 {
            // Rare enough for the cost per removal to be constant on average.
            values.shrink_to(2 * values.len());
        }
        self.value_bytes += values.allocation_size();
    }

    pub(super) fn keys(
        &self,
    ) -> impl ExactSizeIterator<Item = (StringId, &HashMap<StringId, Posting>)> {
        self.keys.iter().map(|(key, values)| (*key, values))
    }

    pub(super) fn values(&self, key: StringId) -> Option<&HashMap<StringId, Posting>> {
        self.keys.get(&key)
    }

    /// Returns the bytes on the heap, sets included.
    pub(super) fn bytes(&self) -> usize {
        self.keys.allocation_size() + self.value_bytes
    }
}

#[cfg(test)]
impl Postings {
    /// Recomputes [`Self::bytes`] from the contents.
    pub(super) fn walked_bytes(&self) -> usize {
        let set = |posting: &Posting| match posting {
            Posting::One(_) => 0,
            Posting::Many(set) => size_of::<MeasuredSet>() + super::measured_set::bitmap_bytes(set),
        };
        let of_values = |values: &HashMap<StringId, Posting>| {
            values.allocation_size() + values.values().map(set).sum::<usize>()
        };
        self.keys.allocation_size() + self.keys.values().map(of_values).sum::<usize>()
    }
}
