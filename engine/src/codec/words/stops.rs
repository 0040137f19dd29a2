//! Stops: places in pages of codes where decoding can begin.
//!
//! Codes follow each other without gaps, so that a row in the middle of a page is only found by
//! decoding those before it. While rows of few series are decoded, or few rows of each, a stop is
//! noted every [`STOP_ROWS`] rows. Later reads of the page begin at the last stop before their
//! rows, and decode two halves of them at once.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::cast::items;

/// Rows between two stops. A stop takes four bytes, the codes of as many small steps some 17.
const STOP_ROWS: usize = 64;

/// A place between two words of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stop {
    /// The first row after it.
    pub(super) row: usize,
    /// The bits before it.
    pub(super) bit: usize,
}

/// The stops of all pages of a column.
#[derive(Debug)]
pub(super) struct Stops {
    /// Of each page, the first stop from each multiple of [`STOP_ROWS`] on: its row in the high
    /// half, its bit in the low one. Zero if it is not known.
    places: Box<[AtomicU32]>,
    per_page: usize,
}

impl Stops {
    pub(super) fn new(pages: usize, page_rows: usize) -> Self {
        let per_page = page_rows.div_ceil(STOP_ROWS) - 1;
        Self { places: (0..pages * per_page).map(|_| AtomicU32::new(0)).collect(), per_page }
    }

    /// Returns the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.places)
    }

    /// Returns the stops of a page; none if it does not exist.
    pub(super) fn of_page(&self, page: usize) -> PageStops<'_> {
        let first = page * self.per_page;
        PageStops(self.places.get(first..first + self.per_page).unwrap_or_default())
    }
}

/// The stops of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageStops<'s>(&'s [AtomicU32]);

impl PageStops<'_> {
    /// Returns the last stop that is known at or before `row`: the beginning of the page at least.
    pub(super) fn before(&self, row: usize) -> Stop {
        let mut known = self.0.iter().take(row / STOP_ROWS).rev().filter_map(stop);
        known.find(|stop| stop.row <= row).unwrap_or_default()
    }

    /// Returns the row from which on the next stop after `row` is noted: none where no stops are.
    #[inline]
    pub(super) fn next_noted(&self, row: usize) -> usize {
        if self.0.is_empty() { usize::MAX } else { (row / STOP_ROWS + 1) * STOP_ROWS }
    }

    /// Notes a stop, unless it is too far into the page to be described.
    pub(super) fn note(&self, Stop { row, bit }: Stop) {
        let place = (row / STOP_ROWS).checked_sub(1).and_then(|at| self.0.get(at));
        if let (Some(place), Ok(row), Ok(bit)) = (place, u16::try_from(row), u16::try_from(bit)) {
            // Row and bit are written at once, and mean the same whoever has found them.
            place.store(u32::from(row) << 16 | u32::from(bit), Ordering::Relaxed);
        }
    }
}

fn stop(place: &AtomicU32) -> Option<Stop> {
    let place = place.load(Ordering::Relaxed);
    let half = |half: u32| items(u64::from(half));
    (place != 0).then(|| Stop { row: half(place >> 16), bit: half(place & 0xffff) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_known_stop_before_a_row_is_found() {
        let stops = Stops::new(2, 250);
        let page = stops.of_page(1);
        assert_eq!(page.before(249), Stop::default());
        let (first, third) = (Stop { row: 68, bit: 512 }, Stop { row: 192, bit: 65_535 });
        page.note(first);
        page.note(third);
        page.note(Stop { row: 128, bit: 65_536 });
        page.note(Stop { row: 63, bit: 3 });
        page.note(Stop { row: 256, bit: 3 });
        for (row, expected) in [(0, Stop::default()), (67, Stop::default()), (68, first)] {
            assert_eq!(page.before(row), expected);
        }
        for (row, expected) in [(191, first), (192, third), (249, third), (usize::MAX, third)] {
            assert_eq!(page.before(row), expected);
        }
        assert_eq!(stops.of_page(0).before(249), Stop::default());
        assert_eq!(stops.of_page(2).before(249), Stop::default());
        assert_eq!(stops.bytes(), 24);
        assert_eq!([0, 63, 64].map(|row| page.next_noted(row)), [64, 64, 128]);
        assert_eq!(PageStops::default().next_noted(0), usize::MAX);
    }
}
