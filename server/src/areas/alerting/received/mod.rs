//! Alerts that Prometheus and other senders deliver through the API of Alertmanager.
//!
//! A received alert is kept until its sender ends it or does not repeat it in time (`held`,
//! `store`). The rules about received alerts whose query matches it (`matching`) have an alert for
//! it, with all its labels, and notify as other rules do. A received alert that no rule matches is
//! recorded, and notifies nobody.

mod held;
mod matching;
mod ops;
mod routes;
mod store;
#[cfg(test)]
mod tests;

pub(super) use held::ReceivedAlerts;
pub(super) use ops::{expire, observe_all};
pub use routes::ALERTMANAGER_ROUTES;
