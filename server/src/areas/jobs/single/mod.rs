//! Single jobs: enqueued, looked at, deleted; finished, failed and kept by whoever holds them.

mod routes;
mod wire;

pub use routes::ROUTES;
