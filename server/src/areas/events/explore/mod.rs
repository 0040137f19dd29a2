//! What events contain: their fields, the frequent values of a field, and the users that take
//! several steps one after the other.
//!
//! Fields and values of properties are read from a bounded sample, the newest matching events; the
//! response says how many events it is based on.

mod fields;
mod funnel;
mod properties;
mod query;
mod routes;
mod sample;
mod values;
mod wire;

pub use routes::ROUTES;
