//! Decodes shapes: their leaves, and the text between them.

use hashbrown::{HashMap, HashSet};

use super::split::{Leaf, LeafKind};
use crate::cast::to_u32;
use crate::codec::{CodecError, CodecResult};
use crate::events::block::memory::InMemory;
use crate::limits::{EVENT_PROPERTY_COLUMNS_MAX, PROPERTIES_NESTING_MAX};
use crate::model::format_float;

/// Receives the text of properties, part by part.
pub(in super::super) trait TextSink {
    /// Receives the next part.
    fn push(&mut self, part: &str);
}

impl TextSink for String {
    #[inline]
    fn push(&mut self, part: &str) {
        self.push_str(part);
    }
}

/// The rest of an expected text, after the parts that were equal to it so far; `None` from the
/// first different part on.
pub(in super::super) struct Expected<'t>(Option<&'t [u8]>);

impl<'t> Expected<'t> {
    pub(in super::super) fn new(text: &'t str) -> Self {
        Self(Some(text.as_bytes()))
    }

    /// Returns whether the parts received so far make up the whole text.
    pub(in super::super) fn is_complete(&self) -> bool {
        self.0.is_some_and(<[u8]>::is_empty)
    }
}

impl TextSink for Expected<'_> {
    #[inline]
    fn push(&mut self, part: &str) {
        self.0 = self.0.and_then(|rest| rest.strip_prefix(part.as_bytes()));
    }
}

/// The key of a column of properties: the leaves of one kind at one path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct PropertyKey {
    /// Keys of objects, from the outermost.
    pub(super) path: Vec<String>,
    pub(super) kind: LeafKind,
}

/// A shape whose leaves are stored in columns.
#[derive(Debug)]
pub(super) struct Shape {
    /// The text before each leaf, and after the last one.
    pub(super) pieces: Vec<Box<str>>,
    /// The column of each leaf.
    pub(super) columns: Vec<u32>,
}

impl Shape {
    /// Passes the text of a row of this shape to `out`. `put_column` passes the leaf of the row in
    /// a column.
    #[inline]
    pub(super) fn join<S: TextSink, E>(
        &self,
        out: &mut S,
        mut put_column: impl FnMut(u32, &mut S) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut columns = self.columns.iter();
        for piece in &self.pieces {
            out.push(piece);
            if let Some(column) = columns.next() {
                put_column(*column, out)?;
            }
        }
        Ok(())
    }
}

/// The shapes of a block and their columns.
#[derive(Debug, Default)]
pub(in super::super) struct Shapes {
    pub(super) shapes: Vec<Shape>,
    pub(super) columns: Vec<PropertyKey>,
    numbers: HashMap<PropertyKey, u32>,
}

impl Shapes {
    /// Adds a shape. Returns false if it is malformed, has a duplicate key, or would exceed the
    /// limit on columns.
    pub(super) fn push(&mut self, text: &str) -> bool {
        let Some((pieces, keys)) = parse(text) else { return false };
        let new = keys.iter().filter(|key| !self.numbers.contains_key(*key)).count();
        if self.columns.len() + new > EVENT_PROPERTY_COLUMNS_MAX {
            return false;
        }
        let columns = keys.into_iter().map(|key| {
            let next = to_u32(self.columns.len());
            *self.numbers.entry(key).or_insert_with_key(|key| {
                self.columns.push(key.clone());
                next
            })
        });
        let columns = columns.collect();
        self.shapes.push(Shape { pieces, columns });
        true
    }

    /// Decodes the shapes of a block.
    pub(super) fn read<'t>(strings: impl Iterator<Item = &'t str>) -> CodecResult<Self> {
        let mut shapes = Self::default();
        for text in strings {
            if !shapes.push(text) {
                return Err(CodecError::new("a malformed shape of properties"));
            }
        }
        Ok(shapes)
    }

    /// Returns the number of shapes.
    pub(in super::super) fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Returns a shape by its number.
    pub(super) fn shape(&self, number: usize) -> Option<&Shape> {
        self.shapes.get(number)
    }

    /// Returns for each shape whether it has a column.
    pub(super) fn with_column(&self, column: u32) -> Vec<bool> {
        self.shapes.iter().map(|shape| shape.columns.contains(&column)).collect()
    }
}

impl InMemory for Shapes {
    fn bytes(&self) -> usize {
        let shapes = self.shapes.iter().flat_map(|shape| &shape.pieces).map(|p| p.len() + 24);
        shapes.sum::<usize>() + self.columns.len() * 200
    }
}

