//! Finding the pages of a page group that no block refers to any more.
//!
//! A merge that replaces blocks leaves the pages behind that only these referred to. Which pages that are is known by the blocks
//! alone, so now and then all blocks of a page group are asked: a *sweep*. It goes in pieces, and blocks come and go meanwhile:
//!
//! ```text
//! begin     the pages that there are now may go; pages that are written later stay
//! mark      each metric in its turn: what its blocks refer to stays; what a merge refers to meanwhile stays
//! wait      until nobody holds a catalog older than the one at the end of marking: its blocks are not marked
//! delete    the pages without a mark
//! ```
//!
//! A sweep that fails, such as over a block that cannot be read, is put off: its pages stay until the page group has twice as many bytes,
//! or until the next start.
//!
//! A page of which blocks use less than half is left out by the merges that follow ([`GroupPages::sparse`]): they write its
//! vectors anew, so that it can go as well.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use roaring::RoaringBitmap;

use super::page::{PageNumber, PlaceInPage, TimePageGroup};
use crate::metrics::reader_mark::ReaderMark;
use crate::model::MetricId;

/// Bytes of unused pages of a page group that nobody looks for.
pub(super) const UNUSED_BYTES_MIN: u64 = 64 << 10;

/// The pages of a page group.
#[derive(Debug, Default)]
pub(super) struct GroupPages {
    /// Their bytes.
    pages: BTreeMap<PageNumber, u64>,
    bytes: u64,
    /// With more bytes than this a sweep is due. None before the first one: the blocks of the page group give a measure then.
    bytes_max: Option<u64>,
    /// Pages that blocks use less than half of.
    pub(super) sparse: HashSet<PageNumber>,
}

impl GroupPages {
    pub(super) fn add(&mut self, page: PageNumber, bytes: u64) {
        self.bytes += bytes;
        self.bytes -= self.pages.insert(page, bytes).unwrap_or(0);
    }

    pub(super) fn remove(&mut self, page: PageNumber) {
        self.bytes -= self.pages.remove(&page).unwrap_or(0);
        self.sparse.remove(&page);
    }

    /// The bytes of a page, 0 when it is not here.
    pub(super) fn bytes_of(&self, page: PageNumber) -> u64 {
        self.pages.get(&page).copied().unwrap_or(0)
    }

    /// By how much the pages are more than they should be, if they are. Before the first sweep that is as much as the blocks that
    /// refer to them: what they leak beyond is as much as the data at most, and asking few blocks is cheap.
    pub(super) fn excess(&self, block_bytes: u64) -> Option<u64> {
        let bytes_max = self.bytes_max.unwrap_or(block_bytes.max(UNUSED_BYTES_MIN));
        self.bytes.checked_sub(bytes_max).filter(|excess| *excess > 0)
    }

    /// Sets when the next sweep is due, after one that found so many bytes in use: when as much again was written.
    pub(super) fn swept(&mut self, used_bytes: u64) {
        self.bytes_max = Some(self.bytes + used_bytes.max(UNUSED_BYTES_MIN));
    }

    /// Puts the next sweep off, after one that failed: until there are twice as many bytes.
    pub(super) fn put_off(&mut self) {
        self.swept(self.bytes);
    }
}

/// The search for the unused pages of one page group.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(crate) page_group: TimePageGroup,
    /// The pages that may go, with the places in them that blocks refer to.
    used: HashMap<PageNumber, RoaringBitmap>,
    /// The metrics whose blocks have not been asked.
    pub(crate) unasked: Vec<MetricId>,
    /// Set when all have been asked: the readers who may hold blocks that were not.
    pub(crate) readers: Option<ReaderMark>,
}

/// The result of a sweep.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(super) page_group: TimePageGroup,
    pub(super) unused: HashSet<PageNumber>,
    /// Pages that blocks use less than half of.
    pub(super) sparse: HashSet<PageNumber>,
    /// Bytes of pages that blocks use.
    pub(super) used_bytes: u64,
}

impl Swept {
    /// Whether there are pages to delete.
    pub(crate) fn has_unused(&self) -> bool {
        !self.unused.is_empty()
    }
}

impl Sweep {
    pub(super) fn begin(
        page_group: TimePageGroup,
        pages: &GroupPages,
        metrics: Vec<MetricId>,
    ) -> Self {
        let used = pages.pages.keys().map(|page| (*page, RoaringBitmap::new())).collect();
        Self { page_group, used, unasked: metrics, readers: None }
    }

    /// Keeps what a block refers to.
    pub(crate) fn mark(&mut self, place: PlaceInPage) {
        if let Some(places) = self.used.get_mut(&place.page) {
            places.insert(place.place);
        }
    }

    /// Keeps places of a page that blocks of a merge refer to.
    pub(super) fn mark_all(&mut self, page: PageNumber, reused: &RoaringBitmap) {
        if let Some(places) = self.used.get_mut(&page) {
            *places |= reused;
        }
    }

    /// The pages without a mark.
    pub(super) fn unused(&self) -> impl Iterator<Item = PageNumber> {
        self.used.iter().filter(|(_, places)| places.is_empty()).map(|(page, _)| *page)
    }

    /// The pages with marks, and these.
    pub(super) fn used(&self) -> impl Iterator<Item = (PageNumber, &RoaringBitmap)> {
        self.used.iter().filter(|(_, places)| !places.is_empty()).map(|(page, used)| (*page, used))
    }
}
