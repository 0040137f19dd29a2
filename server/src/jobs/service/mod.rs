//! The interface of the ledger for callers, who send requests and wait for the replies.
//!
//! Operations on many jobs are sent to the ledger in steps, so that others are served in between.
//! Records on disk are read here, on blocking threads, not on the ledger's thread.

mod bulk;
mod dead_search;
mod listing;
mod open;
mod operations;
mod records_read;
mod users;

pub use bulk::BulkCount;
pub use open::Jobs;
pub use operations::{Drafted, EnqueuedPrefix};
pub use users::ClientJobs;

pub use super::waiting::GrantedJobs;

use super::state::{Cycle, State};
