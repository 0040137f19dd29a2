//! Reads properties: rows as text, and the numbers at a path.

use std::sync::Arc;

use super::encode::{FIRST_SHAPE, LEFT_OVER, NONE};
use super::shape::{Shapes, put_leaf};
use super::split::{Leaf, LeafKind};
use crate::cast::{checked_u32, to_u32};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::events::block::cache::Part;
use crate::events::block::clusters::Clusters;
use crate::events::block::header::SectionKind;
use crate::events::block::memory::InMemory;
use crate::events::block::page_readers::{NumberPages, StringPages};
use crate::events::block::parts::Parts;
use crate::events::block::ranks::RankedBits;

/// The shape code of each row in clustered order.
pub(super) struct ShapeCodes(pub(super) Vec<u16>);

impl InMemory for ShapeCodes {
    fn bytes(&self) -> usize {
        self.0.len() * 2
    }
}

/// Reads rows of one block. Holds all pages that it has read: open it for many rows, then drop it.
pub(in super::super) struct PropertyReader<'p> {
    parts: &'p Parts<'p>,
    codes: Arc<ShapeCodes>,
    shapes: Arc<Shapes>,
    left_over: Option<LeftOver<'p>>,
    columns: Vec<Option<ColumnReader<'p>>>,
}

/// The leftover properties.
struct LeftOver<'p> {
    presence: Arc<RankedBits>,
    strings: StringPages<'p>,
}

/// A column of properties and which rows have it.
struct ColumnReader<'p> {
    presence: Arc<RankedBits>,
    kind: LeafKind,
    cells: CellReader<'p>,
}

