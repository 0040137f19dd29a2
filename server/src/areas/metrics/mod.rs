//! Metrics: ingestion of single samples and batches, metric definitions, and time series queries.
//!
//! Samples are written to the engine; this area stores nothing of its own. The response to a write
//! is sent only after the samples are durable as configured. A batch that is not JSON or too long
//! stores nothing; of any other batch, valid items are stored and invalid items counted.

mod by_name;
mod cardinality;
mod error;
mod ingest;
mod limits;
mod model;
mod ops;
mod query;
mod render;
mod respond;
mod routes;
mod top;
mod wire;

pub(super) use by_name::offer_metrics;
pub use cardinality::ROUTES as CARDINALITY_ROUTES;
pub use error::{InputError, MetricsError};
pub use ingest::{Reader, read_batch, read_one};
pub use model::{Measured, Outcome, Point};
pub use ops::{ask, kind_of, resolve_batch, resolve_into, resolve_items, resolve_one};
pub use query::group_keys;
pub use routes::ROUTES;
pub use wire::MetricInput;

#[cfg(test)]
mod tests;
