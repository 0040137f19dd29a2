//! On-call schedules: who is on call at an instant, by a rotation and overrides of it.
//!
//! `rotation` and `shifts` compute shifts from a rotation and overrides alone. A schedule has its
//! members, a plan that becomes a rotation, and its overrides, all in one document. Overrides that
//! ended long ago are dropped whenever the schedule is written. While a schedule is not enabled,
//! nobody is on call.

mod ics;
mod link;
mod model;
mod ops;
mod rotation;
mod routes;
mod shifts;
mod store;
mod wire;

pub(super) use model::Schedule;
pub(super) use ops::{exists, named};
pub use routes::SCHEDULE_ROUTES;

#[cfg(test)]
mod shifts_random_tests;
#[cfg(test)]
mod shifts_tests;
#[cfg(test)]
mod tests;
