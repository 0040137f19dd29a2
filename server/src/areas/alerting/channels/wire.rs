//! The JSON of channels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{ChannelType, ConfigFields, ConfigPatch};
use super::counters::ChannelUse;
use super::model::{Channel, ChannelChange, ChannelDraft};
use super::ops::OpenChannel;
use super::outcome::Outcome;
use crate::areas::alerting::error::Invalid;
use crate::areas::alerting::fields;
use crate::areas::alerting::limits;
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A new channel.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelInput {
    #[schemars(required, length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(required, with = "ChannelTypeSchema")]
    channel_type: Option<String>,
    #[schemars(required)]
    config: Option<ConfigBody>,
    /// Defaults to true.
    enabled: Option<bool>,
}

/// A change of a channel; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::ALERTING_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `null` is the default, true.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    enabled: Option<Option<bool>>,
    /// Absent fields are unchanged, and so is a secret that is sent as it was returned.
    config: Option<ConfigPatchBody>,
}

/// The types of channels.
#[derive(JsonSchema)]
#[schemars(rename = "ChannelType", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown type has an error of its own")]
enum ChannelTypeSchema {
    TeamChatA,
    TeamChatB,
    TeamChatC,
    PagingA,
    PagingB,
    Email,
    Webhook,
}

/// The configuration of a channel: `webhook_url` for chats; `routing_key` for `paging_a`; `api_key`
/// and optionally `api_url` for `paging_b`; `recipients` for `email`; `webhook_url` and optionally
/// `headers` and `signing_secret` for `webhook`.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChannelConfig")]
struct ConfigBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CHANNEL_URL_CHARS_MAX))]
    webhook_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    /// Signs the requests of a `webhook` channel; generated if absent, and then returned this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CHANNEL_KEY_CHARS_MAX))]
    routing_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CHANNEL_KEY_CHARS_MAX))]
    api_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::CHANNEL_RECIPIENTS_MAX))]
    recipients: Option<Vec<String>>,
}

/// A change of a configuration; `null` removes an optional field.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChannelConfigPatch")]
struct ConfigPatchBody {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    webhook_url: Option<Option<String>>,
    /// Replaces all headers.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    headers: Option<Option<BTreeMap<String, String>>>,
    /// `null` generates a new one, which is returned this once.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    signing_secret: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    routing_key: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    api_key: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    api_url: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>")]
    recipients: Option<Option<Vec<String>>>,
}

/// A channel in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChannelSummary")]
pub(super) struct ChannelSummaryView {
    id: String,
    name: String,
    channel_type: &'static str,
    enabled: bool,
    /// Whether a test succeeded since the configuration was changed.
    verified: bool,
    /// Attempts that delivered a message about alerts.
    success_count: u64,
    /// Attempts that did not.
    failure_count: u64,
    /// When the last message about alerts was sent.
    last_used_at: Option<IsoTime>,
    last_tested_at: Option<IsoTime>,
    created_at: IsoTime,
}

/// A channel with its configuration.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Channel")]
pub(super) struct ChannelView {
    #[serde(flatten)]
    summary: ChannelSummaryView,
    /// Secrets are redacted.
    config: ConfigBody,
}

/// The result of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChannelTest")]
pub(super) struct TestView {
    success: bool,
    /// If the test succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What is wrong, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl std::fmt::Debug for ConfigBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConfigBody(redacted)")
    }
}

impl std::fmt::Debug for ConfigPatchBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConfigPatchBody(redacted)")
    }
}

impl ChannelInput {
    pub(super) fn into_draft(self) -> Result<ChannelDraft, Invalid> {
        let name = fields::name(self.name)?;
        let kind = self.channel_type.filter(|kind| !kind.is_empty());
        let kind = kind.ok_or_else(|| Invalid::missing("channel_type"))?;
        let channel_type = read_channel_type(&kind)?;
        let config = self.config.ok_or_else(|| Invalid::missing("config"))?.into();
        Ok(ChannelDraft { name, channel_type, config, enabled: self.enabled.unwrap_or(true) })
    }
}

/// Parses the name of a type.
pub(super) fn read_channel_type(text: &str) -> Result<ChannelType, Invalid> {
    ChannelType::parse(text).ok_or_else(|| {
        let names = ChannelType::ALL.map(ChannelType::as_str).join(", ");
        Invalid::field("channel_type", format!("must be one of {names}"))
    })
}

impl ChannelPatch {
    pub(super) fn into_change(self) -> Result<ChannelChange, Invalid> {
        Ok(ChannelChange {
            name: self.name.map(fields::name).transpose()?,
            enabled: self.enabled.map(|sent| sent.unwrap_or(true)),
            config: self.config.map(ConfigPatch::from),
        })
    }
}

impl From<ConfigBody> for ConfigFields {
    fn from(body: ConfigBody) -> Self {
        Self {
            webhook_url: body.webhook_url,
            headers: body.headers,
            signing_secret: body.signing_secret,
            routing_key: body.routing_key,
            api_key: body.api_key,
            api_url: body.api_url,
            recipients: body.recipients,
        }
    }
}

impl From<ConfigPatchBody> for ConfigPatch {
    fn from(body: ConfigPatchBody) -> Self {
        Self {
            webhook_url: body.webhook_url,
            headers: body.headers,
            signing_secret: body.signing_secret,
            routing_key: body.routing_key,
            api_key: body.api_key,
            api_url: body.api_url,
            recipients: body.recipients,
        }
    }
}

impl From<ConfigFields> for ConfigBody {
    fn from(fields: ConfigFields) -> Self {
        Self {
            webhook_url: fields.webhook_url,
            headers: fields.headers,
            signing_secret: fields.signing_secret,
            routing_key: fields.routing_key,
            api_key: fields.api_key,
            api_url: fields.api_url,
            recipients: fields.recipients,
        }
    }
}

impl ChannelSummaryView {
    pub(super) fn new(channel: &Channel, used: ChannelUse) -> Self {
        Self {
            id: channel.id.as_str().to_owned(),
            name: channel.name.clone(),
            channel_type: channel.channel_type.as_str(),
            enabled: channel.enabled,
            verified: channel.is_verified,
            success_count: used.successes,
            failure_count: used.failures,
            last_used_at: used.last_used_at.map(IsoTime),
            last_tested_at: channel.last_tested_at.map(IsoTime),
            created_at: IsoTime(channel.created_at),
        }
    }
}

impl ChannelView {
    /// Returns the channel with redacted secrets.
    pub(super) fn redacted(found: &OpenChannel) -> Self {
        let summary = ChannelSummaryView::new(&found.channel, found.used);
        Self { summary, config: found.config.redacted().into() }
    }

    /// Returns the channel with redacted secrets, except for a signing secret that was just made.
    pub(super) fn after_write(written: &OpenChannel) -> Self {
        let mut view = Self::redacted(written);
        if written.has_new_secret {
            view.config.signing_secret = written.config.revealed().signing_secret;
        }
        view
    }
}

impl From<Outcome> for TestView {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Delivered => {
                let message = Some("the test message was delivered".to_owned());
                Self { success: true, message, error: None }
            }
            Outcome::Retry { reason, .. } | Outcome::Failed { reason, .. } => {
                Self { success: false, message: None, error: Some(reason) }
            }
        }
    }
}
