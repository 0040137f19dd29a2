//! The writer of time pages: finds the page that contains the times of a new block, or adds them to
//! a new page.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;
use roaring::RoaringBitmap;

use super::page::{PageNumber, TimePage, TimePageGroup, TimePageKey, TimeVectorRef};
use super::pages::TimePages;
use crate::codec::integers::Effort;
use crate::codec::verified::{encode_verified, expect_same};
use crate::codec::{CodecError, CodecResult};
use crate::fingerprint::fingerprinter;
use crate::limits;

/// The size of a known vector in bytes, in a hash table that is half full.
const KNOWN_VECTOR_BYTES: usize = 2 * size_of::<(u128, TimeVectorRef)>();

/// The locations of the vectors of a page group, by the hash of their times.
pub(super) type KnownVectors = HashMap<u128, TimeVectorRef>;

/// A page that is not on disk yet.
#[derive(Debug)]
pub(crate) struct NewPage {
    pub(crate) key: TimePageKey,
    pub(crate) bytes: Vec<u8>,
}

/// A new page and its number.
pub(crate) type NewlyDecoded = (PageNumber, Arc<TimePage>);

/// Looks up or creates the time pages for the blocks of one seal or compaction.
#[derive(Debug)]
pub(crate) struct TimePageWriter<'m> {
    /// The source of page numbers.
    sequence: &'m AtomicU64,
    /// The pages on disk, if the writer uses them.
    stored: Option<&'m TimePages>,
    page_groups: Mutex<HashMap<TimePageGroup, GroupWriter>>,
}

#[derive(Debug, Default)]
struct GroupWriter {
    known: KnownVectors,
    /// The vectors that blocks refer to and that were known before, by page.
    reused: HashMap<PageNumber, RoaringBitmap>,
    open: Option<(PageNumber, TimePage)>,
    closed: Vec<(PageNumber, TimePage)>,
}

impl<'m> TimePageWriter<'m> {
    /// Creates a writer that knows no vectors.
    pub(crate) fn new(sequence: &'m AtomicU64) -> Self {
        Self { sequence, stored: None, page_groups: Mutex::default() }
    }

    /// Creates a writer that also uses vectors in the pages of `stored`, once they are added with
    /// [`Self::add_known`].
    pub(super) fn over(sequence: &'m AtomicU64, stored: &'m TimePages) -> Self {
        Self { stored: Some(stored), ..Self::new(sequence) }
    }

    /// Adds the vectors that are already on disk.
    pub(super) fn add_known(&self, page_group: TimePageGroup, known: KnownVectors) {
        self.page_groups.lock().entry(page_group).or_default().known = known;
    }

    /// Returns the location of these times in the pages of a page group, adding them to a new page
    /// if necessary.
    pub(crate) fn place(&self, page_group: TimePageGroup, times: &[i64]) -> TimeVectorRef {
        let hash = hash(times);
        let mut page_groups = self.page_groups.lock();
        let GroupWriter { known, reused, open, closed } =
            page_groups.entry(page_group).or_default();
        if let Some(place) = known.get(&hash) {
            reused.entry(place.page).or_default().insert(place.place);
            return *place;
        }
        let (page, vectors) = open.get_or_insert_with(|| {
            (PageNumber(self.sequence.fetch_add(1, Ordering::Relaxed)), TimePage::default())
        });
        let place = TimeVectorRef { page: *page, place: vectors.push(times) };
        if known.len() < limits::TIME_VECTORS_KNOWN_MAX {
            known.insert(hash, place);
        }
        if vectors.is_full() {
            closed.extend(open.take());
        }
        place
    }

    /// Returns whether the vector at a location in a page group has these times.
    pub(crate) fn holds(
        &self,
        page_group: TimePageGroup,
        place: TimeVectorRef,
        times: &[i64],
    ) -> CodecResult<bool> {
        let is_equal = |page: &TimePage| page.vector(place.place) == Some(times);
        let mut page_groups = self.page_groups.lock();
        let GroupWriter { open, closed, .. } = page_groups.entry(page_group).or_default();
        let new = open.iter().chain(closed.iter()).find(|(number, _)| *number == place.page);
        if let Some((_, page)) = new {
            return Ok(is_equal(page));
        }
        drop(page_groups);
        let missing = || CodecError::new(format!("time page {} is unknown", place.page.0));
        let page = self.stored.ok_or_else(missing)?.find(page_group, place.page);
        page.map(|page| is_equal(&page)).map_err(|error| CodecError::new(error.to_string()))
    }

    /// Returns the new pages, to be written with the blocks that refer to them.
    pub(crate) fn pages(&self, effort: Effort) -> CodecResult<Vec<NewPage>> {
        self.close();
        self.closed_pages(effort)
    }

    /// Returns the new pages like [`Self::pages`], and those that are `wanted`, decoded, the newest
    /// first: at most `bytes_max` bytes.
    pub(crate) fn pages_and_decoded(
        &self,
        wanted: &HashSet<PageNumber>,
        bytes_max: usize,
        effort: Effort,
    ) -> CodecResult<(Vec<NewPage>, Vec<NewlyDecoded>)> {
        self.close();
        let (mut decoded, mut left) = (Vec::new(), bytes_max);
        let pages = self.encode_closed(effort, |number, page| {
            if wanted.contains(&number) {
                let page = page.shrunk();
                if let Some(rest) = left.checked_sub(page.bytes()) {
                    left = rest;
                    decoded.push((number, Arc::new(page)));
                }
            }
        })?;
        Ok((pages, decoded))
    }

