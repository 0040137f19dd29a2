//! Encodes rows as a block.

use super::clusters::Clusters;
use super::codes::{self, ColumnCodes};
use super::compare::compare;
use super::header::{ColumnStrings, FIRST_TAG, NAME, SectionKind, Sections, USER};
use super::ids;
use super::info::Extent;
use super::interning::{Ranks, StringColumn, Terms};
use super::properties;
use super::ranks::encode_runs;
use super::string_pages::StringPacker;
use crate::cast::to_u32;
use crate::codec::floats;
use crate::codec::integers::{self, Effort};
use crate::codec::runs::Runs;
use crate::codec::verified::encode_verified;
use crate::codec::{CodecError, CodecResult};
use crate::limits::EVENT_BLOCK_ROWS_MAX;
use crate::model::{EventId, EventRows};

/// Encodes rows that are sorted by time, then id, all of one UTC day, at most
/// [`EVENT_BLOCK_ROWS_MAX`]. A row is given by its piece in `sources` and its position there. The
/// new block is decoded and compared with the rows before it is returned.
pub(crate) fn encode(
    sources: &[&EventRows],
    rows: &[(u32, u32)],
    effort: Effort,
) -> CodecResult<Vec<u8>> {
    let input = InputRows::new(sources, rows)?;
    encode_verified(
        effort,
        |effort| encode_input(&input, effort),
        |block| compare(sources, rows, block),
        || format!("new block of {} events", rows.len()),
    )
}

fn encode_input(input: &InputRows<'_>, effort: Effort) -> CodecResult<Vec<u8>> {
    let times = input.each(|source, row| source.times()[row]);
    let ids: Vec<EventId> = input.each(|source, row| source.ids()[row]);
    if !times.iter().zip(&ids).is_sorted() {
        return Err(CodecError::new("the rows of a block must be sorted"));
    }
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err(CodecError::new("a block must have rows"));
    };
    let mut encoder = Encoder {
        effort,
        rows: input.rows.len(),
        sections: Sections::default(),
        packer: StringPacker::new(effort)?,
    };
    encoder.times(&times)?;
    encoder.ids(&ids)?;
    let cells = ColumnCells::collect(input);
    let mut columns = Vec::new();
    let mut ranks = Ranks::new(&cells.terms);
    let names = ranks.column("", &cells.terms, cells.names);
    let order = order(&names, input.rows.len());
    encoder.column(NAME, &names)?;
    columns.push(names.column);
    let users = ranks.column("", &cells.terms, cells.users);
    encoder.column(USER, &users)?;
    columns.push(users.column);
    for ((key, of_tag), number) in cells.tags.into_iter().zip(FIRST_TAG..) {
        let tag = ranks.column(cells.terms.text(key), &cells.terms, of_tag);
        encoder.column(number, &tag)?;
        columns.push(tag.column);
    }
    encoder.values(input, &order)?;
    let strings = input.each(EventRows::properties);
    let strings: Vec<&str> = order.iter().map(|row| strings[*row as usize]).collect();
    properties::encode(&strings, effort, &mut encoder.packer, &mut encoder.sections)?;
    let string_bytes: usize = input.each(EventRows::string_bytes).into_iter().sum();
    let string_bytes = u32::try_from(string_bytes);
    let extent = Extent {
        rows: to_u32(input.rows.len()),
        first_time: *first,
        last_time: *last,
        string_bytes: string_bytes
            .map_err(|_| CodecError::new("too many string bytes for a block"))?,
    };
    encoder.sections.finish(extent, &columns)
}

/// The rows of a new block in their pieces, all of which exist.
struct InputRows<'a> {
    sources: &'a [&'a EventRows],
    rows: &'a [(u32, u32)],
}

impl<'a> InputRows<'a> {
    fn new(sources: &'a [&'a EventRows], rows: &'a [(u32, u32)]) -> CodecResult<Self> {
        let exists = |(source, row): &(u32, u32)| {
            sources.get(*source as usize).is_some_and(|rows| (*row as usize) < rows.len())
        };
        if !rows.iter().all(exists) {
            return Err(CodecError::new("a row is not in its source"));
        }
        if rows.len() > EVENT_BLOCK_ROWS_MAX {
            return Err(CodecError::new(format!("{} rows are too many for a block", rows.len())));
        }
        Ok(Self { sources, rows })
    }

    fn row(&self, row: u32) -> (&'a EventRows, usize) {
        let (source, row) = self.rows[row as usize];
        (self.sources[source as usize], row as usize)
    }

    fn each<T>(&self, of: impl Fn(&'a EventRows, usize) -> T) -> Vec<T> {
        let rows = 0..to_u32(self.rows.len());
        rows.map(|row| self.row(row)).map(|(source, at)| of(source, at)).collect()
    }
}

