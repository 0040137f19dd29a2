//! The life of an event: from the batch into the head, into blocks, and into answers.

mod block;
mod chunk;
mod closed_block;
mod event_store;
mod head;
mod keys;
mod load;
mod merge_group;
mod path;
mod query;
mod seal;
mod source;
mod upkeep;
mod verify_rows;
mod view;

#[cfg(fuzzing)]
pub(crate) use block::{read_block, split_and_join};
use chunk::Chunk;
pub(crate) use event_store::Events;
pub(crate) use seal::FrozenEvents;
pub(crate) use source::{Codes, Counts, NO_CODE, Numbers, Rows, Source, TextHashes};
pub(crate) use verify_rows::verify_rows;
