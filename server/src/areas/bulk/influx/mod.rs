//! The line protocol of InfluxDB, as its agents and clients speak it.
//!
//! A field becomes a gauge called `measurement.field`, one called `value` the gauge `measurement`; what is text is passed
//! over and counted. A line is taken whole or not at all. The lines of a series that is known are never taken
//! further apart than their values need: names and tags are looked up as the bytes they were sent as, and read,
//! unescaped and checked only when they are new.

mod error;
mod line;
mod lines;
mod number;
mod routes;
mod series;
mod timestamp;

pub use error::LineError;
pub use lines::{read_lines, resolve_lines};
pub use routes::ROUTES;
pub use timestamp::Precision;

#[cfg(test)]
mod tests;
