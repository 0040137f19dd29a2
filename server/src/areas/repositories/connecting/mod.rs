//! Repositories as users connect, change and remove them. Each new one, and each change of what is
//! to be indexed, begins a sync.

mod change;
mod ops;
mod routes;
mod wire;

pub use routes::REPOSITORY_ROUTES;
