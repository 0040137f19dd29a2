//! Dead jobs: searched, brought back, forgotten, counted.

mod routes;
mod wire;

pub use routes::ROUTES;
