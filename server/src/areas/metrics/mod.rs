//! Metrics: points taken in one by one or in batches, definitions listed, time series queried.
//!
//! Points go straight into the engine; this area keeps nothing of its own. An answer to a write is sent only
//! after the points are durable as configured. A batch that is no JSON or too long stores nothing; otherwise
//! its good items are stored and its bad ones counted.

mod error;
mod ingest;
mod model;
mod ops;
mod query;
mod render;
mod routes;
mod wire;

pub use error::{InputError, MetricsError};
pub use ingest::{Reader, read_batch, read_one};
pub use model::{Measured, Outcome, Point};
pub use ops::{ask, kind_of, resolve_batch, resolve_into, resolve_items, resolve_one};
pub use query::group_keys;
pub use routes::ROUTES;
pub use wire::MetricInput;

#[cfg(test)]
mod tests;
