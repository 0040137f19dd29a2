//! Pages of codes.

use std::ops::Range;
use std::sync::OnceLock;

use super::super::bytes::Reader;
use super::super::paged::{Followed, PAGES_AT_ONCE, page_of};
use super::super::runs::RunStarts;
use super::super::{CodecError, CodecResult};
use super::CodeForm;
use super::decode::{Numbers, Part};
use super::stops::{PageStops, Stop, Stops};
use super::table::Table;

/// Pages of codes. The table is made for the first page that is read.
#[derive(Debug)]
pub(in crate::codec) struct WordPages<'a> {
    form: CodeForm,
    head: &'a [u8],
    rows: usize,
    page_rows: usize,
    table: OnceLock<Box<Table>>,
    pages: Vec<Followed<'a>>,
    /// Made when rows in the middle of a page are read; noted by all reads from then on.
    pub(super) stops: OnceLock<Stops>,
}

impl<'a> WordPages<'a> {
    pub(in crate::codec) fn read(
        form: CodeForm,
        reader: &mut Reader<'a>,
        (rows, page_rows): (usize, usize),
    ) -> CodecResult<Self> {
        let head = reader.bytes()?;
        let count = rows.div_ceil(page_rows);
        let pages = match form {
            CodeForm::Lengths => Followed::take_pages(reader, count)?,
            CodeForm::LengthsOfConsecutive | CodeForm::Costs => {
                Followed::take_similar_pages(reader, count)?
            }
        };
        let (table, stops) = (OnceLock::new(), OnceLock::new());
        Ok(Self { form, head, rows, page_rows, table, pages, stops })
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(in crate::codec) fn prepare(&self) -> CodecResult<()> {
        self.table().map(drop)
    }

    fn table(&self) -> CodecResult<&Table> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = Table::read(self.form, self.head, self.rows)?;
        Ok(self.table.get_or_init(|| table))
    }

    /// Returns whether reads have noted stops.
    pub(in crate::codec) fn has_noted_stops(&self) -> bool {
        self.stops.get().is_some()
    }

    /// Has reads note stops from now on.
    pub(in crate::codec) fn note_stops(&self) {
        self.stops();
    }

