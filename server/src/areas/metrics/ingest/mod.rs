//! Parsing of request bodies into samples. A valid item is parsed without allocation.
//!
//! [`input`] contains the validation rules and [`batch`] the general parser, which accepts any
//! JSON; [`plain`] is a faster parser for series that agents send repeatedly.

mod batch;
mod input;
mod plain;

pub(super) use batch::read_items;
pub use batch::{read_batch, read_one};
pub(super) use plain::Item;
pub use plain::Reader;

#[cfg(test)]
mod tests;
