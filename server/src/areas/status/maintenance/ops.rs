//! The operations on scheduled maintenances. All of them block.

use std::sync::Arc;

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Maintenance, MaintenanceChange, MaintenanceDraft, MaintenanceStatus};
use super::muting::{self, MutingChange};
use super::notice::{self, Step};
use super::space;
use crate::app::App;
use crate::areas::alerting::{LinkedMuting, LinkedWindows};
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::fields;
use crate::areas::status::ids::{MaintenanceId, MonitorId, PageId};
use crate::areas::status::pages::Page;
use crate::areas::status::{notices, references};

/// A maintenance as it is now.
#[derive(Clone, Debug)]
pub(super) struct CurrentMaintenance {
    pub(super) maintenance: Maintenance,
    pub(super) revision: u64,
    /// `None` if it has no window.
    pub(super) muting: Option<LinkedMuting>,
}

/// A maintenance in a list.
#[derive(Clone, Debug)]
pub(super) struct ListedMaintenance {
    pub(super) maintenance: Arc<Maintenance>,
    /// Whether its window is switched on; `None` if it has none.
    pub(super) is_muting: Option<bool>,
}

/// Returns some maintenances of a page, those that end last first.
pub(super) fn list(
    app: &App,
    page: PageId,
    offset: usize,
    limit: usize,
) -> Result<Vec<ListedMaintenance>, StatusError> {
    let (directory, now) = (app.status().pages(app)?, app.now());
    let all = directory.page(page)?.maintenances().iter().rev();
    let listed = |maintenance: &Arc<Maintenance>| {
        let is_muting = muting::is_active(app, maintenance, now)?;
        Ok(ListedMaintenance { maintenance: Arc::clone(maintenance), is_muting })
    };
    all.skip(offset).take(limit).map(listed).collect()
}

/// Returns a maintenance of a page.
pub(super) fn get(
    app: &App,
    page: PageId,
    id: MaintenanceId,
) -> Result<CurrentMaintenance, StatusError> {
    app.status().pages(app)?.page(page)?;
    let found = on_page(page, documents::get::<Maintenance>(app.engine(), &id.text())?)?;
    let Versioned { value: maintenance, revision } = found;
    let muting = muting::of(app, &maintenance, app.now())?;
    Ok(CurrentMaintenance { maintenance, revision, muting })
}

/// Schedules a maintenance on behalf of a user.
pub(super) fn create(
    app: &App,
    page: PageId,
    mut draft: MaintenanceDraft,
    created_by: String,
) -> Result<CurrentMaintenance, StatusError> {
    let now = app.now();
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    fields::check_on_page(&draft.monitors, &references::monitors_of_page(&changes, page)?)?;
    let muted = draft.muted.take();
    let id = MaintenanceId(app.new_number());
    let mut maintenance = Maintenance::new(id, page, draft, created_by, now)?;
    space::make(app, &mut changes, &mut windows)?;
    let begin = |rule_ids| muting::begin(&mut windows, &mut maintenance, rule_ids);
    let muting = muted.map(begin).transpose()?;
    changes.insert(&maintenance)?;
    // Of one that has begun already, the beginning is noticed.
    if maintenance.status_at(now) == MaintenanceStatus::Scheduled {
        record_notice(app, &mut changes, &maintenance, Step::Planned)?;
    }
    let revision = windows.commit_with(changes)?;
    Ok(CurrentMaintenance { maintenance, revision, muting })
}

/// Changes a maintenance that is not completed. `fits` returns whether a revision satisfies the
/// caller's `If-Match`.
pub(super) fn update(
    app: &App,
    page: PageId,
    id: MaintenanceId,
    (change, muting_change): (MaintenanceChange, MutingChange),
    fits: impl FnOnce(u64) -> bool,
) -> Result<CurrentMaintenance, StatusError> {
    let now = app.now();
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    let on_this_page = references::monitors_of_page(&changes, page)?;
    let found = on_page(page, changes.get::<Maintenance>(&id.text(), fits)?)?;
    let Versioned { value: before, revision } = found;
    if before.status_at(now) == MaintenanceStatus::Completed {
        return Err(StatusError::State("the maintenance is completed"));
    }
    fields::check_on_page(change.monitors.as_deref().unwrap_or_default(), &on_this_page)?;
    let muted_before = muting::before(&windows, &before)?;
    let mut maintenance = before.clone();
    maintenance.change(change, now)?;
    let was = (&before, muted_before.as_ref());
    let muting = if maintenance.status_at(now) == MaintenanceStatus::Completed {
        muting::end(&mut windows, &mut maintenance)?;
        None
    } else {
        muting::change(&mut windows, was, &mut maintenance, muting_change)?
    };
    if maintenance == before && muting == muted_before {
        return Ok(CurrentMaintenance { maintenance, revision, muting });
    }
    changes.replace(&maintenance, revision)?;
    if let Some(step) = step_of_change(&before, &maintenance, revision, now) {
        record_notice(app, &mut changes, &maintenance, step)?;
    }
    let revision = windows.commit_with(changes)?;
    Ok(CurrentMaintenance { maintenance, revision, muting })
}

