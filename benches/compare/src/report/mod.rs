//! The tables and charts of what was measured, in `docs/benchmarks` of the tree that this program
//! was built from.

mod chart;
mod document;
mod facts;
mod growth;
mod ingest;
mod markdown;
mod queries;
mod space;
mod targets;

pub(crate) use document::write;
