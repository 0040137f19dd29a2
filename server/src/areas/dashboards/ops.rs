//! The operations of the area. All of them block.
//!
//! A change reads the dashboard, applies itself and writes the whole document on condition that its
//! revision has not changed; on conflict it starts over with the current revision. No change is
//! lost, and the caller's `If-Match` holds at the moment of the write.

use telltale_engine::{Receipt, TimestampMs};

use super::definition::Definition;
use super::error::{DashboardsError, Invalid};
use super::model::{
    Dashboard, DashboardChange, DashboardDraft, DashboardId, Move, Summary, Versioned, Widget,
    WidgetChange, WidgetDraft, WidgetId,
};
use super::store::{self, WriteOutcome};
use crate::app::App;
use crate::areas::metrics;
use crate::limits;

/// Returns all dashboards, newest first.
pub(super) fn list(app: &App) -> Result<Vec<Summary>, DashboardsError> {
    Ok(store::list(app.engine())?)
}

/// Returns one dashboard with its revision.
pub(super) fn get(app: &App, id: &DashboardId) -> Result<Versioned<Dashboard>, DashboardsError> {
    store::get(app.engine(), id)?.ok_or_else(|| DashboardsError::NotFound(id.as_str().to_owned()))
}

/// Builds a dashboard from the draft of a user, without storing it.
pub(super) fn build(
    app: &App,
    draft: DashboardDraft,
    by: &str,
) -> Result<Dashboard, DashboardsError> {
    let now = app.now();
    let mut dashboard = Dashboard {
        id: app.new_id(DashboardId::PREFIX).into(),
        name: draft.name,
        description: draft.description,
        created_at: now,
        updated_at: now,
        updated_by: Some(by.to_owned()),
        variables: draft.variables,
        overlays: draft.overlays,
        widgets: Vec::new(),
    };
    for (i, widget_draft) in draft.widgets.into_iter().enumerate() {
        let outer = format!("widgets[{i}]");
        check(app, &widget_draft.definition).map_err(|invalid| invalid.within(&outer))?;
        dashboard.add(app.new_id(WidgetId::PREFIX).into(), now, widget_draft)?;
    }
    Ok(dashboard)
}

/// Builds a copy of a dashboard, named `name` or after the original, without storing it.
pub(super) fn copy(
    app: &App,
    id: &DashboardId,
    name: Option<String>,
    by: &str,
) -> Result<Dashboard, DashboardsError> {
    let original = get(app, id)?.value;
    let widget_draft = |definition| WidgetDraft { definition, is_placed: true };
    let widgets = original.widgets.into_iter().map(|widget| widget_draft(widget.definition));
    let draft = DashboardDraft {
        name: name.unwrap_or_else(|| name_of_copy(&original.name)),
        description: original.description,
        variables: original.variables,
        overlays: original.overlays,
        widgets: widgets.collect(),
    };
    build(app, draft, by)
}

/// Stores a new dashboard together with the receipt of an idempotent request.
pub(super) fn insert(
    app: &App,
    dashboard: Dashboard,
    receipt: Option<Receipt>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    let _insert_guard = app.dashboard_inserts().lock();
    if store::count(app.engine())? >= limits::DASHBOARDS_MAX {
        return Err(DashboardsError::TooMany);
    }
    let revision = store::insert(app.engine(), &dashboard, receipt)?;
    Ok(Versioned { value: dashboard, revision })
}

/// Who changes a dashboard, and which revision may be changed.
#[derive(Debug)]
pub(super) struct Edit<Fits> {
    pub(super) by: String,
    /// Returns whether a revision satisfies the caller's `If-Match`.
    pub(super) fits: Fits,
}

/// Changes the name and description.
pub(super) fn update(
    app: &App,
    id: &DashboardId,
    change: &DashboardChange,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    rewrite(app, id, edit, |dashboard, _| {
        if let Some(name) = &change.name {
            dashboard.name.clone_from(name);
        }
        if let Some(description) = &change.description {
            dashboard.description.clone_from(description);
        }
        Ok(())
    })
}

