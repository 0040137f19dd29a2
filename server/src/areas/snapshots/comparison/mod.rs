//! Comparisons of snapshots with baselines: made, approved, rejected and reviewed.

mod model;
mod ops;
mod review;
mod routes;
mod store;
mod wire;

pub(super) use model::Comparison;
pub(super) use ops::expire;
pub use routes::COMPARISON_ROUTES;