/// Returns what a change of a maintenance is to subscribers; `None` if it is nothing to them.
fn step_of_change(
    before: &Maintenance,
    after: &Maintenance,
    revision: u64,
    now: TimestampMs,
) -> Option<Step> {
    let begun_at = |one: &Maintenance| {
        (notice::due_step(one, now) == Some(Step::Begun)).then_some(one.starts_at)
    };
    match after.status_at(now) {
        MaintenanceStatus::Completed => Some(Step::Completed),
        // The sweep notices the beginning.
        _ if begun_at(after).is_some() && begun_at(after) != begun_at(before) => None,
        _ if !after.looks_like(before) => Some(Step::Changed(revision)),
        // Nobody was notified of it until now.
        MaintenanceStatus::Scheduled if !before.notify_subscribers => Some(Step::Planned),
        _ => None,
    }
}

/// Deletes a maintenance, and its window.
pub(super) fn delete(
    app: &App,
    page: PageId,
    id: MaintenanceId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), StatusError> {
    let now = app.now();
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    references::monitors_of_page(&changes, page)?;
    let found = on_page(page, changes.get::<Maintenance>(&id.text(), fits)?)?;
    let mut maintenance = found.value;
    changes.delete::<Maintenance>(&id.text(), found.revision);
    muting::end(&mut windows, &mut maintenance)?;
    match maintenance.status_at(now) {
        MaintenanceStatus::Scheduled => {
            record_notice(app, &mut changes, &maintenance, Step::Cancelled)?;
        }
        MaintenanceStatus::InProgress => {
            maintenance.ends_at = now;
            record_notice(app, &mut changes, &maintenance, Step::Completed)?;
        }
        MaintenanceStatus::Completed => {}
    }
    windows.commit_with(changes).map(drop)
}

/// Records the notice about a step of a maintenance as part of `changes`, if subscribers are
/// notified of it. A maintenance ends even if there is no space for the notice.
fn record_notice(
    app: &App,
    changes: &mut Changes<'_>,
    maintenance: &Maintenance,
    step: Step,
) -> Result<(), StatusError> {
    if !maintenance.notify_subscribers {
        return Ok(());
    }
    let page = changes.get::<Page>(&maintenance.page_id.text(), |_| true)?.value;
    let monitors = app.status().monitors();
    let notice = notice::of_step(step, maintenance, &page, monitors, app.now());
    match notices::record(app, changes, &page, &notice) {
        Err(error @ StatusError::TooMany { .. }) if step.is_end() => {
            let maintenance = maintenance.id.text();
            tracing::warn!(maintenance, %error, "subscribers are not notified of its end");
            Ok(())
        }
        recorded => recorded,
    }
}

/// Removes a monitor from the maintenances of a page, or of all pages, as part of `changes`. One
/// that covered no other covers none then.
pub(in crate::areas::status) fn remove_monitor(
    changes: &mut Changes<'_>,
    page: Option<PageId>,
    monitor: MonitorId,
) -> Result<(), StatusError> {
    let without = |mut found: Versioned<Maintenance>| {
        let is_there = page.is_none_or(|page| found.value.page_id == page);
        (is_there && found.value.remove_monitor(monitor)).then_some(found)
    };
    for Versioned { value: maintenance, revision } in changes.select(without)? {
        changes.replace(&maintenance, revision)?;
    }
    Ok(())
}

/// Deletes the maintenances of a page and their windows, as part of `changes` and `windows`.
pub(in crate::areas::status) fn delete_of_page(
    changes: &mut Changes<'_>,
    windows: &mut LinkedWindows<'_>,
    page: PageId,
) -> Result<(), StatusError> {
    let of_page = |found: Versioned<Maintenance>| (found.value.page_id == page).then_some(found);
    for Versioned { value: mut maintenance, revision } in changes.select(of_page)? {
        changes.delete::<Maintenance>(&maintenance.id.text(), revision);
        muting::end(windows, &mut maintenance)?;
    }
    Ok(())
}

/// Returns the maintenance if it is one of this page.
fn on_page(
    page: PageId,
    found: Versioned<Maintenance>,
) -> Result<Versioned<Maintenance>, StatusError> {
    match found.value.page_id == page {
        true => Ok(found),
        false => Err(StatusError::NotFound(StatusKind::Maintenance, found.value.id.text())),
    }
}