/// Passes a leaf to `out` as it was in the original text.
pub(super) fn put_leaf(leaf: Leaf<'_>, out: &mut impl TextSink) {
    match leaf {
        Leaf::Integer(integer) => out.push(itoa::Buffer::new().format(integer)),
        // Corrupt columns may contain numbers that JSON cannot represent.
        Leaf::Number(number) if !number.is_finite() => out.push("null"),
        Leaf::Number(number) => out.push(format_float(number, &mut ryu::Buffer::new())),
        Leaf::String(text) => {
            out.push("\"");
            out.push(text);
            out.push("\"");
        }
        Leaf::Boolean(boolean) => out.push(if boolean { "true" } else { "false" }),
        Leaf::Json(json) => out.push(json),
    }
}

type Parsed = (Vec<Box<str>>, Vec<PropertyKey>);

/// Splits a shape into its pieces and leaves.
fn parse(text: &str) -> Option<Parsed> {
    let (mut pieces, mut leaves) = (Vec::new(), Vec::new());
    let mut from = 0;
    // For each open object the keys so far, and the path of keys to the current value.
    let mut open: Vec<HashSet<String>> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => {
                if open.len() > PROPERTIES_NESTING_MAX {
                    return None;
                }
                open.push(HashSet::new());
                at += 1;
            }
            b'}' => {
                open.pop()?;
                path.truncate(open.len().saturating_sub(1));
                at += 1;
            }
            b'"' => {
                let end = end_of_string(bytes, at)?;
                let key: String = serde_json::from_str(text.get(at..end)?).ok()?;
                path.truncate(open.len().checked_sub(1)?);
                path.push(key.clone());
                if !open.last_mut()?.insert(key) {
                    return None;
                }
                at = end;
            }
            mark => {
                if let Some(kind) = LeafKind::of_mark(*mark) {
                    pieces.push(text.get(from..at)?.into());
                    leaves.push(PropertyKey { path: path.clone(), kind });
                    from = at + 1;
                }
                at += 1;
            }
        }
    }
    pieces.push(text.get(from..)?.into());
    open.is_empty().then_some((pieces, leaves))
}

fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Splits and joins a text, for the fuzzer. Returns `None` if the text would be a leftover.
#[cfg(fuzzing)]
pub(crate) fn split_and_join(text: &str) -> Option<String> {
    let (mut shape, mut leaves) = (String::new(), Vec::new());
    if !super::split::split(text, &mut shape, &mut leaves) {
        return None;
    }
    let (pieces, keys) = parse(&shape)?;
    assert_eq!(keys.len(), leaves.len(), "a column for every leaf");
    assert!(keys.iter().zip(&leaves).all(|(key, leaf)| key.kind == leaf.kind()));
    let mut pieces = pieces.iter();
    let mut joined = String::new();
    for leaf in leaves {
        joined.push_str(pieces.next()?);
        put_leaf(leaf, &mut joined);
    }
    joined.push_str(pieces.next()?);
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expected_text_is_complete_after_exactly_its_parts() {
        let is = |parts: &[&str], text| {
            let mut expected = Expected::new(text);
            parts.iter().for_each(|part| expected.push(part));
            expected.is_complete()
        };
        assert!(is(&[], "") && is(&["", "a", "ß", ""], "aß") && is(&["aß"], "aß"));
        assert!(!is(&[], "a") && !is(&["a"], "") && !is(&["a"], "ab") && !is(&["ab"], "a"));
        assert!(!is(&["b", "b"], "ab") && !is(&["a", "c", ""], "ab"), "equally long");
        assert!(!is(&["x", "ab"], "ab"), "a different part stays different");
    }

    #[test]
    fn paths_are_lists_of_keys() {
        let (pieces, keys) =
            parse("{\"a\\\"\":\u{1},\"b\":{\"c.d\":\u{3},\"e\":{}},\"f\":\u{4}}").unwrap();
        let paths: Vec<Vec<&str>> =
            keys.iter().map(|key| key.path.iter().map(String::as_str).collect()).collect();
        assert_eq!(paths, [vec!["a\""], vec!["b", "c.d"], vec!["f"]]);
        assert_eq!(pieces[2].as_ref(), ",\"e\":{}},\"f\":");
    }

    #[test]
    fn a_shape_with_a_duplicate_key_is_refused() {
        assert!(parse("{\"a\":\u{1},\"a\":\u{2}}").is_none());
        assert!(parse("{\"a\":{\"x\":\u{1}},\"\\u0061\":{}}").is_none());
        assert!(parse("{\"a\":{\"a\":\u{1}},\"b\":{\"a\":\u{1}}}").is_some());
    }

    #[test]
    fn the_number_of_columns_is_limited() {
        let mut shapes = Shapes::default();
        for i in 0..EVENT_PROPERTY_COLUMNS_MAX {
            assert!(shapes.push(&format!("{{\"k{i}\":\u{1}}}")));
        }
        assert!(!shapes.push("{\"x\":\u{1}}"));
        assert!(shapes.push("{\"k1\":\u{1},\"k0\":\u{1}}"));
    }
}
