//! RocksDB's write-ahead log, read and mended by ourselves.
//!
//! The log holds what was acknowledged and is not in tables yet. RocksDB gives up the rest of a block of 32 KB for one damaged
//! record, takes a zeroed sector for the end of a block without a word, and cannot tell what was acknowledged from
//! what a power loss tore before anybody was answered. So before it opens the database,
//!
//! * every log that it will replay is read (`format`, `batch`; which these are, says `alive`),
//! * the numbers that are missing between the batches are judged by the *mark*: how far the log was acknowledged (`mark`),
//! * a damaged log is written anew with all of its batches that are whole (`mend`), and what was lost is told.
//!
//! What it keeps true: a batch that can be read stays, with its sequence number, unless it came after a hole in what was
//! never acknowledged, or its write failed in this process; a loss is told exactly when something acknowledged is missing, as far
//! as the mark knows. A log with records of a kind that we do not write is RocksDB's business alone.
//!
//! # Writes that failed
//!
//! RocksDB appends a batch to the log before it syncs it. If only the sync fails, the batch is in the log, whole, although its writer
//! is told that it failed. An open would make it true after all, and whoever wrote it has gone on as if it were not: a seal writes the
//! same points again as other blocks, a merge gives up the blocks that the catalog would name, the ledger of jobs has read the
//! records as they were. So a database that is opened again in the same process loses those batches.
//!
//! They are those above the largest number that was published before it was closed. RocksDB (as configured in `tuning.rs`: one queue of
//! writers, no pipelining, no manual flushes of the log) gives a group of writers that share a record one row of numbers,
//! beginning after the last published one, and publishes all of them after log, sync and memtables succeeded, or none. The numbers are
//! those of the whole database, whatever the keyspaces and logs are. Unsynced writes that succeeded are published and stay. After
//! a failed write none is appended until RocksDB has written all memtables to tables, which it does by itself after a full disk: then
//! the log with the failed batch is not needed any more.
//!
//! A start does not know what was published, and keeps them: nobody is left who was told that they failed and acts on it. The
//! position of a seal is in the batch of its blocks, the new blocks of a merge are in the batch that retires the old ones, and
//! jobs are what their records say; all of it is read anew.

mod alive;
mod batch;
mod format;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod mark;
mod mend;
mod survey;

#[cfg(test)]
mod failed_tests;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) use format::put_record;
pub(super) use format::{Item, Records, checksum};
pub(super) use mark::Journal;
