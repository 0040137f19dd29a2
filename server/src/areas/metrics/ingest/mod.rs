//! Bodies to points: the way every point of this area comes in. Nothing is allocated for an item that is good.
//!
//! [`input`] has the rules, [`batch`] the general reader, which takes everything that is JSON; [`plain`] is quicker where an
//! agent repeats itself.

mod batch;
mod input;
mod plain;

pub(super) use batch::read_items;
pub use batch::{read_batch, read_one};
pub(super) use plain::Item;
pub use plain::Reader;

#[cfg(test)]
mod tests;
