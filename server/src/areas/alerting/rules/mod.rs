//! Alert rules: a query, a condition, and who is notified.

mod condition;
mod model;

pub(in crate::areas::alerting) use condition::{Condition, Operator};
pub(in crate::areas::alerting) use model::Rule;

#[cfg(test)]
pub(in crate::areas::alerting) mod examples;
