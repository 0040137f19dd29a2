//! The operations on scheduled maintenances. All of them block.

use std::sync::Arc;

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Maintenance, MaintenanceChange, MaintenanceDraft, MaintenanceStatus};
use super::muting;
use super::notice::{self, Step};
use crate::app::App;
use crate::areas::alerting::LinkedWindows;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::fields;
use crate::areas::status::ids::{MaintenanceId, MonitorId, PageId};
use crate::areas::status::pages::Page;
use crate::areas::status::{limits, notices, references};

/// Returns the maintenances of a page, those that end last first.
pub(super) fn list(app: &App, page: PageId) -> Result<Vec<Arc<Maintenance>>, StatusError> {
    let directory = app.status().pages(app)?;
    Ok(directory.page(page)?.maintenances().iter().rev().map(Arc::clone).collect())
}

/// Returns a maintenance of a page.
pub(super) fn get(
    app: &App,
    page: PageId,
    id: MaintenanceId,
) -> Result<Versioned<Maintenance>, StatusError> {
    app.status().pages(app)?.page(page)?;
    on_page(page, documents::get::<Maintenance>(app.engine(), &id.text())?)
}

/// Schedules a maintenance on behalf of a user.
pub(super) fn create(
    app: &App,
    page: PageId,
    mut draft: MaintenanceDraft,
    created_by: String,
) -> Result<Versioned<Maintenance>, StatusError> {
    let now = app.now();
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    fields::check_on_page(&draft.monitors, &references::monitors_of_page(&changes, page)?)?;
    let muted = draft.muted.take();
    let id = MaintenanceId(app.new_number());
    let mut maintenance = Maintenance::new(id, page, draft, created_by, now)?;
    make_space(&mut changes, &mut windows, now)?;
    if let Some(rule_ids) = muted {
        muting::begin(&mut windows, &mut maintenance, rule_ids)?;
    }
    changes.insert(&maintenance)?;
    record_notice(app, &mut changes, &maintenance, Step::Planned)?;
    let revision = windows.commit_with(changes)?;
    Ok(Versioned { value: maintenance, revision })
}

/// Changes a maintenance that is not completed. `fits` returns whether a revision satisfies the
/// caller's `If-Match`.
pub(super) fn update(
    app: &App,
    page: PageId,
    id: MaintenanceId,
    mut change: MaintenanceChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Maintenance>, StatusError> {
    let now = app.now();
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    let on_this_page = references::monitors_of_page(&changes, page)?;
    let found = on_page(page, changes.get::<Maintenance>(&id.text(), fits)?)?;
    let Versioned { value: mut maintenance, revision } = found;
    if maintenance.status_at(now) == MaintenanceStatus::Completed {
        return Err(StatusError::State("the maintenance is completed"));
    }
    fields::check_on_page(change.monitors.as_deref().unwrap_or_default(), &on_this_page)?;
    let (mutes, rule_ids) = (change.mute_alerts.take(), change.mute_rule_ids.take());
    maintenance.change(change, now)?;
    muting::change(&mut windows, &mut maintenance, mutes, rule_ids)?;
    changes.replace(&maintenance, revision)?;
    record_notice(app, &mut changes, &maintenance, Step::Changed(revision))?;
    let revision = windows.commit_with(changes)?;
    Ok(Versioned { value: maintenance, revision })
}

/// Deletes a maintenance, and its window.
pub(super) fn delete(
    app: &App,
    page: PageId,
    id: MaintenanceId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), StatusError> {
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    references::monitors_of_page(&changes, page)?;
    let found = on_page(page, changes.get::<Maintenance>(&id.text(), fits)?)?;
    let maintenance = found.value;
    changes.delete::<Maintenance>(&id.text(), found.revision);
    muting::end(&mut windows, &maintenance)?;
    if maintenance.status_at(app.now()) != MaintenanceStatus::Completed {
        record_notice(app, &mut changes, &maintenance, Step::Cancelled)?;
    }
    windows.commit_with(changes).map(drop)
}

/// Records the notice about a step of a maintenance as part of `changes`, if subscribers are
/// notified of it.
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
    notices::record(changes, &notice)
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
    let found = changes.select(of_page)?;
    delete_all(changes, windows, &found)
}

/// Makes space for another maintenance, as part of `changes` and `windows`: deletes those that were
/// completed long ago, and beyond the limit on all of them the one that was completed first.
fn make_space(
    changes: &mut Changes<'_>,
    windows: &mut LinkedWindows<'_>,
    now: TimestampMs,
) -> Result<(), StatusError> {
    let mut open = 0_usize;
    let mut completed = changes.select(|found: Versioned<Maintenance>| {
        let is_completed = found.value.status_at(now) == MaintenanceStatus::Completed;
        open += usize::from(!is_completed);
        is_completed.then_some(found)
    })?;
    let max = limits::MAINTENANCES_OPEN_MAX;
    if open >= max {
        return Err(StatusError::TooMany { kind: StatusKind::OpenMaintenance, max });
    }
    completed.sort_by_key(|found| found.value.ends_at);
    let expired = TimestampMs(now.0.saturating_sub(limits::MAINTENANCE_KEPT_MS));
    let old = completed.partition_point(|found| found.value.ends_at <= expired);
    let kept_max = limits::MAINTENANCES_MAX.saturating_sub(open + 1);
    completed.truncate(old.max(completed.len().saturating_sub(kept_max)));
    delete_all(changes, windows, &completed)
}

fn delete_all(
    changes: &mut Changes<'_>,
    windows: &mut LinkedWindows<'_>,
    maintenances: &[Versioned<Maintenance>],
) -> Result<(), StatusError> {
    for Versioned { value: maintenance, revision } in maintenances {
        changes.delete::<Maintenance>(&maintenance.id.text(), *revision);
        muting::end(windows, maintenance)?;
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
