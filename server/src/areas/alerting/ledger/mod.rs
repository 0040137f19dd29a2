//! Alerts: what fires, who was notified of it, and who is next.
//!
//! `group` decides from the condition of a rule when an alert begins and ends, `escalation` which
//! steps of a policy are due, `message` holds what is to be sent. A `change` applies these to the
//! alerts of the ledger: everything that follows from an observation or a request, with the
//! messages it causes, is stored in one atomic write before it takes effect. `directory` is the
//! configuration that changes look at.

mod active_windows;
mod alert_ledger;
mod change;
mod clock_watch;
mod current_directory;
mod directory;
mod dispatch;
mod escalation;
mod group;
mod listing;
mod message;
mod model;
mod observation;
mod outbox;
mod overflow;
mod simulation;
mod space;
mod stored;
mod weighed;
mod withdraw;

pub(super) use alert_ledger::{AlertLedger, Attempt};
pub(super) use change::Change;
pub(super) use current_directory::CurrentDirectory;
pub(super) use directory::Directory;
pub(super) use listing::{AlertDetail, AlertFilter};
pub(super) use message::Message;
pub(super) use model::{
    Alert, AlertEvent, AlertStatus, DeliveryStatus, Destination, GroupHash, Labels, LogEntry,
    NotificationEntry,
};
pub(super) use observation::{Observation, Subject};
pub(super) use outbox::NextMessage;
pub(super) use simulation::{FiringPeriod, Simulation};

#[cfg(test)]
mod tests;
