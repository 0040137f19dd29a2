//! A decoded page of cells. Columns stay as they are stored, and a cell is put together when it is
//! read: a query of a few series reads a few of the thousands of rows of a page.

use std::ops::Range;

use super::cell_columns::{
    AloneColumns, CellColumns, DecimalSums, GaugeColumns, GaugeNumbers, SumColumns,
};
use super::cells::CellColumn;
use super::predicted::{Decoded as Predicted, PredictedColumns, units_of};
use crate::codec::floats::{FloatColumn, FloatPage};
use crate::codec::integers::{IntegerColumn, PAGE_ROWS};
use crate::codec::run_integers::RunIntegers;
use crate::codec::runs::Runs;
use crate::codec::{CodecError, CodecResult};
use crate::metrics::cell::NumberCell;
use crate::sketch::decimal_units_of;

/// The columns of a page.
#[derive(Debug, Default)]
pub(super) struct CellPage {
    decoded: Option<Decoded>,
    is_gauge: bool,
    decimals: Decimals,
    high: PageColumn,
    low: PageColumn,
    huge_high: PageColumn,
    huge_low: PageColumn,
    counts: Vec<i64>,
    min: PageColumn,
    max: PageColumn,
    last: PageColumn,
    last_offsets: Vec<i64>,
}

/// What is decoded: some rows of a page, and which columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decoded {
    rows: PageRows,
    wanted: CellColumn,
}

/// Rows of a page. They begin with the page, or with the rows of a series in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageRows {
    pub(super) page: usize,
    /// Counted from the first row of the page.
    pub(super) rows: Range<usize>,
}

impl PageRows {
    /// Returns the rows as those of a column.
    fn of_column(&self) -> Range<usize> {
        let first = self.page * PAGE_ROWS;
        first + self.rows.start..first + self.rows.end
    }

    /// Decodes these rows of a column.
    pub(super) fn integers(
        &self,
        column: &IntegerColumn<'_>,
        out: &mut Vec<i64>,
    ) -> CodecResult<()> {
        match self.rows.start {
            0 => column.prefix(self.page, self.rows.end, out),
            _ => column.some(self.of_column(), out),
        }
    }

    /// Decodes these rows of a column that was encoded with `runs`.
    pub(super) fn run_integers(
        &self,
        column: &RunIntegers<'_>,
        runs: &Runs,
        out: &mut Vec<i64>,
    ) -> CodecResult<()> {
        match self.rows.start {
            0 => column.prefix((self.page, self.rows.end), runs, out),
            _ => column.some_of_run(self.of_column(), runs, out),
        }
    }

    /// Decodes these rows of a column that was encoded with `runs`.
    fn floats(
        &self,
        column: &FloatColumn<'_>,
        runs: &Runs,
        out: &mut FloatPage,
    ) -> CodecResult<()> {
        match self.rows.start {
            0 => column.prefix(self.page, self.rows.end, runs, out),
            _ => column.some_of_run(self.of_column(), runs, out),
        }
    }
}

/// Counts and sums of some rows of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecimalColumns<'p> {
    /// Empty where counts are not read: each is 1.
    pub(crate) counts: &'p [i64],
    pub(crate) sums: &'p [i64],
    /// What an integer of `sums` counts, in the units of a sum.
    pub(crate) units: i128,
}

/// The decimal parts of sums.
#[derive(Debug, Default)]
struct Decimals {
    floats: FloatPage,
    /// What an integer of `floats` counts, in the units of a sum.
    units: i128,
    /// The sums in units, where `floats` has no integers.
    converted: Vec<i128>,
    low: Vec<i64>,
    high: Vec<i64>,
    are_floats: bool,
}

#[derive(Debug, Default)]
struct PageColumn {
    is_zero: bool,
    page: FloatPage,
}

