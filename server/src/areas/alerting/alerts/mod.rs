//! Alerts: what fires, who was notified of it, and who is next.
//!
//! `group` decides from the condition of a rule when an alert begins and ends, `escalation` which
//! steps of a policy are due, `message` holds what is to be sent. A `change` applies these to the
//! alerts of the `ledger`: everything that follows from an observation or a request, with the
//! messages it causes, is stored in one atomic write before it takes effect. `directory` is the
//! configuration that changes look at.

mod change;
mod directory;
mod dispatch;
mod escalation;
mod group;
mod ledger;
mod message;
mod model;
mod stored;

#[cfg(test)]
mod tests;