    fn stops(&self) -> &Stops {
        self.stops.get_or_init(|| Stops::new(self.pages.len(), self.page_rows))
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(in crate::codec) fn bytes(&self) -> usize {
        let table = self.table.get().map_or(0, |table| table.bytes());
        let stops = self.stops.get().map_or(0, Stops::bytes);
        size_of_val(self.pages.as_slice()) + table + stops
    }

    /// Decodes rows from the beginning of page `page` until `out` is full.
    pub(in crate::codec) fn decode(&self, page: usize, out: &mut [i64]) -> CodecResult<()> {
        let table = self.table()?;
        let (first_row, rows) = (page * self.page_rows, out.len());
        let pages = (page..).step_by(PAGES_AT_ONCE);
        for (page, out) in pages.zip(out.chunks_mut(PAGES_AT_ONCE * self.page_rows)) {
            let numbers = self.numbers(table, page, out.len())?;
            for (part, out) in out.chunks_mut(self.page_rows).enumerate() {
                for (value, number) in out.iter_mut().zip(numbers.part(part)) {
                    *value = table.value(*number);
                }
            }
        }
        put_exceptions(table, first_row..first_row + rows, out);
        Ok(())
    }

    /// Decodes rows from the beginning of page `page` until `out` is full, and adds up those of
    /// each run, from its first value on.
    pub(in crate::codec) fn running_sums(
        &self,
        page: usize,
        starts: &RunStarts<'_>,
        out: &mut [i64],
    ) -> CodecResult<()> {
        let table = self.table()?;
        let first_row = page * self.page_rows;
        if !table.exceptions_in(first_row..first_row + out.len()).is_empty() {
            self.decode(page, out)?;
            starts.add_up(out);
            return Ok(());
        }
        let numbers = self.numbers(table, page, out.len())?;
        for (rows, first) in starts.within(out.len()) {
            let (part, in_page) = (rows.start / self.page_rows, rows.start % self.page_rows);
            let numbers = numbers.of(part, in_page..in_page + rows.len());
            add_up(table, numbers, first, out.get_mut(rows).unwrap_or_default());
        }
        Ok(())
    }

    /// Decodes rows like [`Self::running_sums`], but from `first_row` on, where the first of
    /// `starts` begins: from the last stop before it. `out` ends in its page or in the next one.
    pub(in crate::codec) fn some_running_sums(
        &self,
        first_row: usize,
        starts: &RunStarts<'_>,
        out: &mut [i64],
    ) -> CodecResult<()> {
        let table = self.table()?;
        let rows = first_row..first_row + out.len();
        if !table.exceptions_in(rows.clone()).is_empty() {
            self.some(first_row, out)?;
            starts.add_up(out);
            return Ok(());
        }
        let parts = self.parts_of(rows)?;
        let of_page: Vec<Part<'_>> = parts.iter().map(|(_, part)| *part).collect();
        let numbers = Numbers::decode(table, &of_page)?;
        for (run, mut sum) in starts.within(out.len()) {
            // A run may be in two parts.
            for (index, (part_start, part)) in parts.iter().enumerate() {
                let part_end = *part_start + (part.end - part.from.row);
                let start = (first_row + run.start).max(*part_start);
                let end = part_end.min(first_row + run.end).max(start);
                let numbers = numbers.of(index, start - part_start..end - part_start);
                let into = out.get_mut(start - first_row..).unwrap_or_default();
                sum = add_up(table, numbers, sum, into);
            }
        }
        Ok(())
    }

    /// Decodes rows from `first_row` on, from the last stop before it. `out` ends in its page or in
    /// the next one.
    pub(in crate::codec) fn some(&self, first_row: usize, out: &mut [i64]) -> CodecResult<()> {
        let table = self.table()?;
        let rows = first_row..first_row + out.len();
        let parts = self.parts_of(rows.clone())?;
        let of_page: Vec<Part<'_>> = parts.iter().map(|(_, part)| *part).collect();
        let numbers = Numbers::decode(table, &of_page)?;
        let decoded = parts.iter().enumerate().flat_map(|(index, (part_start, _))| {
            let before = first_row.saturating_sub(*part_start);
            numbers.part(index).get(before..).unwrap_or_default()
        });
        for (value, number) in out.iter_mut().zip(decoded) {
            *value = table.value(*number);
        }
        put_exceptions(table, rows, out);
        Ok(())
    }

    /// Returns the parts of pages from which rows of one page or two are decoded at once, and the
    /// row of the column that each begins with.
    fn parts_of(&self, rows: Range<usize>) -> CodecResult<Vec<(usize, Part<'_>)>> {
        let stops = self.stops();
        let page = rows.start / self.page_rows;
        let page_start = page * self.page_rows;
        let end_of = |page: usize| self.rows.min((page + 1) * self.page_rows);
        let part = |page: usize, from: Stop, end: usize| -> CodecResult<_> {
            let start = page * self.page_rows;
            let part = Part {
                page: page_of(&self.pages, page)?,
                from,
                end: end.saturating_sub(start),
                is_partial: end < end_of(page),
                stops: stops.of_page(page),
            };
            Ok((start + from.row, part))
        };
        let of_page = stops.of_page(page);
        let from = of_page.before(rows.start - page_start);
        if rows.end > end_of(page) {
            let second = part(page + 1, Stop::default(), rows.end.min(end_of(page + 1)))?;
            return Ok(vec![part(page, from, end_of(page))?, second]);
        }
        let middle = of_page.before((page_start + from.row).midpoint(rows.end) - page_start);
        if middle.row <= from.row {
            return Ok(vec![part(page, from, rows.end)?]);
        }
        Ok(vec![part(page, from, page_start + middle.row)?, part(page, middle, rows.end)?])
    }

    /// Decodes the numbers of `rows` rows from the beginning of page `page`: a part for each page.
    fn numbers(&self, table: &Table, page: usize, rows: usize) -> CodecResult<Numbers> {
        let end = page + rows.div_ceil(self.page_rows);
        let pages = self.pages.get(page..end).ok_or_else(|| {
            CodecError::new(format!("page {} does not exist", self.pages.len().max(page)))
        })?;
        let end_row = page * self.page_rows + rows;
        let is_partial = end_row < self.rows && !end_row.is_multiple_of(self.page_rows);
        let stops = self.stops.get();
        let parts = pages.iter().enumerate().map(|(at, bytes)| Part {
            page: bytes,
            from: Stop::default(),
            end: self.page_rows.min(rows - at * self.page_rows),
            is_partial: is_partial && at + 1 == pages.len(),
            stops: stops.map_or_else(PageStops::default, |stops| stops.of_page(page + at)),
        });
        Numbers::decode(table, &parts.collect::<Vec<_>>())
    }
}

/// Replaces those of some decoded rows that are exceptions.
fn put_exceptions(table: &Table, rows: Range<usize>, out: &mut [i64]) {
    for (row, value) in table.exceptions_in(rows.clone()) {
        if let Some(place) = out.get_mut(row - rows.start) {
            *place = *value;
        }
    }
}

/// Adds up the values with these numbers, beginning with `sum`. Returns the last sum.
#[inline]
fn add_up(table: &Table, numbers: &[u8], mut sum: i64, out: &mut [i64]) -> i64 {
    for (value, number) in out.iter_mut().zip(numbers) {
        sum = sum.wrapping_add(table.value(*number));
        *value = sum;
    }
    sum
}
