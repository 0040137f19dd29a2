//! Status pages: which monitors customers see, under which names, and at which address.

mod logo;
mod model;
mod ops;
mod routes;
mod store;
mod subdomain;
#[cfg(test)]
mod tests;
mod wire;

pub(super) use model::{Component, Page};
pub(super) use ops::{named, remove_monitor};
pub use routes::PAGE_ROUTES;
