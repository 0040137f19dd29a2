//! The memory account of the process: the bytes of each owner, and whether more may be taken.
//!
//! Two kinds of owners share the limit. *Stores* are persistent in-memory state (the registry,
//! caches, queues): they report their size, which is bounded by limits of their own. *Transient
//! memory* (queries, bodies, results) must be taken before it is used; a request that does not fit
//! is refused, and everything is released when the work is done. A part of the limit is not
//! available to queries, so that data can be ingested while queries use all the memory they may;
//! queries that need little may use that part as well.
//!
//! A store may be larger than planned, for example after a restart with a lower limit. Requests
//! that shrink stores (workers that fetch and finish jobs, deletions) may therefore exceed the
//! limit by a small reserve; otherwise the store could never shrink.
//!
//! Owners count only buffers and tables that they know. Other memory of the process (allocator
//! overhead, code, errors of estimates) is measured and counted as an owner of its own:
//! periodically, and before transient memory is taken once a certain amount was taken since the
//! last measurement.

mod account;
mod compaction_memory;
mod owner;
mod result_memory;
mod share;
#[cfg(test)]
mod tests;

pub use account::{Memory, MemoryFull};
pub(crate) use compaction_memory::CompactionMemory;
pub use owner::MemoryOwner;
pub use result_memory::ResultMemory;
pub use share::MemoryShare;
