//! Interned tag keys and values: each string is stored once, with a reference count, for as long as
//! a series uses it.
//!
//! Strings are concatenated in pages of 64, one buffer per page: removing an unused string rewrites
//! one page only, and its number is reused.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::StringId;

/// Strings per page.
const PAGE_STRINGS: usize = 64;

/// Reference-counted strings.
#[derive(Debug, Default)]
pub(super) struct Strings {
    pages: Vec<StringPage>,
    /// Numbers that are not in use.
    free: Vec<u32>,
    by_hash: HashTable<u32>,
    /// Bytes of the arrays of all pages.
    page_bytes: usize,
}

#[derive(Debug, Default)]
struct StringPage {
    buffer: String,
    /// The end of each string in the buffer; it starts at the end of the previous one.
    ends: Vec<u32>,
    /// The number of uses of each string, as the key or value of a tag.
    uses: Vec<u32>,
}

impl Strings {
    pub(super) fn get(&self, string: &str) -> Option<StringId> {
        let hash = xxh3_64(string.as_bytes());
        let found = self.by_hash.find(hash, |id| string_at(&self.pages, *id) == string);
        found.map(|id| StringId(*id))
    }

    /// Returns the number of a string that is probably the one with the number `likely`: a
    /// comparison takes a fraction of the time of a search.
    pub(super) fn get_likely(&self, string: &str, likely: Option<StringId>) -> Option<StringId> {
        likely.filter(|id| self.is_used(*id, string)).or_else(|| self.get(string))
    }

    /// Returns whether a number is that of a string.
    fn is_used(&self, id: StringId, string: &str) -> bool {
        let (page, slot) = (id.0 as usize / PAGE_STRINGS, id.0 as usize % PAGE_STRINGS);
        let page = self.pages.get(page);
        page.is_some_and(|page| {
            page.uses.get(slot).is_some_and(|n| *n > 0) && page.get(slot) == string
        })
    }

    pub(super) fn string(&self, id: StringId) -> &str {
        string_at(&self.pages, id.0)
    }

    /// Interns a string, counts one more use and returns its number.
    pub(super) fn acquire(&mut self, string: &str) -> StringId {
        self.acquire_for(string, 1)
    }

    /// Interns a string that is probably the one with the number `likely`, counts one more use and
    /// returns its number.
    pub(super) fn acquire_likely(&mut self, string: &str, likely: Option<StringId>) -> StringId {
        match likely.filter(|id| self.is_used(*id, string)) {
            Some(id) => {
                self.count(id, 1);
                id
            }
            None => self.acquire(string),
        }
    }

    fn count(&mut self, id: StringId, more_uses: u32) {
        if let Some((page, slot)) = page_mut(&mut self.pages, id.0)
            && let Some(uses) = page.uses.get_mut(slot)
        {
            *uses += more_uses;
        }
    }

    /// Interns a string for this many uses and returns its number.
    pub(super) fn acquire_for(&mut self, string: &str, more_uses: u32) -> StringId {
        let Self { pages, free, by_hash, page_bytes } = self;
        let all = (pages.len() * PAGE_STRINGS) as u32;
        let next = match pages.last() {
            Some(last) if last.ends.len() < PAGE_STRINGS => {
                all - (PAGE_STRINGS - last.ends.len()) as u32
            }
            _ => all,
        };
        let entry = by_hash.entry(
            xxh3_64(string.as_bytes()),
            |id| string_at(pages, *id) == string,
            |id| xxh3_64(string_at(pages, *id).as_bytes()),
        );
        let id = match entry {
            Entry::Occupied(occupied) => *occupied.get(),
            Entry::Vacant(vacant) => {
                let id = free.pop().unwrap_or(next);
                vacant.insert(id);
                if id as usize == pages.len() * PAGE_STRINGS {
                    pages.push(StringPage::default());
                }
                if let Some((page, slot)) = page_mut(pages, id) {
                    *page_bytes -= page.bytes();
                    page.set(slot, string);
                    *page_bytes += page.bytes();
                }
                id
            }
        };
        self.count(StringId(id), more_uses);
        StringId(id)
    }

    /// Releases one use of a string; the last one removes it.
    pub(super) fn release(&mut self, id: StringId) {
        let hash = xxh3_64(self.string(id).as_bytes());
        let Some((page, slot)) = page_mut(&mut self.pages, id.0) else { return };
        match page.uses.get_mut(slot) {
            Some(uses) if *uses > 1 => *uses -= 1,
            Some(uses) if *uses == 1 => {
                *uses = 0;
                if let Ok(found) = self.by_hash.find_entry(hash, |other| *other == id.0) {
                    found.remove();
                }
                self.page_bytes -= page.bytes();
                page.set(slot, "");
                page.shrink();
                self.page_bytes += page.bytes();
                self.free.push(id.0);
            }
            _ => {}
        }
    }