enum CellReader<'p> {
    Integers(NumberPages<'p, i64>),
    Numbers(NumberPages<'p, f64>),
    /// Strings, by rank if they are in a dictionary.
    Strings(StringPages<'p>, Option<Arc<Vec<u32>>>),
}

impl<'p> PropertyReader<'p> {
    /// Returns a reader of the properties of a block, or `None` if no row has any.
    pub(in super::super) fn open(parts: &'p Parts<'p>) -> Result<Option<Self>> {
        if !parts.header().has(SectionKind::ShapeCodes, 0) {
            return Ok(None);
        }
        let shapes = parts.get_or_compute(Part::Shapes, || read_shapes(parts))?;
        let section = (SectionKind::ShapeCodes, 0);
        let codes = parts.integers(Part::ShapeCodes, section, parts.rows(), |codes| {
            let unknown = || CodecError::new("a row has an unknown shape");
            let shape_codes = codes.into_iter().map(|code| {
                let code = u16::try_from(code).ok();
                code.filter(|code| usize::from(*code) < usize::from(FIRST_SHAPE) + shapes.len())
            });
            Ok(ShapeCodes(shape_codes.collect::<Option<_>>().ok_or_else(unknown)?))
        })?;
        let columns = shapes.columns.iter().map(|_| None).collect();
        Ok(Some(Self { parts, codes, shapes, left_over: None, columns }))
    }

    /// Returns what the rows are joined from.
    pub(super) fn codes_and_shapes(self) -> (Arc<ShapeCodes>, Arc<Shapes>) {
        (self.codes, self.shapes)
    }

    fn code(&self, position: usize) -> u16 {
        self.codes.0[position]
    }

    /// Appends the properties of the row at a position in clustered order.
    pub(in super::super) fn text(&mut self, position: usize, out: &mut String) -> Result<()> {
        match self.code(position) {
            NONE => Ok(()),
            LEFT_OVER => {
                out.push_str(self.left_over(position)?);
                Ok(())
            }
            code => {
                let shapes = Arc::clone(&self.shapes);
                let Some(shape) = shapes.shape(usize::from(code - FIRST_SHAPE)) else {
                    return Err(self.parts.damaged("a row has an unknown shape"));
                };
                shape.join(out, |column, out| {
                    put_leaf(self.column(column)?.leaf(position)?, out);
                    Ok(())
                })
            }
        }
    }

    fn left_over(&mut self, position: usize) -> Result<&str> {
        let left_over = match &mut self.left_over {
            Some(left_over) => left_over,
            none => {
                let codes = &self.codes.0;
                let is = |at: usize| codes[at] == LEFT_OVER;
                let presence = self
                    .parts
                    .get_or_compute(Part::Leftovers, || Ok(RankedBits::new(codes.len(), is)))?;
                let strings = StringPages::open(self.parts, SectionKind::Leftovers, 0)?;
                none.insert(LeftOver { presence, strings })
            }
        };
        let rank = left_over.presence.rank(position).unwrap_or_else(|| {
            panic!("position {position}: the code of the row says that it has leftover properties")
        });
        left_over.strings.get(rank)
    }

    fn column(&mut self, number: u32) -> Result<&mut ColumnReader<'p>> {
        let no_column = || self.parts.damaged("no such column of properties");
        let key = self.shapes.columns.get(number as usize).ok_or_else(no_column)?;
        let slot = self.columns.get_mut(number as usize).ok_or_else(no_column)?;
        match slot {
            Some(column) => Ok(column),
            none => {
                let column =
                    ColumnReader::open(self.parts, &self.shapes, &self.codes, key.kind, number)?;
                Ok(none.insert(column))
            }
        }
    }
}

fn read_shapes(parts: &Parts<'_>) -> Result<Shapes> {
    if !parts.header().has(SectionKind::Shapes, 0) {
        return Ok(Shapes::default());
    }
    let index = parts.string_index(SectionKind::Shapes, 0)?;
    let mut strings = Vec::new();
    for page in 0..index.pages() {
        strings.push(parts.string_page((SectionKind::Shapes, 0), &index, page)?);
    }
    let shapes = Shapes::read(strings.iter().flat_map(|page| page.iter()));
    let shapes = shapes.map_err(|e| parts.damaged(&e.to_string()))?;
    // Shape codes are stored in 16 bits, together with two other codes.
    if shapes.len() > crate::limits::EVENT_SHAPES_MAX {
        return Err(parts.damaged("too many shapes of properties"));
    }
    Ok(shapes)
}

impl<'p> ColumnReader<'p> {
    fn open(
        parts: &'p Parts<'p>,
        shapes: &Shapes,
        codes: &ShapeCodes,
        kind: LeafKind,
        number: u32,
    ) -> Result<Self> {
        let presence = presence_of(parts, shapes, codes, number)?;
        let section = (SectionKind::PropertyColumn, number);
        let rows = presence.count();
        let cells = match kind {
            LeafKind::Integer | LeafKind::Boolean => {
                CellReader::Integers(NumberPages::integers(parts, section, rows))
            }
            LeafKind::Number => CellReader::Numbers(NumberPages::floats(parts, section, rows)),
            LeafKind::String | LeafKind::Json => {
                let strings = StringPages::open(parts, SectionKind::PropertyStrings, number)?;
                let ranks = if parts.header().has(SectionKind::PropertyColumn, number) {
                    let part = Part::PropertyCodes(number);
                    let to_ranks = |ranks: Vec<i64>| ranks_of(&ranks, strings.len());
                    Some(parts.integers(part, section, rows, to_ranks)?)
                } else {
                    None
                };
                CellReader::Strings(strings, ranks)
            }
        };
        Ok(Self { presence, kind, cells })
    }

    /// Returns the leaf of the row at a position in clustered order, which must have one.
    fn leaf(&mut self, position: usize) -> Result<Leaf<'_>> {
        let at = self.presence.rank(position).unwrap_or_else(|| {
            panic!("position {position}: the shape of the row has a leaf in this column")
        });
        Ok(match (&mut self.cells, self.kind) {
            (CellReader::Integers(pages), LeafKind::Boolean) => Leaf::Boolean(pages.get(at)? != 0),
            (CellReader::Integers(pages), _) => Leaf::Integer(pages.get(at)?),
            (CellReader::Numbers(pages), _) => Leaf::Number(pages.get(at)?),
            (CellReader::Strings(strings, ranks), kind) => {
                let rank = match ranks {
                    Some(ranks) => ranks[at] as usize,
                    None => at,
                };
                let text = strings.get(rank)?;
                if kind == LeafKind::String { Leaf::String(text) } else { Leaf::Json(text) }
            }
        })
    }

    /// Returns the number of the row at a position, if its leaf is one.
    fn number(&mut self, position: usize) -> Result<Option<f64>> {
        Ok(match self.leaf(position)? {
            Leaf::Integer(integer) => Some(integer as f64),
            Leaf::Number(number) => Some(number),
            Leaf::Json(json) if !json.starts_with('[') => json.parse().ok(),
            Leaf::Json(_) | Leaf::String(_) | Leaf::Boolean(_) => None,
        })
    }
}

