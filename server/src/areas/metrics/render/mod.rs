//! Writes query responses as JSON, directly from the engine's columns.

mod bucket_starts;
mod columns;
mod points;
mod response;

pub(super) use response::{ResponseWriter, response};