impl CellPage {
    /// Decodes the wanted columns of some rows of a page, which has `rows_of_page`, or of all rows
    /// if it is read again for others.
    pub(super) fn load(
        &mut self,
        mut rows: PageRows,
        rows_of_page: usize,
        wanted: CellColumn,
        (columns, runs): (&CellColumns<'_>, &Runs),
    ) -> CodecResult<()> {
        rows.rows.end = rows.rows.end.min(rows_of_page);
        if let Some(decoded) = self.decoded.take()
            && (decoded.rows.page, decoded.wanted) == (rows.page, wanted)
        {
            let Range { start, end } = decoded.rows.rows;
            if start <= rows.rows.start && rows.rows.end <= end {
                self.decoded = Some(decoded);
                return Ok(());
            }
            rows.rows = 0..rows_of_page;
        }
        self.is_gauge = matches!(columns, CellColumns::Gauge(_));
        match columns {
            CellColumns::Sums(sums) if wanted.sum => self.load_sums(&rows, sums, runs)?,
            CellColumns::Sums(_) => {}
            CellColumns::Gauge(gauge) => {
                let GaugeColumns { counts, numbers, last_offset } = &**gauge;
                let predicts = wanted.sum && matches!(numbers, GaugeNumbers::Predicted(_));
                if wanted.count || predicts {
                    rows.integers(counts, &mut self.counts)?;
                }
                if wanted.last {
                    rows.integers(last_offset, &mut self.last_offsets)?;
                }
                self.load_numbers(&rows, wanted, numbers, runs)?;
            }
        }
        self.decoded = Some(Decoded { rows, wanted });
        Ok(())
    }

    fn load_numbers(
        &mut self,
        rows: &PageRows,
        wanted: CellColumn,
        numbers: &GaugeNumbers<'_>,
        runs: &Runs,
    ) -> CodecResult<()> {
        match numbers {
            GaugeNumbers::Alone(columns) => {
                let AloneColumns { sums, min, max, last } = &**columns;
                if wanted.sum {
                    self.load_sums(rows, sums, runs)?;
                }
                if wanted.min {
                    self.min.load(min, rows, runs)?;
                }
                if wanted.max {
                    self.max.load(max, rows, runs)?;
                }
                if wanted.last {
                    self.last.load(last, rows, runs)?;
                }
                Ok(())
            }
            GaugeNumbers::Predicted(columns) => self.load_predicted(rows, wanted, columns, runs),
        }
    }

    /// Decodes the wanted numbers. Counts are decoded already where sums are wanted.
    fn load_predicted(
        &mut self,
        rows: &PageRows,
        wanted: CellColumn,
        columns: &PredictedColumns<'_>,
        runs: &Runs,
    ) -> CodecResult<()> {
        let CellColumn { sum, min, max, last, .. } = wanted;
        if !(sum || min || max || last) {
            return Ok(());
        }
        self.decimals.are_floats = true;
        self.decimals.units = columns.units();
        for part in [&mut self.high, &mut self.low, &mut self.huge_high, &mut self.huge_low] {
            part.is_zero = true;
        }
        let into = Predicted {
            min: min.then(|| self.min.replace()),
            max: max.then(|| self.max.replace()),
            last: last.then(|| self.last.replace()),
            sums: sum.then_some((&mut self.decimals.floats, self.counts.as_slice())),
        };
        columns.load(rows, runs, into)
    }

    fn load_sums(
        &mut self,
        rows: &PageRows,
        sums: &SumColumns<'_>,
        runs: &Runs,
    ) -> CodecResult<()> {
        let decimals = &mut self.decimals;
        match &sums.decimals {
            DecimalSums::Floats(column) => {
                rows.floats(column, runs, &mut decimals.floats)?;
                decimals.are_floats = true;
                decimals.convert()?;
                decimals.units = decimals.floats.scale.map_or(0, units_of);
            }
            DecimalSums::Units { low, high } => {
                rows.integers(low, &mut decimals.low)?;
                rows.integers(high, &mut decimals.high)?;
                decimals.are_floats = false;
            }
        }
        self.high.load(&sums.high, rows, runs)?;
        self.low.load(&sums.low, rows, runs)?;
        match &sums.huge {
            Some((high, low)) => {
                self.huge_high.load(high, rows, runs)?;
                self.huge_low.load(low, rows, runs)?;
            }
            None => (self.huge_high.is_zero, self.huge_low.is_zero) = (true, true),
        }
        Ok(())
    }

    /// Returns the cell of a row of the page. Columns that are not decoded are as in
    /// [`NumberCell::EMPTY`], but the count is then 1; `last_time` is relative to the start of the
    /// cell.
    #[inline]
    pub(super) fn cell(&self, row: usize) -> CodecResult<NumberCell> {
        let Some(Decoded { rows, wanted }) = &self.decoded else { return Err(too_few()) };
        let row = row.checked_sub(rows.rows.start).ok_or_else(too_few)?;
        // Where no count is read, 1 marks the cell as not empty.
        let mut cell = NumberCell { count: 1, last_time: 0, ..NumberCell::EMPTY };
        if wanted.sum {
            cell.sum.units = self.decimals.units_of(row)?;
            cell.sum.high = self.high.value(row)?;
            cell.sum.low = self.low.value(row)?;
            cell.sum.huge_high = self.huge_high.value(row)?;
            cell.sum.huge_low = self.huge_low.value(row)?;
            cell.sum.repair_overflow();
        }
        if self.is_gauge {
            if wanted.count {
                cell.count = self.counts.get(row).ok_or_else(too_few)?.cast_unsigned();
            }
            if wanted.min {
                cell.min = self.min.value(row)?;
            }
            if wanted.max {
                cell.max = self.max.value(row)?;
            }
            if wanted.last {
                cell.last = self.last.value(row)?;
                cell.last_time = *self.last_offsets.get(row).ok_or_else(too_few)?;
            }
        }
        Ok(cell)
    }

    /// Returns the counts and sums of some rows of the page. `None` unless sums are decoded and
    /// nothing but counts besides, and all sums of the page are decimals.
    pub(super) fn decimals(&self, rows: Range<usize>) -> CodecResult<Option<DecimalColumns<'_>>> {
        let Some(Decoded { rows: decoded, wanted }) = &self.decoded else { return Err(too_few()) };
        let rest = [&self.high, &self.low, &self.huge_high, &self.huge_low];
        let CellColumn { sum, count, min, max, last } = *wanted;
        let are_decimals = self.decimals.are_floats && self.decimals.floats.scale.is_some();
        if !sum || min || max || last || !are_decimals || rest.iter().any(|part| !part.is_zero) {
            return Ok(None);
        }
        let before = |row: usize| row.checked_sub(decoded.rows.start).ok_or_else(too_few);
        let rows = before(rows.start)?..before(rows.end)?;
        let sums = self.decimals.floats.integers.get(rows.clone()).ok_or_else(too_few)?;
        let counts =
            if count && self.is_gauge { self.counts.get(rows).ok_or_else(too_few)? } else { &[] };
        Ok(Some(DecimalColumns { counts, sums, units: self.decimals.units }))
    }
}

