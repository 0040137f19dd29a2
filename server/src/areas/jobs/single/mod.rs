//! Single jobs: enqueue, get, list, run, delete; acknowledge, fail and extend for the worker that
//! holds one.

mod routes;
mod wire;

pub use routes::ROUTES;
