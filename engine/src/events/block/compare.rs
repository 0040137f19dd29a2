//! Compares a new block with the rows it was made from, bit for bit.

use hashbrown::HashMap;

use super::decode::reason;
use super::header::{FIRST_TAG, NAME, USER};
use super::info::EventBlockKey;
use super::memory::InMemory;
use super::parts::{BorrowedBytes, Parts};
use super::properties::{AllProperties, Expected};
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

/// Columns of tags are compared together until they take this many bytes besides their strings: all
/// rows are visited for each group of columns.
const GROUP_BYTES: usize = 32 << 20;

/// A column of strings that is being compared.
struct ComparedColumn<'p> {
    reader: StringReader<'p>,
    /// For each code, the string of a source that it was last found equal to.
    known: Vec<Option<(u32, StringId)>>,
}

impl<'p> ComparedColumn<'p> {
    fn open(parts: &'p Parts<'p>, number: u32) -> Result<Self> {
        let known = vec![None; parts.column(number)?.strings() + 1];
        Ok(Self { reader: StringReader::open_all(parts, number)?, known })
    }

    /// Returns whether a row of the block has the string `written` of a source, or none.
    fn has_string(
        &mut self,
        row: usize,
        written: Option<(u32, StringId)>,
        sources: &[&EventRows],
    ) -> Result<bool> {
        let code = self.reader.codes().code(row);
        let Some((source, id)) = written else { return Ok(code == 0) };
        let known = &mut self.known[code as usize];
        if code == 0 || *known == written {
            return Ok(code != 0);
        }
        let text = sources[source as usize].texts().text(id);
        let same = text == self.reader.text(code)?;
        if same {
            *known = written;
        }
        Ok(same)
    }

    /// Returns the bytes in memory, besides those of the strings.
    fn bytes(&self) -> usize {
        let known = self.known.capacity() * size_of::<Option<(u32, StringId)>>();
        size_of::<Self>() + known + self.reader.codes().bytes()
    }

    /// Returns the number of rows that have a string.
    fn count(&self) -> usize {
        let mut count = 0;
        self.reader.codes().each(|_, _| count += 1);
        count
    }
}

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
        number: u32,
        of: impl Fn(&EventRows, usize) -> Option<StringId>,
        what: &str,
    ) -> Result<()> {
        let mut column = ComparedColumn::open(self.parts, number)?;
        for (row, (source, rows, at)) in self.each_row().enumerate() {
            let written = of(rows, at).map(|id| (source, id));
            expect_same(column.has_string(row, written, self.sources)?, what)?;
        }
        Ok(())
    }

    /// Checks that every tag of the original rows is in the block, and that there are equally many.
    fn tags(&self) -> Result<()> {
        let mut numbers = FIRST_TAG..to_u32(self.parts.header().columns.len());
        let mut stored = 0;
        while !numbers.is_empty() {
            let (mut columns, mut bytes) = (Vec::new(), 0);
            while bytes < GROUP_BYTES
                && let Some(number) = numbers.next()
            {
                let column = ComparedColumn::open(self.parts, number)?;
                bytes += column.bytes();
                columns.push(column);
            }
            stored += self.some_tags(&mut columns)?;
        }
        let written: usize = self.each_row().map(|(_, rows, at)| rows.tags(at).len()).sum();
        expect_same(stored == written, "numbers of tags")?;
        Ok(())
    }

    /// Compares some columns of tags row by row, because the tags of a row lie together in its
    /// source. Returns the number of tags in the columns.
    fn some_tags(&self, columns: &mut [ComparedColumn<'_>]) -> Result<usize> {
        let keys = columns.iter().map(|column| column.reader.column().key.as_ref());
        let by_key: HashMap<&str, usize> = keys.zip(0..).collect();
        // For each source, the keys of the last row and their columns, if they are among these:
        // most rows have the same keys as the row before.
        let mut last_keys: Vec<Vec<(StringId, Option<usize>)>> =
            vec![Vec::new(); self.sources.len()];
        let mut compared = 0;
        for (row, (source, rows, at)) in self.each_row().enumerate() {
            let last_keys = &mut last_keys[source as usize];
            for (place, (key, value)) in rows.tags(at).iter().enumerate() {
                let column = match last_keys.get(place) {
                    Some((last_key, column)) if last_key == key => *column,
                    _ => {
                        let column = by_key.get(rows.texts().text(*key)).copied();
                        last_keys.truncate(place);
                        last_keys.push((*key, column));
                        column
                    }
                };
                let Some(column) = column else { continue };
                let value = Some((source, *value));
                expect_same(columns[column].has_string(row, value, self.sources)?, "tags")?;
                compared += 1;
            }
        }
        let stored = columns.iter().map(ComparedColumn::count).sum();
        expect_same(stored == compared, "numbers of tags")?;
        Ok(stored)
    }

    fn values_and_properties(&self) -> Result<()> {
        let clusters = self.parts.clusters()?;
        let mut values = ValueReader::open(self.parts)?;
        let properties = AllProperties::read(self.parts)?;
        // In the order of the sources: their texts are larger than the decoded columns.
        for (row, (_, rows, at)) in self.each_row().enumerate() {
            let position = clusters.position(row);
            let value = Some(rows.values()[at]).filter(|value| !value.is_nan());
            let same = values.get(position)?.map(f64::to_bits) == value.map(f64::to_bits);
            expect_same(same, "values")?;
            let mut expected = Expected::new(rows.properties(at));
            if let Some(properties) = &properties {
                properties.text(position, &mut expected);
            }
            expect_same(expected.is_complete(), "properties")?;
        }
        Ok(())
    }
}