    /// Returns the bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.own_bytes() + self.page_bytes
    }

    /// Returns the bytes on the heap without those of the pages.
    fn own_bytes(&self) -> usize {
        self.pages.capacity() * size_of::<StringPage>()
            + self.free.capacity() * size_of::<u32>()
            + self.by_hash.allocation_size()
    }
}

#[cfg(test)]
impl Strings {
    /// Recomputes [`Self::bytes`] from the contents.
    pub(super) fn walked_bytes(&self) -> usize {
        self.own_bytes() + self.pages.iter().map(StringPage::bytes).sum::<usize>()
    }
}

impl StringPage {
    fn start_of(&self, slot: usize) -> usize {
        slot.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    fn get(&self, slot: usize) -> &str {
        let start = self.start_of(slot);
        let end = self.ends[slot] as usize;
        let Some(string) = self.buffer.get(start..end) else {
            panic!("a string at {start}..{end} is outside its page or cuts a character");
        };
        string
    }

    /// Replaces the string of a slot, or appends one.
    fn set(&mut self, slot: usize, string: &str) {
        let is_last = slot + 1 == PAGE_STRINGS && slot >= self.ends.len();
        if slot >= self.ends.len() {
            self.ends.push(self.buffer.len() as u32);
            self.uses.push(0);
        }
        let start = self.start_of(slot);
        let end = self.ends[slot] as usize;
        self.buffer.replace_range(start..end, string);
        for at in self.ends.iter_mut().skip(slot) {
            *at = *at - (end - start) as u32 + string.len() as u32;
        }
        if is_last {
            // Nothing is appended to a full page.
            self.buffer.shrink_to_fit();
        }
    }

    /// Returns the bytes on the heap.
    fn bytes(&self) -> usize {
        let numbers = self.ends.capacity() + self.uses.capacity();
        self.buffer.capacity() + numbers * size_of::<u32>()
    }

    /// Releases memory when most of the buffer is unused.
    fn shrink(&mut self) {
        if self.buffer.capacity() > 2 * self.buffer.len() + 64 {
            self.buffer.shrink_to_fit();
        }
    }
}

fn string_at(pages: &[StringPage], id: u32) -> &str {
    let (page, slot) = (id as usize / PAGE_STRINGS, id as usize % PAGE_STRINGS);
    pages.get(page).map_or("", |page| page.get(slot))
}

fn page_mut(pages: &mut [StringPage], id: u32) -> Option<(&mut StringPage, usize)> {
    let (page, slot) = (id as usize / PAGE_STRINGS, id as usize % PAGE_STRINGS);
    Some((pages.get_mut(page)?, slot))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strings_are_kept_while_they_are_used(
            steps in prop::collection::vec(
                ("[aä]{0,3}[0-9]{0,2}", any::<bool>(), prop::option::of(0u32..200)), 0..600,
            ),
        ) {
            let mut strings = Strings::default();
            let mut model: BTreeMap<String, (StringId, u32)> = BTreeMap::new();
            for (string, acquired, likely) in steps {
                let likely = likely.map(StringId);
                prop_assert_eq!(strings.get_likely(&string, likely), strings.get(&string));
                if acquired {
                    let id = strings.acquire_likely(&string, likely);
                    let known = model.entry(string).or_insert((id, 0));
                    prop_assert_eq!(known.0, id);
                    known.1 += 1;
                } else if let Some((id, uses)) = model.get_mut(&string) {
                    strings.release(*id);
                    *uses -= 1;
                    if *uses == 0 {
                        model.remove(&string);
                        prop_assert_eq!(strings.get(&string), None);
                    }
                }
                for (string, (id, _)) in &model {
                    prop_assert_eq!(strings.string(*id), string);
                    prop_assert_eq!(strings.get(string), Some(*id));
                }
            }
            prop_assert_eq!(strings.bytes(), strings.walked_bytes());
        }
    }

    #[test]
    fn memory_does_not_grow_with_strings_that_were_released() {
        let mut strings = Strings::default();
        let mut ids = std::collections::VecDeque::new();
        let mut least = 0;
        for number in 0..100_000 {
            ids.push_back(strings.acquire(&format!("pod-{number:08}")));
            if number >= 1_000 {
                strings.release(ids.pop_front().unwrap());
            }
            if number == 20_000 {
                least = strings.bytes();
            }
        }
        assert!(strings.bytes() <= least * 5 / 4, "{} instead of {least}", strings.bytes());
        ids.into_iter().for_each(|id| strings.release(id));
        assert!(strings.bytes() < least && strings.by_hash.is_empty());
    }
}
