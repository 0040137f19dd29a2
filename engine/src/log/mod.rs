//! The log: what makes a write durable before it is answered.
//!
//! Writes become [`record`]s, concurrent ones share a write and a sync ([`commit`]), and land in
//! [`segment`] files of their own rather than in RocksDB: a damaged record is then one record lost and
//! reported, not a silent end of the log; a full disk is seen and left again without reopening a database; and
//! no second copy of the head sits in a memtable. What a seal has put into blocks is deleted a file at a time.

mod answer;
mod answered;
mod commit;
mod copies;
#[cfg(test)]
mod copies_tests;
mod events;
mod read;
mod readings;
mod record;
mod scan;
mod segment;
mod writer;

#[cfg(test)]
mod format_tests;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
#[cfg(test)]
mod recovery_tests;

pub(crate) use commit::{Admission, Applied, Committer, Sink, Submission, Written};
pub(crate) use read::read_log;
pub(crate) use record::{
    Definitions, MetricDefined, Record, SeriesDefined, encode_dropped, encode_write,
};
pub(crate) use segment::{Listing, Segments};
pub(crate) use writer::FileOps;
#[cfg(test)]
pub(crate) use writer::testing;
