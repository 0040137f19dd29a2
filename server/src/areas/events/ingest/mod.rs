//! Bodies to events: the way every event of this area comes in. Nothing is allocated for an item that is good.

mod batch;
mod input;

pub(super) use batch::read_items;
pub use batch::{read_batch, read_one};

#[cfg(test)]
mod tests;
