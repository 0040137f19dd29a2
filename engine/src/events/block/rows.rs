//! Whole rows, put together from all columns.

use std::sync::Arc;

use super::clusters::Clusters;
use super::codes::ColumnCodes;
use super::header::{Column, ColumnTexts, FIRST_TAG, NAME, SectionKind, USER};
use super::ids::Ids;
use super::pages::{Pages, Texts};
use super::parts::Parts;
use super::properties::PropertyReader;
use super::ranks::RankedBits;
use crate::error::Result;
use crate::model::{Event, EventId, EventRow, EventRows, TextId, TimestampMs};

/// Reads rows of one block. Holds what it has read, so that it is used for many rows, then dropped.
pub(super) struct RowReader<'p> {
    parts: &'p Parts<'p>,
    times: Arc<Vec<i64>>,
    ids: Arc<Ids>,
    clusters: Arc<Clusters>,
    columns: Vec<TextReader<'p>>,
    values: ValueReader<'p>,
    properties: Option<PropertyReader<'p>>,
}

impl<'p> RowReader<'p> {
    pub(super) fn open(parts: &'p Parts<'p>) -> Result<Self> {
        let columns = 0..parts.header().columns.len() as u32;
        Ok(Self {
            parts,
            times: parts.times()?,
            ids: parts.ids()?,
            clusters: parts.clusters()?,
            columns: columns.map(|n| TextReader::open(parts, n)).collect::<Result<_>>()?,
            values: ValueReader::open(parts)?,
            properties: PropertyReader::open(parts)?,
        })
    }

    /// A row as an event.
    pub(super) fn event(&mut self, row: usize) -> Result<Event> {
        let mut texts = self.columns.iter_mut();
        let mut owned = |column: &mut TextReader<'p>| {
            let code = column.codes.code(row);
            if code == 0 { Ok(None) } else { column.text(code).map(|text| Some(text.to_owned())) }
        };
        let name = texts.next().map_or(Ok(None), &mut owned)?;
        let user = texts.next().map_or(Ok(None), &mut owned)?;
        let mut tags = Vec::new();
        for column in texts {
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

    /// All rows.
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

    /// The texts of all rows, column by column: there may be far more columns than a row has tags.
    fn tags_of_rows(
        &mut self,
        rows: &mut EventRows,
        names: &mut [Option<TextId>],
        users: &mut [Option<TextId>],
    ) -> Result<RowTags> {
        let mut tags =
            RowTags::with_room(self.parts.rows(), self.columns.iter().skip(FIRST_TAG as usize));
        for (number, column) in (0..).zip(&mut self.columns) {
            let key = rows.intern(&column.column.key);
            let mut known: Vec<Option<TextId>> = vec![None; column.column.texts() + 1];
            let mut cells = Vec::new();
            column.codes.each(|row, code| cells.push((row, code)));
            for (row, code) in cells {
                let text = column.interned(code, &mut known, rows)?;
                match number {
                    NAME => set(names, row, text),
                    USER => set(users, row, text),
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

fn set(of_rows: &mut [Option<TextId>], row: u32, text: TextId) {
    if let Some(slot) = of_rows.get_mut(row as usize) {
        *slot = Some(text);
    }
}

/// The tags of each row, in one list.
struct RowTags {
    /// Where the tags of each row begin, and behind the last.
    starts: Vec<u32>,
    /// Where the next tag of each row goes.
    next: Vec<u32>,
    tags: Vec<(TextId, TextId)>,
}

impl RowTags {
    /// Room for the tags in `columns`.
    fn with_room<'c, 'p: 'c>(
        rows: usize,
        columns: impl Iterator<Item = &'c TextReader<'p>>,
    ) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for column in columns {
            column.codes.each(|row, _| {
                if let Some(count) = starts.get_mut(row as usize + 1) {
                    *count += 1;
                }
            });
        }
        let mut before = 0;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        let none = (TextId(0), TextId(0));
        Self { next: starts.clone(), starts, tags: vec![none; before as usize] }
    }

    /// Adds a tag of a row, behind those before it.
    fn push(&mut self, row: u32, tag: (TextId, TextId)) {
        let Some(next) = self.next.get_mut(row as usize) else { return };
        if let Some(slot) = self.tags.get_mut(*next as usize) {
            *slot = tag;
        }
        *next += 1;
    }

    fn of(&self, row: usize) -> &[(TextId, TextId)] {
        let span = match self.starts.get(row..row + 2) {
            Some(&[from, to]) => from as usize..to as usize,
            _ => 0..0,
        };
        self.tags.get(span).unwrap_or_default()
    }
}

/// A column of texts.
pub(super) struct TextReader<'p> {
    column: &'p Column,
    codes: Arc<ColumnCodes>,
    /// The texts that are not in the header.
    many: Option<Texts<'p>>,
}

impl<'p> TextReader<'p> {
    pub(super) fn open(parts: &'p Parts<'p>, number: u32) -> Result<Self> {
        let column = parts.column(number)?;
        let many = match column.texts {
            ColumnTexts::Few(_) => None,
            ColumnTexts::Many { .. } => Some(Texts::open(parts, SectionKind::Texts, number)?),
        };
        Ok(Self { column, codes: parts.codes(number)?, many })
    }

    /// The text of a code, from 1.
    pub(super) fn text(&mut self, code: u32) -> Result<&str> {
        let rank = code.wrapping_sub(1) as usize;
        match (&mut self.many, &self.column.texts) {
            (Some(texts), _) => texts.get(rank),
            (None, ColumnTexts::Few(texts)) => Ok(texts.get(rank).map_or("", |(text, _)| text)),
            (None, ColumnTexts::Many { .. }) => unreachable!("texts of many are opened"),
        }
    }

    /// The text of a code, from 1, as one of `rows`.
    fn interned(
        &mut self,
        code: u32,
        known: &mut [Option<TextId>],
        rows: &mut EventRows,
    ) -> Result<TextId> {
        if let Some(Some(id)) = known.get(code as usize) {
            return Ok(*id);
        }
        let id = rows.intern(self.text(code)?);
        if let Some(slot) = known.get_mut(code as usize) {
            *slot = Some(id);
        }
        Ok(id)
    }
}

/// The values of a block, by position in clustered order.
pub(super) struct ValueReader<'p> {
    presence: Arc<RankedBits>,
    pages: Pages<'p, f64>,
}

impl<'p> ValueReader<'p> {
    pub(super) fn open(parts: &'p Parts<'p>) -> Result<Self> {
        let presence = parts.value_presence()?;
        let pages = Pages::floats(parts, (SectionKind::Values, 0), presence.count());
        Ok(Self { presence, pages })
    }

    /// The value of the row at a position.
    #[inline]
    pub(super) fn get(&mut self, position: usize) -> Result<Option<f64>> {
        self.presence.rank(position).map(|at| self.pages.get(at)).transpose()
    }
}
