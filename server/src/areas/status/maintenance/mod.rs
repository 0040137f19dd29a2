//! Scheduled maintenances of status pages: when which monitors are expected to be unavailable.
//!
//! A maintenance belongs to one page. Its status follows from the time, so nothing has to run when
//! it begins or ends. While it is in progress, the time does not count for the uptime of its
//! monitors (`active`). One that mutes alerts has a maintenance window of alerting, which is
//! changed in the same transaction (`muting`) and deleted after its end (`space`).

mod active;
#[cfg(test)]
pub(super) mod examples;
mod model;
mod muting;
mod notice;
mod ops;
mod routes;
mod space;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub(super) use active::active;
pub(super) use model::{Maintenance, MaintenanceStatus};
pub(super) use notice::record_due;
pub(super) use ops::{delete_of_page, remove_monitor};
pub use routes::MAINTENANCE_ROUTES;
pub(super) use space::trim;
