//! The last cumulative values of all series, in pages of neighbouring ids. Series without one take
//! no memory.
//!
//! ```text
//! pages   0      1      2      3           series 256·p + i is in page p
//!         │      ─      │      ─
//!         ▼             ▼
//!         present: 256 bits │ values, one for each set bit, in order
//! ```
//!
//! A page is shared with the seal that writes it and copied by the first change after that, so
//! freezing a million last values takes a few thousand reference counts. The overhead per series
//! is small, because agents create their series together.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::rule::Previous;
use crate::cast::to_u32;
use crate::model::SeriesId;

/// Series per page.
pub(super) const PAGE_SERIES: u32 = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 8;
const WORDS: usize = PAGE_SERIES as usize / u64::BITS as usize;

/// Values of series, by page.
#[derive(Debug)]
pub(super) struct Pages<T> {
    /// Pages that contain values, and pages that did when they were last written.
    entries: BTreeMap<u32, Entry<T>>,
    /// Bytes of the pages, without heap memory owned by the values.
    bytes: usize,
}

#[derive(Debug)]
struct Entry<T> {
    page: Option<Arc<Page<T>>>,
    /// Whether the page differs from the one on disk, or from the one that the last seal took.
    changed: bool,
}

/// Values of neighbouring series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page<T> {
    present: [u64; WORDS],
    values: Vec<T>,
    /// Series below this id without a value had one that was lost to damage.
    pub(super) lost_below: SeriesId,
}

/// A page to be written: `None` deletes it, because it has no values any more.
pub(super) type Changed<T> = (u32, Option<Arc<Page<T>>>);

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), bytes: 0 }
    }
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self::empty(SeriesId(0))
    }
}

/// Returns the number of the page of a series.
pub(crate) fn page_of(series: SeriesId) -> u32 {
    series.0 >> PAGE_BITS
}

fn split(series: SeriesId) -> (u32, u32) {
    (page_of(series), series.0 & (PAGE_SERIES - 1))
}

impl<T: Clone> Pages<T> {
    /// Returns the value of a series.
    pub(super) fn get(&self, series: SeriesId) -> Previous<&T> {
        let (page, slot) = split(series);
        let Some(page) = self.entries.get(&page).and_then(|entry| entry.page.as_ref()) else {
            return Previous::Absent;
        };
        match page.get(slot) {
            Some(value) => Previous::Known(value),
            None if series < page.lost_below => Previous::Lost,
            None => Previous::Absent,
        }
    }

    /// Sets the value of a series. Returns the previous value.
    pub(super) fn set(&mut self, series: SeriesId, value: T) -> Option<T> {
        let (number, slot) = split(series);
        let entry = self.entry(number);
        entry.changed = true;
        let before = entry.page.as_ref().map_or(0, |page| page.bytes());
        let page = Arc::make_mut(entry.page.get_or_insert_default());
        let old = page.set(slot, value);
        let after = page.bytes();
        self.bytes = self.bytes + after - before;
        old
    }

    /// Removes series. Calls `removed` with their values.
    pub(super) fn forget(&mut self, series: &RoaringBitmap, mut removed: impl FnMut(&T)) {
        for series in series.iter().map(SeriesId) {
            let (number, slot) = split(series);
            let Some(entry) = self.entries.get_mut(&number) else { continue };
            let Some(page) = entry.page.as_mut().filter(|page| page.get(slot).is_some()) else {
                continue;
            };
            entry.changed = true;
            self.bytes -= page.bytes();
            let page = Arc::make_mut(page);
            page.remove(slot).iter().for_each(&mut removed);
            if page.values.is_empty() && page.lost_below == SeriesId(0) {
                entry.page = None;
            } else {
                self.bytes += page.bytes();
            }
        }
    }

    /// Returns the pages that changed since the previous call.
    pub(super) fn take_changed(&mut self) -> Vec<Changed<T>> {
        let changed = self.entries.iter_mut().filter(|(_, entry)| entry.changed);
        let taken = changed.map(|(number, entry)| {
            entry.changed = false;
            (*number, entry.page.clone())
        });
        let taken: Vec<Changed<T>> = taken.collect();
        for (number, _) in taken.iter().filter(|(_, page)| page.is_none()) {
            self.entries.remove(number);
        }
        taken
    }

    /// Iterates over the series that have a value, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SeriesId, &T)> {
        let pages = self.entries.iter().filter_map(|(number, entry)| {
            let page = entry.page.as_deref()?;
            Some(page.iter(*number))
        });
        pages.flatten()
    }

    /// Inserts a page loaded from disk.
    pub(super) fn restore(&mut self, number: u32, page: Page<T>) {
        self.bytes += page.bytes();
        self.entry(number).page = Some(Arc::new(page));
    }

    /// Records that the values of a page were lost to damage. `end` is the lowest series id not in
    /// use: only series below it can have lost a value.
    pub(super) fn lose(&mut self, number: u32, end: SeriesId) {
        let page = Page::empty(end);
        self.bytes += page.bytes();
        *self.entry(number) = Entry { page: Some(Arc::new(page)), changed: true };
    }

    /// Returns the bytes in memory, without heap memory owned by the values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.entries.len() * size_of::<(u32, Entry<T>)>() * 3 / 2
    }

    fn entry(&mut self, number: u32) -> &mut Entry<T> {
        self.entries.entry(number).or_insert_with(|| Entry { page: None, changed: false })
    }
}

impl<T> Page<T> {
    /// Creates a page without values; those of the series below `lost_below` are lost.
    pub(super) fn empty(lost_below: SeriesId) -> Self {
        Self { present: [0; WORDS], values: Vec::new(), lost_below }
    }

