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
        let keys: Vec<TextId> =
            self.columns.iter().map(|column| rows.intern(&column.column.key)).collect();
        let mut known: Vec<Vec<Option<TextId>>> =
            self.columns.iter().map(|column| vec![None; column.column.texts() + 1]).collect();
        let mut tags = Vec::new();
        let mut properties = String::new();
        for row in 0..self.parts.rows() {
            let (mut name, mut user) = (None, None);
            tags.clear();
            let columns = self.columns.iter_mut().zip(&mut known).zip(&keys);
            for (number, ((column, known), key)) in (0..).zip(columns) {
                let Some(text) = column.interned(row, known, &mut rows)? else { continue };
                match number {
                    NAME => name = Some(text),
                    USER => user = Some(text),
                    FIRST_TAG.. => tags.push((*key, text)),
                }
            }
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
                tags: &tags,
                properties: &properties,
            });
        }
        Ok(rows)
    }

    fn id(&self, row: usize) -> Result<EventId> {
        self.ids.get(row).ok_or_else(|| self.parts.damaged("a row without an id"))
    }

    fn time(&self, row: usize) -> Result<i64> {
        self.times.get(row).copied().ok_or_else(|| self.parts.damaged("a row without a time"))
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
    fn text(&mut self, code: u32) -> Result<&str> {
        let rank = code.wrapping_sub(1) as usize;
        match (&mut self.many, &self.column.texts) {
            (Some(texts), _) => texts.get(rank),
            (None, ColumnTexts::Few(texts)) => Ok(texts.get(rank).map_or("", |(text, _)| text)),
            (None, ColumnTexts::Many { .. }) => unreachable!("texts of many are opened"),
        }
    }

    fn interned(
        &mut self,
        row: usize,
        known: &mut [Option<TextId>],
        rows: &mut EventRows,
    ) -> Result<Option<TextId>> {
        let code = self.codes.code(row);
        if code == 0 {
            return Ok(None);
        }
        if let Some(Some(id)) = known.get(code as usize) {
            return Ok(Some(*id));
        }
        let id = rows.intern(self.text(code)?);
        if let Some(slot) = known.get_mut(code as usize) {
            *slot = Some(id);
        }
        Ok(Some(id))
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
