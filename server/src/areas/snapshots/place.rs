//! What a baseline is one of: a page as a browser shows it in a viewport.

use super::capture::Viewport;
use super::ids::PageId;

/// A page, the browser (of which there is one), a viewport, and how much of the page is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    page: PageId,
    width: u32,
    height: u32,
    /// The bits of the device scale factor, which is never 0 or NaN: equal numbers have equal bits.
    scale: u64,
    full_page: bool,
}

/// What a place is, in words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlaceSettings {
    pub(super) url: String,
    pub(super) viewport: Viewport,
    pub(super) full_page: bool,
}

impl Place {
    pub(super) fn new(page: PageId, viewport: Viewport, full_page: bool) -> Self {
        Self {
            page,
            width: viewport.width(),
            height: viewport.height(),
            scale: viewport.device_scale_factor().to_bits(),
            full_page,
        }
    }

    /// Returns the page.
    pub(super) fn page(&self) -> PageId {
        self.page
    }
}
