//! The write path shared by metrics and events: applies log records to the heads, and seals both
//! heads to disk together with their position in the log.

mod maintenance_state;
mod receipts;
mod seal;
mod sink;
mod telemetry_store;
#[cfg(test)]
mod tests;

pub(crate) use maintenance_state::{MaintenanceState, Part};
pub use seal::SealReport;
pub(crate) use seal::sealed;
pub(crate) use sink::HeadSink;
pub(crate) use telemetry_store::Telemetry;
