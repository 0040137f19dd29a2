//! A segment: series of the registry with their tags, a row of its keyspace. The ten metrics of a
//! host have the same tags, so each list of tags is stored once, and series refer to it.
//!
//! ```text
//! frame(SeriesSegment, 2) {
//!   keys: varint, each: string                        ascending
//!   lists of keys: varint, each: keys: varint, each: its number less the least it can be: varint
//!   lists of tags: varint │ list of keys of each
//!   of each key: its value in each list with the key  0 for one that no list before has, else
//!                                                     1 + number, in order of first use
//!   of each key: its values, each: string
//!   series: varint │ first id less one: signed │ ids (differences) │ metrics
//!   list of tags of each series, less the one that follows that of the series before
//! }
//! all columns are integers
//! ```
//!
//! Lists of tags are numbered in the order in which series first refer to them, so a series with
//! the next new list has 0, one with the list of the series before -1.
//!
//! A seal writes segments of its new series. When some of them retire, the others are moved to a
//! new segment. [`version_1`] reads what earlier versions wrote.

mod contents;
mod decode;
mod encode;
#[cfg(fuzzing)]
mod fuzzing;
#[cfg(test)]
mod tests;
mod version_1;

pub(super) use contents::Segment;
pub(super) use encode::segment_row;
#[cfg(fuzzing)]
pub(crate) use fuzzing::read_segment;
