//! The write-ahead log, which makes a write durable before it is acknowledged.
//!
//! Writes become [`record`]s, and concurrent writes share a write and a sync ([`commit`]). Records
//! go to [`segment`] files instead of RocksDB: a damaged record is then one reported lost record
//! and not a silent end of the log, the engine notices and leaves a full disk without reopening a
//! database, and there is no second copy of the head in a memtable. Segments whose records a seal
//! has written to blocks are deleted file by file.

mod acknowledged_mark;
mod commit;
#[cfg(test)]
mod copies_tests;
mod cumulative_samples;
mod definition_copies;
mod events;
mod gathering;
mod group_writer;
mod inline;
mod newest_segment;
mod read;
mod record;
mod scan;
mod segment;
mod segment_file;
mod sink;
mod torn;
mod write_queue;
mod write_response;
mod writer;

#[cfg(test)]
mod format_tests;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
#[cfg(test)]
mod recovery_tests;

pub(crate) use commit::Committer;
pub(crate) use read::read_log;
pub(crate) use record::{
    Definitions, MetricDefined, Record, SeriesDefined, encode_dropped, encode_write,
};
pub(crate) use segment::{Listing, Segments};
pub(crate) use sink::{Admission, Applied, Sink, Written};
pub(crate) use write_queue::Submission;
pub(crate) use writer::FileOps;
#[cfg(test)]
pub(crate) use writer::testing;
