//! The operations of the area. All of them block, some for minutes.

use std::path::Path;

use telltale_engine::{BackupReport, CompactionReport, Error, SealReport, VerifyReport};

use super::error::AdminError;
use crate::app::App;

/// Seals the head: writes its samples and events to blocks.
pub(super) fn seal(app: &App) -> Result<SealReport, AdminError> {
    Ok(app.engine().seal()?)
}

/// Compacts blocks into their final form. Expired data is not dropped here but by its own sweep: an
/// operator who compacts before a backup does not expect data to be removed.
pub(super) fn merge(app: &App) -> Result<CompactionReport, AdminError> {
    Ok(app.engine().merge()?)
}

/// Copies all data into a new directory on the server's machine.
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

/// Reads and checks all data.
pub(super) fn verify(app: &App) -> Result<VerifyReport, AdminError> {
    Ok(app.engine().verify()?)
}
