//! The operations on channels. All but the test block.

use std::collections::HashMap;

use telltale_engine::{Receipt, TimestampMs, Versioned};

use super::config::ChannelConfig;
use super::deliver::{check_addresses, deliver};
use super::model::{Channel, ChannelChange, ChannelDraft, SealedConfig};
use super::outcome::Outcome;
use super::signature::SigningSecret;
use super::store;
use crate::app::App;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::notice::Notice;
use crate::areas::alerting::references;
use crate::platform::random;

/// The names of all channels.
pub(in crate::areas::alerting) type ChannelNames = HashMap<ChannelId, String>;

/// A channel with its configuration, opened.
pub(super) struct OpenChannel {
    pub(super) channel: Channel,
    pub(super) config: ChannelConfig,
    pub(super) revision: u64,
    /// Whether the server has just made the signing secret, so that it is shown this once.
    pub(super) has_new_secret: bool,
}

/// Returns the names of all channels.
pub(in crate::areas::alerting) fn names(app: &App) -> Result<ChannelNames, AlertingError> {
    let name = |found: Versioned<Channel>| Some((found.value.id, found.value.name));
    Ok(documents::select(app.engine(), name)?.into_iter().collect())
}

/// Returns whether there is a channel with this id.
pub(in crate::areas::alerting) fn exists(
    changes: &Changes<'_>,
    id: &ChannelId,
) -> Result<bool, AlertingError> {
    changes.contains::<Channel>(id.as_str())
}

/// Returns what `select` makes of the channels, newest first.
pub(super) fn list<S>(
    app: &App,
    select: impl FnMut(Versioned<Channel>) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    documents::select(app.engine(), select)
}

/// Returns one channel.
pub(super) fn get(app: &App, id: &ChannelId) -> Result<OpenChannel, AlertingError> {
    open(app, documents::get(app.engine(), id.as_str())?)
}

/// Creates a channel. `receipt` returns the receipt of an idempotent request, which is stored with
/// the channel.
pub(super) fn create<E: From<AlertingError>>(
    app: &App,
    draft: ChannelDraft,
    receipt: impl FnOnce(&OpenChannel) -> Result<Option<Receipt>, E>,
) -> Result<OpenChannel, E> {
    let mut changes = Changes::begin(app);
    let mut created = build(app, &mut changes, draft)?;
    changes.insert(&created.channel)?;
    created.revision = changes.commit(receipt(&created)?)?;
    Ok(created)
}

fn build(
    app: &App,
    changes: &mut Changes<'_>,
    draft: ChannelDraft,
) -> Result<OpenChannel, AlertingError> {
    let fresh = fresh_secret()?;
    let config = ChannelConfig::new(draft.channel_type, draft.config, &fresh)?;
    check_addresses(app, &config)?;
    let id = ChannelId::from(app.new_id(ChannelId::PREFIX));
    let sealed = seal(app, &id, &config, changes.count::<Channel>()? == 0)?;
    let channel = Channel {
        id,
        name: draft.name,
        channel_type: draft.channel_type,
        config: sealed,
        enabled: draft.enabled,
        is_verified: false,
        last_tested_at: None,
        created_at: app.now(),
    };
    let has_new_secret = signing_secret(&config) == Some(&fresh);
    // Known after the commit.
    Ok(OpenChannel { channel, config, revision: 0, has_new_secret })
}

/// Changes a channel. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: &ChannelId,
    change: ChannelChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<OpenChannel, AlertingError> {
    let fresh = fresh_secret()?;
    let mut changes = Changes::begin(app);
    let OpenChannel { mut channel, mut config, revision, .. } =
        open(app, changes.get(id.as_str(), fits)?)?;
    if let Some(patch) = change.config {
        let merged = config.merged(patch, &fresh)?;
        if merged != config {
            check_addresses(app, &merged)?;
            channel.config = seal(app, id, &merged, false)?;
            channel.is_verified = false;
            config = merged;
        }
    }
    if let Some(name) = change.name {
        channel.name = name;
    }
    if let Some(enabled) = change.enabled {
        channel.enabled = enabled;
    }
    changes.replace(&channel, revision)?;
    let revision = changes.commit(None)?;
    let has_new_secret = signing_secret(&config) == Some(&fresh);
    Ok(OpenChannel { channel, config, revision, has_new_secret })
}

/// Deletes a channel, its steps in all policies, and the references of rules. Returns the ids of
/// these policies and rules.
pub(super) fn delete(
    app: &App,
    id: &ChannelId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Vec<String>, AlertingError> {
    let mut changes = Changes::begin(app);
    let found = changes.get::<Channel>(id.as_str(), fits)?;
    changes.delete::<Channel>(id.as_str(), found.revision);
    let removed_from = references::remove_channel(&mut changes, id)?;
    changes.commit(None)?;
    Ok(removed_from)
}

/// Sends a test message, once. The channel may be disabled.
pub(super) async fn test(app: &App, found: &OpenChannel) -> Outcome {
    let id = found.channel.id.as_str();
    let notice = Notice::test(id, app.now(), app.alerting().public_url().map(ToOwned::to_owned));
    let message_id = app.new_id("msg_");
    deliver(app.alerting(), &found.config, &message_id, &notice, app.now()).await
}

/// Records the result of a test.
pub(super) fn record_test(
    app: &App,
    id: &ChannelId,
    tested: &SealedConfig,
    at: TimestampMs,
    is_delivered: bool,
) -> Result<(), AlertingError> {
    let mut changes = Changes::begin(app);
    let Versioned { value: mut channel, revision } =
        changes.get::<Channel>(id.as_str(), |_| true)?;
    channel.last_tested_at = Some(at);
    // The configuration may have been changed during the test.
    channel.is_verified |= is_delivered && channel.config == *tested;
    changes.replace(&channel, revision)?;
    changes.commit(None).map(drop)
}

fn open(app: &App, found: Versioned<Channel>) -> Result<OpenChannel, AlertingError> {
    let Versioned { value: channel, revision } = found;
    let sealed = channel.config.0.parse()?;
    let plain =
        app.alerting().sealer()?.open(&sealed, &store::seal_context(channel.id.as_str()))?;
    let config = store::from_plain(channel.channel_type, &plain)
        .ok_or_else(|| AlertingError::Config(channel.id.as_str().to_owned()))?;
    Ok(OpenChannel { channel, config, revision, has_new_secret: false })
}

fn seal(
    app: &App,
    id: &ChannelId,
    config: &ChannelConfig,
    is_first: bool,
) -> Result<SealedConfig, AlertingError> {
    // A new key next to sealed values that it cannot open would hide that the old one is missing.
    let sealer = if is_first { app.alerting().first_sealer()? } else { app.alerting().sealer()? };
    let plain =
        store::to_plain(config).map_err(|_| AlertingError::Config(id.as_str().to_owned()))?;
    let plain = zeroize::Zeroizing::new(plain);
    Ok(SealedConfig(sealer.seal(&plain, &store::seal_context(id.as_str()))?.to_string()))
}

fn fresh_secret() -> Result<SigningSecret, AlertingError> {
    Ok(SigningSecret::from_random(random::bytes().map_err(std::io::Error::from)?))
}

fn signing_secret(config: &ChannelConfig) -> Option<&SigningSecret> {
    match config {
        ChannelConfig::Webhook(webhook) => Some(&webhook.signing_secret),
        _ => None,
    }
}
