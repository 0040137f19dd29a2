//! Encodes the properties of a block: splits them, counts their shapes, and writes columns.

use super::shape::Shapes;
use super::split::{Leaf, LeafKind, Template, split};
use crate::cast::to_u32;
use crate::codec::CodecResult;
use crate::codec::floats;
use crate::codec::integers::{self, Effort};
use crate::codec::runs::Runs;
use crate::events::block::header::{SectionKind, Sections};
use crate::events::block::interning;
use crate::events::block::string_pages::StringPacker;
use crate::limits::{
    EVENT_PROPERTY_COLUMNS_MAX, EVENT_SHAPE_BYTES_MAX, EVENT_SHAPE_ROWS_MIN, EVENT_SHAPES_MAX,
};
use crate::model::{StringId, StringInterner};

/// The code of a row without properties.
pub(super) const NONE: u16 = 0;
/// The code of a row whose properties are stored as one string.
pub(super) const LEFT_OVER: u16 = 1;
/// The code of the first shape.
pub(super) const FIRST_SHAPE: u16 = 2;

/// A column of strings has a dictionary if each string occurs at least this often on average.
const ROWS_PER_STRING: usize = 2;
/// In a small block, a shape is frequent if at least one row in this many has it.
const SHARE_OF_ROWS: usize = 100;

/// Encodes the properties of rows in clustered order; an empty string means none.
pub(in super::super) fn encode(
    strings: &[&str],
    effort: Effort,
    packer: &mut StringPacker,
    sections: &mut Sections,
) -> CodecResult<()> {
    if strings.iter().all(|text| text.is_empty()) {
        return Ok(());
    }
    let rows = SplitRows::new(strings);
    let (shapes, codes) = match effort {
        Effort::Plain => (Shapes::default(), vec![None; rows.rows_of.len()]),
        Effort::Seal | Effort::Merge => rows.choose(),
    };
    let mut left_over = Vec::new();
    let mut columns: Vec<ColumnBuilder<'_>> =
        shapes.columns.iter().map(|key| ColumnBuilder::of(key.kind)).collect();
    let mut row_codes = Vec::with_capacity(strings.len());
    for (text, row) in strings.iter().zip(&rows.rows) {
        let shape = row.shape.and_then(|id| codes[id as usize]);
        row_codes.push(match shape {
            _ if text.is_empty() => i64::from(NONE),
            Some(shape) => i64::from(shape) + i64::from(FIRST_SHAPE),
            None => i64::from(LEFT_OVER),
        });
        match shape.and_then(|shape| shapes.shape(shape as usize)) {
            Some(shape) => {
                let leaves = &rows.leaves[row.from as usize..];
                for (column, leaf) in shape.columns.iter().zip(leaves) {
                    columns[*column as usize].push(*leaf);
                }
            }
            None if text.is_empty() => {}
            None => left_over.push(*text),
        }
    }
    let mut out = Vec::new();
    integers::encode(&row_codes, effort, &mut out)?;
    sections.push(SectionKind::ShapeCodes, 0, out);
    if !left_over.is_empty() {
        let pages = packer.unsorted(left_over.into_iter())?;
        sections.push(SectionKind::Leftovers, 0, pages);
    }
    if shapes.len() > 0 {
        let chosen = rows.strings_of(&codes);
        sections.push(SectionKind::Shapes, 0, packer.unsorted(chosen.into_iter())?);
    }
    columns.iter().zip(0..).try_for_each(|(column, n)| column.encode(n, effort, packer, sections))
}

/// A row that was split.
struct SplitRow {
    /// The id of its shape; `None` if it could not be split.
    shape: Option<u32>,
    /// Index of its first leaf.
    from: u32,
}

struct SplitRows<'t> {
    shapes: StringInterner,
    rows_of: Vec<u32>,
    rows: Vec<SplitRow>,
    leaves: Vec<Leaf<'t>>,
}

