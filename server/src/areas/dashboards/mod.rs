//! Dashboards: grids of widgets, each of which displays the result of a query of a metric or of
//! events.
//!
//! A dashboard and its widgets are one document, so every change is atomic, and the document's
//! revision is the basis of the `ETag`. A change that conflicts with a concurrent one is retried on
//! the new revision. Values are never stored: they are computed when the dashboard is read, for all
//! widgets concurrently and with a timeout each; a widget that fails carries its error, and the
//! others are returned.
//!
//! Every change keeps the version before it, up to a number, in documents of their own; they are
//! written and deleted together with the dashboard.
//!
//! Metrics are queried through the metrics area, events through the engine. A new server starts
//! with one default dashboard of its own metrics.

mod annotations;
mod by_name;
mod data;
mod default_dashboard;
mod definition;
mod editor_routes;
mod error;
mod history;
mod limits;
mod model;
mod ops;
mod options;
mod plan;
mod routes;
mod settings;
mod store;
mod variables;
mod wire;

pub(super) use by_name::offer_dashboards;
pub use default_dashboard::make_first;
pub use editor_routes::EDITOR_ROUTES;
pub use error::DashboardsError;
pub use routes::ROUTES;
pub use settings::DashboardSettings;

#[cfg(test)]
mod tests;
