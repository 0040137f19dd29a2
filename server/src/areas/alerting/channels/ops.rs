//! The operations on channels. All but the test block.

use std::collections::HashMap;

use parking_lot::Mutex;
use telltale_engine::{Engine, Error, Receipt, TimestampMs, Versioned};

use super::config::{ChannelConfig, EmailConfig};
use super::counters::{ChannelCounters, ChannelUse};
use super::deliver::{AttemptContext, check_addresses, deliver};
use super::model::{Channel, ChannelChange, ChannelDraft, ChannelFacts, SealedConfig};
use super::outcome::Outcome;
use super::progress::Progress;
use super::signature::SigningSecret;
use super::store;
use crate::app::App;
use crate::areas;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::ChannelId;
use crate::areas::alerting::notice::Notice;
use crate::areas::alerting::{limits, references};
use crate::platform::outbound::Lane;
use crate::platform::random;

/// The names of all channels.
pub(in crate::areas::alerting) type ChannelNames = HashMap<ChannelId, String>;

/// A channel with its configuration, opened.
pub(in crate::areas::alerting) struct OpenChannel {
    pub(super) channel: Channel,
    pub(super) config: ChannelConfig,
    pub(super) used: ChannelUse,
    pub(super) revision: u64,
    /// Whether the server has just made the signing secret, so that it is shown this once.
    pub(super) has_new_secret: bool,
}

/// Loads the counters of all channels.
pub(in crate::areas::alerting) fn load_counters(
    engine: &Engine,
) -> Result<ChannelCounters, AlertingError> {
    let exists = |id: &ChannelId| {
        documents::contains::<Channel>(engine, id.as_str()).map_err(AlertingError::into_engine)
    };
    Ok(ChannelCounters::open(engine.clone(), exists)?)
}

/// Returns the names of all channels.
pub(in crate::areas::alerting) fn names(app: &App) -> Result<ChannelNames, AlertingError> {
    let name = |found: Versioned<Channel>| Some((found.value.id, found.value.name));
    Ok(documents::select(app.engine(), name)?.into_iter().collect())
}

/// Returns what alerts need to know of all channels.
pub(in crate::areas::alerting) fn facts(
    app: &App,
) -> Result<HashMap<ChannelId, ChannelFacts>, AlertingError> {
    let facts = |Versioned { value: channel, .. }: Versioned<Channel>| {
        let is_paging = channel.channel_type.is_paging();
        Some((channel.id, ChannelFacts { is_enabled: channel.enabled, is_paging }))
    };
    Ok(documents::select(app.engine(), facts)?.into_iter().collect())
}

/// Returns whether there are channels, whose configurations are sealed.
pub(crate) fn has_secrets(app: &App) -> Result<bool, Error> {
    documents::any::<Channel>(app.engine())
}

/// Returns whether there is a channel with this id.
pub(in crate::areas::alerting) fn exists(
    changes: &Changes<'_>,
    id: &ChannelId,
) -> Result<bool, AlertingError> {
    changes.contains::<Channel>(id.as_str())
}

/// Returns what `select` makes of the channels and their use, newest first.
pub(super) fn list<S>(
    app: &App,
    mut select: impl FnMut(&Channel, ChannelUse) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    let counters = app.alerting().counters();
    documents::select(app.engine(), |found: Versioned<Channel>| {
        let used = counters.of(&found.value.id);
        select(&found.value, used)
    })
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
    let mut changes = documents::begin(app);
    let mut created = build(app, draft)?;
    changes.insert(&created.channel)?;
    created.revision = changes.commit(receipt(&created)?)?;
    Ok(created)
}

fn build(app: &App, draft: ChannelDraft) -> Result<OpenChannel, AlertingError> {
    let fresh = fresh_secret()?;
    let config = ChannelConfig::new(draft.channel_type, draft.config, &fresh)?;
    check_addresses(app, &config)?;
    let id = ChannelId::from(app.new_id(ChannelId::PREFIX));
    let sealed = seal(app, &id, &config)?;
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
    Ok(OpenChannel { channel, config, used: ChannelUse::default(), revision: 0, has_new_secret })
}

