//! Dead jobs: list, retry, delete, analytics.

mod routes;
mod wire;

pub use routes::ROUTES;
