//! Metrics and events in one request: both lists are stored in one durable write, so a crash
//! preserves both or neither. The areas of metrics and events validate the items; this area stores
//! nothing of its own.

mod error;
mod ops;
mod routes;
mod wire;

pub use error::TelemetryError;
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
