//! Errors in the search by name, and the people that they are assigned to.

use super::ledger::{GroupFilter, SortBy};
use crate::app::App;
use crate::limits;
use crate::platform::name_search::NameMatches;
use crate::platform::people::People;

/// Offers the errors that were seen most recently and have one of the words. Blocks.
pub(in crate::areas) fn offer_errors(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let search = Some(matches.words().longest().to_owned());
    let filter = GroupFilter { search, ..GroupFilter::default() };
    let page = (0, limits::SEARCH_ERRORS_MAX);
    let (groups, _) = app.errors().list(&filter, SortBy::LastSeen, page);
    for group in groups {
        let detail = format!("{}, {}", group.status.as_str(), group.level.as_str());
        matches.offer(&group.title, || (group.id.format(), Some(detail)));
    }
    Ok(())
}

/// Adds the people that errors are assigned to. Blocks.
pub(in crate::areas) fn add_assignees(
    app: &App,
    people: &mut People,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for assignee in app.errors().assignees() {
        people.entry(&assignee).is_assignee = true;
    }
    Ok(())
}
