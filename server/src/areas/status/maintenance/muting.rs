//! The maintenance windows of alerting that mute alerts during scheduled maintenances.
//!
//! What is muted is what the window says: users may change it, switch it off or delete it. A
//! maintenance only names its window, and changes in it what it was asked to change.

use telltale_engine::TimestampMs;

use super::model::{Maintenance, MaintenanceStatus};
use crate::app::App;
use crate::areas::alerting::{LinkedMuting, LinkedWindow, LinkedWindowChange, LinkedWindows};
use crate::areas::status::error::StatusError;
use crate::platform::fields::Invalid;

/// A change of what a maintenance mutes; `None` leaves a part unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MutingChange {
    pub(super) mute_alerts: Option<bool>,
    /// The muted rules, or all.
    pub(super) rule_ids: Option<Option<Vec<String>>>,
}

/// Returns what the window of a maintenance mutes; `None` if there is no window, or no longer:
/// that of a completed maintenance is about to be deleted. Blocks only after a change of documents.
pub(super) fn of(
    app: &App,
    maintenance: &Maintenance,
    now: TimestampMs,
) -> Result<Option<LinkedMuting>, StatusError> {
    match needed_window(maintenance, now) {
        Some(id) => Ok(LinkedMuting::of_window(app, id)?),
        None => Ok(None),
    }
}

/// Returns whether the window of a maintenance mutes alerts; `None` like [`of`].
pub(super) fn is_active(
    app: &App,
    maintenance: &Maintenance,
    now: TimestampMs,
) -> Result<Option<bool>, StatusError> {
    match needed_window(maintenance, now) {
        Some(id) => Ok(LinkedMuting::is_active(app, id)?),
        None => Ok(None),
    }
}

fn needed_window(maintenance: &Maintenance, now: TimestampMs) -> Option<&str> {
    let is_needed = maintenance.status_at(now) != MaintenanceStatus::Completed;
    maintenance.window_id.as_deref().filter(|_| is_needed)
}

/// Adds the window of a maintenance that mutes these rules, or all. Returns what it mutes.
pub(super) fn begin(
    windows: &mut LinkedWindows<'_>,
    maintenance: &mut Maintenance,
    rule_ids: Option<Vec<String>>,
) -> Result<LinkedMuting, StatusError> {
    let window = LinkedWindow {
        name: maintenance.title.clone(),
        starts_at: maintenance.starts_at,
        ends_at: maintenance.ends_at,
    };
    let id = windows.create(window, rule_ids.clone(), &maintenance.created_by)?;
    maintenance.window_id = Some(id);
    Ok(LinkedMuting { is_active: true, rule_ids })
}

/// Returns what the window of a maintenance that is to be changed mutes, if there is one.
pub(super) fn before(
    windows: &LinkedWindows<'_>,
    maintenance: &Maintenance,
) -> Result<Option<LinkedMuting>, StatusError> {
    match &maintenance.window_id {
        Some(id) => Ok(windows.muting(id)?),
        None => Ok(None),
    }
}

/// Changes the window of a maintenance that was `before` and is changed. A window that somebody has
/// deleted is made again only for an explicit `mute_alerts`. Returns what is muted then.
pub(super) fn change(
    windows: &mut LinkedWindows<'_>,
    (before, muting): (&Maintenance, Option<&LinkedMuting>),
    maintenance: &mut Maintenance,
    change: MutingChange,
) -> Result<Option<LinkedMuting>, StatusError> {
    let MutingChange { mute_alerts, rule_ids } = change;
    let mutes = mute_alerts.unwrap_or(muting.is_some_and(|muting| muting.is_active));
    check(mutes, rule_ids.as_ref().and_then(Option::as_deref))?;
    let id = maintenance.window_id.clone().filter(|_| muting.is_some());
    let Some(id) = id else {
        return match mutes {
            true => begin(windows, maintenance, rule_ids.flatten()).map(Some),
            false => Ok(None),
        };
    };
    if mute_alerts == Some(false) {
        end(windows, maintenance)?;
        return Ok(None);
    }
    let times = (maintenance.starts_at, maintenance.ends_at);
    let change = LinkedWindowChange {
        name: (maintenance.title != before.title).then(|| maintenance.title.clone()),
        times: (times != (before.starts_at, before.ends_at)).then_some(times),
        is_active: mute_alerts,
        rule_ids,
    };
    Ok(windows.update(&id, change)?)
}

/// Deletes the window of a maintenance, if there is one.
pub(super) fn end(
    windows: &mut LinkedWindows<'_>,
    maintenance: &mut Maintenance,
) -> Result<(), StatusError> {
    match maintenance.window_id.take() {
        Some(id) => Ok(windows.delete(&id)?),
        None => Ok(()),
    }
}

/// Validates that rules are named only if alerts are muted.
pub(super) fn check(mutes: bool, rule_ids: Option<&[String]>) -> Result<(), Invalid> {
    match rule_ids {
        Some(_) if !mutes => {
            let expected = "must not be given unless mute_alerts is true";
            Err(Invalid::field("mute_rule_ids", expected))
        }
        _ => Ok(()),
    }
}
