//! NDJSON import: one metric input per line, in the JSON format of `POST /api/v1/metrics`.

mod lines;
mod routes;

pub use lines::resolve_lines;
pub use routes::ROUTES;
