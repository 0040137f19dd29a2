//! Events: ingestion of single events and batches, lists, counts and statistics.
//!
//! Events are written to the engine; this area stores nothing of its own. The response to a write
//! is sent only after the events are durable as configured. A batch that is not JSON or too long
//! stores nothing; of any other batch, valid items are stored and invalid items counted. An event's
//! id is `evt_` followed by the engine's id as a ULID.

mod error;
mod explore;
mod ingest;
mod limits;
mod model;
mod ops;
mod query;
mod render;
mod respond;
mod routes;
mod tail;
mod wire;

pub use error::{EventsError, InputError};
pub use explore::ROUTES as EXPLORE_ROUTES;
pub use ingest::{read_batch, read_one};
pub use model::Outcome;
pub use ops::{resolve_batch, resolve_items, resolve_one};
pub use query::{field, group_by, name};
pub use routes::ROUTES;
pub use tail::{EventFollowers, ROUTES as TAIL_ROUTES};
pub use wire::EventInput;

#[cfg(test)]
mod tests;
