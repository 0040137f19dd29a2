//! The operations on alert rules. All of them block.

use telltale_engine::Versioned;

use super::model::{Rule, RuleChange, RuleSettings};
use crate::app::App;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::{AlertingError, Invalid};
use crate::areas::alerting::ids::{ChannelId, PolicyId, RuleId, ScheduleId};
use crate::areas::alerting::{channels, policies, references, schedules};

/// Returns what `select` makes of the rules, newest first.
pub(super) fn list<S>(
    app: &App,
    select: impl FnMut(Versioned<Rule>) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    documents::select(app.engine(), select)
}

/// Returns whether there is a rule with this id.
pub(in crate::areas::alerting) fn exists(
    changes: &Changes<'_>,
    id: &RuleId,
) -> Result<bool, AlertingError> {
    changes.contains::<Rule>(id.as_str())
}

/// Returns one rule.
pub(super) fn get(app: &App, id: &RuleId) -> Result<Versioned<Rule>, AlertingError> {
    documents::get(app.engine(), id.as_str())
}

/// Creates a rule on behalf of a user.
pub(super) fn create(
    app: &App,
    settings: RuleSettings,
    created_by: String,
) -> Result<Versioned<Rule>, AlertingError> {
    settings.check()?;
    let mut changes = documents::begin(app);
    check_channels(&changes, &settings.channel_ids)?;
    check_policy(&changes, settings.escalation_policy_id.as_ref())?;
    check_schedule(&changes, settings.on_call_schedule_id.as_ref())?;
    let id = app.new_id(RuleId::PREFIX).into();
    let rule = Rule { id, settings, created_by, created_at: app.now() };
    changes.insert(&rule)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: rule, revision })
}

/// Changes a rule. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: &RuleId,
    change: RuleChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Rule>, AlertingError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut rule, revision } = changes.get::<Rule>(id.as_str(), fits)?;
    // The other references are of resources that exist.
    check_channels(&changes, change.channel_ids.as_deref().unwrap_or_default())?;
    check_policy(&changes, change.escalation_policy_id.as_ref().and_then(Option::as_ref))?;
    check_schedule(&changes, change.on_call_schedule_id.as_ref().and_then(Option::as_ref))?;
    rule.settings.change(change)?;
    changes.replace(&rule, revision)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: rule, revision })
}

/// Deletes a rule, and removes it from the maintenance windows that muted it.
pub(super) fn delete(
    app: &App,
    id: &RuleId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), AlertingError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Rule>(id.as_str(), fits)?;
    changes.delete::<Rule>(id.as_str(), found.revision);
    references::remove_rule(&mut changes, id)?;
    changes.commit(None).map(drop)
}

/// Removes a channel from all rules, as part of `changes`. Returns the ids of the rules that had
/// it; likewise in the functions below.
pub(in crate::areas::alerting) fn remove_channel(
    changes: &mut Changes<'_>,
    channel: &ChannelId,
) -> Result<Vec<RuleId>, AlertingError> {
    rewrite(changes, |settings| {
        let before = settings.channel_ids.len();
        settings.channel_ids.retain(|id| id != channel);
        settings.channel_ids.len() < before
    })
}

/// Removes a policy from all rules.
pub(in crate::areas::alerting) fn remove_policy(
    changes: &mut Changes<'_>,
    policy: &PolicyId,
) -> Result<Vec<RuleId>, AlertingError> {
    rewrite(changes, |settings| settings.escalation_policy_id.take_if(|id| id == policy).is_some())
}

/// Removes a schedule from all rules.
pub(in crate::areas::alerting) fn remove_schedule(
    changes: &mut Changes<'_>,
    schedule: &ScheduleId,
) -> Result<Vec<RuleId>, AlertingError> {
    rewrite(changes, |settings| settings.on_call_schedule_id.take_if(|id| id == schedule).is_some())
}

/// Replaces the rules that `edit` changes, and returns their ids.
fn rewrite(
    changes: &mut Changes<'_>,
    edit: impl Fn(&mut RuleSettings) -> bool,
) -> Result<Vec<RuleId>, AlertingError> {
    let edited = |mut found: Versioned<Rule>| edit(&mut found.value.settings).then_some(found);
    let edited = changes.select(edited)?;
    let mut ids = Vec::with_capacity(edited.len());
    for Versioned { value: rule, revision } in edited {
        changes.replace(&rule, revision)?;
        ids.push(rule.id);
    }
    Ok(ids)
}

fn check_channels(changes: &Changes<'_>, ids: &[ChannelId]) -> Result<(), AlertingError> {
    for (i, id) in ids.iter().enumerate() {
        if !channels::exists(changes, id)? {
            let field = format!("channel_ids[{i}]");
            return Err(Invalid::field(field, "must be the id of a notification channel").into());
        }
    }
    Ok(())
}

fn check_policy(changes: &Changes<'_>, id: Option<&PolicyId>) -> Result<(), AlertingError> {
    match id {
        Some(id) if !policies::exists(changes, id)? => {
            let expected = "must be the id of an escalation policy";
            Err(Invalid::field("escalation_policy_id", expected).into())
        }
        _ => Ok(()),
    }
}

fn check_schedule(changes: &Changes<'_>, id: Option<&ScheduleId>) -> Result<(), AlertingError> {
    match id {
        Some(id) if !schedules::exists(changes, id)? => {
            let expected = "must be the id of an on-call schedule";
            Err(Invalid::field("on_call_schedule_id", expected).into())
        }
        _ => Ok(()),
    }
}
