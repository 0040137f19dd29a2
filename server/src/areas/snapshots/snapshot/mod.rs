//! Snapshots: captured by jobs, in the background of the requests that wait for them.

mod model;
mod ops;
mod routes;
mod store;
mod wire;
mod work;

pub(super) use model::{Snapshot, SnapshotState};
pub(in crate::areas) use ops::has_secrets;
#[cfg(test)]
pub(super) use ops::{begin, finish};
pub(super) use ops::{expire, get};
pub use routes::SNAPSHOT_ROUTES;
pub(super) use work::{add_work, enqueue_unfinished};
