//! Builds an index: every file is analysed by itself, on all cores, and then what is known of them
//! is sorted and joined.

mod analysis;
mod assembly;
mod builder;
mod chunks;
mod graph;
mod imports;
mod interner;
mod outline_check;
mod paths;
mod sketch;
mod tally;

pub use builder::IndexBuilder;
pub use paths::is_stand_in;
