//! The API of Prometheus Alertmanager (version 2), through which Prometheus and other senders
//! deliver alerts, and dashboards and `amtool` list them.
//!
//! Pure: `posted` and `shown` are the alerts as received and as listed, `filter` and `matchers` the
//! query of a list, `wire` the JSON. What Alertmanager accepts is accepted with the same meaning,
//! within limits of our own; fields and parameters that are unknown are ignored, as it ignores
//! them. Does not store anything, and does not know routes, rules or channels.

mod filter;
mod fingerprint;
mod matchers;
mod posted;
mod shown;
mod wire;

pub use filter::{AlertFilter, InvalidAlertFilter};
pub use fingerprint::Fingerprint;
pub use matchers::{LabelMatcher, LabelPattern, MatcherError, MatcherOperator};
pub use posted::{AlertEnd, AlertParts, InvalidAlert, PostedAlert};
pub use shown::{AlertState, ShownAlert};
pub use wire::{
    AlertmanagerStatus, GettableAlert, PostableAlert, PostedBody, gettable_alerts, postable_alerts,
};
