//! The files of the engine: which of them the areas use, and the deletion of all others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use telltale_engine::FileDigest;

use crate::app::App;
use crate::platform::sweeps::Sweep;

/// How often files that nothing uses any more are deleted.
const TRIM_PERIOD: Duration = Duration::from_secs(60);

/// Whether there may be files that nothing uses any more: set by the areas, and at the start.
#[derive(Debug)]
pub struct FileWaste(AtomicBool);

impl Default for FileWaste {
    fn default() -> Self {
        Self(AtomicBool::new(true))
    }
}

impl FileWaste {
    /// Remembers that files may have become superfluous.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether files may have become superfluous since the last call.
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

/// Returns the sweep that deletes unused files.
pub(super) fn sweep(app: &Arc<App>) -> Sweep {
    let app = Arc::clone(app);
    Sweep::new("files_trim", TRIM_PERIOD, move |_| delete_unused(&app))
}

/// Deletes the files that nothing uses any more; none as long as there are documents that cannot be
/// read, which may name some. Blocks.
pub(in crate::areas) fn delete_unused(app: &App) -> Result<(), telltale_engine::Error> {
    if !app.file_waste().take() {
        return Ok(());
    }
    // After a failure it is not known what the next start will find stored.
    if app.engine().failure().is_some() {
        app.file_waste().set();
        return Ok(());
    }
    let damaged = app.engine().documents().damaged();
    if !damaged.is_empty() {
        tracing::warn!(
            ?damaged,
            "no files are deleted: documents that cannot be read may name some"
        );
        return Ok(());
    }
    let deleted = app.engine().files().retain(|digest| uses_file(app, digest));
    if deleted.is_err() {
        app.file_waste().set();
    }
    deleted.map(drop)
}

fn uses_file(app: &App, digest: FileDigest) -> bool {
    app.snapshots().uses_file(digest) || app.repositories().uses_file(digest)
}
