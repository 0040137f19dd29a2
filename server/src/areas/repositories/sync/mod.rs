//! Syncs: a commit is fetched, its files are selected and read, and an index of them replaces the
//! one before as a whole.

mod indexing;
mod model;
mod ops;
mod outcome;
mod pipeline;
mod progress;
mod routes;
mod select;
mod store;
mod wire;
mod work;

pub(super) use model::{Sync, SyncTrigger};
pub(super) use ops::{begin_again, delete_all};
pub(super) use progress::{RunningSyncs, SyncProgress};
pub use routes::SYNC_ROUTES;
pub(super) use work::{add_work, enqueue, enqueue_unfinished, look_for_changes};
