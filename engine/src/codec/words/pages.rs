//! Pages of codes.

use std::sync::OnceLock;

use super::super::CodecResult;
use super::super::bytes::Reader;
use super::super::paged::{Followed, page_of};
use super::table::Table;

/// Pages of codes. The table is made for the first page that is read.
#[derive(Debug)]
pub(in crate::codec) struct WordPages<'a> {
    head: &'a [u8],
    rows: usize,
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
        Ok(Self { head, rows, table: OnceLock::new(), pages })
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

    /// Decodes rows of a page of `rows_of_page` rows, of which `first_row` is the first, until
    /// `out` is full.
    pub(in crate::codec) fn decode(
        &self,
        page: usize,
        first_row: usize,
        rows_of_page: usize,
        out: &mut [i64],
    ) -> CodecResult<()> {
        let source = page_of(&self.pages, page)?;
        let table = self.table()?;
        let bits = table.decode(source.bytes, out)?;
        source.expect_read(bits.div_ceil(8), out.len() < rows_of_page)?;
        let from = table.exceptions.partition_point(|(row, _)| *row < first_row);
        for (row, value) in table.exceptions.iter().skip(from) {
            match out.get_mut(row - first_row) {
                Some(place) => *place = *value,
                None => break,
            }
        }
        Ok(())
    }
}
