//! Dashboards: grids of widgets, each of which asks a question about a metric or about events and shows the answer.
//!
//! A dashboard is one document, its widgets included, so every change of it is whole, and its revision is the
//! `ETag` of all of it. A change that meets another one is made anew on what the other left. Values are never
//! stored: they are computed when somebody looks, all widgets at once, each within a budget; one that fails
//! carries its error and the others answer.
//!
//! Questions about metrics go through the metrics area, those about events to the engine. The one dashboard that
//! a new server has, over its own health, is like any other.

mod data;
mod definition;
mod error;
mod first;
mod model;
mod ops;
mod options;
mod plan;
mod routes;
mod store;
mod wire;

pub use error::DashboardsError;
pub use first::make_first;
pub use routes::ROUTES;

#[cfg(test)]
mod tests;
