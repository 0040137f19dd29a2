//! Event blocks: immutable, self-contained columns of at most 65 536 rows of one UTC day, sorted by
//! time, then id.
//!
//! ```text
//! block    header length: u32 │ frame(Events) { header } │ sections
//! header   rows: varint │ first time: signed │ last less first: varint │ bytes of strings: varint
//!          columns: varint, each: key: string │ strings
//!            strings  0 few:   n: varint, each: string │ rows: varint
//!                     1 many:  n: varint │ rows: varint
//!          sections: varint, each: kind: u8 │ number: varint │ length: varint │
//!                                  low half of XXH3-64: u32
//! ```
//!
//! Columns are the name, the user, then the tags sorted by key; the first two have an empty key.
//! While a column has few distinct strings, the header alone contains the number of rows of each.
//! Sections follow each other as the header lists them, sorted by kind and number. Each has its own
//! checksum, which is checked when the section is read: corruption affects only queries that read
//! the section.
//!
//! ```text
//! 1 times      differences to the row before, of all rows but the first: integers
//! 2 ids        first number: varint │ differences of the others: signed, integers │
//!              over the sorted numbers, where the time of receipt changes:
//!                first number │ differences: integers │ first time │ differences: integers
//! 3 codes of a column   0 dense:   a code for each row, 0 where it has no string: integers
//!                       1 sparse:  differences of the rows that have a string │
//!                                  their codes: integers
//!                       A code is the rank of the string among the sorted strings of the column,
//!                       from 1.
//! 4 strings of a column of many: string pages, sorted
//! 5 rows with a value: lengths of runs, starting with rows without; integers
//!              absent when all rows have one
//! 6 values: floats
//! 7 shapes of properties: string pages
//! 8 shape of each row: 0 no properties, 1 leftover, from 2 the shapes: integers
//! 9 column of properties: integers (booleans are 0 and 1) │ floats │ ranks in section 10: integers
//! 10 strings of a column of properties: string pages, sorted when there is a section 9
//! 11 leftover properties: string pages
//! ```
//!
//! Sections 5, 6, 8, 9, 10 and 11 store rows in *clustered order*: all rows of the first name, then
//! of the second, each in row order. Rows with the same name resemble each other, and the data of
//! one name is within few pages. The cell of a row is found by its rank among the rows that have
//! one.
//!
//! Bitmaps of the rows of each string are not stored. As roaring bitmaps they would be three times
//! as large as the codes, and half as large as the rest of a typical block. They are computed from
//! the codes on first use and kept in the cache.
//!
//! A *shape* is the canonical text of properties without its scalar values: see [`properties`].
//! *String pages*: see [`string_pages`].

// A number that loses bits on its way to or from disk is silent corruption. Tests may cast.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod all_rows;
mod cache;
mod clusters;
mod codes;
mod compare;
mod decode;
mod encode;
mod header;
mod ids;
mod info;
mod interning;
mod memory;
mod open;
mod page_readers;
mod parts;
mod properties;
mod ranks;
mod rows;
mod source;
mod string_pages;

#[cfg(test)]
mod size_tests;
#[cfg(test)]
mod tests;

pub(crate) use cache::PartsCache;
#[cfg(test)]
pub(crate) use decode::decode;
#[cfg(fuzzing)]
pub(crate) use decode::read_all as read_block;
pub(crate) use decode::{describe, read_checked};
pub(crate) use encode::encode;
pub(crate) use info::{EventBlockInfo, EventBlockKey};
pub(crate) use open::EventBlock;
#[cfg(fuzzing)]
pub(crate) use properties::split_and_join;
