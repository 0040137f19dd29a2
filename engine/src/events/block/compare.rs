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
        let reader = StringReader::open_all(parts, number)?;
        reader.check(number)?;
        Ok(Self { reader, known })
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
        self.reader.column().rows() as usize
    }
}

impl<'a> Comparison<'a> {
    fn run(&self) -> Result<()> {
        expect_same(self.parts.rows() == self.rows.len(), "numbers of rows")?;
        self.times_and_ids()?;
        let strings: usize = self.each_row().map(|(_, rows, at)| rows.string_bytes(at)).sum();
        let stored = self.parts.header().extent.string_bytes;
        expect_same(stored as usize == strings, "bytes of strings")?;
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

#[cfg(test)]
mod tests {
    use super::super::codes;
    use super::super::decode::{describe, read_checked};
    use super::super::encode::encode;
    use super::super::header::{Column, ColumnStrings, Header, SectionKind, Sections};
    use super::super::info::Extent;
    use super::super::string_pages::StringPacker;
    use super::*;
    use crate::codec::integers::Effort;
    use crate::model::{EventId, NewEvent, TimestampMs};

    const ROWS: u32 = 600;

    fn user(row: u32) -> String {
        format!("user-{row:03}")
    }

    /// Returns rows with two names, and a user of their own each.
    fn rows() -> EventRows {
        let mut rows = EventRows::default();
        for row in 0..ROWS {
            let new = NewEvent {
                name: if row % 3 == 0 { "a" } else { "b" },
                time: TimestampMs(i64::from(row)),
                user: Some(&user(row)),
                value: None,
                tags: &[],
                properties: None,
            };
            rows.push(EventId::new(TimestampMs(i64::from(row)), u64::from(row)), &new);
        }
        rows
    }

    /// The parts of a block, to be changed.
    struct Block {
        extent: Extent,
        columns: Vec<Column>,
        sections: Vec<(SectionKind, u32, Vec<u8>)>,
    }

    impl Block {
        fn read(bytes: &[u8]) -> Self {
            let header = Header::read(bytes).unwrap();
            let section = |kind, number| header.section(bytes, kind, number).unwrap().unwrap();
            let sections = header.sections().iter();
            let sections = sections.map(|s| (s.kind, s.number, section(s.kind, s.number).to_vec()));
            Self {
                extent: header.extent,
                columns: header.columns.clone(),
                sections: sections.collect(),
            }
        }

        fn set(&mut self, kind: SectionKind, bytes: Vec<u8>) {
            let section = self.sections.iter_mut().find(|(k, n, _)| (*k, *n) == (kind, USER));
            section.unwrap().2 = bytes;
        }

        fn bytes(self) -> Vec<u8> {
            let mut sections = Sections::default();
            self.sections.into_iter().for_each(|(kind, n, bytes)| sections.push(kind, n, bytes));
            sections.finish(self.extent, &self.columns).unwrap()
        }
    }

    fn names(counts: &[(&str, u32)]) -> ColumnStrings {
        ColumnStrings::Few(counts.iter().map(|(text, rows)| ((*text).into(), *rows)).collect())
    }

    /// Packs the users in this order.
    fn packed(users: &[String], sorted: bool) -> Vec<u8> {
        let mut packer = StringPacker::new(Effort::Seal).unwrap();
        let users = users.iter().map(String::as_str);
        if sorted { packer.sorted(users) } else { packer.unsorted(users) }.unwrap()
    }

    /// What queries rely on besides the rows themselves.
    #[test]
    fn wrong_counts_and_unsorted_strings_are_detected() {
        let rows = rows();
        let places: Vec<(u32, u32)> = (0..ROWS).map(|row| (0, row)).collect();
        let key = EventBlockKey { day: 0, sequence: 1 };
        let whole = encode(&[&rows], &places, Effort::Seal).unwrap();
        let outcome = |change: fn(&mut Block)| {
            let mut block = Block::read(&whole);
            change(&mut block);
            let bytes = block.bytes();
            let checked = read_checked(&describe(key, &bytes).unwrap(), &bytes);
            (compare(&[&rows], &places, &bytes).is_ok(), checked.is_ok())
        };
        assert_eq!(outcome(|_| ()), (true, true));
        assert_eq!(
            outcome(|block| block.columns[0].strings = names(&[("a", 200), ("b", 400)])),
            (true, true)
        );
        assert_eq!(
            outcome(|block| block.columns[0].strings = names(&[("a", 201), ("b", 399)])),
            (false, false)
        );
        assert_eq!(
            outcome(|block| block.columns[0].strings = names(&[("a", 200), ("b", 400), ("c", 0)])),
            (false, false)
        );
        assert_eq!(
            outcome(|block| block.columns[1].strings =
                ColumnStrings::Many { strings: ROWS, rows: ROWS - 1 }),
            (false, false)
        );
        assert_eq!(outcome(|block| block.extent.string_bytes += 1), (false, true));
        assert_eq!(
            outcome(|block| block.set(
                SectionKind::Strings,
                packed(&(0..ROWS).map(user).collect::<Vec<_>>(), false)
            )),
            (false, false)
        );
        // The rows still have their users: strings and codes are exchanged alike.
        assert_eq!(
            outcome(|block| {
                let mut users: Vec<String> = (0..ROWS).map(user).collect();
                users.swap(8, 9);
                let mut cells: Vec<(u32, u32)> = (0..ROWS).map(|row| (row, row + 1)).collect();
                (cells[8].1, cells[9].1) = (10, 9);
                let mut bytes = Vec::new();
                codes::encode(&cells, ROWS as usize, Effort::Seal, &mut bytes).unwrap();
                block.set(SectionKind::Codes, bytes);
                block.set(SectionKind::Strings, packed(&users, true));
            }),
            (false, false)
        );
    }
}
