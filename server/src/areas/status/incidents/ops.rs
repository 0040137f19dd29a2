//! The operations on incidents. All of them block.

use std::sync::Arc;

use telltale_engine::Versioned;

use super::model::{Incident, IncidentChange, IncidentDraft};
use crate::app::App;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::fields;
use crate::areas::status::ids::{IncidentId, MonitorId, PageId};
use crate::areas::status::{incident_notice, limits, references};

/// Returns the incidents of a page, without their updates, newest first: all, the open ones, or the
/// resolved ones.
pub(super) fn list(
    app: &App,
    page: PageId,
    open: Option<bool>,
) -> Result<Vec<Arc<Incident>>, StatusError> {
    let directory = app.status().pages(app)?;
    let incidents = directory.page(page)?.incidents();
    let is_wanted = |incident: &&Arc<Incident>| open.is_none_or(|open| incident.is_open() == open);
    Ok(incidents.iter().filter(is_wanted).map(Arc::clone).collect())
}

/// Returns an incident of a page.
pub(super) fn get(
    app: &App,
    page: PageId,
    id: IncidentId,
) -> Result<Versioned<Incident>, StatusError> {
    app.status().pages(app)?.page(page)?;
    on_page(page, documents::get::<Incident>(app.engine(), &id.text())?)
}

/// Creates an incident on behalf of a user.
pub(super) fn create(
    app: &App,
    page: PageId,
    draft: IncidentDraft,
    created_by: String,
) -> Result<Versioned<Incident>, StatusError> {
    let mut changes = documents::begin(app);
    fields::check_on_page(&draft.monitors, &references::monitors_of_page(&changes, page)?)?;
    let notify = draft.notify_subscribers;
    let id = IncidentId(app.new_number());
    let incident = Incident::new(id, page, draft, created_by, app.now());
    if incident.is_open() {
        check_open(app, page)?;
    }
    changes.insert(&incident)?;
    if notify {
        incident_notice::record(app, &mut changes, &incident)?;
    }
    let revision = changes.commit(None)?;
    Ok(Versioned { value: incident, revision })
}

/// Changes an incident. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    page: PageId,
    id: IncidentId,
    change: IncidentChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Incident>, StatusError> {
    let mut changes = documents::begin(app);
    let on_this_page = references::monitors_of_page(&changes, page)?;
    let found = on_page(page, changes.get::<Incident>(&id.text(), fits)?)?;
    let Versioned { value: mut incident, revision } = found;
    fields::check_on_page(change.monitors.as_deref().unwrap_or_default(), &on_this_page)?;
    let notify = change.notify_subscribers;
    let has_update = incident.change(change, app.now())?;
    changes.replace(&incident, revision)?;
    if notify && has_update {
        incident_notice::record(app, &mut changes, &incident)?;
    }
    let revision = changes.commit(None)?;
    Ok(Versioned { value: incident, revision })
}

/// Deletes an incident.
pub(super) fn delete(
    app: &App,
    page: PageId,
    id: IncidentId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), StatusError> {
    let mut changes = documents::begin(app);
    references::monitors_of_page(&changes, page)?;
    let found = on_page(page, changes.get::<Incident>(&id.text(), fits)?)?;
    changes.delete::<Incident>(&id.text(), found.revision);
    changes.commit(None).map(drop)
}

/// Removes a monitor from the incidents of a page, or of all pages, as part of `changes`. Only
/// those that name it are read, since their messages may be long.
pub(in crate::areas::status) fn remove_monitor(
    app: &App,
    changes: &mut Changes<'_>,
    page: Option<PageId>,
    monitor: MonitorId,
) -> Result<(), StatusError> {
    let (directory, now) = (app.status().pages(app)?, app.now());
    let is_concerned = |incident: &&Incident| {
        let is_there = page.is_none_or(|page| incident.page_id == page);
        is_there && incident.monitors.contains(&monitor)
    };
    for incident in directory.incidents().filter(is_concerned) {
        let found = changes.get::<Incident>(&incident.id.text(), |_| true)?;
        let Versioned { value: mut incident, revision } = found;
        if incident.remove_monitor(monitor, now) {
            changes.replace(&incident, revision)?;
        }
    }
    Ok(())
}

/// Deletes the incidents of a page, as part of `changes`.
pub(in crate::areas::status) fn delete_of_page(
    changes: &mut Changes<'_>,
    page: PageId,
) -> Result<(), StatusError> {
    let of_page = |found: Versioned<Incident>| {
        (found.value.page_id == page).then_some((found.value.id, found.revision))
    };
    for (id, revision) in changes.select(of_page)? {
        changes.delete::<Incident>(&id.text(), revision);
    }
    Ok(())
}

/// Returns the incident if it is one of this page.
fn on_page(page: PageId, found: Versioned<Incident>) -> Result<Versioned<Incident>, StatusError> {
    match found.value.page_id == page {
        true => Ok(found),
        false => Err(StatusError::NotFound(StatusKind::Incident, found.value.id.text())),
    }
}

/// Checks that a page may have another open incident. The caller holds the lock of the documents.
fn check_open(app: &App, page: PageId) -> Result<(), StatusError> {
    let directory = app.status().pages(app)?;
    let max = limits::PAGE_OPEN_INCIDENTS_MAX;
    match directory.page(page)?.open_incidents().count() < max {
        true => Ok(()),
        false => Err(StatusError::TooMany { kind: StatusKind::OpenIncident, max }),
    }
}
