//! What becomes of completed maintenances: their windows are deleted, and they themselves after a
//! while, or to make space for new ones. All of it blocks.
//!
//! Whether one is completed is judged by the trusted time: a jump of the clock deletes nothing.

use telltale_engine::{TimestampMs, Versioned};

use super::model::{Maintenance, MaintenanceStatus};
use super::muting;
use crate::app::App;
use crate::areas::alerting::LinkedWindows;
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::MaintenanceId;
use crate::areas::status::limits;

/// Deletes the windows of completed maintenances, and the maintenances that were completed long
/// ago.
pub(in crate::areas::status) fn trim(app: &App) -> Result<(), StatusError> {
    let now = app.engine().trusted_time().expiry;
    let find = || Ok::<_, StatusError>(due(app.status().pages(app)?.maintenances(), now));
    if find()?.is_empty() {
        return Ok(());
    }
    let mut changes = documents::begin(app);
    let mut windows = LinkedWindows::begin(app);
    // Again: some may have been changed before the lock was taken.
    for id in find()? {
        let found = changes.get::<Maintenance>(&id.text(), |_| true)?;
        let Versioned { value: mut maintenance, revision } = found;
        muting::end(&mut windows, &mut maintenance)?;
        match is_expired(&maintenance, now) {
            true => changes.delete::<Maintenance>(&id.text(), revision),
            false => changes.replace(&maintenance, revision)?,
        }
    }
    windows.commit_with(changes).map(drop)
}

/// Returns the maintenances of which something is to be deleted, as many as one change deletes.
fn due<'a>(
    maintenances: impl Iterator<Item = &'a Maintenance>,
    now: TimestampMs,
) -> Vec<MaintenanceId> {
    let is_due = |maintenance: &&Maintenance| {
        let is_completed = maintenance.status_at(now) == MaintenanceStatus::Completed;
        is_completed && (maintenance.window_id.is_some() || is_expired(maintenance, now))
    };
    let due = maintenances.filter(is_due).map(|maintenance| maintenance.id);
    due.take(limits::MAINTENANCES_TRIMMED_MAX).collect()
}

fn is_expired(maintenance: &Maintenance, now: TimestampMs) -> bool {
    maintenance.ends_at.0.saturating_add(limits::MAINTENANCE_KEPT_MS) <= now.0
}

/// Makes space for another maintenance, as part of `changes` and `windows`: deletes those that were
/// completed long ago, and beyond the limit on all of them those that were completed first.
pub(super) fn make(
    app: &App,
    changes: &mut Changes<'_>,
    windows: &mut LinkedWindows<'_>,
) -> Result<(), StatusError> {
    let now = app.engine().trusted_time().expiry;
    let directory = app.status().pages(app)?;
    let (mut completed, open): (Vec<&Maintenance>, Vec<_>) = directory
        .maintenances()
        .partition(|maintenance| maintenance.status_at(now) == MaintenanceStatus::Completed);
    let max = limits::MAINTENANCES_OPEN_MAX;
    if open.len() >= max {
        return Err(StatusError::TooMany { kind: StatusKind::OpenMaintenance, max });
    }
    completed.sort_by_key(|maintenance| (maintenance.ends_at, maintenance.id));
    let old = completed.partition_point(|maintenance| is_expired(maintenance, now));
    // Counts those that cannot be read too.
    let stored = changes.count::<Maintenance>()?;
    let excess = (stored + 1).saturating_sub(limits::MAINTENANCES_MAX);
    completed.truncate(old.max(excess));
    for maintenance in completed {
        let found = changes.get::<Maintenance>(&maintenance.id.text(), |_| true)?;
        let Versioned { value: mut maintenance, revision } = found;
        changes.delete::<Maintenance>(&maintenance.id.text(), revision);
        muting::end(windows, &mut maintenance)?;
    }
    Ok(())
}
