//! The captures that run as jobs.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ops;
use crate::app::App;
use crate::areas::snapshots::capture::CaptureError;
use crate::areas::snapshots::ids::SnapshotId;
use crate::areas::snapshots::limits;
use crate::http::{ApiError, ApiResult};
use crate::jobs::work::{WorkError, WorkKind, WorkerPool};

/// The arguments of a job.
#[derive(Debug, Serialize, Deserialize)]
struct CaptureItem {
    snapshot: String,
}

/// Captures a snapshot. What was interrupted is enqueued again by a sweep, which counts attempts.
const CAPTURE: WorkKind<CaptureItem> =
    WorkKind::new("telltale.snapshots.capture", "telltale-snapshots")
        .attempts(1)
        .timeout_seconds(limits::CAPTURE_JOB_SECONDS);

/// Adds the work of this module.
pub(in crate::areas::snapshots) fn add_work(pool: WorkerPool, app: &Arc<App>) -> WorkerPool {
    let at_once = u32::try_from(app.snapshots().settings().captures_at_once).unwrap_or(u32::MAX);
    let app = Arc::downgrade(app);
    pool.queue(CAPTURE.queue, at_once.max(1)).on(&CAPTURE, move |CaptureItem { snapshot }| {
        let app = app.upgrade();
        async move {
            match (app, SnapshotId::parse(&snapshot)) {
                (Some(app), Some(id)) => capture(&app, id).await,
                // The server ends, or a job of another version.
                _ => Ok(()),
            }
        }
    })
}

/// Enqueues a job for each snapshot that is to be captured. Blocks.
pub(in crate::areas::snapshots) fn enqueue_unfinished(
    app: &App,
) -> Result<(), telltale_engine::Error> {
    let waiting = ops::unfinished(app);
    let items: Vec<(CaptureItem, String)> = waiting.iter().map(|of| item(app, of.id)).collect();
    let items = items.iter().map(|(item, key)| (item, key.as_str()));
    CAPTURE
        .enqueue_all_once(app.jobs(), items)
        .map(drop)
        .map_err(|error| telltale_engine::Error::Unavailable(error.to_string()))
}

/// Enqueues a job for a snapshot. Blocks.
pub(super) fn enqueue(app: &App, id: SnapshotId) {
    let (item, key) = item(app, id);
    if let Err(error) = CAPTURE.enqueue_once(app.jobs(), &item, &key) {
        // The snapshot is stored, so the sweep enqueues it.
        tracing::warn!(%error, "a snapshot is captured later");
    }
}

/// Waits until a snapshot is final, or deleted, for a limited time. Returns whether it is.
pub(super) async fn wait(app: &App, id: SnapshotId) -> bool {
    let mut finished = app.snapshots().finished();
    let is_final = || app.snapshots().library().is_final(id).unwrap_or(true);
    let limit = Duration::from_millis(limits::CAPTURE_WAIT_MS);
    let waiting = finished.wait_for(|_| is_final());
    // The sender lives as long as the app.
    matches!(tokio::time::timeout(limit, waiting).await, Ok(Ok(_)))
}

fn item(app: &App, id: SnapshotId) -> (CaptureItem, String) {
    let item = CaptureItem { snapshot: id.text() };
    // The jobs of an earlier process are of its own start.
    let key = format!("{}:{}", app.began().0, item.snapshot);
    (item, key)
}

async fn capture(app: &Arc<App>, id: SnapshotId) -> Result<(), WorkError> {
    let Some(_running) = app.snapshots().begin_capture(id) else { return Ok(()) };
    let work = |error: ApiError| {
        WorkError::new("Snapshot", error.cause().unwrap_or_else(|| error.message()))
    };
    let begun = app.blocking(move |app| ops::begin(app, id)).await.map_err(work)?;
    let Some(request) = begun else { return Ok(()) };
    let browser = app.snapshots().browser();
    let mut outcome = browser.capture(&request).await;
    if outcome.as_ref().is_err_and(CaptureError::is_end_of_browser) {
        // The page of another capture may have ended it.
        outcome = browser.capture(&request).await;
    }
    let stored: ApiResult<()> = app.blocking(move |app| ops::finish(app, id, outcome)).await;
    stored.map_err(work)
}
