//! What runs between requests: sealing, merging, expiry, deletion. All of it is listed in [`Keeper::round`].
//!
//! Work is done in small steps on one thread, so that it never takes more than a core; a step that fails is
//! tried again in the next round and told to the operator until it succeeds.

mod alarm;
mod backup;
mod inspect;
mod keeper;
mod merge_memory;
mod reports;
mod verify;
mod watch;

#[cfg(test)]
mod copy_tests;

pub(crate) use alarm::{Alarm, Part};
pub use backup::BackupReport;
pub(crate) use backup::{Stage, check_target, restore};
pub(crate) use inspect::inspect;
pub(crate) use keeper::{Due, Keeper};
pub(crate) use merge_memory::MergeMemory;
pub use reports::{DeleteReport, ExpireReport, MergeReport};
pub(crate) use reports::{Eagerness, MergeBudget, Pace};
pub use verify::VerifyReport;
pub(crate) use verify::verify;
pub(crate) use watch::{Holdings, Watch};
