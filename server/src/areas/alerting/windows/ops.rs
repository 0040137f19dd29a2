//! The operations on maintenance windows. All of them block.

use telltale_engine::Versioned;

use super::model::{NO_RULE, Occurrences, Window, WindowChange, WindowSettings};
use crate::app::App;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::{AlertingError, Invalid};
use crate::areas::alerting::ids::{RuleId, WindowId};
use crate::areas::alerting::rules;

/// Returns what `select` makes of the windows, newest first. Their recurrences, which can take long
/// to compute, are those in memory.
pub(super) fn list<S>(
    app: &App,
    select: impl FnMut(&Window) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    let directory = app.alerting().directory(app)?;
    let mut windows: Vec<&Window> = directory.windows.values().map(AsRef::as_ref).collect();
    // Ids sort by creation time.
    windows.sort_unstable_by(|a, b| b.id.cmp(&a.id));
    Ok(windows.into_iter().filter_map(select).collect())
}

/// Returns one window.
pub(super) fn get(app: &App, id: &WindowId) -> Result<Versioned<Window>, AlertingError> {
    documents::get(app.engine(), id.as_str())
}

/// Creates a window on behalf of a user.
pub(super) fn create(
    app: &App,
    settings: WindowSettings,
    created_by: String,
) -> Result<Versioned<Window>, AlertingError> {
    let occurrences = Occurrences::new(&settings)?;
    let mut changes = documents::begin(app);
    check_rules(&changes, settings.rule_ids.as_deref())?;
    let id = app.new_id(WindowId::PREFIX).into();
    let window = Window { id, settings, occurrences, created_by, created_at: app.now() };
    changes.insert(&window)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: window, revision })
}

/// Changes a window. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: &WindowId,
    change: WindowChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Window>, AlertingError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut window, revision } = changes.get::<Window>(id.as_str(), fits)?;
    check_rules(&changes, change.rule_ids.as_ref().and_then(Option::as_deref))?;
    window.change(change)?;
    changes.replace(&window, revision)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: window, revision })
}

/// Deletes a window.
pub(super) fn delete(
    app: &App,
    id: &WindowId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), AlertingError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Window>(id.as_str(), fits)?;
    changes.delete::<Window>(id.as_str(), found.revision);
    changes.commit(None).map(drop)
}

/// Removes a rule from the muted rules of all windows, as part of `changes`. A window that muted no
/// other rule mutes none then.
pub(in crate::areas::alerting) fn remove_rule(
    changes: &mut Changes<'_>,
    rule: &RuleId,
) -> Result<(), AlertingError> {
    let without = |mut found: Versioned<Window>| found.value.remove_rule(rule).then_some(found);
    for Versioned { value: window, revision } in changes.select(without)? {
        changes.replace(&window, revision)?;
    }
    Ok(())
}

/// Checks that these are ids of alert rules.
pub(super) fn check_rules(
    changes: &Changes<'_>,
    rule_ids: Option<&[String]>,
) -> Result<(), AlertingError> {
    for (i, id) in rule_ids.unwrap_or_default().iter().enumerate() {
        if !rules::exists(changes, &id.clone().into())? {
            return Err(Invalid::field(format!("rule_ids[{i}]"), NO_RULE).into());
        }
    }
    Ok(())
}
