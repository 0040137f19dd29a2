//! What runs between requests: sealing, merging, expiry, deletion. All of it is listed in [`Keeper::round`].
//!
//! Work is done in small steps on one thread, so that it never takes more than a core; a step that fails is
//! tried again in the next round and told to the operator until it succeeds.

mod backup;
mod inspect;
mod keeper;
mod verify;
mod watch;

#[cfg(test)]
mod copy_tests;

pub use backup::BackupReport;
pub(crate) use backup::{Stage, check_target, restore};
pub(crate) use inspect::inspect;
pub(crate) use keeper::{Due, Keeper};
pub(crate) use verify::verify;
pub(crate) use watch::{Holdings, Watch};