/// The cells of each column: row and number of the string.
struct ColumnCells<'a> {
    terms: Terms<'a>,
    names: Vec<(u32, u32)>,
    users: Vec<(u32, u32)>,
    /// By number of the key, sorted by key.
    tags: Vec<(u32, Vec<(u32, u32)>)>,
}

impl<'a> ColumnCells<'a> {
    fn collect(input: &InputRows<'a>) -> Self {
        let mut terms = Terms::new(input.sources);
        let (mut names, mut users) = (Vec::with_capacity(input.rows.len()), Vec::new());
        let mut tags: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
        // For each number of a key, its index in `tags`.
        let mut slots: Vec<u32> = Vec::new();
        for (row, (source, at)) in (0..).zip(input.rows) {
            let rows = input.sources[*source as usize];
            names.push((row, terms.number(*source, rows.names()[*at as usize])));
            if let Some(user) = rows.users()[*at as usize] {
                users.push((row, terms.number(*source, user)));
            }
            for (key, value) in rows.tags(*at as usize) {
                let (key, value) = (terms.number(*source, *key), terms.number(*source, *value));
                if slots.len() <= key as usize {
                    slots.resize(key as usize + 1, u32::MAX);
                }
                let slot = &mut slots[key as usize];
                if *slot == u32::MAX {
                    *slot = to_u32(tags.len());
                    tags.push((key, Vec::new()));
                }
                tags[*slot as usize].1.push((row, value));
            }
        }
        tags.sort_unstable_by(|a, b| terms.text(a.0).cmp(terms.text(b.0)));
        Self { terms, names, users, tags }
    }
}

/// Returns the rows in clustered order.
fn order(names: &StringColumn<'_>, rows: usize) -> Vec<u32> {
    let codes = ColumnCodes::Dense(names.cells.iter().map(|(_, code)| *code).collect());
    Clusters::new(&codes, names.strings.len(), rows).order()
}

struct Encoder {
    effort: Effort,
    rows: usize,
    sections: Sections,
    packer: StringPacker,
}

impl Encoder {
    fn times(&mut self, times: &[i64]) -> CodecResult<()> {
        let differences: Vec<i64> = times.windows(2).map(|w| w[1].wrapping_sub(w[0])).collect();
        let mut out = Vec::new();
        integers::encode(&differences, self.effort, &mut out)?;
        self.sections.push(SectionKind::Times, 0, out);
        Ok(())
    }

    fn ids(&mut self, ids: &[EventId]) -> CodecResult<()> {
        let mut out = Vec::new();
        ids::encode(ids, self.effort, &mut out)?;
        self.sections.push(SectionKind::Ids, 0, out);
        Ok(())
    }

    fn column(&mut self, number: u32, column: &StringColumn<'_>) -> CodecResult<()> {
        let mut out = Vec::new();
        codes::encode(&column.cells, self.rows, self.effort, &mut out)?;
        self.sections.push(SectionKind::Codes, number, out);
        if let ColumnStrings::Many { .. } = column.column.strings {
            let strings = self.packer.sorted(column.strings.iter().copied())?;
            self.sections.push(SectionKind::Strings, number, strings);
        }
        Ok(())
    }

    fn values(&mut self, input: &InputRows<'_>, order: &[u32]) -> CodecResult<()> {
        let values = input.each(|source, row| source.values()[row]);
        let value = |row: &u32| Some(values[*row as usize]).filter(|value| !value.is_nan());
        let values: Vec<f64> = order.iter().filter_map(value).collect();
        if values.is_empty() {
            return Ok(());
        }
        if values.len() < self.rows {
            let mut out = Vec::new();
            encode_runs(order.iter().map(|row| value(row).is_some()), self.effort, &mut out)?;
            self.sections.push(SectionKind::ValuePresence, 0, out);
        }
        let mut out = Vec::new();
        floats::encode(&values, &Runs::new([values.len()]), self.effort, &mut out)?;
        self.sections.push(SectionKind::Values, 0, out);
        Ok(())
    }
}
