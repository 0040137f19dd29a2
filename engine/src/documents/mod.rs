//! Typed documents: small JSON values in named collections, for everything that is not telemetry.
//!
//! What it keeps true:
//!
//! - A transaction is applied whole or not at all, and is on the disk when its commit returns. Nobody sees
//!   any of it before.
//! - Transactions are serialisable: what a commit expected of its documents still holds when it is applied.
//! - A revision is never given twice, not to another document, not after a crash, not to an id that was
//!   deleted and made again. So an `ETag` made from it never matches a document that it was not made for.
//! - A damaged document fails alone: reading it names it, listing its collection leaves it out and
//!   reports it through [`Documents::damaged`].
//!
//! What it refuses to know: what the documents mean.
//!
//! # How commits share a sync and still check expectations
//!
//! A commit claims the keys that it writes (`claims.rs`), waiting for whoever holds one of them. Holding
//! them, it reads what is stored, compares it with what is expected, and writes one batch with a sync; then
//! it lets go. No lock is held while reading or syncing, so commits of different documents reach RocksDB at
//! the same time, and RocksDB writes all batches that wait for its log together, with one `fdatasync`. It
//! makes them visible after that sync, so a document that can be read is durable.
//!
//! # On disk
//!
//! `frame.rs`, `collection.rs` and `receipt.rs` draw the bytes; `docs/FORMAT.md` repeats them.

mod claims;
mod collection;
mod frame;
mod read;
mod receipt;
mod revisions;
mod transaction;

#[cfg(test)]
mod tests;

pub use collection::{Collection, Versioned};
pub use read::Documents;
pub use receipt::Receipt;
pub use transaction::{Expect, Transaction};
