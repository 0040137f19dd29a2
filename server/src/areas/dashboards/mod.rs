//! Dashboards: grids of widgets, each of which displays the result of a query of a metric or of
//! events.
//!
//! A dashboard and its widgets are one document, so every change is atomic, and the document's
//! revision is the basis of the `ETag`. A change that conflicts with a concurrent one is retried on
//! the new revision. Values are never stored: they are computed when the dashboard is read, for all
//! widgets concurrently and with a timeout each; a widget that fails carries its error, and the
//! others are returned.
//!
//! Metrics are queried through the metrics area, events through the engine. A new server starts
//! with one default dashboard of its own metrics.

mod data;
mod default_dashboard;
mod definition;
mod error;
mod model;
mod ops;
mod options;
mod plan;
mod routes;
mod settings;
mod store;
mod wire;

pub use default_dashboard::make_first;
pub use error::DashboardsError;
pub use routes::ROUTES;
pub use settings::DashboardSettings;

#[cfg(test)]
mod tests;
