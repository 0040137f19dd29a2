//! Reads whole rows by joining all columns.

use std::sync::Arc;

use super::clusters::Clusters;
use super::codes::ColumnCodes;
use super::header::{Column, ColumnStrings, FIRST_TAG, NAME, SectionKind, USER};
use super::ids::Ids;
use super::page_readers::{NumberPages, StringPages};
use super::parts::Parts;
use super::properties::PropertyReader;
use super::ranks::RankedBits;
use crate::cast::to_u32;
use crate::error::Result;
use crate::model::{Event, EventId, EventRow, EventRows, StringId, TimestampMs};

/// Reads rows of one block. Holds all pages that it has read: open it for many rows, then drop it.
pub(super) struct RowReader<'p> {
    parts: &'p Parts<'p>,
    times: Arc<Vec<i64>>,
    ids: Arc<Ids>,
    clusters: Arc<Clusters>,
    columns: Vec<StringReader<'p>>,
    values: ValueReader<'p>,
    properties: Option<PropertyReader<'p>>,
}

impl<'p> RowReader<'p> {
    pub(super) fn open(parts: &'p Parts<'p>) -> Result<Self> {
        let columns = 0..to_u32(parts.header().columns.len());
        Ok(Self {
            parts,
            times: parts.times()?,
            ids: parts.ids()?,
            clusters: parts.clusters()?,
            columns: columns.map(|n| StringReader::open(parts, n)).collect::<Result<_>>()?,
            values: ValueReader::open(parts)?,
            properties: PropertyReader::open(parts)?,
        })
    }

    /// Returns a row as an event.
    pub(super) fn event(&mut self, row: usize) -> Result<Event> {
        let mut strings = self.columns.iter_mut();
        let mut owned = |column: &mut StringReader<'p>| {
            let code = column.codes.code(row);
            if code == 0 { Ok(None) } else { column.text(code).map(|text| Some(text.to_owned())) }
        };
        let name = strings.next().map_or(Ok(None), &mut owned)?;
        let user = strings.next().map_or(Ok(None), &mut owned)?;
        let mut tags = Vec::new();
        for column in strings {
            if let Some(value) = owned(column)? {
                tags.push((column.column.key.as_ref().to_owned(), value));
            }
        }
        let mut properties = String::new();
        let position = self.clusters.position(row);
        if let Some(reader) = &mut self.properties {
            reader.text(position, &mut properties)?;
        }
        Ok(Event {
            id: self.id(row)?,
            name: name.ok_or_else(|| self.parts.damaged("a row without a name"))?,
            time: TimestampMs(self.time(row)?),
            user,
            value: self.values.get(position)?,
            tags,
            properties: (!properties.is_empty()).then_some(properties),
        })
    }

    /// Returns all rows.
    pub(super) fn all(&mut self) -> Result<EventRows> {
        let mut rows = EventRows::default();
        let rows_of_block = self.parts.rows();
        let mut names = vec![None; rows_of_block];
        let mut users = vec![None; rows_of_block];
        let tags = self.tags_of_rows(&mut rows, &mut names, &mut users)?;
        let mut properties = String::new();
        for (row, (name, user)) in names.into_iter().zip(users).enumerate() {
            properties.clear();
            let position = self.clusters.position(row);
            if let Some(reader) = &mut self.properties {
                reader.text(position, &mut properties)?;
            }
            rows.push_row(&EventRow {
                id: self.id(row)?,
                time: self.time(row)?,
                name: name.ok_or_else(|| self.parts.damaged("a row without a name"))?,
                user,
                value: self.values.get(position)?,
                tags: tags.of(row),
                properties: &properties,
            });
        }
        Ok(rows)
    }

    /// Reads names, users and tags of all rows column by column: a block may have far more columns
    /// than a row has tags.
    fn tags_of_rows(
        &mut self,
        rows: &mut EventRows,
        names: &mut [Option<StringId>],
        users: &mut [Option<StringId>],
    ) -> Result<RowTags> {
        let mut tags = RowTags::with_capacity_for(
            self.parts.rows(),
            self.columns.iter().skip(FIRST_TAG as usize),
        );
        for (number, column) in (0..).zip(&mut self.columns) {
            let key = rows.intern(&column.column.key);
            let mut known: Vec<Option<StringId>> = vec![None; column.column.strings() + 1];
            let mut cells = Vec::new();
            column.codes.each(|row, code| cells.push((row, code)));
            for (row, code) in cells {
                let text = column.interned(code, &mut known, rows)?;
                match number {
                    NAME => names[row as usize] = Some(text),
                    USER => users[row as usize] = Some(text),
                    FIRST_TAG.. => tags.push(row, (key, text)),
                }
            }
        }
        Ok(tags)
    }

    fn id(&self, row: usize) -> Result<EventId> {
        self.ids.get(row).ok_or_else(|| self.parts.damaged("a row without an id"))
    }

    fn time(&self, row: usize) -> Result<i64> {
        self.times.get(row).copied().ok_or_else(|| self.parts.damaged("a row without a time"))
    }
}

