//! From the times of a block that is being written to a page that holds them already, or a new one.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use roaring::RoaringBitmap;

use super::page::{PageNumber, PlaceInPage, TimePage, TimePageGroup, key};
use super::pages::TimePages;
use crate::codec::integers::Effort;
use crate::codec::verified::{encode_verified, expect_same};
use crate::codec::{CodecError, CodecResult};
use crate::fingerprint::fingerprinter;

/// Vectors that are known, of one page group: others are written again where they come again.
pub(super) const PLACES_MAX: usize = 1 << 18;
/// Bytes of a vector that is known, in a table that is half full.
const PLACE_BYTES: usize = 2 * size_of::<(u128, PlaceInPage)>();

/// Where the vectors of a page group are, by the hash of their times.
pub(super) type Places = HashMap<u128, PlaceInPage>;

/// A page that is not on disk yet.
#[derive(Debug)]
pub(crate) struct NewPage {
    pub(crate) key: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

/// Finds or makes the pages for the blocks of one seal or merge.
#[derive(Debug)]
pub(crate) struct TimesWriter<'m> {
    /// Hands out the numbers of pages.
    sequence: &'m AtomicU64,
    /// Has the pages that were known before.
    stored: Option<&'m TimePages>,
    page_groups: Mutex<HashMap<TimePageGroup, Pages>>,
}

#[derive(Debug, Default)]
struct Pages {
    places: Places,
    /// The places that were known before they were asked for.
    reused: HashMap<PageNumber, RoaringBitmap>,
    open: Option<(PageNumber, TimePage)>,
    closed: Vec<(PageNumber, TimePage)>,
}

impl<'m> TimesWriter<'m> {
    /// A writer that knows no vectors.
    pub(crate) fn new(sequence: &'m AtomicU64) -> Self {
        Self { sequence, stored: None, page_groups: Mutex::default() }
    }

    /// A writer that will be told of vectors in pages of `stored`.
    pub(super) fn over(sequence: &'m AtomicU64, stored: &'m TimePages) -> Self {
        Self { stored: Some(stored), ..Self::new(sequence) }
    }

    /// Makes vectors known that are on disk already.
    pub(super) fn know(&self, page_group: TimePageGroup, places: Places) {
        self.page_groups.lock().entry(page_group).or_default().places = places;
    }

    /// Where the blocks of a page group find these times.
    pub(crate) fn place(&self, page_group: TimePageGroup, times: &[i64]) -> PlaceInPage {
        let hash = hash(times);
        let mut page_groups = self.page_groups.lock();
        let Pages { places, reused, open, closed } = page_groups.entry(page_group).or_default();
        if let Some(place) = places.get(&hash) {
            reused.entry(place.page).or_default().insert(place.place);
            return *place;
        }
        let (page, vectors) = open.get_or_insert_with(|| {
            (PageNumber(self.sequence.fetch_add(1, Ordering::Relaxed)), TimePage::default())
        });
        let place = PlaceInPage { page: *page, place: vectors.push(times) };
        if places.len() < PLACES_MAX {
            places.insert(hash, place);
        }
        if vectors.is_full() {
            closed.extend(open.take());
        }
        place
    }

    /// Whether a place of a page group holds these times.
    pub(crate) fn holds(
        &self,
        page_group: TimePageGroup,
        place: PlaceInPage,
        times: &[i64],
    ) -> CodecResult<bool> {
        let is_there = |page: &TimePage| page.vector(place.place) == Some(times);
        let mut page_groups = self.page_groups.lock();
        let Pages { open, closed, .. } = page_groups.entry(page_group).or_default();
        let new = open.iter().chain(closed.iter()).find(|(number, _)| *number == place.page);
        if let Some((_, page)) = new {
            return Ok(is_there(page));
        }
        drop(page_groups);
        let missing = || CodecError::new(format!("page {} of times is unknown", place.page.0));
        let page = self.stored.ok_or_else(missing)?.find(page_group, place.page);
        page.map(|page| is_there(&page)).map_err(|error| CodecError::new(error.to_string()))
    }

    /// The new pages, to be written with the blocks that refer to them.
    pub(crate) fn pages(&self, effort: Effort) -> CodecResult<Vec<NewPage>> {
        for Pages { open, closed, .. } in self.page_groups.lock().values_mut() {
            closed.extend(open.take());
        }
        self.closed_pages(effort)
    }

