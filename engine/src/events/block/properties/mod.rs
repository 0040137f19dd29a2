//! Properties as columns, and back to the same bytes.
//!
//! The text of a row is split into its *shape* and its leaves. The shape is the text with each leaf replaced by one byte that
//! says what it was and that no canonical text holds:
//!
//! ```text
//! 1 integer   fits i64
//! 2 number    the shortest text of a double
//! 3 text      what stands between the quotes, escapes and all; the byte stands for the quotes too
//! 4 boolean
//! 5 JSON      an array, or an integer beyond i64, as it is
//! ```
//!
//! `null`, empty objects and all keys stay in the shape. Shapes that are frequent get columns: one for each pair of path and
//! kind, numbered in the order of the shapes and their leaves, so that the shapes alone say which columns there are. All other rows
//! are left over: their texts are kept whole. So is whatever is not canonical text of an object, or has a key twice
//! in one object. What is joined is byte for byte what was split.

mod encode;
mod read;
mod shape;
mod split;

pub(super) use encode::encode;
pub(super) use read::PropertyReader;
#[cfg(fuzzing)]
pub(crate) use shape::split_and_join;
