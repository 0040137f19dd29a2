//! The operations on escalation policies. All of them block.

use std::collections::HashMap;

use telltale_engine::Versioned;

use super::model::{Policy, PolicyChange, PolicyDraft, Steps};
use crate::app::App;
use crate::areas::alerting::channels::{self, ChannelNames};
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::{AlertingError, Invalid};
use crate::areas::alerting::ids::{ChannelId, PolicyId};
use crate::areas::alerting::references;

/// A policy with the names of its channels.
pub(super) struct NamedPolicy {
    pub(super) policy: Versioned<Policy>,
    pub(super) channel_names: ChannelNames,
}

/// Returns what `select` makes of the policies, newest first.
pub(super) fn list<S>(
    app: &App,
    select: impl FnMut(Versioned<Policy>) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    documents::select(app.engine(), select)
}

/// Returns whether there is a policy with this id.
pub(in crate::areas::alerting) fn exists(
    changes: &Changes<'_>,
    id: &PolicyId,
) -> Result<bool, AlertingError> {
    changes.contains::<Policy>(id.as_str())
}

/// Returns one policy.
pub(super) fn get(app: &App, id: &PolicyId) -> Result<NamedPolicy, AlertingError> {
    let policy = documents::get(app.engine(), id.as_str())?;
    Ok(NamedPolicy { policy, channel_names: channels::names(app)? })
}

/// Creates a policy.
pub(super) fn create(app: &App, draft: PolicyDraft) -> Result<NamedPolicy, AlertingError> {
    let mut changes = documents::begin(app);
    let channel_names = channels::names(app)?;
    check_channels(&draft.steps, &channel_names)?;
    let policy = Policy::new(app.new_id(PolicyId::PREFIX).into(), draft, app.now());
    changes.insert(&policy)?;
    let revision = changes.commit(None)?;
    Ok(NamedPolicy { policy: Versioned { value: policy, revision }, channel_names })
}

/// Changes a policy. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: &PolicyId,
    change: PolicyChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<NamedPolicy, AlertingError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut policy, revision } = changes.get::<Policy>(id.as_str(), fits)?;
    let channel_names = channels::names(app)?;
    if let Some(steps) = &change.steps {
        check_channels(steps, &channel_names)?;
    }
    policy.change(change)?;
    changes.replace(&policy, revision)?;
    let revision = changes.commit(None)?;
    Ok(NamedPolicy { policy: Versioned { value: policy, revision }, channel_names })
}

/// Deletes a policy, and the references of rules. Returns the ids of these rules.
pub(super) fn delete(
    app: &App,
    id: &PolicyId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Vec<String>, AlertingError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Policy>(id.as_str(), fits)?;
    changes.delete::<Policy>(id.as_str(), found.revision);
    let removed_from = references::remove_policy(&mut changes, id)?;
    changes.commit(None)?;
    Ok(removed_from)
}

/// Removes a channel from the steps of all policies, as part of `changes`. Returns the ids of the
/// policies that had it.
pub(in crate::areas::alerting) fn remove_channel(
    changes: &mut Changes<'_>,
    channel: &ChannelId,
) -> Result<Vec<PolicyId>, AlertingError> {
    let mut changed = Vec::new();
    let without = |mut found: Versioned<Policy>| found.value.steps.remove(channel).then_some(found);
    for Versioned { value: policy, revision } in changes.select(without)? {
        changes.replace(&policy, revision)?;
        changed.push(policy.id);
    }
    Ok(changed)
}

fn check_channels(steps: &Steps, known: &HashMap<ChannelId, String>) -> Result<(), Invalid> {
    for (i, step) in steps.as_slice().iter().enumerate() {
        if !known.contains_key(&step.channel_id) {
            let field = format!("steps[{i}].channel_id");
            return Err(Invalid::field(field, "must be the id of a notification channel"));
        }
    }
    Ok(())
}
