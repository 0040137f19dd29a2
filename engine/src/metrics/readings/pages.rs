//! The last readings of all series: pages of neighbouring ids, without room for series that have none.
//!
//! ```text
//! pages   0      1      2      3           series 256·p + i is in page p
//!         │      ─      │      ─
//!         ▼             ▼
//!         present: 256 bits │ values, one for each bit that is set, in order
//! ```
//!
//! A page is shared with the seal that writes it and copied by the first change after that, so that setting a million last
//! readings aside costs a few thousand counts. A series costs its value and a little: agents create their series together.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::rule::Before;
use crate::model::SeriesId;

/// Series of a page.
pub(super) const PAGE_SERIES: u32 = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 8;
const WORDS: usize = PAGE_SERIES as usize / u64::BITS as usize;

/// Values of series, by page.
#[derive(Debug)]
pub(super) struct Pages<T> {
    /// Those that hold anything, and those that held something when they were last written.
    entries: BTreeMap<u32, Entry<T>>,
    /// Bytes of the pages, without what values hold elsewhere.
    bytes: usize,
}

#[derive(Debug)]
struct Entry<T> {
    page: Option<Arc<Page<T>>>,
    /// Whether it is another than the one on disk, or than the one that the last seal took.
    changed: bool,
}

/// Values of neighbouring series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page<T> {
    present: [u64; WORDS],
    values: Vec<T>,
    /// Series below this had a value that is lost, unless they have one again.
    pub(super) lost_below: SeriesId,
}

/// A page as it is to be on disk: none when no series of it has a value any more.
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

/// The number of the page of a series.
pub(crate) fn page_of(series: SeriesId) -> u32 {
    series.0 >> PAGE_BITS
}

fn split(series: SeriesId) -> (u32, u32) {
    (page_of(series), series.0 & (PAGE_SERIES - 1))
}

impl<T: Clone> Pages<T> {
    /// The value of a series.
    pub(super) fn get(&self, series: SeriesId) -> Before<&T> {
        let (page, slot) = split(series);
        let Some(page) = self.entries.get(&page).and_then(|entry| entry.page.as_ref()) else {
            return Before::Never;
        };
        match page.get(slot) {
            Some(value) => Before::Read(value),
            None if series < page.lost_below => Before::Lost,
            None => Before::Never,
        }
    }

    /// Gives a series a value. Answers the one it had.
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

    /// Forgets series. Hands their values to `gone`.
    pub(super) fn forget(&mut self, series: &RoaringBitmap, mut gone: impl FnMut(&T)) {
        for series in series.iter().map(SeriesId) {
            let (number, slot) = split(series);
            let Some(entry) = self.entries.get_mut(&number) else { continue };
            let Some(page) = entry.page.as_mut().filter(|page| page.get(slot).is_some()) else {
                continue;
            };
            entry.changed = true;
            self.bytes -= page.bytes();
            let page = Arc::make_mut(page);
            page.remove(slot).iter().for_each(&mut gone);
            if page.values.is_empty() && page.lost_below == SeriesId(0) {
                entry.page = None;
            } else {
                self.bytes += page.bytes();
            }
        }
    }

    /// Takes the pages that changed since the last call.
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

    /// All series that have a value, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SeriesId, &T)> {
        let pages = self.entries.iter().filter_map(|(number, entry)| {
            let page = entry.page.as_deref()?;
            Some(page.iter(*number))
        });
        pages.flatten()
    }

    /// Puts a page where it was, as the disk has it.
    pub(super) fn restore(&mut self, number: u32, page: Page<T>) {
        self.bytes += page.bytes();
        self.entry(number).page = Some(Arc::new(page));
    }

    /// Takes note that the values of a page are lost, those of the series below `end`, which is what there is by now.
    pub(super) fn lose(&mut self, number: u32, end: SeriesId) {
        let page = Page::empty(end);
        self.bytes += page.bytes();
        *self.entry(number) = Entry { page: Some(Arc::new(page)), changed: true };
    }

    /// Bytes in memory, without what values hold elsewhere.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.entries.len() * size_of::<(u32, Entry<T>)>() * 3 / 2
    }

    fn entry(&mut self, number: u32) -> &mut Entry<T> {
        self.entries.entry(number).or_insert_with(|| Entry { page: None, changed: false })
    }
}

