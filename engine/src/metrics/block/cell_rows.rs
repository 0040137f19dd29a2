//! Cells of one series that follow each other in a decoded page.

use std::ops::Range;

use super::super::times::Times;
use super::cell_page::{CellPage, DecimalColumns};
use crate::codec::CodecResult;
use crate::metrics::cell::NumberCell;

/// Decoded cells of a series, in time order.
#[derive(Debug)]
pub(crate) struct CellRows<'c> {
    pub(super) page: &'c CellPage,
    /// Counted from the first row of the page.
    pub(super) rows: Range<usize>,
    /// The starts of all cells of the series.
    pub(super) times: Times<'c>,
    /// The index in `times` of the first cell.
    pub(super) first: usize,
    pub(super) series: u32,
}

/// Cells of which only counts and sums are read, and all sums are decimals: columns can be added
/// without putting cells together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecimalCells<'c> {
    pub(crate) columns: DecimalColumns<'c>,
    /// The starts of all cells of the series.
    pub(crate) times: Times<'c>,
    /// The index in `times` of the first cell.
    pub(crate) first: usize,
}

impl<'c> CellRows<'c> {
    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Passes the start of each cell and the cell to `sink`.
    pub(crate) fn each(self, mut sink: impl FnMut(i64, &NumberCell)) -> CodecResult<()> {
        for (row, at) in self.rows.zip(self.first..) {
            let time = self.times.at(at);
            let mut cell = self.page.cell(row)?;
            cell.last_time = cell.last_time.wrapping_add(time);
            cell.last_series = self.series;
            sink(time, &cell);
        }
        Ok(())
    }

    /// Returns the columns of the cells, if sums are read and nothing but counts besides, and if
    /// all sums of the page are decimals.
    pub(crate) fn decimals(&self) -> CodecResult<Option<DecimalCells<'c>>> {
        let columns = self.page.decimals(self.rows.clone())?;
        let (times, first) = (self.times, self.first);
        Ok(columns.map(|columns| DecimalCells { columns, times, first }))
    }
}
