//! Compares a new block with the rows it was made from, column by column and bit for bit.

use super::decode::reason;
use super::header::{FIRST_TAG, NAME, USER};
use super::info::EventBlockKey;
use super::parts::{BorrowedBytes, Parts};
use super::properties::AllProperties;
use super::rows::{StringReader, ValueReader};
use crate::cast::to_u32;
use crate::codec::verified::expect_same;
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::model::{EventRows, StringId};

/// Decodes a block and compares it with `rows`, each given by its piece in `sources` and its
/// position there. Fails if anything differs.
pub(super) fn compare(
    sources: &[&EventRows],
    rows: &[(u32, u32)],
    block: &[u8],
) -> CodecResult<()> {
    // The block has no key yet.
    let key = EventBlockKey { day: 0, sequence: 0 };
    let compared = Parts::open(key, Box::new(BorrowedBytes(block)), None)
        .and_then(|parts| Comparison { parts: &parts, sources, rows }.run());
    compared.map_err(|error| CodecError::new(reason(error)))
}

struct Comparison<'a> {
    parts: &'a Parts<'a>,
    sources: &'a [&'a EventRows],
    rows: &'a [(u32, u32)],
}

/// For each code, the string of a source that it was last found equal to.
type Known = Vec<Option<(u32, StringId)>>;

impl<'a> Comparison<'a> {
    fn run(&self) -> Result<()> {
        expect_same(self.parts.rows() == self.rows.len(), "numbers of rows")?;
        self.times_and_ids()?;
        self.single_valued(NAME, |rows, at| Some(rows.names()[at]), "names")?;
        self.single_valued(USER, |rows, at| rows.users()[at], "users")?;
        self.tags()?;
        self.values_and_properties()
    }

    /// Returns the original of a row of the block, which has as many rows as there are originals.
    fn source(&self, row: usize) -> (u32, &'a EventRows, usize) {
        let (source, at) = self.rows[row];
        (source, self.sources[source as usize], at as usize)
    }

    fn each_row(&self) -> impl Iterator<Item = (u32, &'a EventRows, usize)> {
        (0..self.rows.len()).map(|row| self.source(row))
    }

    fn times_and_ids(&self) -> Result<()> {
        let (times, ids) = (self.parts.times()?, self.parts.ids()?);
        let written = self.each_row().map(|(_, rows, at)| rows.times()[at]);
        expect_same(times.iter().copied().eq(written), "times")?;
        let written = self.each_row().map(|(_, rows, at)| Some(rows.ids()[at]));
        expect_same(ids.iter().eq(written), "ids")?;
        Ok(())
    }

    /// Compares a column in which a row has at most one string.
    fn single_valued(
        &self,
        column: u32,
        of: impl Fn(&EventRows, usize) -> Option<StringId>,
        what: &str,
    ) -> Result<()> {
        let codes = self.parts.codes(column)?;
        let mut reader = StringReader::open_all(self.parts, column)?;
        let mut known: Known = vec![None; self.parts.column(column)?.strings() + 1];
        for (row, (source, rows, at)) in self.each_row().enumerate() {
            let same = match (codes.code(row), of(rows, at)) {
                (0, None) => true,
                (0, Some(_)) | (_, None) => false,
                (code, Some(id)) => self.is_text(&mut reader, &mut known, code, (source, id))?,
            };
            expect_same(same, what)?;
        }
        Ok(())
    }

    fn is_text(
        &self,
        reader: &mut StringReader<'_>,
        known: &mut Known,
        code: u32,
        (source, id): (u32, StringId),
    ) -> Result<bool> {
        let slot = &mut known[code as usize];
        if *slot == Some((source, id)) {
            return Ok(true);
        }
        let written = self.sources[source as usize].texts().text(id);
        let same = written == reader.text(code)?;
        if same {
            *slot = Some((source, id));
        }
        Ok(same)
    }

    /// Checks that every tag of the block is one of the original row, and that there are equally
    /// many.
    fn tags(&self) -> Result<()> {
        let mut count = 0;
        for number in FIRST_TAG..to_u32(self.parts.header().columns.len()) {
            let column = self.parts.column(number)?;
            let mut reader = StringReader::open_all(self.parts, number)?;
            let mut known: Known = vec![None; column.strings() + 1];
            let mut cells = Vec::new();
            self.parts.codes(number)?.each(|row, code| cells.push((row, code)));
            count += cells.len();
            // Id of the key in the last source.
            let mut key = None;
            for (row, code) in cells {
                let (source, rows, at) = self.source(row as usize);
                let own = match key {
                    Some((of, own)) if of == source => own,
                    _ => rows.texts().get(&column.key),
                };
                key = Some((source, own));
                let value = own.and_then(|own| rows.tag(at, own));
                let same = match value {
                    Some(id) => self.is_text(&mut reader, &mut known, code, (source, id))?,
                    None => false,
                };
                expect_same(same, "tags")?;
            }
        }
        let written: usize = self.each_row().map(|(_, rows, at)| rows.tags(at).len()).sum();
        expect_same(count == written, "numbers of tags")?;
        Ok(())
    }

    fn values_and_properties(&self) -> Result<()> {
        let order = self.parts.clusters()?.order();
        let mut values = ValueReader::open(self.parts)?;
        let properties = AllProperties::read(self.parts)?;
        // The columns of the sources are read in their own order, which is much faster.
        let written = self.each_row().map(|(_, rows, at)| (rows.values()[at], rows.properties(at)));
        let written: Vec<(f64, &str)> = written.collect();
        let mut text = String::new();
        for (position, row) in order.iter().enumerate() {
            let (value, written) = written[*row as usize];
            let value = Some(value).filter(|value| !value.is_nan());
            let same = values.get(position)?.map(f64::to_bits) == value.map(f64::to_bits);
            expect_same(same, "values")?;
            text.clear();
            if let Some(properties) = &properties {
                properties.text(position, &mut text);
            }
            expect_same(text == written, "properties")?;
        }
        Ok(())
    }
}
