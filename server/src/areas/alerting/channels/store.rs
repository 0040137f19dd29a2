//! The stored documents of channels, and the form of a configuration before it is sealed.
//!
//! The collection is `channels`, the key a channel's id.
//!
//! ```text
//! {"name", "channel_type", "config", "enabled", "verified", "last_tested_at_ms"?, "created_at_ms"}
//! ```
//!
//! `config` is sealed for the collection, the id and the field `config`. Its plain text:
//!
//! ```text
//! {"webhook_url"?, "headers"?, "signing_secret"?, "routing_key"?, "api_key"?, "api_url"?,
//!  "recipients"?, "previous_secret"?: {"secret", "valid_until_ms"}}
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::config::{ChannelConfig, ChannelType, ConfigFields};
use super::model::{Channel, SealedConfig};
use super::signature::{PreviousSecret, SigningSecret};
use crate::areas::alerting::documents::StoredResource;
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::limits;
use crate::platform::sealing::SealContext;

const COLLECTION: Collection = Collection("channels");

/// A stored channel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredChannel {
    name: String,
    channel_type: ChannelTypeName,
    config: String,
    enabled: bool,
    verified: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_tested_at_ms: Option<i64>,
    created_at_ms: i64,
}

/// The type of a channel by its name in the API.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
struct ChannelTypeName(ChannelType);

/// A configuration before it is sealed.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PlainConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    routing_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_secret: Option<PlainPreviousSecret>,
}

#[derive(Serialize, Deserialize)]
struct PlainPreviousSecret {
    secret: String,
    valid_until_ms: i64,
}

impl From<ChannelTypeName> for &'static str {
    fn from(name: ChannelTypeName) -> Self {
        name.0.as_str()
    }
}

impl TryFrom<String> for ChannelTypeName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let unknown = || format!("unknown type of channel {text:?}");
        ChannelType::parse(&text).map(Self).ok_or_else(unknown)
    }
}

impl StoredResource for Channel {
    type Kind = Kind;
    type Error = AlertingError;
    type Stored = StoredChannel;
    const COLLECTION: Collection = COLLECTION;
    const KIND: Kind = Kind::Channel;
    const COUNT_MAX: usize = limits::CHANNELS_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.as_str().into()
    }

    fn to_stored(&self) -> StoredChannel {
        StoredChannel {
            name: self.name.clone(),
            channel_type: ChannelTypeName(self.channel_type),
            config: self.config.0.clone(),
            enabled: self.enabled,
            verified: self.is_verified,
            last_tested_at_ms: self.last_tested_at.map(|at| at.0),
            created_at_ms: self.created_at.0,
        }
    }

    fn from_stored(id: String, stored: StoredChannel) -> Self {
        Self {
            id: id.into(),
            name: stored.name,
            channel_type: stored.channel_type.0,
            config: SealedConfig(stored.config),
            enabled: stored.enabled,
            is_verified: stored.verified,
            last_tested_at: stored.last_tested_at_ms.map(TimestampMs),
            created_at: TimestampMs(stored.created_at_ms),
        }
    }
}

/// Returns the place that the configuration of the channel `id` is sealed for.
pub(super) fn seal_context(id: &str) -> SealContext<'_> {
    SealContext { collection: COLLECTION.0, id, field: "config" }
}

/// Returns the plain text of a configuration.
pub(super) fn to_plain(config: &ChannelConfig) -> serde_json::Result<Vec<u8>> {
    let fields = config.revealed();
    let previous = match config {
        ChannelConfig::Webhook(webhook) => webhook.previous_secret.as_ref(),
        _ => None,
    };
    serde_json::to_vec(&PlainConfig {
        webhook_url: fields.webhook_url,
        headers: fields.headers,
        signing_secret: fields.signing_secret,
        routing_key: fields.routing_key,
        api_key: fields.api_key,
        api_url: fields.api_url,
        recipients: fields.recipients,
        previous_secret: previous.map(|previous| PlainPreviousSecret {
            secret: previous.secret.reveal(),
            valid_until_ms: previous.valid_until.0,
        }),
    })
}

/// Returns the configuration in a plain text; `None` if it is none. What is wrong is not said: the
/// text is secret.
pub(super) fn from_plain(channel_type: ChannelType, plain: &[u8]) -> Option<ChannelConfig> {
    let stored: PlainConfig = serde_json::from_slice(plain).ok()?;
    let fields = ConfigFields {
        webhook_url: stored.webhook_url,
        headers: stored.headers,
        signing_secret: stored.signing_secret.clone(),
        routing_key: stored.routing_key,
        api_key: stored.api_key,
        api_url: stored.api_url,
        recipients: stored.recipients,
    };
    let secret = |text: &str| SigningSecret::parse(text).ok();
    // Only webhooks have a signing secret, and theirs is stored; the other types ignore this one.
    let unused = SigningSecret::from_random([0; 32]);
    let mut config = ChannelConfig::new(channel_type, fields, &unused).ok()?;
    if let ChannelConfig::Webhook(webhook) = &mut config {
        stored.signing_secret?;
        if let Some(previous) = stored.previous_secret {
            let valid_until = TimestampMs(previous.valid_until_ms);
            let secret = secret(&previous.secret)?;
            webhook.previous_secret = Some(PreviousSecret { secret, valid_until });
        }
    }
    Some(config)
}
