//! Prometheus remote-write, versions 1.0 and 2.0.
//!
//! `__name__` is the name of a metric, the other labels are its tags. Cumulative counts become counters of what was added
//! from one reading to the next, native histograms distributions, everything else gauges. A request is taken series by
//! series; of one whose type disagrees with what is stored, or whose labels cannot be, the values are refused and
//! counted, and agents do not send them again.

mod error;
mod families;
mod histogram;
mod kind;
mod labels;
mod request;
mod routes;
mod sample;
mod series;
mod symbols;
mod version;

pub use error::WriteError;
pub use families::Families;
pub use request::{Written, resolve_write};
pub use routes::ROUTES;
pub use version::Version;

#[cfg(test)]
mod tests;
