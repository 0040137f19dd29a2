//! The only module that uses RocksDB: keyspaces with ordered keys, atomic batches, scans and
//! maintenance.
//!
//! Invariants: a batch is applied as a whole or not at all. A batch written with [`Sync::Yes`] is
//! on disk when [`Store::write`] returns. Reading a key that is damaged on disk returns an error,
//! never other bytes.
//!
//! This module does not know what any key or value means: their layouts belong to the modules that
//! write them and are documented in `docs/FORMAT.md`. `schema.rs` lists their types, so that those
//! of one keyspace cannot be passed to another.

mod batch;
mod copies;
mod database;
mod disk;
mod fact;
mod findings;
mod guard;
mod journal;
mod keyspace;
mod manifest;
mod online_repair;
mod open;
mod pinned;
mod range;
mod read_only;
mod recover;
mod rocksdb_error;
mod scan;
mod schema;
mod small_tables;
mod store;
mod table_removal;
mod tuning;
mod typed_range;
mod upkeep;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod full_disk_tests;
#[cfg(test)]
mod guard_tests;
#[cfg(test)]
mod kill_copy;
#[cfg(test)]
mod tests;

pub(crate) use batch::{Batch, Sync};
pub(crate) use disk::{disk_free, disk_used};
pub(crate) use fact::Fact;
#[cfg(fuzzing)]
pub(crate) use journal::fuzz::read_damaged as read_damaged_log;
pub(crate) use keyspace::Keyspace;
#[cfg(test)]
pub(crate) use kill_copy::copy_as_killed;
pub(crate) use pinned::Pinned;
pub use range::KeyRange;
pub(crate) use scan::Caching;
pub use scan::Direction;
pub(crate) use schema::{KeyOf, PrefixOf, Schema, ValueOf, keyspaces};
pub(crate) use store::Store;
pub(crate) use typed_range::RangeOf;
