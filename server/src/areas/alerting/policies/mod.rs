//! Escalation policies: which channels are notified of an alert, and after which delays, while
//! nobody has acknowledged it.
//!
//! The steps are sorted by delay, which counts from the start of a cycle; equal delays go together.
//! A policy that repeats starts another cycle some minutes after the last step.

mod model;
mod ops;
mod routes;
mod store;
mod wire;

pub(super) use model::Policy;
pub(super) use ops::{exists, remove_channel};
pub use routes::POLICY_ROUTES;

#[cfg(test)]
pub(super) mod examples;
