//! The verbs of the area. All of them block.
//!
//! A change reads the dashboard, makes itself, and writes the whole on condition that nobody wrote since; else it
//! begins anew with what is there now. So no change is lost, and a condition of the caller holds at the moment
//! of the write.

use telltale_engine::{Receipt, TimestampMs, Versioned};

use super::definition::Definition;
use super::error::{DashboardsError, Invalid};
use super::model::{Change, Dashboard, Draft, Move, Summary, UnplacedWidget, WidgetChange};
use super::store::{self, Outcome};
use crate::app::App;
use crate::areas::metrics;
use crate::limits;

const DASHBOARD_PREFIX: &str = "dash_";
const WIDGET_PREFIX: &str = "widget_";

/// All dashboards, the newest first.
pub(super) fn list(app: &App) -> Result<Vec<Summary>, DashboardsError> {
    Ok(store::list(app.engine())?)
}

/// One dashboard.
pub(super) fn get(app: &App, id: &str) -> Result<Versioned<Dashboard>, DashboardsError> {
    store::get(app.engine(), id)?.ok_or_else(|| DashboardsError::NotFound(id.to_owned()))
}

/// Makes a dashboard of a draft. It is not stored yet.
pub(super) fn make(app: &App, draft: Draft) -> Result<Dashboard, DashboardsError> {
    let now = app.now();
    let mut dashboard = Dashboard {
        id: app.new_id(DASHBOARD_PREFIX),
        name: draft.name,
        description: draft.description,
        created_at: now,
        updated_at: now,
        widgets: Vec::new(),
    };
    for (i, sketch) in draft.widgets.into_iter().enumerate() {
        let outer = format!("widgets[{i}]");
        check(app, &sketch.definition).map_err(|invalid| invalid.within(&outer))?;
        dashboard.add(app.new_id(WIDGET_PREFIX), now, sketch)?;
    }
    Ok(dashboard)
}

/// Makes a copy of a dashboard, called `name` or after the original. It is not stored yet.
pub(super) fn copy(
    app: &App,
    id: &str,
    name: Option<String>,
) -> Result<Dashboard, DashboardsError> {
    let original = get(app, id)?.value;
    let sketch = |definition| UnplacedWidget { definition, is_placed: true };
    let widgets = original.widgets.into_iter().map(|widget| sketch(widget.definition));
    let draft = Draft {
        name: name.unwrap_or_else(|| name_of_copy(&original.name)),
        description: original.description,
        widgets: widgets.collect(),
    };
    make(app, draft)
}

/// Stores a new dashboard, and with it the receipt of an idempotent request.
pub(super) fn insert(
    app: &App,
    dashboard: Dashboard,
    receipt: Option<Receipt>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    if store::count(app.engine())? >= limits::DASHBOARDS_MAX {
        return Err(DashboardsError::TooMany);
    }
    let revision = store::insert(app.engine(), &dashboard, receipt)?;
    Ok(Versioned { value: dashboard, revision })
}

/// Changes name and description. `fits` says whether a revision is one that the caller wants to change; so below.
pub(super) fn update(
    app: &App,
    id: &str,
    change: &Change,
    fits: impl Fn(u64) -> bool,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    rewrite(app, id, fits, |dashboard, _| {
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
    id: &str,
    fits: impl Fn(u64) -> bool,
) -> Result<(), DashboardsError> {
    for _ in 0..limits::DASHBOARD_TRIES_MAX {
        let found = get(app, id)?;
        if !fits(found.revision) {
            return Err(DashboardsError::Changed);
        }
        if let Outcome::Written(_) = store::delete(app.engine(), id, found.revision)? {
            return Ok(());
        }
    }
    Err(DashboardsError::Busy)
}

/// Adds a widget. Answers its id and the dashboard.
pub(super) fn add_widget(
    app: &App,
    id: &str,
    sketch: &UnplacedWidget,
    fits: impl Fn(u64) -> bool,
) -> Result<(String, Versioned<Dashboard>), DashboardsError> {
    // An unknown dashboard is told before a widget that cannot be.
    get(app, id)?;
    check(app, &sketch.definition)?;
    let widget_id = app.new_id(WIDGET_PREFIX);
    let written = rewrite(app, id, fits, |dashboard, now| {
        dashboard.add(widget_id.clone(), now, sketch.clone())
    })?;
    Ok((widget_id, written))
}

/// Changes a widget.
pub(super) fn update_widget(
    app: &App,
    id: &str,
    widget_id: &str,
    change: &WidgetChange,
    fits: impl Fn(u64) -> bool,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    rewrite(app, id, fits, |dashboard, _| {
        let changed = dashboard.change_widget(widget_id, change.clone())?;
        Ok(check(app, changed)?)
    })
}

/// Removes a widget.
pub(super) fn delete_widget(
    app: &App,
    id: &str,
    widget_id: &str,
    fits: impl Fn(u64) -> bool,
) -> Result<(), DashboardsError> {
    rewrite(app, id, fits, |dashboard, _| dashboard.remove(widget_id)).map(drop)
}

/// Moves widgets, all or none.
pub(super) fn arrange(
    app: &App,
    id: &str,
    moves: &[Move],
    fits: impl Fn(u64) -> bool,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    rewrite(app, id, fits, |dashboard, _| dashboard.arrange(moves))
}

/// Whether there is any dashboard.
pub(super) fn is_any(app: &App) -> Result<bool, DashboardsError> {
    Ok(store::count(app.engine())? > 0)
}

fn rewrite(
    app: &App,
    id: &str,
    fits: impl Fn(u64) -> bool,
    change: impl Fn(&mut Dashboard, TimestampMs) -> Result<(), DashboardsError>,
) -> Result<Versioned<Dashboard>, DashboardsError> {
    for _ in 0..limits::DASHBOARD_TRIES_MAX {
        let Versioned { value: mut dashboard, revision } = get(app, id)?;
        if !fits(revision) {
            return Err(DashboardsError::Changed);
        }
        let now = app.now();
        change(&mut dashboard, now)?;
        // The clock may step back; a dashboard does not.
        dashboard.updated_at = dashboard.updated_at.max(now);
        if let Outcome::Written(revision) = store::replace(app.engine(), &dashboard, revision)? {
            return Ok(Versioned { value: dashboard, revision });
        }
    }
    Err(DashboardsError::Busy)
}

/// Refuses a widget that cannot be. A metric that exists must have the aggregation.
fn check(app: &App, definition: &Definition) -> Result<(), Invalid> {
    let metric = definition.query.metric.as_deref();
    definition.check(metric.and_then(|name| metrics::kind_of(app, name)))
}

/// The original's name and that it is a copy, as much of it as a name may have.
fn name_of_copy(name: &str) -> String {
    const SUFFIX: &str = " (copy)";
    let kept = limits::DASHBOARD_NAME_CHARS_MAX - SUFFIX.len();
    name.chars().take(kept).chain(SUFFIX.chars()).collect()
}
