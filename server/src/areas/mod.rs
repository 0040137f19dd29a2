//! The areas of the service. All have the same file structure.

pub mod admin;
pub mod alerting;
pub mod bulk;
pub mod dashboards;
pub mod errors;
pub mod events;
mod files;
pub mod jobs;
pub mod keys;
pub mod metrics;
mod parts;
pub mod people;
pub mod repositories;
pub mod saved_queries;
pub mod search;
pub mod snapshots;
pub mod status;
mod table;
pub mod telemetry;
mod ulid_ids;

pub use files::FileWaste;
pub use parts::AreaParts;
pub use table::routes;
pub(crate) use table::{close, loops, memory, sealer_of_new_secrets, sweeps, work};
use table::{finders, people_of_areas};

#[cfg(test)]
mod testing;
