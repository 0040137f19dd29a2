//! Notification channels.

use telltale_engine::TimestampMs;
/// A document with its revision.
pub(super) use telltale_engine::Versioned;

use super::config::{ChannelType, ConfigFields, ConfigPatch};
use crate::areas::alerting::ids::ChannelId;

/// A notification channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) id: ChannelId,
    pub(super) name: String,
    pub(super) channel_type: ChannelType,
    pub(super) config: SealedConfig,
    pub(super) enabled: bool,
    /// Whether a test succeeded since the configuration was changed.
    pub(super) is_verified: bool,
    pub(super) last_tested_at: Option<TimestampMs>,
    pub(super) created_at: TimestampMs,
}

/// A sealed configuration, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SealedConfig(pub(super) String);

/// A validated request for a new channel.
pub(super) struct ChannelDraft {
    pub(super) name: String,
    pub(super) channel_type: ChannelType,
    pub(super) config: ConfigFields,
    pub(super) enabled: bool,
}

/// A change of a channel; `None` leaves a field unchanged.
pub(super) struct ChannelChange {
    pub(super) name: Option<String>,
    pub(super) enabled: Option<bool>,
    pub(super) config: Option<ConfigPatch>,
}
