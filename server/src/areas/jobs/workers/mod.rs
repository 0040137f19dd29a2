//! Workers: register, heartbeat, fetch, quiet, stop, deregister; list, state, history.

mod routes;
mod wire;

pub use routes::ROUTES;
