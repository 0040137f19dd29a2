//! The runs of a column: the rows of one series within one page.

use super::integers::PAGE_ROWS;
use crate::cast::to_u32;

/// The lengths of the runs of a column. No run crosses a page boundary.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    lengths: Vec<u32>,
    /// For each page, the number of runs before it.
    before: Vec<u32>,
}

impl Runs {
    /// Creates the runs of a column from the number of rows of each series.
    pub(crate) fn new(rows: impl IntoIterator<Item = usize>) -> Self {
        let (mut lengths, mut before) = (Vec::new(), Vec::new());
        let mut at = 0;
        for mut left in rows {
            while left > 0 {
                if at % PAGE_ROWS == 0 {
                    before.push(to_u32(lengths.len()));
                }
                let run = left.min(PAGE_ROWS - at % PAGE_ROWS);
                lengths.push(to_u32(run));
                at += run;
                left -= run;
            }
        }
        Self { lengths, before }
    }

    /// Returns the bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.lengths.as_slice()) + size_of_val(self.before.as_slice())
    }

    /// Returns the lengths of all runs.
    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the number of runs before a page, and the lengths of the runs of the page.
    pub(super) fn of_page(&self, page: usize) -> (usize, &[u32]) {
        let bound = |page: usize| self.before.get(page).map_or(self.lengths.len(), |n| *n as usize);
        let (from, to) = (bound(page), bound(page + 1));
        (from, self.lengths.get(from..to).unwrap_or_default())
    }
}