impl Decimals {
    #[inline]
    fn units_of(&self, row: usize) -> CodecResult<i128> {
        if !self.are_floats {
            let (low, high) = self.low.get(row).zip(self.high.get(row)).ok_or_else(too_few)?;
            return Ok(i128::from(low.cast_unsigned()) | i128::from(*high) << 64);
        }
        if self.floats.scale.is_some() {
            let integer = self.floats.integers.get(row).ok_or_else(too_few)?;
            return Ok(i128::from(*integer) * self.units);
        }
        self.converted.get(row).copied().ok_or_else(too_few)
    }

    /// Converts what is not stored as integers. Damage is found before any cell is read.
    fn convert(&mut self) -> CodecResult<()> {
        self.converted.clear();
        if self.floats.scale.is_some() {
            return Ok(());
        }
        for value in &self.floats.floats {
            let units = decimal_units_of(*value);
            self.converted
                .push(units.ok_or_else(|| CodecError::new("a decimal sum is not decimal"))?);
        }
        Ok(())
    }
}

impl PageColumn {
    /// Returns where to decode another page.
    fn replace(&mut self) -> &mut FloatPage {
        self.is_zero = false;
        &mut self.page
    }

    fn load(&mut self, column: &FloatColumn<'_>, rows: &PageRows, runs: &Runs) -> CodecResult<()> {
        self.is_zero = column.is_zero();
        if self.is_zero { Ok(()) } else { rows.floats(column, runs, &mut self.page) }
    }

    #[inline]
    fn value(&self, row: usize) -> CodecResult<f64> {
        if self.is_zero { Ok(0.0) } else { self.page.value(row).ok_or_else(too_few) }
    }
}

fn too_few() -> CodecError {
    CodecError::new("a page has too few cells")
}
