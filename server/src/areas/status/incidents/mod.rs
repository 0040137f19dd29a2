//! Incidents of status pages: what is wrong, since when, and what is being done about it.
//!
//! An incident belongs to one page. Its updates are what people read; the last one has its status.
//! A resolved incident stays resolved.

#[cfg(test)]
pub(super) mod examples;
mod model;
mod ops;
mod routes;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub(super) use model::{Incident, IncidentStatus};
pub(super) use ops::{delete_of_page, remove_monitor};
pub use routes::INCIDENT_ROUTES;
pub(super) use wire::IncidentView;
