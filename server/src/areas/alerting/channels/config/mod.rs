//! The configurations of channels: which fields each type has, what is valid, what is secret, and
//! how a change that repeats redacted secrets is applied.

mod channel_config;
mod channel_type;
mod error;
mod fields;
mod recipients;
mod urls;

pub use channel_config::{
    ChannelConfig, ChatConfig, EmailConfig, PagingAConfig, PagingBConfig, WebhookConfig,
};
pub use channel_type::ChannelType;
pub use error::{ConfigRule, InvalidConfig};
pub use fields::{ConfigFields, ConfigPatch};
pub use urls::BaseUrl;

pub use crate::platform::outbound::UserHeader;

#[cfg(test)]
pub(in crate::areas::alerting) mod examples;
