//! Reads all rows of a block, column by column: a block may have far more columns than a row has
//! tags.

use super::header::{FIRST_TAG, NAME, USER};
use super::parts::Parts;
use super::properties::AllProperties;
use super::rows::{StringReader, ValueReader};
use crate::cast::to_u32;
use crate::error::Result;
use crate::model::{EventRow, EventRows, StringId};

/// Returns all rows of a block, in order.
pub(super) fn all_rows(parts: &Parts<'_>) -> Result<EventRows> {
    let mut rows = EventRows::default();
    let strings = RowStrings::read(parts, &mut rows)?;
    let (times, ids, clusters) = (parts.times()?, parts.ids()?, parts.clusters()?);
    let (mut values, all) = (ValueReader::open(parts)?, AllProperties::read(parts)?);
    let mut properties = String::new();
    let names_and_users = strings.names.iter().zip(&strings.users);
    for (row, ((id, time), (name, user))) in
        ids.iter().zip(times.iter()).zip(names_and_users).enumerate()
    {
        properties.clear();
        let position = clusters.position(row);
        if let Some(all) = &all {
            all.text(position, &mut properties);
        }
        rows.push_row(&EventRow {
            id: id.ok_or_else(|| parts.damaged("a row without an id"))?,
            time: *time,
            name: name.ok_or_else(|| parts.damaged("a row without a name"))?,
            user: *user,
            value: values.get(position)?,
            tags: strings.tags.of(row),
            properties: &properties,
        });
    }
    Ok(rows)
}

/// The strings of all rows, interned.
struct RowStrings {
    names: Vec<Option<StringId>>,
    users: Vec<Option<StringId>>,
    tags: RowTags,
}

impl RowStrings {
    fn read(parts: &Parts<'_>, rows: &mut EventRows) -> Result<Self> {
        let columns = 0..to_u32(parts.header().columns.len());
        let columns: Vec<StringReader<'_>> =
            columns.map(|number| StringReader::open_all(parts, number)).collect::<Result<_>>()?;
        let mut strings = Self {
            names: vec![None; parts.rows()],
            users: vec![None; parts.rows()],
            tags: RowTags::with_capacity_for(parts.rows(), columns.iter().skip(FIRST_TAG as usize)),
        };
        for (number, mut column) in (0..).zip(columns) {
            let key = rows.intern(&column.column().key);
            let mut known: Vec<Option<StringId>> = vec![None; column.column().strings() + 1];
            let mut cells = Vec::new();
            column.codes().each(|row, code| cells.push((row, code)));
            for (row, code) in cells {
                let text = match known[code as usize] {
                    Some(text) => text,
                    None => *known[code as usize].insert(rows.intern(column.text(code)?)),
                };
                match number {
                    NAME => strings.names[row as usize] = Some(text),
                    USER => strings.users[row as usize] = Some(text),
                    FIRST_TAG.. => strings.tags.push(row, (key, text)),
                }
            }
        }
        Ok(strings)
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
            column.codes().each(|row, _| starts[row as usize + 1] += 1);
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