impl<'t> SplitRows<'t> {
    fn new(strings: &[&'t str]) -> Self {
        let mut split_rows = Self {
            shapes: StringInterner::default(),
            rows_of: Vec::new(),
            rows: Vec::with_capacity(strings.len()),
            leaves: Vec::new(),
        };
        let mut shape = String::new();
        // Templates of the first shapes: rows with one name usually have one shape.
        let mut templates: Vec<Template> = Vec::new();
        let mut last = None;
        for text in strings {
            let from = split_rows.leaves.len();
            let expected = last.and_then(|id: u32| Some((id, templates.get(id as usize)?)));
            if let Some((id, template)) = expected {
                if template.split(text, &mut split_rows.leaves) {
                    split_rows.push(id, from);
                    continue;
                }
                split_rows.leaves.truncate(from);
            }
            shape.clear();
            let whole = !text.is_empty() && split(text, &mut shape, &mut split_rows.leaves);
            let leaves = split_rows.leaves.len() - from;
            if !whole || shape.len() > EVENT_SHAPE_BYTES_MAX || leaves > EVENT_PROPERTY_COLUMNS_MAX
            {
                split_rows.leaves.truncate(from);
                split_rows.rows.push(SplitRow { shape: None, from: 0 });
                continue;
            }
            let id = split_rows.shapes.intern(&shape).0;
            if id as usize == templates.len() && templates.len() < EVENT_SHAPES_MAX {
                templates.push(Template::of(&shape));
            }
            last = Some(id);
            split_rows.push(id, from);
        }
        split_rows
    }

    /// Adds a row with a shape, whose leaves start at `from`.
    fn push(&mut self, shape: u32, from: usize) {
        self.rows.push(SplitRow { shape: Some(shape), from: to_u32(from) });
        match self.rows_of.get_mut(shape as usize) {
            Some(rows) => *rows += 1,
            None => self.rows_of.push(1),
        }
    }

    /// Returns the shapes that get columns, the most frequent first, and for each shape its number
    /// among them.
    fn choose(&self) -> (Shapes, Vec<Option<u32>>) {
        let enough = EVENT_SHAPE_ROWS_MIN.min(self.rows.len().div_ceil(SHARE_OF_ROWS));
        let mut frequent: Vec<(u32, u32)> =
            self.rows_of.iter().copied().zip(0..).filter(|(n, _)| *n as usize >= enough).collect();
        frequent.sort_unstable_by_key(|(rows, id)| (std::cmp::Reverse(*rows), *id));
        let mut shapes = Shapes::default();
        let mut codes = vec![None; self.rows_of.len()];
        for (_, id) in frequent {
            if shapes.len() == EVENT_SHAPES_MAX {
                break;
            }
            if shapes.push(self.shapes.text(StringId(id))) {
                codes[id as usize] = Some(to_u32(shapes.len()) - 1);
            }
        }
        (shapes, codes)
    }

    /// Returns the chosen shapes in order.
    fn strings_of(&self, codes: &[Option<u32>]) -> Vec<&str> {
        let mut chosen: Vec<(u32, u32)> =
            codes.iter().zip(0..).filter_map(|(code, id)| Some(((*code)?, id))).collect();
        chosen.sort_unstable();
        chosen.into_iter().map(|(_, id)| self.shapes.text(StringId(id))).collect()
    }
}

enum ColumnBuilder<'t> {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Strings(Vec<&'t str>),
}

impl<'t> ColumnBuilder<'t> {
    fn of(kind: LeafKind) -> Self {
        match kind {
            LeafKind::Integer | LeafKind::Boolean => Self::Integers(Vec::new()),
            LeafKind::Number => Self::Numbers(Vec::new()),
            LeafKind::String | LeafKind::Json => Self::Strings(Vec::new()),
        }
    }

    fn push(&mut self, leaf: Leaf<'t>) {
        match (self, leaf) {
            (Self::Integers(column), Leaf::Integer(integer)) => column.push(integer),
            (Self::Integers(column), Leaf::Boolean(boolean)) => column.push(i64::from(boolean)),
            (Self::Numbers(column), Leaf::Number(number)) => column.push(number),
            (Self::Strings(column), Leaf::String(text) | Leaf::Json(text)) => column.push(text),
            _ => unreachable!("the kind of a leaf selects its column"),
        }
    }

    fn encode(
        &self,
        number: u32,
        effort: Effort,
        packer: &mut StringPacker,
        sections: &mut Sections,
    ) -> CodecResult<()> {
        let mut out = Vec::new();
        match self {
            Self::Integers(column) => integers::encode(column, effort, &mut out)?,
            Self::Numbers(column) => {
                floats::encode(column, &Runs::new([column.len()]), effort, &mut out)?;
            }
            Self::Strings(column) => {
                let mut distinct = StringInterner::default();
                let ids: Vec<u32> = column.iter().map(|text| distinct.intern(text).0).collect();
                if distinct.len() * ROWS_PER_STRING > column.len() {
                    let pages = packer.unsorted(column.iter().copied())?;
                    sections.push(SectionKind::PropertyStrings, number, pages);
                    return Ok(());
                }
                let text = |id| distinct.text(StringId(id));
                let sorted = interning::sort((0..to_u32(distinct.len())).collect(), text);
                let pages = packer.sorted(sorted.iter().map(|id| text(*id)))?;
                sections.push(SectionKind::PropertyStrings, number, pages);
                let mut ranks = vec![0i64; sorted.len()];
                for (id, rank) in sorted.into_iter().zip(0..) {
                    ranks[id as usize] = rank;
                }
                let codes = ids.iter().map(|id| ranks[*id as usize]);
                integers::encode(&codes.collect::<Vec<_>>(), effort, &mut out)?;
            }
        }
        sections.push(SectionKind::PropertyColumn, number, out);
        Ok(())
    }
}
