//! Work that the service does for itself, in the same queues that everybody else uses.
//!
//! An area says what a kind of work is called and what an item of it holds ([`WorkKind`]), and hands items in; a [`Workshop`]
//! knows what does each kind, and works them in this process as a worker: seen under `/workers?internal=true` with its
//! host, process, memory and share of the processor, which nobody but the server can use or stop, finishing what it has begun when the server
//! stops and handing back what it could not. So an item survives a crash, is tried again when it fails, and is found among
//! the dead jobs when it fails for good; and every kind must be safe to do twice.

mod kind;
mod worker;
mod workshop;

pub use kind::{WorkError, WorkKind};
pub use workshop::Workshop;

#[cfg(test)]
mod tests;
