//! The life of an event: from the batch into the head, into blocks, and into query results.

mod block;
mod chunk;
mod closed_block;
mod compaction_group;
mod event_store;
mod head;
mod keys;
mod load;
mod numbering;
mod path;
mod query;
mod seal;
mod source;
mod string_numbers;
mod tail;
mod upkeep;
mod verify_rows;
mod view;

#[cfg(fuzzing)]
pub(crate) use block::{read_block, split_and_join};
use chunk::Chunk;
pub(crate) use event_store::Events;
pub(crate) use seal::FrozenEvents;
pub(crate) use source::{
    CodedColumn, EventSource, NO_CODE, Numbers, RowSet, StringCounts, StringHashes,
};
pub(crate) use string_numbers::{NumbersInUse, RowNumbers, StringNumbers};
pub use tail::EventTailPage;
pub(crate) use verify_rows::verify_rows;
