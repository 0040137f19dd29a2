//! Background maintenance: sealing, compaction, expiry, deletion. All of it is listed in
//! [`MaintenanceWorker::run_pass`].
//!
//! Work is done in small steps on one thread, so that it never takes more than one core. A step
//! that fails is retried in the next pass, and its failure is reported until it succeeds.

mod backup;
mod inspect;
mod merge_schedule;
mod resource_monitor;
mod verify;
mod worker;

#[cfg(test)]
mod copy_tests;

pub use backup::BackupReport;
pub(crate) use backup::{BackupStage, check_target, restore};
pub(crate) use inspect::inspect;
pub(crate) use resource_monitor::{EngineHoldings, ResourceMonitor};
pub(crate) use verify::verify;
pub(crate) use worker::{DueTimes, MaintenanceWorker};
