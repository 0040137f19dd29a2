//! Queues: listed, looked at now and in the past, paused, resumed, purged.

mod routes;
mod wire;

pub use routes::ROUTES;
