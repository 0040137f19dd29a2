//! NDJSON: one metric input on each line, as `POST /api/v1/metrics` takes them.

mod lines;
mod routes;

pub use lines::resolve_lines;
pub use routes::ROUTES;
