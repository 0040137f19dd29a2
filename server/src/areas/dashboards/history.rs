//! Whole dashboards replaced, and earlier versions of them: listed, read, restored. All of it
//! blocks.

use super::error::DashboardsError;
use super::model::{
    Dashboard, DashboardId, Replacement, VersionNumber, VersionSummary, Versioned, WidgetId,
};
use super::ops::{self, Edit};
use super::store;
use crate::app::App;

/// Replaces everything in a dashboard.
pub(super) fn replace(
    app: &App,
    id: &DashboardId,
    replacement: &Replacement,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    // An unknown dashboard is reported before an invalid widget.
    ops::get(app, id)?;
    for (i, widget) in replacement.draft.widgets.iter().enumerate() {
        let outer = format!("widgets[{i}]");
        ops::check(app, &widget.definition).map_err(|invalid| invalid.within(&outer))?;
    }
    let is_wanted = |now| replacement.version.is_none_or(|VersionNumber(version)| version == now);
    let fits = |now| (edit.fits)(now) && is_wanted(now);
    let edit = Edit { by: edit.by.clone(), fits };
    let new_id = || WidgetId::from(app.new_id(WidgetId::PREFIX));
    let replaced = ops::rewrite(app, id, &edit, |dashboard, now| {
        dashboard.replace(replacement.clone(), now, new_id)
    });
    replaced.map_err(|error| match error {
        DashboardsError::Changed(now) if !is_wanted(now) => DashboardsError::OtherVersion(now),
        error => error,
    })
}

/// Returns all versions of a dashboard that are kept, the current one first.
pub(super) fn versions(
    app: &App,
    id: &DashboardId,
) -> Result<Vec<VersionSummary>, DashboardsError> {
    let current = ops::get(app, id)?;
    let number = VersionNumber(current.revision);
    let mut versions = store::versions(app.engine(), id)?;
    // One that was written since the dashboard was read.
    versions.retain(|version| version.number < number);
    versions.push(VersionSummary {
        number,
        name: current.value.name,
        saved_at: current.value.updated_at,
        saved_by: current.value.updated_by,
        widgets_count: current.value.widgets.len(),
    });
    versions.reverse();
    Ok(versions)
}

/// Returns a version of a dashboard.
pub(super) fn version(
    app: &App,
    id: &DashboardId,
    number: VersionNumber,
) -> Result<Dashboard, DashboardsError> {
    let current = ops::get(app, id)?;
    if current.revision == number.0 {
        return Ok(current.value);
    }
    let found = store::version(app.engine(), id, number)?;
    found.ok_or(DashboardsError::VersionNotFound(number.0))
}

/// Makes a dashboard as it was in an earlier version; the current one is kept as well.
pub(super) fn restore(
    app: &App,
    id: &DashboardId,
    number: VersionNumber,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    let wanted = version(app, id, number)?;
    ops::rewrite(app, id, edit, |dashboard, _| {
        dashboard.restore(wanted.clone());
        Ok(())
    })
}
