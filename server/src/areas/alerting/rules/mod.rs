//! Alert rules: a query, a condition, and who is notified.
//!
//! A rule observes a metric or events by a saved query, or alerts that it receives from Prometheus.
//! References to channels, a policy and a schedule are removed when these are deleted; a rule that
//! is deleted leaves the maintenance windows that muted it.

mod condition;
mod first;
mod model;
mod ops;
mod routes;
mod store;
#[cfg(test)]
mod tests;
mod wire;

pub(in crate::areas::alerting) use condition::{Condition, Operator};
pub use first::make_first as make_first_rules;
pub(in crate::areas::alerting) use model::{
    ReceivedQuery, Rule, RuleFailure, RuleQuery, RuleSettings,
};
pub(super) use ops::{exists, remove_channel, remove_policy, remove_schedule};
pub use routes::RULE_ROUTES;
pub(super) use wire::RuleInput;

#[cfg(test)]
pub(in crate::areas::alerting) mod examples;
