//! Telltale's own reading and repair of RocksDB's write-ahead log.
//!
//! The log contains what was acknowledged and is not in tables yet. For one damaged record RocksDB
//! drops the rest of a 32 KB block. It silently takes a zeroed sector for the end of a block, and
//! it cannot tell acknowledged batches from batches that a power loss tore before they were
//! acknowledged. So before RocksDB opens the database:
//!
//! * every log that it will replay is read (`format`, `batch`; `alive` determines which those are),
//! * sequence numbers missing between batches are judged by the *mark*, which says how far the log
//!   was acknowledged (`mark`),
//! * a damaged log is rewritten with all of its undamaged batches, and the loss is reported
//!   (`mend`).
//!
//! Invariants: a readable batch is kept, with its sequence number, unless it follows a gap among
//! batches that were never acknowledged, or its write failed in this process. A loss is reported
//! exactly when something acknowledged is missing, as far as the mark knows. A log with record
//! types that Telltale does not write is left to RocksDB.
//!
//! # Writes that failed
//!
//! RocksDB appends a batch to the log before it syncs it. If only the sync fails, the log contains
//! the whole batch although its writer got an error. Reopening the database would apply the batch,
//! while its writer has continued as if it had not been applied: a seal writes the same samples
//! again in other blocks, a compaction gives up the blocks that the catalog would then list, and
//! the job ledger has read the records as they were. So a database that is reopened in the same
//! process drops those batches.
//!
//! They are the batches above the largest sequence number that was published before the close.
//! RocksDB (as configured in `tuning.rs`: one queue of writers, no pipelining, no manual flushes of
//! the log) assigns a group of writers that share a record consecutive numbers starting after the
//! last published one, and publishes either all of them, after log, sync and memtables succeeded,
//! or none. The numbers are those of the whole database, across keyspaces and logs. Unsynced writes
//! that succeeded are published and kept. After a failed write nothing is appended until RocksDB
//! has flushed all memtables to tables, which it does by itself after a full disk; the log with the
//! failed batch is then no longer needed.
//!
//! A start does not know what was published and keeps those batches: no writer is left that relies
//! on their failure. The log position of a seal is in the batch of its blocks, the new blocks of a
//! compaction are in the batch that retires the old ones, and jobs are what their records contain;
//! all of it is read again.

mod format;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod logged_batch;
mod mark;
mod needed_logs;
mod repair;
mod survey;

#[cfg(test)]
mod failed_tests;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) use format::put_record;
pub(super) use format::{LogItem, LogReader, checksum};
pub(super) use mark::Journal;