    /// The new pages that are full, to be written before the blocks that refer to them are named.
    pub(crate) fn closed_pages(&self, effort: Effort) -> CodecResult<Vec<NewPage>> {
        let mut pages = Vec::new();
        for (page_group, Pages { closed, .. }) in self.page_groups.lock().iter_mut() {
            for (number, page) in closed.drain(..) {
                let bytes = encode_verified(
                    effort,
                    |effort| page.encode(effort),
                    |bytes| expect_same(TimePage::decode(bytes)? == page, "times"),
                    || format!("new page {} of times", number.0),
                )?;
                pages.push(NewPage { key: key(*page_group, number), bytes });
            }
        }
        Ok(pages)
    }

    /// Bytes of the new pages that are full.
    pub(crate) fn closed_bytes(&self) -> usize {
        let page_groups = self.page_groups.lock();
        page_groups.values().flat_map(|pages| &pages.closed).map(|(_, page)| page.bytes()).sum()
    }

    /// Bytes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let page_groups = self.page_groups.lock();
        let of = |pages: &Pages| {
            let new = pages.closed.iter().chain(&pages.open).map(|(_, page)| page.bytes());
            new.sum::<usize>() + pages.places.len() * PLACE_BYTES
        };
        page_groups.values().map(of).sum()
    }

    /// What is known of the page groups, once it is on disk, and which places blocks found known.
    pub(super) fn into_places(
        self,
    ) -> impl Iterator<Item = (TimePageGroup, Places, HashMap<PageNumber, RoaringBitmap>)> {
        let page_groups = self.page_groups.into_inner().into_iter();
        page_groups.map(|(page_group, pages)| (page_group, pages.places, pages.reused))
    }
}

/// The fingerprint by which a vector is known: equal ones are not compared.
pub(super) fn hash(times: &[i64]) -> u128 {
    let mut hasher = fingerprinter();
    let mut bytes = [0; 512];
    for chunk in times.chunks(bytes.len() / 8) {
        for (slot, time) in bytes.as_chunks_mut().0.iter_mut().zip(chunk) {
            *slot = time.to_le_bytes();
        }
        hasher.update(bytes.get(..chunk.len() * 8).unwrap_or_default());
    }
    hasher.digest128()
}

/// A page that is not on disk yet, for the tests of blocks.
#[cfg(test)]
pub(crate) fn find_new(
    pages: &[NewPage],
    page_group: TimePageGroup,
    number: PageNumber,
) -> crate::error::Result<std::sync::Arc<TimePage>> {
    let found = pages.iter().find(|page| page.key == key(page_group, number));
    let missing = || crate::codec::CodecError::new("no such page");
    Ok(TimePage::decode(&found.ok_or_else(missing)?.bytes)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimeRange;

    #[test]
    fn equal_vectors_share_a_place_and_full_pages_are_closed() {
        let sequence = AtomicU64::new(5);
        let writer = TimesWriter::new(&sequence);
        let page_group = TimePageGroup { window: TimeRange::new(0, 7_200_000), of_unit: false };
        let long: Vec<i64> = (0..50_000).map(|i| i * i).collect();
        let first = writer.place(page_group, &long);
        assert_eq!(first, PlaceInPage { page: PageNumber(5), place: 0 });
        assert_eq!(writer.place(page_group, &long), first);
        let second = writer.place(page_group, &long[1..]);
        assert_eq!(second, PlaceInPage { page: PageNumber(5), place: 1 });
        assert_eq!(writer.place(page_group, &long[2..]).page, PageNumber(6));
        assert_eq!(
            writer.place(TimePageGroup { of_unit: true, ..page_group }, &long).page,
            PageNumber(7)
        );
        assert_eq!(writer.pages(Effort::Seal).unwrap().len(), 3);
        assert_eq!(writer.pages(Effort::Seal).unwrap().len(), 0);
        assert_eq!(writer.place(page_group, &long), first);
    }

    #[test]
    fn vectors_that_differ_have_other_hashes() {
        let times: Vec<i64> = (0..200).collect();
        let hashes = [0, 1, 64, 65, 128, 200].map(|n| hash(&times[..n]));
        assert!(hashes.iter().enumerate().all(|(i, h)| !hashes[..i].contains(h)));
    }
}
