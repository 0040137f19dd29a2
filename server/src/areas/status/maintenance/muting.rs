//! The maintenance windows of alerting that mute alerts during scheduled maintenances.

use super::model::{Maintenance, Muting};
use crate::areas::alerting::{LinkedWindow, LinkedWindows};
use crate::areas::status::error::StatusError;
use crate::platform::fields::Invalid;

/// Adds the window of a new maintenance that mutes these rules, or all.
pub(super) fn begin(
    windows: &mut LinkedWindows<'_>,
    maintenance: &mut Maintenance,
    rule_ids: Option<Vec<String>>,
) -> Result<(), StatusError> {
    let window = window_of(maintenance);
    let window_id = windows.create(window, rule_ids.clone(), &maintenance.created_by)?;
    maintenance.muting = Some(Muting { window_id, rule_ids });
    Ok(())
}

/// Changes what a maintenance mutes, and keeps its window like it. `None` leaves unchanged.
pub(super) fn change(
    windows: &mut LinkedWindows<'_>,
    maintenance: &mut Maintenance,
    mute_alerts: Option<bool>,
    rule_ids: Option<Option<Vec<String>>>,
) -> Result<(), StatusError> {
    let mutes = mute_alerts.unwrap_or(maintenance.muting.is_some());
    check(mutes, rule_ids.as_ref().and_then(Option::as_deref))?;
    let Some(muting) = maintenance.muting.take() else {
        return match mutes {
            true => begin(windows, maintenance, rule_ids.flatten()),
            false => Ok(()),
        };
    };
    if !mutes {
        return Ok(windows.delete(&muting.window_id)?);
    }
    let named = rule_ids.clone().unwrap_or(muting.rule_ids);
    if windows.update(&muting.window_id, window_of(maintenance), rule_ids)? {
        maintenance.muting = Some(Muting { window_id: muting.window_id, rule_ids: named });
        return Ok(());
    }
    // Somebody has deleted the window.
    begin(windows, maintenance, named)
}

/// Deletes the window of a maintenance that is deleted.
pub(super) fn end(
    windows: &mut LinkedWindows<'_>,
    maintenance: &Maintenance,
) -> Result<(), StatusError> {
    match &maintenance.muting {
        Some(muting) => Ok(windows.delete(&muting.window_id)?),
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

fn window_of(maintenance: &Maintenance) -> LinkedWindow {
    LinkedWindow {
        name: maintenance.title.clone(),
        starts_at: maintenance.starts_at,
        ends_at: maintenance.ends_at,
    }
}
