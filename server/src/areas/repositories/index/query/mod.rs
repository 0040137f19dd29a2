//! Finds chunks, symbols and references in an opened index.

mod candidates;
mod question;
mod references;
mod search;
mod symbol_name;
mod symbols;
mod weights;

pub use weights::Weights;