impl PropertyReader<'_> {
    /// Calls `with` with row and number of those of `rows` that have a number at `path`.
    pub(in super::super) fn numbers(
        &mut self,
        path: &[String],
        clusters: &Clusters,
        rows: impl Iterator<Item = u32>,
        mut with: impl FnMut(u32, f64),
    ) -> Result<()> {
        // For each shape, the column with numbers at the path: objects have no duplicate keys, so
        // there is at most one.
        let column_of = |shape: &super::shape::Shape| {
            shape.columns.iter().copied().find(|column| {
                self.shapes.columns.get(*column as usize).is_some_and(|key| {
                    key.path == path && !matches!(key.kind, LeafKind::String | LeafKind::Boolean)
                })
            })
        };
        let columns: Vec<Option<u32>> = self.shapes.shapes.iter().map(column_of).collect();
        for row in rows {
            let position = clusters.position(row as usize);
            let number = match self.code(position) {
                NONE => None,
                LEFT_OVER => number_at(self.left_over(position)?, path),
                code => match columns[usize::from(code - FIRST_SHAPE)] {
                    Some(column) => self.column(column)?.number(position)?,
                    None => None,
                },
            };
            if let Some(number) = number {
                with(row, number);
            }
        }
        Ok(())
    }
}

/// Returns the rows that have a column, in clustered order.
pub(super) fn presence_of(
    parts: &Parts<'_>,
    shapes: &Shapes,
    codes: &ShapeCodes,
    number: u32,
) -> Result<Arc<RankedBits>> {
    parts.get_or_compute(Part::PropertyPresence(number), || {
        let with = shapes.with_column(number);
        let has = |at: usize| {
            // The first codes are not those of shapes.
            let shape = codes.0[at].checked_sub(FIRST_SHAPE);
            shape.is_some_and(|shape| with[usize::from(shape)])
        };
        Ok(RankedBits::new(codes.0.len(), has))
    })
}

/// Returns the ranks of a column of properties with `strings` distinct strings.
pub(super) fn ranks_of(ranks: &[i64], strings: usize) -> CodecResult<Vec<u32>> {
    // A negative rank is larger than any unsigned number of strings.
    let end = u64::from(to_u32(strings));
    if ranks.iter().any(|rank| rank.cast_unsigned() >= end) {
        return Err(CodecError::new("a rank without a string"));
    }
    Ok(ranks.iter().map(|rank| checked_u32(*rank)).collect())
}

/// Returns the number at a path of leftover properties. For duplicate keys the last one counts.
fn number_at(text: &str, path: &[String]) -> Option<f64> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    path.iter().try_fold(&value, |value, key| value.as_object()?.get(key))?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_outside_of_the_dictionary_is_corrupt() {
        assert_eq!(ranks_of(&[0, 2, 1], 3), Ok(vec![0, 2, 1]));
        // The last of these would be 0 in 32 bits.
        for rank in [3, -1, i64::MIN, 1 << 32] {
            assert!(ranks_of(&[0, rank], 3).is_err(), "{rank}");
        }
    }
}