impl<T> Page<T> {
    /// No values; those of the series below `lost_below` are lost.
    pub(super) fn empty(lost_below: SeriesId) -> Self {
        Self { present: [0; WORDS], values: Vec::new(), lost_below }
    }

    /// The series that have a value, ascending, when this is page `number`.
    pub(super) fn iter(&self, number: u32) -> impl Iterator<Item = (SeriesId, &T)> {
        let slots = self.present.iter().enumerate().flat_map(|(word, bits)| {
            (0..u64::BITS)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| word as u32 * u64::BITS + bit)
        });
        slots.map(move |slot| SeriesId((number << PAGE_BITS) + slot)).zip(&self.values)
    }

    /// Gives a series a value; false when it belongs to another page.
    pub(super) fn put(&mut self, number: u32, series: SeriesId, value: T) -> bool {
        let (page, slot) = split(series);
        let own = page == number;
        if own {
            self.set(slot, value);
        }
        own
    }

    fn get(&self, slot: u32) -> Option<&T> {
        let (at, present) = self.place(slot);
        if present { self.values.get(at) } else { None }
    }

    fn set(&mut self, slot: u32, value: T) -> Option<T> {
        let (at, present) = self.place(slot);
        if present {
            return self.values.get_mut(at).map(|old| std::mem::replace(old, value));
        }
        self.mark(slot, true);
        self.values.insert(at, value);
        None
    }

    fn remove(&mut self, slot: u32) -> Option<T> {
        let (at, present) = self.place(slot);
        self.mark(slot, false);
        present.then(|| self.values.remove(at))
    }

    /// Where among the values the one of a slot is or would be, and whether it is there.
    fn place(&self, slot: u32) -> (usize, bool) {
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
        /// Forgets every series that this divides.
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
        fn pages_are_a_map_and_what_changed_is_all_of_it(steps in steps()) {
            let mut pages = Pages::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            let mut disk: BTreeMap<u32, Arc<Page<u64>>> = BTreeMap::new();
            for step in steps.into_iter().chain([Step::Take]) {
                match step {
                    Step::Set(series, value) => {
                        prop_assert_eq!(pages.set(SeriesId(series), value), model.insert(series, value));
                    }
                    Step::Forget(divisor) => {
                        let mut gone = Vec::new();
                        let series = (0..3_000).filter(|series| series % divisor == 0).collect();
                        pages.forget(&series, |value| gone.push(*value));
                        let expected: Vec<u64> =
                            model.iter().filter(|(s, _)| **s % divisor == 0).map(|(_, v)| *v).collect();
                        prop_assert_eq!(gone, expected);
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
                let expected = model.get(&series).map_or(Before::Never, Before::Read);
                prop_assert_eq!(pages.get(SeriesId(series)), expected);
            }
        }
    }

    #[test]
    fn what_a_seal_holds_does_not_change() {
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
    fn what_was_lost_is_not_what_never_was() {
        let mut pages = Pages::default();
        pages.lose(1, SeriesId(400));
        pages.set(SeriesId(256), 1);
        assert_eq!(pages.get(SeriesId(256)), Before::Read(&1));
        assert_eq!(pages.get(SeriesId(399)), Before::Lost);
        assert_eq!(pages.get(SeriesId(400)), Before::Never);
        assert_eq!(pages.get(SeriesId(255)), Before::Never);
    }

    #[test]
    fn a_million_neighbours_cost_little_more_than_their_values() {
        let mut pages = Pages::default();
        (0..1_000_000).for_each(|series| {
            pages.set(SeriesId(series), [0u64; 2]);
        });
        assert!(pages.bytes() < 17 * 1_000_000, "{} bytes", pages.bytes());
    }
}
