//! Stores properties as columns that decode to the same bytes.
//!
//! The text of a row is split into its *shape* and its leaves. The shape is the text with each leaf
//! replaced by one byte that gives its kind and that canonical text never contains:
//!
//! ```text
//! 1 integer   fits i64
//! 2 number    the shortest text of a double
//! 3 string    the bytes between the quotes, including escapes; the mark replaces the quotes too
//! 4 boolean
//! 5 JSON      an array, or an integer beyond i64, verbatim
//! ```
//!
//! `null`, empty objects and all keys stay in the shape. Frequent shapes get columns: one for each
//! pair of path and kind, numbered in the order of the shapes and their leaves, so that the shapes
//! alone define the columns. All other rows are leftovers: their properties are stored as whole
//! strings. So are properties that are not a canonical object or contain duplicate keys. Joining
//! returns byte for byte what was split.

mod all;
mod encode;
mod read;
mod shape;
mod split;

pub(super) use all::AllProperties;
pub(super) use encode::encode;
pub(super) use read::PropertyReader;
pub(super) use shape::Expected;
#[cfg(fuzzing)]
pub(crate) use shape::split_and_join;
