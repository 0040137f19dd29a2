//! Alert configuration: what is watched, who is notified of it, how, and when not.
//!
//! Each kind of resource has a folder of the same structure: alert rules compare the result of a
//! query with a condition, maintenance windows mute alerts, on-call schedules say who is on call,
//! escalation policies name channels in steps, notification channels deliver messages. A resource
//! is one document. All changes are made under one lock (`documents`), so a change that concerns
//! several resources, such as the deletion of a channel that policies and rules use, is one
//! transaction, and no reference ever names a resource that is gone (`references`). Secrets of
//! channels are sealed before they are stored.
//!
//! `notice` is the content of a message, whatever its channel.

pub mod alertmanager;
mod alerts;
mod background;
mod by_name;
pub mod channels;
mod delivery;
mod documents;
mod error;
mod evaluation;
mod fields;
mod ids;
mod ledger;
mod limits;
pub mod notice;
mod period;
mod policies;
mod preview;
mod received;
mod references;
mod respond;
mod rules;
mod schedules;
mod state;
mod windows;
mod wire;

pub use alerts::ALERT_ROUTES;
pub use background::evaluate_rules;
pub(crate) use background::{add_work, evaluation_sweep, timer_sweeps};
pub(super) use by_name::{
    add_members, offer_channels, offer_policies, offer_rules, offer_schedules,
};
pub(crate) use channels::has_secrets;
pub use channels::{CHANNEL_ROUTES, NotificationSettings, OptionalBaseUrl};
pub use error::AlertingError;
pub use evaluation::EvaluationSettings;
pub use policies::POLICY_ROUTES;
pub use preview::PREVIEW_ROUTES;
pub use received::ALERTMANAGER_ROUTES;
pub use rules::{RULE_ROUTES, make_first_rules};
pub use schedules::SCHEDULE_ROUTES;
pub use state::{Alerting, AlertingSetupError};
pub use windows::{LinkedMuting, LinkedWindow, LinkedWindowChange, LinkedWindows, WINDOW_ROUTES};