/// Changes a channel. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: &ChannelId,
    change: ChannelChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<OpenChannel, AlertingError> {
    let fresh = fresh_secret()?;
    let mut changes = documents::begin(app);
    let OpenChannel { mut channel, mut config, used, revision, .. } =
        open(app, changes.get(id.as_str(), fits)?)?;
    if let Some(patch) = change.config {
        let merged = config.merged(patch, &fresh)?;
        if merged != config {
            check_addresses(app, &merged)?;
            channel.config = seal(app, id, &merged)?;
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
    Ok(OpenChannel { channel, config, used, revision, has_new_secret })
}

/// Replaces the signing secret of a webhook channel. Requests are also signed with the old one for
/// a day, so that the receiver can be changed meanwhile.
pub(super) fn rotate_secret<E: From<AlertingError>>(
    app: &App,
    id: &ChannelId,
    fits: impl FnOnce(u64) -> bool,
    receipt: impl FnOnce(&OpenChannel) -> Result<Option<Receipt>, E>,
) -> Result<OpenChannel, E> {
    let fresh = fresh_secret()?;
    let mut changes = documents::begin(app);
    let mut found = open(app, changes.get(id.as_str(), fits)?)?;
    let ChannelConfig::Webhook(webhook) = &mut found.config else {
        return Err(AlertingError::NoSigningSecret.into());
    };
    let valid_until = app.now().0.saturating_add(limits::PREVIOUS_SECRET_MS);
    webhook.rotate(fresh, TimestampMs(valid_until));
    found.channel.config = seal(app, id, &found.config)?;
    changes.replace(&found.channel, found.revision)?;
    let receipt = receipt(&found)?;
    found.revision = changes.commit(receipt)?;
    found.has_new_secret = true;
    Ok(found)
}

/// Deletes a channel, its steps in all policies, and the references of rules. Returns the ids of
/// these policies and rules.
pub(super) fn delete(
    app: &App,
    id: &ChannelId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Vec<String>, AlertingError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Channel>(id.as_str(), fits)?;
    changes.delete::<Channel>(id.as_str(), found.revision);
    let removed_from = references::remove_channel(&mut changes, id)?;
    changes.commit(None)?;
    if let Err(error) = app.alerting().counters().remove(id) {
        // The channel is deleted. What is left is removed at the next start.
        tracing::error!(%error, "the counters of a deleted channel could not be removed");
    }
    Ok(removed_from)
}

/// Sends a test message, once. The channel may be disabled.
pub(super) async fn test(app: &App, found: &OpenChannel) -> Outcome {
    let _one_of_few = app.alerting().enter_test().await;
    let id = found.channel.id.as_str();
    let notice = Notice::test(id, app.now(), app.alerting().public_url().map(ToOwned::to_owned));
    let message_id = app.new_id("msg_");
    let progress = Mutex::default();
    // A test must not take the requests of notifications.
    let context = AttemptContext { now: app.now(), lane: Lane::Slow };
    deliver(app.alerting(), &found.config, &message_id, &notice, &progress, context).await
}

/// Records the result of a test.
pub(super) fn record_test(
    app: &App,
    id: &ChannelId,
    tested: &SealedConfig,
    at: TimestampMs,
    is_delivered: bool,
) -> Result<(), AlertingError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut channel, revision } =
        changes.get::<Channel>(id.as_str(), |_| true)?;
    channel.last_tested_at = Some(at);
    // The configuration may have been changed during the test.
    channel.is_verified |= is_delivered && channel.config == *tested;
    changes.replace(&channel, revision)?;
    changes.commit(None).map(drop)
}

