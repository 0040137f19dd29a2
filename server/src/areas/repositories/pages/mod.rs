//! The pages of the wiki and the diagrams of a repository: made at each sync, stored beside the
//! index, and served from there.

mod ops;
mod routes;
mod store;
mod wire;

pub use routes::PAGE_ROUTES;
pub(super) use store::{StoredPages, VERSION};
