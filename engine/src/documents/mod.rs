//! The document store: small typed JSON values in named collections, for state that is not
//! telemetry.
//!
//! Guarantees:
//!
//! - A transaction is applied completely or not at all, and is durable when its commit returns.
//!   None of it is visible before that.
//! - Transactions are serialisable: the expectations of a commit still hold when it is applied.
//! - A revision is never reused: not for another document, not after a crash, not for an id that
//!   was deleted and created again. So an `ETag` derived from it never matches a different
//!   document.
//! - A corrupt document affects only itself: reading it returns an error that names it; listing its
//!   collection skips it and reports it through [`Documents::damaged`].
//!
//! This module does not know the meaning of the documents.
//!
//! # How commits share a sync and check expectations
//!
//! A commit claims the keys that it writes (`claims.rs`) and waits for other commits that hold one
//! of them. Then it reads the stored documents, compares them with the expectations, writes one
//! synced batch and releases the claim. No lock is held while reading or syncing, so commits of
//! different documents reach RocksDB concurrently, and RocksDB writes all batches that wait for its
//! log together, with one `fdatasync`. It makes them visible after that sync, so a document that
//! can be read is durable.
//!
//! # On disk
//!
//! `frame.rs`, `collection.rs` and `receipt.rs` describe the encoding; so does `docs/FORMAT.md`.

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
