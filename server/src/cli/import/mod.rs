//! `telltale import`: points from files into the data, on a running server or a stopped one.
//!
//! Files are read in chunks of rows. Before a chunk is stored, a checkpoint beside the data says which bytes are about
//! to be; after it, that they are. The next import of the file goes on there: it reads a chunk in doubt again and stores
//! it under the same idempotency key, so that no row is lost and none is stored twice.

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
