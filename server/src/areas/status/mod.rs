//! Monitors, and the status pages that show them to customers.
//!
//! Monitors are checked by the server itself. Their configurations are documents, changed under one
//! lock (`documents`); their conditions are in memory and stored as records. Status pages, their
//! incidents and their scheduled maintenances are documents too. All of them are in memory
//! (`page_directory`); what else changes with one of them is in `references`.

mod addresses;
mod background;
mod by_name;
mod component_names;
mod documents;
mod error;
mod fields;
mod host_name;
mod hosts;
mod ids;
mod incident_notice;
mod incidents;
mod limits;
mod maintenance;
mod monitors;
mod notices;
mod page_directory;
#[cfg(test)]
mod page_directory_tests;
mod pages;
mod public;
mod public_status;
mod references;
mod respond;
mod settings;
mod state;
mod subscribers;
#[cfg(test)]
mod testing;

pub(crate) use background::{add_work, close, notice_sweeps, sweeps};
pub(super) use by_name::{offer_monitors, offer_pages};
pub use error::StatusError;
pub use incidents::INCIDENT_ROUTES;
pub use maintenance::MAINTENANCE_ROUTES;
pub(super) use monitors::has_secrets;
pub use monitors::{MONITOR_METRICS, MONITOR_ROUTES};
pub use pages::PAGE_ROUTES;
pub use public::{PUBLIC_ROUTES, SUBSCRIPTION_ROUTES, render_page};
pub use settings::{StatusDomain, StatusSettings};
pub use state::{Status, StatusSetupError};
pub use subscribers::SUBSCRIBER_ROUTES;