/// The tags of all rows in one list.
struct RowTags {
    /// Index of the first tag of each row, and the end of the last one.
    starts: Vec<u32>,
    /// Index of the next tag to be added to each row.
    next: Vec<u32>,
    tags: Vec<(StringId, StringId)>,
}

impl RowTags {
    /// Allocates space for the tags in `columns`.
    fn with_capacity_for<'c, 'p: 'c>(
        rows: usize,
        columns: impl Iterator<Item = &'c StringReader<'p>>,
    ) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for column in columns {
            column.codes.each(|row, _| starts[row as usize + 1] += 1);
        }
        let mut before = 0;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        let none = (StringId(0), StringId(0));
        Self { next: starts.clone(), starts, tags: vec![none; before as usize] }
    }

    /// Adds a tag to a row, after those added before.
    fn push(&mut self, row: u32, tag: (StringId, StringId)) {
        let next = &mut self.next[row as usize];
        self.tags[*next as usize] = tag;
        *next += 1;
    }

    fn of(&self, row: usize) -> &[(StringId, StringId)] {
        &self.tags[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}

/// A reader of a column of strings.
pub(super) struct StringReader<'p> {
    column: &'p Column,
    codes: Arc<ColumnCodes>,
    /// The strings, if they are not in the header.
    many: Option<StringPages<'p>>,
}

impl<'p> StringReader<'p> {
    pub(super) fn open(parts: &'p Parts<'p>, number: u32) -> Result<Self> {
        let column = parts.column(number)?;
        let many = match column.strings {
            ColumnStrings::Few(_) => None,
            ColumnStrings::Many { .. } => {
                Some(StringPages::open(parts, SectionKind::Strings, number)?)
            }
        };
        Ok(Self { column, codes: parts.codes(number)?, many })
    }

    /// Returns the string of a code of the column, from 1.
    pub(super) fn text(&mut self, code: u32) -> Result<&str> {
        let rank = code as usize - 1;
        match (&mut self.many, &self.column.strings) {
            (Some(strings), _) => strings.get(rank),
            (None, ColumnStrings::Few(strings)) => {
                let (text, _) = &strings[rank];
                Ok(text)
            }
            (None, ColumnStrings::Many { .. }) => {
                unreachable!("strings outside of the header are opened")
            }
        }
    }

    /// Returns the string of a code, from 1, interned in `rows`.
    fn interned(
        &mut self,
        code: u32,
        known: &mut [Option<StringId>],
        rows: &mut EventRows,
    ) -> Result<StringId> {
        if let Some(id) = known[code as usize] {
            return Ok(id);
        }
        let id = rows.intern(self.text(code)?);
        known[code as usize] = Some(id);
        Ok(id)
    }
}

/// The values of a block, by position in clustered order.
pub(super) struct ValueReader<'p> {
    presence: Arc<RankedBits>,
    pages: NumberPages<'p, f64>,
}

impl<'p> ValueReader<'p> {
    pub(super) fn open(parts: &'p Parts<'p>) -> Result<Self> {
        let presence = parts.value_presence()?;
        let pages = NumberPages::floats(parts, (SectionKind::Values, 0), presence.count());
        Ok(Self { presence, pages })
    }

    /// Returns the value of the row at a position.
    #[inline]
    pub(super) fn get(&mut self, position: usize) -> Result<Option<f64>> {
        self.presence.rank(position).map(|at| self.pages.get(at)).transpose()
    }
}