    fn close(&self) {
        for GroupWriter { open, closed, .. } in self.page_groups.lock().values_mut() {
            closed.extend(open.take());
        }
    }

    /// Returns the new pages that are full, to be written before the catalog entries of the blocks
    /// that refer to them.
    pub(crate) fn closed_pages(&self, effort: Effort) -> CodecResult<Vec<NewPage>> {
        self.encode_closed(effort, |_, _| ())
    }

    fn encode_closed(
        &self,
        effort: Effort,
        mut encoded: impl FnMut(PageNumber, TimePage),
    ) -> CodecResult<Vec<NewPage>> {
        let mut pages = Vec::new();
        let mut page_groups = self.page_groups.lock();
        let mut newest: Vec<_> = page_groups.iter_mut().collect();
        newest.sort_unstable_by_key(|(page_group, _)| Reverse(page_group.window.start));
        for (page_group, GroupWriter { closed, .. }) in newest {
            for (number, page) in closed.drain(..) {
                let bytes = encode_verified(
                    effort,
                    |effort| page.encode(effort),
                    |bytes| expect_same(TimePage::decode(bytes)? == page, "times"),
                    || format!("new time page {}", number.0),
                )?;
                let key = TimePageKey { page_group: *page_group, number };
                pages.push(NewPage { key, bytes });
                encoded(number, page);
            }
        }
        Ok(pages)
    }

    /// Returns the size of the new pages that are full, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        let page_groups = self.page_groups.lock();
        page_groups.values().flat_map(|pages| &pages.closed).map(|(_, page)| page.bytes()).sum()
    }

    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let page_groups = self.page_groups.lock();
        let of = |pages: &GroupWriter| {
            let new = pages.closed.iter().chain(&pages.open).map(|(_, page)| page.bytes());
            new.sum::<usize>() + pages.known.len() * KNOWN_VECTOR_BYTES
        };
        page_groups.values().map(of).sum()
    }

    /// Returns the known vectors of each page group, once they are on disk, and those known before
    /// that blocks refer to.
    pub(super) fn into_known_vectors(
        self,
    ) -> impl Iterator<Item = (TimePageGroup, KnownVectors, HashMap<PageNumber, RoaringBitmap>)>
    {
        let page_groups = self.page_groups.into_inner().into_iter();
        page_groups.map(|(page_group, pages)| (page_group, pages.known, pages.reused))
    }
}

/// Returns the fingerprint that identifies a vector: equal fingerprints are taken as equal times.
pub(super) fn hash(times: &[i64]) -> u128 {
    let mut hasher = fingerprinter();
    let mut bytes = [0; 512];
    for chunk in times.chunks(bytes.len() / 8) {
        for (slot, time) in bytes.as_chunks_mut().0.iter_mut().zip(chunk) {
            *slot = time.to_le_bytes();
        }
        hasher.update(&bytes[..chunk.len() * 8]);
    }
    hasher.digest128()
}

/// Finds a page among new pages, for tests of blocks.
#[cfg(test)]
pub(crate) fn find_new(
    pages: &[NewPage],
    page_group: TimePageGroup,
    number: PageNumber,
) -> crate::error::Result<std::sync::Arc<TimePage>> {
    let found = pages.iter().find(|page| page.key == TimePageKey { page_group, number });
    let missing = || crate::codec::CodecError::new("page not found");
    Ok(TimePage::decode(&found.ok_or_else(missing)?.bytes)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimeRange;

    #[test]
    fn equal_vectors_are_stored_once_and_full_pages_are_closed() {
        let sequence = AtomicU64::new(5);
        let writer = TimePageWriter::new(&sequence);
        let page_group =
            TimePageGroup { window: TimeRange::new(0, 7_200_000), of_compacted_set: false };
        let long: Vec<i64> = (0..50_000).map(|i| i * i).collect();
        let first = writer.place(page_group, &long);
        assert_eq!(first, TimeVectorRef { page: PageNumber(5), place: 0 });
        assert_eq!(writer.place(page_group, &long), first);
        let second = writer.place(page_group, &long[1..]);
        assert_eq!(second, TimeVectorRef { page: PageNumber(5), place: 1 });
        assert_eq!(writer.place(page_group, &long[2..]).page, PageNumber(6));
        assert_eq!(
            writer.place(TimePageGroup { of_compacted_set: true, ..page_group }, &long).page,
            PageNumber(7)
        );
        assert_eq!(writer.pages(Effort::Seal).unwrap().len(), 3);
        assert_eq!(writer.pages(Effort::Seal).unwrap().len(), 0);
        assert_eq!(writer.place(page_group, &long), first);
    }

    #[test]
    fn different_vectors_have_different_hashes() {
        let times: Vec<i64> = (0..200).collect();
        let hashes = [0, 1, 64, 65, 128, 200].map(|n| hash(&times[..n]));
        assert!(hashes.iter().enumerate().all(|(i, h)| !hashes[..i].contains(h)));
    }
}
