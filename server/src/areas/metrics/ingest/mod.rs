//! Bodies to points: the way every point of this area comes in. Nothing is allocated for an item that is good.

mod batch;
mod input;

pub(super) use batch::read_items;
pub use batch::{read_batch, read_one};

#[cfg(test)]
mod tests;
