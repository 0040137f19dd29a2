//! Search in the indexed files of a repository, and the files themselves.

mod ops;
mod routes;
mod wire;

pub use routes::SEARCH_ROUTES;
