//! Notification channels: where messages about alerts are sent.
//!
//! A channel has one of seven types, each with a configuration of its own (`config`), a message
//! format (`formats`) and rules for what a response means (`outcome`). The configuration contains
//! secrets: it is sealed as a whole before it is stored, returned in redacted form, and opened only
//! to be sent. Requests go through the client that refuses private addresses, emails through the
//! mail server of the operator (`deliver`).

mod config;
mod counters;
mod deliver;
mod formats;
mod model;
mod ops;
mod outcome;
mod progress;
mod routes;
mod settings;
mod signature;
mod store;
mod wire;

pub use config::{
    BaseUrl, ChannelConfig, ChannelType, ChatConfig, ConfigFields, ConfigPatch, ConfigRule,
    EmailConfig, InvalidConfig, PagingAConfig, PagingBConfig, UserHeader, WebhookConfig,
};
pub(super) use counters::ChannelCounters;
pub use formats::{
    OutboundParts, email, paging_a, paging_b, team_chat_a, team_chat_b, team_chat_c, webhook,
};
pub(super) use model::ChannelFacts;
pub(crate) use ops::has_secrets;
pub(super) use ops::{
    ChannelNames, count_attempt, exists, facts, load_counters, named, names, ready, send,
    send_to_person,
};
pub use outcome::{Outcome, judge};
pub(super) use progress::Progress;
pub use routes::CHANNEL_ROUTES;
pub use settings::{NotificationSettings, OptionalBaseUrl};
pub use signature::{PreviousSecret, SigningSecret};

#[cfg(test)]
mod tests;
