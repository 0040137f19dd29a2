//! Requests to explain code and to document a file.

mod ops;
mod routes;
mod wire;

pub use routes::HELP_ROUTES;
