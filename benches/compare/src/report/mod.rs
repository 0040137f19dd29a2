//! The report: tables and charts in `docs/benchmarks` of the source tree of this program.

mod chart;
mod document;
mod facts;
mod growth;
mod ingest;
mod markdown;
mod medians;
mod queries;
mod space;
mod targets;

pub(crate) use document::write;
