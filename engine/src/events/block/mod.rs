//! Blocks of events: immutable, self-contained columns of at most 65 536 rows of one UTC day, sorted by time, then id.
//!
//! ```text
//! block    header length: u32 │ frame(Events) { header } │ sections
//! header   rows: varint │ first time: signed │ last less first: varint │ bytes of texts: varint
//!          columns: varint, each: key: text │ texts
//!            texts   0 few:   n: varint, each: text │ rows: varint
//!                    1 many:  n: varint │ rows: varint
//!          sections: varint, each: kind: u8 │ number: varint │ length: varint │ low half of XXH3-64: u32
//! ```
//!
//! Columns are the name, the user, then the tags by key; the first two have an empty key. The header alone answers how many
//! rows have which text while a column has few of them. Sections lie behind each other as the header lists them, sorted by
//! kind and number. Each has a checksum of its own and is looked at when it is read: damage costs what it hits.
//!
//! ```text
//! 1 times      differences to the row before, of all rows but the first: integers
//! 2 ids        first number: varint │ differences of the others: signed, integers │ over the sorted numbers, where the
//!              time of receipt changes: first number │ differences: integers │ first time │ differences: integers
//! 3 codes of a column   0 dense:   a code for each row, 0 where it has no text: integers
//!                       1 sparse:  differences of the rows that have a text │ their codes: integers
//!                       A code is the rank of the text among the sorted texts of the column, from 1.
//! 4 texts of a column of many: text pages, sorted
//! 5 rows with a value: lengths of runs, first of rows without: integers.  Absent when all rows have one
//! 6 values: floats
//! 7 shapes of properties: text pages
//! 8 shape of each row, 0 without properties, 1 left over, from 2 the shapes: integers
//! 9 column of properties: integers (booleans are 0 and 1) │ floats │ ranks in section 10: integers
//! 10 texts of a column of properties: text pages, sorted when there is a section 9
//! 11 properties left over: text pages
//! ```
//!
//! Sections 5, 6, 8, 9, 10 and 11 hold rows in *clustered order*: all rows of the first name, then of the second, each in row
//! order. Rows of one name resemble each other, and what concerns one name is a slice of few pages. A row finds what it has
//! in there by its rank among the rows that have it.
//!
//! Bitmaps of the rows of each text are not stored. As roaring bitmaps they would take three times the bytes of the codes, and
//! half as much again as the whole of an ordinary block; they are made from the codes when they are first asked for, and then kept
//! in memory.
//!
//! A *shape* is the canonical text of properties with its scalars punched out: see [`properties`]. *Text pages*: see
//! [`texts`].

mod cache;
mod clusters;
mod codes;
mod compare;
mod decode;
mod encode;
mod header;
mod ids;
mod info;
mod memory;
mod open;
mod pages;
mod parts;
mod properties;
mod ranks;
mod rows;
mod source;
mod terms;
mod texts;

#[cfg(test)]
mod size_tests;
#[cfg(test)]
mod tests;

pub(crate) use cache::PartsCache;
#[cfg(fuzzing)]
pub(crate) use decode::read_all as read_block;
pub(crate) use decode::{check, decode, describe};
pub(crate) use encode::encode;
pub(crate) use info::{EventBlockInfo, EventBlockKey};
pub(crate) use open::EventBlock;
#[cfg(fuzzing)]
pub(crate) use properties::split_and_join;