/// Deletes a dashboard with its widgets.
pub(super) fn delete(
    app: &App,
    id: &DashboardId,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<(), DashboardsError> {
    for _ in 0..limits::DASHBOARD_TRIES_MAX {
        let found = get(app, id)?;
        edit.check(found.revision)?;
        if let WriteOutcome::Written(_) = store::delete(app.engine(), id, found.revision)? {
            return Ok(());
        }
    }
    Err(DashboardsError::Busy)
}

/// Adds a widget. Returns its id and the dashboard.
pub(super) fn add_widget(
    app: &App,
    id: &DashboardId,
    widget_draft: &WidgetDraft,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<(WidgetId, Versioned<Dashboard>), DashboardsError> {
    // An unknown dashboard is reported before an invalid widget.
    get(app, id)?;
    check(app, &widget_draft.definition)?;
    let widget_id = WidgetId::from(app.new_id(WidgetId::PREFIX));
    let written = rewrite(app, id, edit, |dashboard, now| {
        dashboard.add(widget_id.clone(), now, widget_draft.clone())
    })?;
    Ok((widget_id, written))
}

/// Validates a widget that is not stored.
pub(super) fn unstored(app: &App, draft: WidgetDraft) -> Result<Widget, DashboardsError> {
    check(app, &draft.definition)?;
    let id = WidgetId::from(app.new_id(WidgetId::PREFIX));
    Ok(Widget { id, created_at: app.now(), definition: draft.definition })
}

/// Changes a widget and validates the result.
pub(super) fn update_widget(
    app: &App,
    id: &DashboardId,
    widget_id: &WidgetId,
    change: &WidgetChange,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    rewrite(app, id, edit, |dashboard, _| {
        let changed = dashboard.change_widget(widget_id, change.clone())?;
        Ok(check(app, changed)?)
    })
}

/// Removes a widget.
pub(super) fn delete_widget(
    app: &App,
    id: &DashboardId,
    widget_id: &WidgetId,
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<(), DashboardsError> {
    rewrite(app, id, edit, |dashboard, _| dashboard.remove(widget_id)).map(drop)
}

/// Moves widgets atomically.
pub(super) fn arrange(
    app: &App,
    id: &DashboardId,
    moves: &[Move],
    edit: &Edit<impl Fn(u64) -> bool>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    rewrite(app, id, edit, |dashboard, _| dashboard.arrange(moves))
}

/// Returns whether any dashboard exists.
pub(super) fn any_exists(app: &App) -> Result<bool, DashboardsError> {
    Ok(store::count(app.engine())? > 0)
}

impl<Fits: Fn(u64) -> bool> Edit<Fits> {
    fn check(&self, revision: u64) -> Result<(), DashboardsError> {
        if (self.fits)(revision) { Ok(()) } else { Err(DashboardsError::Changed(revision)) }
    }
}

/// Changes a dashboard, however often others change it meanwhile.
pub(super) fn rewrite(
    app: &App,
    id: &DashboardId,
    edit: &Edit<impl Fn(u64) -> bool>,
    change: impl Fn(&mut Dashboard, TimestampMs) -> Result<(), DashboardsError>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    for _ in 0..limits::DASHBOARD_TRIES_MAX {
        let before = get(app, id)?;
        edit.check(before.revision)?;
        let (mut dashboard, now) = (before.value.clone(), app.now());
        change(&mut dashboard, now)?;
        // The clock may step back, but `updated_at` must not.
        dashboard.updated_at = dashboard.updated_at.max(now);
        dashboard.updated_by = Some(edit.by.clone());
        if let WriteOutcome::Written(revision) = store::replace(app.engine(), &dashboard, &before)?
        {
            return Ok(Versioned { value: dashboard, revision });
        }
    }
    Err(DashboardsError::Busy)
}

/// Validates a widget; if its metric exists, the aggregation must suit the metric's type.
pub(super) fn check(app: &App, definition: &Definition) -> Result<(), Invalid> {
    let metric = definition.query.metric.as_deref();
    definition.check(metric.and_then(|name| metrics::kind_of(app, name)))
}

/// Returns the original name with a suffix, truncated to the maximum length of a name.
fn name_of_copy(name: &str) -> String {
    const SUFFIX: &str = " (copy)";
    let kept = limits::DASHBOARD_NAME_CHARS_MAX - SUFFIX.len();
    name.chars().take(kept).chain(SUFFIX.chars()).collect()
}
