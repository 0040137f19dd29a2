//! Reads the properties of all rows as text, from columns that are decoded as a whole: several
//! times as fast as row by row from pages.

use std::convert::Infallible;
use std::sync::Arc;

use super::encode::{FIRST_SHAPE, LEFT_OVER, NONE};
use super::read::{PropertyReader, ShapeCodes, presence_of, ranks_of};
use super::shape::{Shapes, TextSink, put_leaf};
use super::split::{Leaf, LeafKind};
use crate::error::Result;
use crate::events::block::header::SectionKind;
use crate::events::block::parts::Parts;
use crate::events::block::ranks::RankedBits;
use crate::events::block::string_pages::StringPage;

/// The properties of all rows of a block, decoded but not joined.
pub(in super::super) struct AllProperties {
    codes: Arc<ShapeCodes>,
    shapes: Arc<Shapes>,
    left_over: Option<Column>,
    columns: Vec<Column>,
}

/// A column and the rows that have a leaf in it, in clustered order.
struct Column {
    presence: Arc<RankedBits>,
    leaves: Leaves,
}

enum Leaves {
    Integers(Vec<i64>),
    Booleans(Vec<i64>),
    Numbers(Vec<f64>),
    /// Strings, by rank if they are in a dictionary.
    Strings(StringPage, Option<Vec<u32>>),
    Json(StringPage, Option<Vec<u32>>),
}

impl AllProperties {
    /// Decodes the properties of a block; `None` if no row has any.
    pub(in super::super) fn read(parts: &Parts<'_>) -> Result<Option<Self>> {
        let Some(reader) = PropertyReader::open(parts)? else { return Ok(None) };
        let (codes, shapes) = reader.codes_and_shapes();
        let columns = shapes.columns.iter().zip(0..);
        let columns = columns
            .map(|(key, number)| Column::read(parts, &shapes, &codes, key.kind, number))
            .collect::<Result<_>>()?;
        let left_over = codes.0.contains(&LEFT_OVER).then(|| Column::left_over(parts, &codes));
        let left_over = left_over.transpose()?;
        Ok(Some(Self { codes, shapes, left_over, columns }))
    }

    /// Passes the properties of the row at a position in clustered order to `out`.
    pub(in super::super) fn text(&self, position: usize, out: &mut impl TextSink) {
        match self.codes.0[position] {
            NONE => {}
            LEFT_OVER => match self.left_over.as_ref().map(|column| column.leaf(position)) {
                Some(Leaf::Json(text)) => out.push(text),
                _ => panic!("position {position}: leftovers were read with the block"),
            },
            code => {
                let shape = &self.shapes.shapes[usize::from(code - FIRST_SHAPE)];
                let Ok(()) = shape.join(out, |column, out| {
                    put_leaf(self.columns[column as usize].leaf(position), out);
                    Ok::<(), Infallible>(())
                });
            }
        }
    }
}

impl Column {
    fn read(
        parts: &Parts<'_>,
        shapes: &Shapes,
        codes: &ShapeCodes,
        kind: LeafKind,
        number: u32,
    ) -> Result<Self> {
        let presence = presence_of(parts, shapes, codes, number)?;
        let (section, rows) = ((SectionKind::PropertyColumn, number), presence.count());
        let leaves = match kind {
            LeafKind::Integer => Leaves::Integers(parts.all_integers(section, rows)?),
            LeafKind::Boolean => Leaves::Booleans(parts.all_integers(section, rows)?),
            LeafKind::Number => Leaves::Numbers(parts.all_floats(section, rows)?),
            LeafKind::String | LeafKind::Json => {
                let strings = parts.all_strings(SectionKind::PropertyStrings, number)?;
                let ranks = match parts.header().has(SectionKind::PropertyColumn, number) {
                    true => {
                        let ranks = parts.all_integers(section, rows)?;
                        let ranks = ranks_of(&ranks, strings.len());
                        Some(ranks.map_err(|e| parts.damaged(&e.to_string()))?)
                    }
                    false if strings.len() == rows => None,
                    false => return Err(parts.damaged("a string is missing in a column")),
                };
                match kind {
                    LeafKind::String => Leaves::Strings(strings, ranks),
                    _ => Leaves::Json(strings, ranks),
                }
            }
        };
        Ok(Self { presence, leaves })
    }

    fn left_over(parts: &Parts<'_>, codes: &ShapeCodes) -> Result<Self> {
        let presence = RankedBits::new(codes.0.len(), |at| codes.0[at] == LEFT_OVER);
        let strings = parts.all_strings(SectionKind::Leftovers, 0)?;
        if strings.len() != presence.count() {
            return Err(parts.damaged("a string is missing in a column"));
        }
        Ok(Self { presence: Arc::new(presence), leaves: Leaves::Json(strings, None) })
    }

    /// Returns the leaf of the row at a position in clustered order, which must have one.
    #[inline]
    fn leaf(&self, position: usize) -> Leaf<'_> {
        let at = self.presence.rank(position).unwrap_or_else(|| no_leaf(position));
        let rank = |ranks: &Option<Vec<u32>>| ranks.as_ref().map_or(at, |all| all[at] as usize);
        match &self.leaves {
            Leaves::Integers(column) => Leaf::Integer(column[at]),
            Leaves::Booleans(column) => Leaf::Boolean(column[at] != 0),
            Leaves::Numbers(column) => Leaf::Number(column[at]),
            Leaves::Strings(strings, ranks) => {
                Leaf::String(strings.get(rank(ranks)).unwrap_or_else(|| no_leaf(position)))
            }
            Leaves::Json(strings, ranks) => {
                Leaf::Json(strings.get(rank(ranks)).unwrap_or_else(|| no_leaf(position)))
            }
        }
    }
}

#[cold]
fn no_leaf(position: usize) -> ! {
    panic!("position {position}: the code of the row says that it has a leaf")
}
