//! The areas of the service, each with the same rooms.

pub mod admin;
pub mod bulk;
pub mod dashboards;
pub mod errors;
pub mod events;
pub mod jobs;
pub mod keys;
pub mod metrics;
mod table;
pub mod telemetry;

pub use table::routes;

#[cfg(test)]
mod testing;
