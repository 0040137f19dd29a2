//! Notification channels.

use telltale_engine::TimestampMs;

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

/// What alerts need to know of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct ChannelFacts {
    pub(in crate::areas::alerting) is_enabled: bool,
    /// Whether it takes one event for each alert.
    pub(in crate::areas::alerting) is_paging: bool,
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