    /// Iterates over the series that have a value, ascending. `number` is the number of this page.
    pub(super) fn iter(&self, number: u32) -> impl Iterator<Item = (SeriesId, &T)> {
        let slots = self.present.iter().enumerate().flat_map(|(word, bits)| {
            (0..u64::BITS)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| to_u32(word) * u64::BITS + bit)
        });
        slots.map(move |slot| SeriesId((number << PAGE_BITS) + slot)).zip(&self.values)
    }

    /// Sets the value of a series. Returns false, changing nothing, if the series belongs to
    /// another page.
    pub(super) fn put(&mut self, number: u32, series: SeriesId, value: T) -> bool {
        let (page, slot) = split(series);
        let is_own = page == number;
        if is_own {
            self.set(slot, value);
        }
        is_own
    }

    fn get(&self, slot: u32) -> Option<&T> {
        let (at, present) = self.index_of(slot);
        if present { self.values.get(at) } else { None }
    }

    fn set(&mut self, slot: u32, value: T) -> Option<T> {
        let (at, present) = self.index_of(slot);
        if present {
            return self.values.get_mut(at).map(|old| std::mem::replace(old, value));
        }
        self.mark(slot, true);
        self.values.insert(at, value);
        None
    }

    fn remove(&mut self, slot: u32) -> Option<T> {
        let (at, present) = self.index_of(slot);
        self.mark(slot, false);
        present.then(|| self.values.remove(at))
    }

    /// Returns the index of a slot's value among the values (where it would be inserted if absent)
    /// and whether it is present.
    fn index_of(&self, slot: u32) -> (usize, bool) {
        let (word, bit) = ((slot / u64::BITS) as usize, slot % u64::BITS);
        let before = self.present.iter().take(word).map(|bits| bits.count_ones()).sum::<u32>();
        let bits = self.present.get(word).copied().unwrap_or_default();
        let at = before + (bits & ((1 << bit) - 1)).count_ones();
        (at as usize, bits >> bit & 1 == 1)
    }

    fn mark(&mut self, slot: u32, present: bool) {
        if let Some(bits) = self.present.get_mut((slot / u64::BITS) as usize) {
            let bit = 1 << (slot % u64::BITS);
            *bits = if present { *bits | bit } else { *bits & !bit };
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.values.capacity() * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum Step {
        Set(u32, u64),
        /// Removes every series whose id is divisible by this.
        Forget(u32),
        Take,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let series = prop_oneof![0u32..20, 250u32..270, 0u32..2_000];
        let step = prop_oneof![
            9 => (series, any::<u64>()).prop_map(|(series, value)| Step::Set(series, value)),
            1 => (2u32..9).prop_map(Step::Forget),
            1 => Just(Step::Take),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn pages_behave_like_a_map_and_changed_pages_are_complete(steps in steps()) {
            let mut pages = Pages::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            let mut disk: BTreeMap<u32, Arc<Page<u64>>> = BTreeMap::new();
            for step in steps.into_iter().chain([Step::Take]) {
                match step {
                    Step::Set(series, value) => {
                        prop_assert_eq!(pages.set(SeriesId(series), value), model.insert(series, value));
                    }
                    Step::Forget(divisor) => {
                        let mut removed = Vec::new();
                        let series = (0..3_000).filter(|series| series % divisor == 0).collect();
                        pages.forget(&series, |value| removed.push(*value));
                        let expected: Vec<u64> =
                            model.iter().filter(|(s, _)| **s % divisor == 0).map(|(_, v)| *v).collect();
                        prop_assert_eq!(removed, expected);
                        model.retain(|series, _| series % divisor != 0);
                    }
                    Step::Take => {
                        for (number, page) in pages.take_changed() {
                            match page {
                                Some(page) => disk.insert(number, page),
                                None => disk.remove(&number),
                            };
                        }
                        let stored: BTreeMap<u32, u64> = disk
                            .iter()
                            .flat_map(|(number, page)| page.iter(*number).map(|(s, v)| (s.0, *v)))
                            .collect();
                        prop_assert_eq!(&stored, &model);
                    }
                }
            }
            for series in 0..2_000 {
                let expected = model.get(&series).map_or(Previous::Absent, Previous::Known);
                prop_assert_eq!(pages.get(SeriesId(series)), expected);
            }
        }
    }

    #[test]
    fn pages_taken_by_a_seal_do_not_change() {
        let mut pages = Pages::default();
        pages.set(SeriesId(300), 1);
        let taken = pages.take_changed();
        pages.set(SeriesId(300), 2);
        pages.set(SeriesId(301), 3);
        let (number, page) = &taken[0];
        let held: Vec<_> = page.as_ref().unwrap().iter(*number).collect();
        assert_eq!((taken.len(), held), (1, vec![(SeriesId(300), &1)]));
        assert_eq!(pages.take_changed().len(), 1);
        assert_eq!(pages.take_changed().len(), 0);
    }

    #[test]
    fn lost_values_differ_from_absent_ones() {
        let mut pages = Pages::default();
        pages.lose(1, SeriesId(400));
        pages.set(SeriesId(256), 1);
        assert_eq!(pages.get(SeriesId(256)), Previous::Known(&1));
        assert_eq!(pages.get(SeriesId(399)), Previous::Lost);
        assert_eq!(pages.get(SeriesId(400)), Previous::Absent);
        assert_eq!(pages.get(SeriesId(255)), Previous::Absent);
    }

    #[test]
    fn a_million_adjacent_series_take_little_more_than_their_values() {
        let mut pages = Pages::default();
        (0..1_000_000).for_each(|series| {
            pages.set(SeriesId(series), [0u64; 2]);
        });
        assert!(pages.bytes() < 17 * 1_000_000, "{} bytes", pages.bytes());
    }
}
