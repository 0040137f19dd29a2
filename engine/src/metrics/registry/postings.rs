//! Posting lists: for every value of every tag key of a metric, the set of series that have it.
//!
//! After a start they are built later, in steps, see [`Extension`]: until then the lists contain
//! the series below a certain id, and the tag keys of all series.

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

/// The postings of one metric: key → value → series.
#[derive(Debug, Default)]
pub(super) struct Postings {
    keys: HashMap<StringId, HashMap<StringId, Posting>>,
    /// Bytes of the value maps and of their sets.
    value_bytes: usize,
    /// `None` when the lists are complete.
    missing: Option<MissingSeries>,
}

/// The series that are not in the lists yet.
#[derive(Clone, Copy, Debug)]
struct MissingSeries {
    /// The first of their ids: from this one on, none is in any list.
    from: u32,
    /// The bytes that the lists are expected to take, which count from the start: what is added
    /// later must find its memory.
    expected_bytes: usize,
}

/// Bytes that a tag of a series is expected to take in its list: two to four where many series
/// share the value, fifty where it belongs to one.
const EXPECTED_TAG_BYTES: usize = 8;

/// A step that adds series to incomplete lists, in ascending order and without measuring the sets
/// after each of them.
#[derive(Debug)]
pub(super) struct Extension<'p> {
    postings: &'p mut Postings,
}

impl Extension<'_> {
    pub(super) fn append(&mut self, key: StringId, value: StringId, series: u32) {
        let Postings { keys, value_bytes, .. } = self.postings;
        let values = keys.entry(key).or_default();
        let map_before = values.allocation_size();
        match values.entry(value) {
            Entry::Occupied(mut occupied) => {
                let posting = occupied.get_mut();
                let set_before = posting.bytes();
                posting.append(series);
                *value_bytes = *value_bytes + posting.bytes() - set_before;
            }
            Entry::Vacant(vacant) => {
                vacant.insert(Posting::One(series));
                *value_bytes = *value_bytes + values.allocation_size() - map_before;
            }
        }
    }

    /// Ends the step. The series from `missing_from` on are left to later steps; `None` when there
    /// are none: the lists are complete then.
    pub(super) fn finish(self, missing_from: Option<u32>) {
        match (missing_from, &mut self.postings.missing) {
            (Some(from), Some(missing)) => missing.from = from,
            _ => {
                self.postings.missing = None;
                self.postings.measure();
            }
        }
    }
}

impl Postings {
    /// Empties the lists, to be built from all series of the metric, which have so many `tags`.
    /// `keys` are those of all of them.
    pub(super) fn defer(&mut self, keys: impl Iterator<Item = StringId>, tags: usize) {
        let keys = keys.map(|key| (key, HashMap::new())).collect();
        let expected_bytes = tags.saturating_mul(EXPECTED_TAG_BYTES);
        *self =
            Self { keys, value_bytes: 0, missing: Some(MissingSeries { from: 0, expected_bytes }) };
    }

    /// Begins to add series to incomplete lists. Returns the first id that is missing; `None` if
    /// the lists are complete.
    pub(super) fn extend(&mut self) -> Option<(u32, Extension<'_>)> {
        self.missing.map(|missing| (missing.from, Extension { postings: self }))
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_none()
    }

    /// Returns whether a series is in no list yet, as it is added with others later.
    fn is_missing(&self, series: u32) -> bool {
        self.missing.is_some_and(|missing| series >= missing.from)
    }

    /// Adds a series, unless it is added with others later.
    pub(super) fn insert(&mut self, key: StringId, value: StringId, series: u32) {
        let is_missing = self.is_missing(series);
        let values = self.keys.entry(key).or_default();
        if is_missing {
            return;
        }
        let map_before = values.allocation_size();
        let posting = values.entry(value).or_insert_with(|| Posting::One(series));
        let set_before = posting.bytes();
        posting.insert(series);
        self.value_bytes = self.value_bytes + posting.bytes() - set_before;
        self.value_bytes = self.value_bytes + values.allocation_size() - map_before;
    }

    /// Measures all sets, and removes keys that no series has any more.
    fn measure(&mut self) {
        self.keys.retain(|_, values| !values.is_empty());
        self.value_bytes = 0;
        for values in self.keys.values_mut() {
            let measured = values.values_mut().map(|posting| {
                posting.measure();
                posting.bytes()
            });
            self.value_bytes += measured.sum::<usize>() + values.allocation_size();
        }
    }

    /// Removes a series, and the value and the key if no other series has them.
    pub(super) fn remove(&mut self, key: StringId, value: StringId, series: u32) {
        if self.is_missing(series) {
            return;
        }
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
        // While series are missing, a later one may have the key.
        if values.is_empty() && self.missing.is_none() {
            self.keys.remove(&key);
            return;
        }
        if values.capacity() > 4 * values.len() + 16 {
            // Rare enough for the cost per removal to be constant on average.
            values.shrink_to(2 * values.len());
        }
        self.value_bytes += values.allocation_size();
    }

    /// Iterates over the tag keys with the lists of their values; only the keys are complete while
    /// series are missing.
    pub(super) fn keys(
        &self,
    ) -> impl ExactSizeIterator<Item = (StringId, &HashMap<StringId, Posting>)> {
        self.keys.iter().map(|(key, values)| (*key, values))
    }

    pub(super) fn values(&self, key: StringId) -> Option<&HashMap<StringId, Posting>> {
        self.keys.get(&key)
    }

    /// Returns the bytes on the heap, sets included; those that are expected while series are
    /// missing.
    pub(super) fn bytes(&self) -> usize {
        let expected = self.missing.map_or(0, |missing| missing.expected_bytes);
        self.keys.allocation_size() + self.value_bytes.max(expected)
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
