//! Baselines: the images that snapshots of a page are compared with, and those before them.

mod model;
mod ops;
mod routes;
mod store;
mod wire;

pub(super) use model::{Baseline, BaselineOrigin, NewBaseline};
pub(super) use ops::{add, get};
pub use routes::BASELINE_ROUTES;
pub(super) use wire::BaselineView;
