//! Rules that are deleted or disabled while they have alerts.

use crate::app::App;
use crate::areas::alerting::documents;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::ledger::Directory;
use crate::areas::alerting::rules::Rule;

/// Returns those of `rules` that are deleted or disabled. A rule whose document is damaged is
/// neither.
pub(in crate::areas::alerting) fn ended(
    app: &App,
    directory: &Directory,
    rules: Vec<RuleId>,
) -> Result<Vec<RuleId>, AlertingError> {
    let mut ended = Vec::new();
    for id in rules {
        let has_ended = match directory.rules.get(&id) {
            Some(rule) => !rule.settings.enabled,
            None => !documents::contains::<Rule>(app.engine(), id.as_str())?,
        };
        if has_ended {
            ended.push(id);
        }
    }
    Ok(ended)
}
