//! Rules, channels, schedules and policies in the search by name, and the members of schedules.

use telltale_engine::Versioned;

use super::documents;
use super::policies::Policy;
use super::rules::Rule;
use super::schedules::Schedule;
use super::{channels, schedules};
use crate::app::App;
use crate::platform::name_search::NameMatches;
use crate::platform::people::People;

/// Offers all alert rules. Blocks.
pub(in crate::areas) fn offer_rules(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    documents::select(app.engine(), |found: Versioned<Rule>| -> Option<()> {
        let rule = found.value;
        let severity = rule.settings.severity.as_str().to_owned();
        matches.offer(&rule.settings.name, || (rule.id.as_str().to_owned(), Some(severity)));
        None
    })?;
    Ok(())
}

/// Offers all channels. Blocks.
pub(in crate::areas) fn offer_channels(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for (id, name) in channels::named(app)? {
        matches.offer(&name, || (id, None));
    }
    Ok(())
}

/// Offers all on-call schedules. Blocks.
pub(in crate::areas) fn offer_schedules(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for (id, name) in schedules::named(app)? {
        matches.offer(&name, || (id, None));
    }
    Ok(())
}

/// Offers all escalation policies. Blocks.
pub(in crate::areas) fn offer_policies(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    documents::select(app.engine(), |found: Versioned<Policy>| -> Option<()> {
        let policy = found.value;
        let describe = || (policy.id.as_str().to_owned(), policy.description.clone());
        matches.offer(&policy.name, describe);
        None
    })?;
    Ok(())
}

/// Adds the members of schedules. Blocks.
pub(in crate::areas) fn add_members(
    app: &App,
    people: &mut People,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    documents::select(app.engine(), |found: Versioned<Schedule>| -> Option<()> {
        for member in found.value.member_addresses() {
            people.entry(member).is_on_call_member = true;
        }
        None
    })?;
    Ok(())
}
