//! The desk: where everybody else hands in what they want of jobs, and waits for the answer.
//!
//! What touches many jobs goes to the ledger in steps, so that others have their turn between them. What stands on disk is
//! read here, off the threads that serve and off the ledger's.

mod bulk;
mod listing;
mod open;
mod reading;
mod users;
mod verbs;

pub use open::Jobs;
pub use users::UsersDesk;
pub use verbs::Drafted;

pub use super::waiting::Granted;

use super::state::{Round, State};
