//! What metrics and events share: the way of a write from the log into the heads, and the seal that moves both heads to disk
//! together with the position of the log that they stand for.

mod alarm;
mod receipts;
mod seal;
mod sink;
mod telemetry_store;
#[cfg(test)]
mod tests;

pub(crate) use alarm::{Alarm, Part};
pub use seal::SealReport;
pub(crate) use seal::sealed;
pub(crate) use sink::HeadSink;
pub(crate) use telemetry_store::Telemetry;
