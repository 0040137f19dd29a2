//! `telltale import`: imports samples from files, through a running server or into the data of a
//! stopped one.
//!
//! Files are read in chunks of rows. Before a chunk is stored, a checkpoint in the data directory
//! records which bytes it covers; afterwards, that they are stored. The next import of the file
//! resumes there: a chunk in doubt is read again and stored under the same idempotency key, so that
//! no row is lost and none is stored twice.

mod checkpoint;
mod csv;
mod input;
mod ndjson;
mod plan;
mod report;
mod rows;
mod run;
mod sink;

pub(super) use run::run;
