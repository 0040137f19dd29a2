//! Parsing of request bodies into events. A valid item is parsed without allocation.

mod batch;
mod input;

pub(super) use batch::read_items;
pub use batch::{read_batch, read_one};

#[cfg(test)]
mod tests;
