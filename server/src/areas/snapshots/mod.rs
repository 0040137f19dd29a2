//! Snapshots of web pages and their comparison.
//!
//! `capture` photographs a page with headless Chromium, which reaches the network through a
//! vetting proxy alone; `compare` finds the pixels in which two pictures differ.
//!
//! Snapshots, the baselines of pages and the comparisons of both are documents, changed under one
//! lock (`documents`); what lists show of them is in memory (`library`). Images are files of the
//! engine: stored before a document names them, and deleted when none does (`background`).

mod background;
mod baseline;
pub mod capture;
pub mod compare;
mod comparison;
mod documents;
mod error;
mod ids;
mod images;
mod library;
mod limits;
mod links;
mod parameters;
mod place;
mod respond;
mod settings;
mod snapshot;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use background::{add_work, close, sweeps};
pub use baseline::BASELINE_ROUTES;
pub use comparison::COMPARISON_ROUTES;
pub use error::SnapshotError;
pub use settings::{BrowserPath, Percentage, SnapshotSettings};
pub use snapshot::SNAPSHOT_ROUTES;
pub(super) use snapshot::has_secrets;
pub use state::Snapshots;
