//! One account of memory for the whole process: who has how much of it, and whether there is room for more.
//!
//! Two kinds of owners share the limit. *Stores* hold what they must (the registry, caches, queues) and say how much that is;
//! their own limits bound them. *Borrowers* (queries, bodies, answers) ask before they take, are refused where there is no room,
//! and give everything back when they are done. A part of the limit is kept from questions, so that data comes in while they
//! take all they may; questions that need little may use that part as well.
//!
//! A store may be larger than planned, after a start with a lower limit for example. Requests that make stores smaller (workers that
//! fetch and finish jobs, deletions) may therefore exceed the limit by a small reserve: otherwise it could never become smaller.
//!
//! What owners say is what they know of: buffers and tables. Whatever the process takes beyond that, of the allocator, of its own
//! program or of what estimates leave out, is measured and counts as an owner of its own: now and then, and by borrowers
//! themselves each time that they have taken much, so that what they take beyond what they say is seen before the next of them.

mod account;
mod answer;
mod merge_memory;
mod owner;
mod share;
#[cfg(test)]
mod tests;

pub use account::{Memory, MemoryFull};
pub use answer::AnswerMemory;
pub(crate) use merge_memory::MergeMemory;
pub use owner::MemoryOwner;
pub use share::MemoryShare;
