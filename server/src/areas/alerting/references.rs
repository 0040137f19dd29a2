//! References between resources: what else changes when one is deleted.

use super::documents::Changes;
use super::error::AlertingError;
use super::ids::{ChannelId, PolicyId, RuleId, ScheduleId};
use super::{policies, rules, windows};

/// Removes all references to a channel, as part of `changes`. Returns the ids of the policies and
/// rules that had one.
pub(super) fn remove_channel(
    changes: &mut Changes<'_>,
    channel: &ChannelId,
) -> Result<Vec<String>, AlertingError> {
    let policies = policies::remove_channel(changes, channel)?.into_iter().map(String::from);
    let rules = rules::remove_channel(changes, channel)?.into_iter().map(String::from);
    Ok(policies.chain(rules).collect())
}

/// Removes all references to a policy, as part of `changes`. Returns the ids of the rules that had
/// one.
pub(super) fn remove_policy(
    changes: &mut Changes<'_>,
    policy: &PolicyId,
) -> Result<Vec<String>, AlertingError> {
    Ok(rules::remove_policy(changes, policy)?.into_iter().map(String::from).collect())
}

/// Removes all references to a schedule, as part of `changes`. Returns the ids of the rules that
/// had one.
pub(super) fn remove_schedule(
    changes: &mut Changes<'_>,
    schedule: &ScheduleId,
) -> Result<Vec<String>, AlertingError> {
    Ok(rules::remove_schedule(changes, schedule)?.into_iter().map(String::from).collect())
}

/// Removes all references to a rule, as part of `changes`.
pub(super) fn remove_rule(changes: &mut Changes<'_>, rule: &RuleId) -> Result<(), AlertingError> {
    windows::remove_rule(changes, rule)
}
