//! The InfluxDB line protocol, as sent by its agents and client libraries.
//!
//! A field becomes a gauge named `measurement.field`; a field named `value` becomes the gauge
//! `measurement`. String fields are ignored and counted. A line is accepted or rejected as a whole.
//! Known series are looked up by the raw bytes of measurement, tags and field key; these are
//! parsed, unescaped and validated only for new series.

mod error;
mod line;
mod lines;
mod number;
mod routes;
mod series;
mod timestamp;
mod wire;

pub use error::LineError;
pub use lines::{read_lines, resolve_lines};
pub use routes::ROUTES;
pub use timestamp::Precision;

#[cfg(test)]
mod tests;
