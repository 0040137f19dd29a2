//! Pages of codes.

use std::sync::OnceLock;

use super::super::bytes::Reader;
use super::super::paged::{Followed, PAGES_AT_ONCE};
use super::super::runs::RunStarts;
use super::super::{CodecError, CodecResult};
use super::decode::Numbers;
use super::table::Table;

/// Pages of codes. The table is made for the first page that is read.
#[derive(Debug)]
pub(in crate::codec) struct WordPages<'a> {
    head: &'a [u8],
    rows: usize,
    page_rows: usize,
    table: OnceLock<Box<Table>>,
    pages: Vec<Followed<'a>>,
}

impl<'a> WordPages<'a> {
    pub(in crate::codec) fn read(
        reader: &mut Reader<'a>,
        rows: usize,
        page_rows: usize,
    ) -> CodecResult<Self> {
        let head = reader.bytes()?;
        let pages = Followed::take_pages(reader, rows.div_ceil(page_rows))?;
        Ok(Self { head, rows, page_rows, table: OnceLock::new(), pages })
    }

    /// Makes what decoding needs. Fails if that is damaged.
    pub(in crate::codec) fn prepare(&self) -> CodecResult<()> {
        self.table().map(drop)
    }

    fn table(&self) -> CodecResult<&Table> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = Table::read(self.head, self.rows)?;
        Ok(self.table.get_or_init(|| table))
    }

    /// Returns the approximate bytes in memory besides the encoded column.
    pub(in crate::codec) fn bytes(&self) -> usize {
        let table = self.table.get().map_or(0, |table| table.bytes());
        size_of_val(self.pages.as_slice()) + table
    }

    /// Decodes rows from the beginning of page `page` until `out` is full.
    pub(in crate::codec) fn decode(&self, page: usize, out: &mut [i64]) -> CodecResult<()> {
        let table = self.table()?;
        let (first_row, rows) = (page * self.page_rows, out.len());
        let pages = (page..).step_by(PAGES_AT_ONCE);
        for (page, out) in pages.zip(out.chunks_mut(PAGES_AT_ONCE * self.page_rows)) {
            let numbers = self.numbers(table, page, out.len())?;
            for (numbers, out) in numbers.pages().zip(out.chunks_mut(self.page_rows)) {
                for (value, number) in out.iter_mut().zip(numbers) {
                    *value = table.value(*number);
                }
            }
        }
        for (row, value) in table.exceptions_in(first_row..first_row + rows) {
            if let Some(place) = out.get_mut(row - first_row) {
                *place = *value;
            }
        }
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
            let mut sum = first;
            let numbers = numbers.of(rows.clone());
            for (value, number) in out.get_mut(rows).unwrap_or_default().iter_mut().zip(numbers) {
                sum = sum.wrapping_add(table.value(*number));
                *value = sum;
            }
        }
        Ok(())
    }

    /// Decodes the numbers of `rows` rows from the beginning of page `page`.
    fn numbers(&self, table: &Table, page: usize, rows: usize) -> CodecResult<Numbers> {
        let end = page + rows.div_ceil(self.page_rows);
        let pages = self.pages.get(page..end).ok_or_else(|| {
            CodecError::new(format!("page {} does not exist", self.pages.len().max(page)))
        })?;
        let end_row = page * self.page_rows + rows;
        let is_partial = end_row < self.rows && !end_row.is_multiple_of(self.page_rows);
        Numbers::decode(table, pages, (self.page_rows, rows), is_partial)
    }
}
