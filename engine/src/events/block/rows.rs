//! Reads single rows by joining all columns.

use std::sync::Arc;

use super::clusters::Clusters;
use super::codes::ColumnCodes;
use super::header::{Column, ColumnStrings, SectionKind};
use super::ids::Ids;
use super::page_readers::{NumberPages, StringPages};
use super::parts::Parts;
use super::properties::PropertyReader;
use super::ranks::RankedBits;
use super::string_pages::StringPage;
use crate::cast::to_u32;
use crate::error::Result;
use crate::model::{Event, EventId, TimestampMs};

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

    fn id(&self, row: usize) -> Result<EventId> {
        self.ids.get(row).ok_or_else(|| self.parts.damaged("a row without an id"))
    }

    fn time(&self, row: usize) -> Result<i64> {
        self.times.get(row).copied().ok_or_else(|| self.parts.damaged("a row without a time"))
    }
}

/// A reader of a column of strings.
pub(super) struct StringReader<'p> {
    parts: &'p Parts<'p>,
    column: &'p Column,
    codes: Arc<ColumnCodes>,
    strings: Strings<'p>,
}

enum Strings<'p> {
    /// In the header.
    Few(&'p [(Box<str>, u32)]),
    Pages(StringPages<'p>),
    /// All pages, unpacked.
    All(StringPage),
}

impl<'p> StringReader<'p> {
    /// Returns a reader for some rows.
    pub(super) fn open(parts: &'p Parts<'p>, number: u32) -> Result<Self> {
        let pages = |kind, number| Ok(Strings::Pages(StringPages::open(parts, kind, number)?));
        Self::with_strings(parts, number, pages)
    }

    /// Returns a reader for all rows, which unpacks all strings at once.
    pub(super) fn open_all(parts: &'p Parts<'p>, number: u32) -> Result<Self> {
        let all = |kind, number| Ok(Strings::All(parts.all_strings(kind, number)?));
        Self::with_strings(parts, number, all)
    }

    fn with_strings(
        parts: &'p Parts<'p>,
        number: u32,
        many: impl FnOnce(SectionKind, u32) -> Result<Strings<'p>>,
    ) -> Result<Self> {
        let column = parts.column(number)?;
        let strings = match &column.strings {
            ColumnStrings::Few(strings) => Strings::Few(strings),
            ColumnStrings::Many { .. } => many(SectionKind::Strings, number)?,
        };
        Ok(Self { parts, column, codes: parts.codes(number)?, strings })
    }

    /// Checks what queries rely on besides the string of each row: the numbers of rows in the
    /// header, and the order of the strings. The reader is one [for all rows](Self::open_all).
    pub(super) fn check(&self, number: u32) -> Result<()> {
        let counts = self.codes.counts(self.column.strings());
        let is_counted = match &self.column.strings {
            ColumnStrings::Few(strings) => strings.iter().map(|(_, rows)| rows).eq(&counts),
            ColumnStrings::Many { rows, .. } => counts.iter().sum::<u32>() == *rows,
        };
        if !is_counted {
            return Err(self.parts.damaged("the header has wrong counts for a column"));
        }
        if counts.contains(&0) {
            return Err(self.parts.damaged("no row has one of the strings of a column"));
        }
        if let Strings::All(strings) = &self.strings {
            let index = self.parts.string_index(SectionKind::Strings, number)?;
            index.check_order(strings).map_err(|error| self.parts.damaged(&error.to_string()))?;
        }
        Ok(())
    }

    pub(super) fn column(&self) -> &'p Column {
        self.column
    }

    pub(super) fn codes(&self) -> &ColumnCodes {
        &self.codes
    }

    /// Returns the string of a code of the column, from 1.
    pub(super) fn text(&mut self, code: u32) -> Result<&str> {
        let rank = code as usize - 1;
        match &mut self.strings {
            Strings::Few(strings) => {
                let (text, _) = &strings[rank];
                Ok(text)
            }
            Strings::Pages(pages) => pages.get(rank),
            Strings::All(strings) => strings
                .get(rank)
                .ok_or_else(|| self.parts.damaged("a string is missing in a column")),
        }
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
