//! Records: ordered tables of bytes for state that is not telemetry and changes too often for JSON
//! documents.
//!
//! Invariants:
//!
//! - A [`RecordBatch`] is applied as a whole or not at all, to any number of tables, and is on disk
//!   when [`Records::write`] returns. No reader sees any of it before. Concurrent writers share one
//!   sync.
//! - Tables are independent: no range of one extends into another.
//! - A scan reads no key outside its range, not even a deleted one. A caller that deletes records
//!   at the front and keeps a cursor never reads the deleted ones.
//!
//! This module does not know what keys and values mean. The owner of a table defines its layout,
//! starts values with a version byte, and decides who may write when: there are no expected
//! revisions as for documents.
//!
//! Table pages and log records carry RocksDB's checksums, so a damaged record is an error, never
//! other bytes. Values have no checksums of their own, since there may be millions of a few bytes
//! each.
//!
//! # On disk
//!
//! ```text
//! keyspace `records`      key     id of the table (1 byte), key (at most 48 bytes)
//!                         value   defined by the owner
//! ```

mod batch;
mod store;
mod table;

#[cfg(test)]
mod tests;

pub use batch::RecordBatch;
pub use store::Records;
pub use table::Table;