/// Returns a channel to send a message to, or why none can be sent.
pub(in crate::areas::alerting) fn ready(
    app: &App,
    id: &ChannelId,
) -> Result<Result<OpenChannel, &'static str>, AlertingError> {
    match get(app, id) {
        Ok(found) if found.channel.enabled => Ok(Ok(found)),
        Ok(_) => Ok(Err("the channel is disabled")),
        Err(AlertingError::NotFound(..)) => Ok(Err("the channel does not exist")),
        Err(error) => Err(error),
    }
}

/// Sends a message about alerts to a channel, once.
pub(in crate::areas::alerting) async fn send(
    app: &App,
    channel: &OpenChannel,
    message_id: &str,
    notice: &Notice,
    progress: &Mutex<Progress>,
    lane: Lane,
) -> Outcome {
    let context = AttemptContext { now: app.now(), lane };
    deliver(app.alerting(), &channel.config, message_id, notice, progress, context).await
}

/// Sends a message about alerts to a person, once.
pub(in crate::areas::alerting) async fn send_to_person(
    app: &App,
    address: &str,
    message_id: &str,
    notice: &Notice,
    progress: &Mutex<Progress>,
) -> Outcome {
    match address.parse() {
        Ok(address) => {
            let config = ChannelConfig::Email(EmailConfig { recipients: vec![address] });
            let context = AttemptContext { now: app.now(), lane: Lane::Usual };
            deliver(app.alerting(), &config, message_id, notice, progress, context).await
        }
        Err(_) => {
            let reason = "the address is not a valid one".to_owned();
            Outcome::Failed { reason, disables: false }
        }
    }
}

/// Counts an attempt to send a message. A channel whose receiver is gone is disabled.
pub(in crate::areas::alerting) fn count_attempt(
    app: &App,
    used: &OpenChannel,
    outcome: &Outcome,
) -> Result<(), AlertingError> {
    let is_delivered = *outcome == Outcome::Delivered;
    let id = &used.channel.id;
    if !documents::contains::<Channel>(app.engine(), id.as_str())? {
        // It was deleted meanwhile, with its counters.
        return Ok(());
    }
    app.alerting().counters().count(id, is_delivered, app.now())?;
    match outcome {
        Outcome::Failed { reason, disables: true } => disable(app, &used.channel, reason),
        _ => Ok(()),
    }
}

/// Disables a channel, unless its configuration was changed since it was `used`.
fn disable(app: &App, used: &Channel, reason: &str) -> Result<(), AlertingError> {
    let id = used.id.as_str();
    let mut changes = documents::begin(app);
    let found = changes.get::<Channel>(id, |_| true);
    let Versioned { value: mut channel, revision } = match found {
        Err(AlertingError::NotFound(..)) => return Ok(()),
        found => found?,
    };
    if channel.config != used.config {
        return Ok(());
    }
    tracing::warn!(channel = id, reason, "a channel was disabled: its receiver is gone");
    channel.enabled = false;
    channel.is_verified = false;
    changes.replace(&channel, revision)?;
    changes.commit(None).map(drop)
}

fn open(app: &App, found: Versioned<Channel>) -> Result<OpenChannel, AlertingError> {
    let Versioned { value: channel, revision } = found;
    let sealed = channel.config.0.parse()?;
    let plain = app
        .alerting()
        .secrets()
        .sealer()?
        .open(&sealed, &store::seal_context(channel.id.as_str()))?;
    let config = store::from_plain(channel.channel_type, &plain)
        .ok_or_else(|| AlertingError::Config(channel.id.as_str().to_owned()))?;
    let used = app.alerting().counters().of(&channel.id);
    Ok(OpenChannel { channel, config, used, revision, has_new_secret: false })
}

fn seal(app: &App, id: &ChannelId, config: &ChannelConfig) -> Result<SealedConfig, AlertingError> {
    let sealer = areas::sealer_of_new_secrets(app, app.alerting().secrets())?;
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

/// Returns the ids and names of all channels.
pub(in crate::areas::alerting) fn named(app: &App) -> Result<Vec<(String, String)>, AlertingError> {
    documents::select(app.engine(), |found: Versioned<Channel>| {
        Some((found.value.id.as_str().to_owned(), found.value.name))
    })
}
