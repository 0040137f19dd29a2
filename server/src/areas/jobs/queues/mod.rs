//! Queues: list, state, history, pause, resume, delete, purge.

mod routes;
mod wire;

pub use routes::ROUTES;
