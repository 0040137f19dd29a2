//! Where the series come from: which metrics, tags and values have the most.
//!
//! The counts are read from the registry of the engine; nothing is stored.

mod query;
mod routes;
mod wire;

pub use routes::ROUTES;
