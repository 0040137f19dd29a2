//! The sweep: finding the pages of a page group that no block refers to any more.
//!
//! A compaction that replaces blocks leaves behind the pages that only those blocks referred to.
//! References are stored only in the blocks, so from time to time all blocks of a page group are
//! read. This is done in steps, while blocks are added and removed:
//!
//! ```text
//! start     all current pages are candidates for deletion; pages written later are kept
//! mark      metric by metric: marks the vectors that blocks refer to; vectors that a compaction
//!           reuses in the meantime are marked too
//! wait      until no reader has a catalog from before the end of marking: its blocks may be
//! unmarked
//! delete    the pages without a mark
//! ```
//!
//! A failed sweep, for example because a block cannot be read, is postponed: the pages are kept
//! until the page group has doubled in size, or until the next start.
//!
//! Compactions after a sweep do not reuse the vectors of a page of which blocks use less than half
//! ([`GroupPages::sparse`]): they write them again, so that the page can be deleted too.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use roaring::RoaringBitmap;

use super::page::{PageNumber, TimePageGroup, TimeVectorRef};
use crate::limits;
use crate::metrics::reader_mark::ReaderMark;
use crate::model::MetricId;

/// The pages of a page group.
#[derive(Debug, Default)]
pub(super) struct GroupPages {
    /// The size of each page in bytes.
    pages: BTreeMap<PageNumber, u64>,
    bytes: u64,
    /// The size in bytes above which a sweep is due. `None` before the first sweep, when the size
    /// of the blocks in the page group serves instead.
    bytes_max: Option<u64>,
    /// The pages of which blocks use less than half.
    pub(super) sparse: HashSet<PageNumber>,
}

impl GroupPages {
    pub(super) fn add(&mut self, page: PageNumber, bytes: u64) {
        self.bytes += bytes;
        self.bytes -= self.pages.insert(page, bytes).unwrap_or(0);
    }

    /// Returns the highest number of a page.
    pub(super) fn last(&self) -> Option<PageNumber> {
        self.pages.keys().next_back().copied()
    }

    /// Returns the numbers of the pages.
    pub(super) fn numbers(&self) -> impl Iterator<Item = PageNumber> {
        self.pages.keys().copied()
    }

    pub(super) fn remove(&mut self, page: PageNumber) {
        self.bytes -= self.pages.remove(&page).unwrap_or(0);
        self.sparse.remove(&page);
    }

    /// Returns the size of a page in bytes, 0 when it is not in the group.
    pub(super) fn bytes_of(&self, page: PageNumber) -> u64 {
        self.pages.get(&page).copied().unwrap_or(0)
    }

    /// Returns by how many bytes the pages exceed the limit, if they do. Before the first sweep the
    /// limit is the size of the blocks that refer to them: unreferenced pages then take at most as
    /// much space as the data, and reading few blocks is cheap.
    pub(super) fn excess(&self, block_bytes: u64) -> Option<u64> {
        let bytes_max =
            self.bytes_max.unwrap_or(block_bytes.max(limits::TIME_PAGES_UNUSED_BYTES_MIN));
        self.bytes.checked_sub(bytes_max).filter(|excess| *excess > 0)
    }

    /// Sets the limit for the next sweep, after one that found `used_bytes` in use: due when as
    /// much again was written.
    pub(super) fn swept(&mut self, used_bytes: u64) {
        self.bytes_max = Some(self.bytes + used_bytes.max(limits::TIME_PAGES_UNUSED_BYTES_MIN));
    }

    /// Postpones the next sweep after a failed one, until the group has doubled in size.
    pub(super) fn postpone(&mut self) {
        self.swept(self.bytes);
    }
}

/// A sweep of one page group.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(crate) page_group: TimePageGroup,
    /// The pages that may be deleted, with the indices of the vectors that blocks refer to.
    used: HashMap<PageNumber, RoaringBitmap>,
    /// The metrics whose blocks were not marked yet.
    pub(crate) unmarked_metrics: Vec<MetricId>,
    /// Set at the end of marking: the readers that may have blocks that were not marked.
    pub(crate) readers: Option<ReaderMark>,
}

/// The result of a sweep.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(super) page_group: TimePageGroup,
    pub(super) unused: HashSet<PageNumber>,
    /// The pages of which blocks use less than half.
    pub(super) sparse: HashSet<PageNumber>,
    /// The number of bytes of pages in use by blocks.
    pub(super) used_bytes: u64,
}

impl Swept {
    /// Returns whether there are pages to delete.
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
        Self { page_group, used, unmarked_metrics: metrics, readers: None }
    }

    /// Marks a vector that a block refers to.
    pub(crate) fn mark(&mut self, place: TimeVectorRef) {
        if let Some(places) = self.used.get_mut(&place.page) {
            places.insert(place.place);
        }
    }

    /// Marks vectors of a page that the blocks of a compaction refer to.
    pub(super) fn mark_all(&mut self, page: PageNumber, reused: &RoaringBitmap) {
        if let Some(places) = self.used.get_mut(&page) {
            *places |= reused;
        }
    }

    /// Returns the pages without a mark.
    pub(super) fn unused(&self) -> impl Iterator<Item = PageNumber> {
        self.used.iter().filter(|(_, places)| places.is_empty()).map(|(page, _)| *page)
    }

    /// Returns the pages with marks, with the indices of the marked vectors.
    pub(super) fn used(&self) -> impl Iterator<Item = (PageNumber, &RoaringBitmap)> {
        self.used.iter().filter(|(_, places)| !places.is_empty()).map(|(page, used)| (*page, used))
    }
}
