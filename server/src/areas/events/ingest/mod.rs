//! Parsing of request bodies into events. A valid item is parsed without allocation.

mod batch;
mod input;
mod plain;

pub(super) use batch::read_items;
pub use batch::{read_batch, read_one};
pub(super) use plain::read_plain_batch;

#[cfg(test)]
mod tests;
