//! Prometheus remote-write, versions 1.0 and 2.0.
//!
//! The `__name__` label is the metric name, the other labels are its tags. A cumulative counter is
//! stored as the increases between consecutive samples, a native histogram as a distribution,
//! everything else as a gauge. Series are processed one by one; if the type of a series conflicts
//! with the stored metric, or its labels are invalid, its values are rejected and counted with a
//! status on which agents do not retry.

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
pub use request::{WrittenCounts, resolve_write};
pub use routes::ROUTES;
pub use version::Version;

#[cfg(test)]
mod tests;
