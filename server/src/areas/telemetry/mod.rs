//! Metrics and events in one body: both halves are stored in one durable write, so a crash keeps both or
//! neither. What an item may be is known by the areas it belongs to; this one keeps nothing of its own.

mod error;
mod ops;
mod routes;
mod wire;

pub use error::TelemetryError;
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
