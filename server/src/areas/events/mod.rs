//! Events: things that happened, taken in one by one or in batches, listed, counted and summed up.
//!
//! Events go straight into the engine; this area keeps nothing of its own. An answer to a write is sent only
//! after the events are durable as configured. A batch that is no JSON or too long stores nothing; otherwise
//! its good items are stored and its bad ones counted. Ids are `evt_` and the engine's id as a ULID.

mod error;
mod ingest;
mod model;
mod ops;
mod query;
mod render;
mod routes;
mod wire;

pub use error::{EventsError, InputError};
pub use ingest::{read_batch, read_one};
pub use model::Outcome;
pub use ops::{resolve_batch, resolve_items, resolve_one};
pub use query::{field, group_by, name};
pub use routes::ROUTES;
pub use wire::EventInput;

#[cfg(test)]
mod tests;
