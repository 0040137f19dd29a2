//! Rows in, a block out.

use super::clusters::Clusters;
use super::codes::{self, ColumnCodes};
use super::compare::compare;
use super::header::{ColumnTexts, FIRST_TAG, NAME, SectionKind, Sections, USER};
use super::ids;
use super::info::Extent;
use super::properties;
use super::ranks::encode_runs;
use super::terms::{Ranks, Terms, TextColumn};
use super::texts::TextPacker;
use crate::codec::floats;
use crate::codec::integers::{self, Effort};
use crate::codec::runs::Runs;
use crate::codec::verified::encode_verified;
use crate::codec::{CodecError, CodecResult};
use crate::limits::EVENT_BLOCK_ROWS_MAX;
use crate::model::{EventId, EventRows};

/// Encodes rows that are sorted by time, then id, all of one UTC day, at most [`EVENT_BLOCK_ROWS_MAX`]. A row is named by its
/// source and its position in there. The block has been decoded and compared with the rows.
pub(crate) fn encode(
    sources: &[&EventRows],
    rows: &[(u32, u32)],
    effort: Effort,
) -> CodecResult<Vec<u8>> {
    let chosen = Chosen::new(sources, rows)?;
    encode_verified(
        effort,
        |effort| encode_chosen(&chosen, effort),
        |block| compare(sources, rows, block),
        || format!("new block of {} events", rows.len()),
    )
}

fn encode_chosen(chosen: &Chosen<'_>, effort: Effort) -> CodecResult<Vec<u8>> {
    let times = chosen.each(|source, row| source.times().get(row).copied().unwrap_or_default());
    let ids: Vec<EventId> = chosen.each(|source, row| *source.ids().get(row).unwrap_or(&NO_ID));
    if !times.iter().zip(&ids).is_sorted() {
        return Err(CodecError::new("rows that are not sorted"));
    }
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Err(CodecError::new("no rows"));
    };
    let mut encoder = Encoder {
        effort,
        rows: chosen.rows.len(),
        sections: Sections::default(),
        packer: TextPacker::new(effort)?,
    };
    encoder.times(&times)?;
    encoder.ids(&ids)?;
    let cells = Cells::collect(chosen);
    let mut columns = Vec::new();
    let mut ranks = Ranks::new(&cells.terms);
    let names = ranks.column("", &cells.terms, cells.names);
    let order = order(&names, chosen.rows.len());
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
    encoder.values(chosen, &order)?;
    let texts: Vec<&str> =
        order.iter().map(|row| chosen.row(*row).map_or("", |(s, i)| s.properties(i))).collect();
    properties::encode(&texts, effort, &mut encoder.packer, &mut encoder.sections)?;
    let text_bytes: usize = chosen.each(EventRows::text_bytes).into_iter().sum();
    let text_bytes = u32::try_from(text_bytes);
    let extent = Extent {
        rows: chosen.rows.len() as u32,
        first_time: *first,
        last_time: *last,
        text_bytes: text_bytes.map_err(|_| CodecError::new("too many texts for a block"))?,
    };
    encoder.sections.finish(extent, &columns)
}

const NO_ID: EventId = EventId(0);

/// The rows of a block where they are now.
struct Chosen<'a> {
    sources: &'a [&'a EventRows],
    rows: &'a [(u32, u32)],
}

impl<'a> Chosen<'a> {
    fn new(sources: &'a [&'a EventRows], rows: &'a [(u32, u32)]) -> CodecResult<Self> {
        let there = |(source, row): &(u32, u32)| {
            sources.get(*source as usize).is_some_and(|rows| (*row as usize) < rows.len())
        };
        if !rows.iter().all(there) {
            return Err(CodecError::new("rows that no source has"));
        }
        if rows.len() > EVENT_BLOCK_ROWS_MAX {
            return Err(CodecError::new(format!("{} rows in a block", rows.len())));
        }
        Ok(Self { sources, rows })
    }

    fn row(&self, row: u32) -> Option<(&'a EventRows, usize)> {
        let (source, row) = *self.rows.get(row as usize)?;
        Some((self.sources.get(source as usize)?, row as usize))
    }

    fn each<T>(&self, of: impl Fn(&'a EventRows, usize) -> T) -> Vec<T> {
        let rows = 0..self.rows.len() as u32;
        rows.filter_map(|row| self.row(row).map(|(source, at)| of(source, at))).collect()
    }
}

/// Row and text of each column.
struct Cells<'a> {
    terms: Terms<'a>,
    names: Vec<(u32, u32)>,
    users: Vec<(u32, u32)>,
    /// By key, sorted by its text.
    tags: Vec<(u32, Vec<(u32, u32)>)>,
}

impl<'a> Cells<'a> {
    fn collect(chosen: &Chosen<'a>) -> Self {
        let mut terms = Terms::new(chosen.sources);
        let (mut names, mut users) = (Vec::with_capacity(chosen.rows.len()), Vec::new());
        let mut tags: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
        // Where in `tags` the key of this number is.
        let mut slots: Vec<u32> = Vec::new();
        for (row, (source, at)) in (0..).zip(chosen.rows) {
            let Some(rows) = chosen.sources.get(*source as usize) else { continue };
            if let Some(name) = rows.names().get(*at as usize) {
                names.push((row, terms.number(*source, *name)));
            }
            if let Some(Some(user)) = rows.users().get(*at as usize) {
                users.push((row, terms.number(*source, *user)));
            }
            for (key, value) in rows.tags(*at as usize) {
                let (key, value) = (terms.number(*source, *key), terms.number(*source, *value));
                if slots.len() <= key as usize {
                    slots.resize(key as usize + 1, u32::MAX);
                }
                let Some(slot) = slots.get_mut(key as usize) else { continue };
                if *slot == u32::MAX {
                    *slot = tags.len() as u32;
                    tags.push((key, Vec::new()));
                }
                if let Some((_, cells)) = tags.get_mut(*slot as usize) {
                    cells.push((row, value));
                }
            }
        }
        tags.sort_unstable_by(|a, b| terms.text(a.0).cmp(terms.text(b.0)));
        Self { terms, names, users, tags }
    }
}

/// The rows in clustered order.
fn order(names: &TextColumn<'_>, rows: usize) -> Vec<u32> {
    let codes = ColumnCodes::Dense(names.cells.iter().map(|(_, code)| *code).collect());
    Clusters::new(&codes, names.texts.len(), rows).order()
}

struct Encoder {
    effort: Effort,
    rows: usize,
    sections: Sections,
    packer: TextPacker,
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

    fn column(&mut self, number: u32, column: &TextColumn<'_>) -> CodecResult<()> {
        let mut out = Vec::new();
        codes::encode(&column.cells, self.rows, self.effort, &mut out)?;
        self.sections.push(SectionKind::Codes, number, out);
        if let ColumnTexts::Many { .. } = column.column.texts {
            let texts = self.packer.sorted(column.texts.iter().copied())?;
            self.sections.push(SectionKind::Texts, number, texts);
        }
        Ok(())
    }

    fn values(&mut self, chosen: &Chosen<'_>, order: &[u32]) -> CodecResult<()> {
        let value = |row: &u32| {
            let value = chosen.row(*row).and_then(|(source, at)| source.values().get(at).copied());
            value.filter(|value| !value.is_nan())
        };
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
