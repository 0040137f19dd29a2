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
//! never acknowledged; a loss is told exactly when something acknowledged is missing, as far as the mark knows.
//! A log with records of a kind that we do not write is RocksDB's business alone.

mod alive;
mod batch;
mod format;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod mark;
mod mend;
mod survey;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) use format::put_record;
pub(super) use format::{Item, Records, checksum};
pub(super) use mark::Journal;
