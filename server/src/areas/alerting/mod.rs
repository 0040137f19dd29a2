//! Alert configuration: who is notified of what, how, and when not.
//!
//! Each kind of resource has a folder of the same structure: maintenance windows mute alerts,
//! on-call schedules say who is on call, escalation policies name channels in steps, notification
//! channels deliver messages. A resource is one document. All changes are made under one lock
//! (`documents`), so a change that concerns several resources, such as the deletion of a channel
//! that policies use, is one transaction, and no reference ever names a resource that is gone.
//! Secrets of channels are sealed before they are stored.
//!
//! `notice` is the content of a message, whatever its channel.

pub mod alertmanager;
#[expect(dead_code, reason = "evaluation and the routes of rules and alerts use the rest")]
mod alerts;
pub mod channels;
mod documents;
mod error;
mod fields;
mod ids;
mod limits;
pub mod notice;
#[cfg_attr(not(test), expect(dead_code, reason = "the routes of rules parse periods"))]
mod period;
mod policies;
mod references;
mod respond;
#[expect(dead_code, reason = "evaluation and the routes of rules and alerts use the rest")]
mod rules;
mod schedules;
mod state;
mod windows;

pub use channels::{CHANNEL_ROUTES, NotificationSettings, OptionalBaseUrl};
pub use error::AlertingError;
pub use policies::POLICY_ROUTES;
pub use schedules::SCHEDULE_ROUTES;
pub use state::{Alerting, AlertingSettings, AlertingSetupError};
pub use windows::WINDOW_ROUTES;
