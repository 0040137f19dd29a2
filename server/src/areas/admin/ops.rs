//! The verbs of the area. All of them block, some for minutes.

use std::path::Path;

use telltale_engine::{BackupReport, Error, MergeReport, SealReport, VerifyReport};

use super::error::AdminError;
use crate::app::App;

/// Moves the points in memory into blocks.
pub(super) fn seal(app: &App) -> Result<SealReport, AdminError> {
    Ok(app.engine().seal()?)
}

/// Brings blocks into their final form. What retention no longer keeps is dropped by its own sweep, not here:
/// an operator who merges before taking a copy does not ask to lose anything.
pub(super) fn merge(app: &App) -> Result<MergeReport, AdminError> {
    Ok(app.engine().merge()?)
}

/// Copies everything into a new directory on the server's machine.
pub(super) fn backup(app: &App, target: &Path) -> Result<BackupReport, AdminError> {
    if !target.is_absolute() {
        return Err(AdminError::TargetRelative);
    }
    if target.symlink_metadata().is_ok() {
        return Err(AdminError::TargetExists);
    }
    app.engine().backup(target).map_err(|error| match error {
        Error::Open { path, reason } if path == target => AdminError::TargetRefused(reason),
        other => other.into(),
    })
}

/// Reads and checks everything.
pub(super) fn verify(app: &App) -> Result<VerifyReport, AdminError> {
    Ok(app.engine().verify()?)
}
