//! What clients and owners saw, what a shard contains, and whether the two agree.

mod history;
mod verdict;

pub(crate) use history::Note;
pub(crate) use verdict::{Violation, violations};
