//! Records: ordered tables of bytes for state that is not telemetry and changes too often for JSON documents.
//!
//! What it keeps true:
//!
//! - A [`RecordBatch`] is applied whole or not at all, to any number of tables, and is on the disk when
//!   [`Records::write`] returns. Nobody sees any of it before. Concurrent writers share one sync.
//! - Tables are apart: no range of one reaches into another.
//! - A scan reads no key outside its range, not even a deleted one. Whoever takes records away at the front and
//!   keeps a cursor never walks over what was taken.
//!
//! What it refuses to know: what keys and values mean. The owner of a table has its layout, begins values with a
//! version byte, and decides who may write when: there are no expectations and no revisions as documents have.
//!
//! Pages of tables and records of the log carry RocksDB's checksums, so a damaged record is an error, never other bytes;
//! values have none of their own, since there may be millions of a few bytes each.
//!
//! # On disk
//!
//! ```text
//! keyspace `records`      key     id of the table (1 byte), key (at most 48 bytes)
//!                         value   the owner's
//! ```

mod batch;
mod store;
mod table;

#[cfg(test)]
mod tests;

pub use batch::RecordBatch;
pub use store::Records;
pub use table::Table;
